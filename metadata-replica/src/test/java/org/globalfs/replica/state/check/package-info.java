@NullMarked
package org.globalfs.replica.state.check;

import org.jspecify.annotations.NullMarked;
