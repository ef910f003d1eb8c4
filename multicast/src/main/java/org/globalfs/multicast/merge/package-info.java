/**
 * The two ways to put several rings into one order: imports of ring 0 into a region's ring ({@link
 * org.globalfs.multicast.merge.ImportFeed}), and turns ({@link
 * org.globalfs.multicast.merge.RoundRobin}).
 */
@NullMarked
package org.globalfs.multicast.merge;

import org.jspecify.annotations.NullMarked;
