@NullMarked
package org.globalfs.replica.state;

import org.jspecify.annotations.NullMarked;
