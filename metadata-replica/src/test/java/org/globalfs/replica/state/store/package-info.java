@NullMarked
package org.globalfs.replica.state.store;

import org.jspecify.annotations.NullMarked;
