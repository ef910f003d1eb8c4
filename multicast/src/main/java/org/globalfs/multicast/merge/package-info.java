/** Merging ring 0 into a region's ring. */
@NullMarked
package org.globalfs.multicast.merge;

import org.jspecify.annotations.NullMarked;
