/**
 * What {@code globalfs fsck} asks of one replica: whether the records of a partition agree with
 * each other. Reads a snapshot, changes nothing; memory grows with some bits an inode, and with the
 * inodes that have several names or names in other partitions, not with records.
 */
@NullMarked
package org.globalfs.replica.state.check;

import org.jspecify.annotations.NullMarked;
