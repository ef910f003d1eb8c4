/**
 * What {@code globalfs fsck} asks of one replica: whether the records of a partition agree with
 * each other. Reads a snapshot, changes nothing; memory grows with one bit an inode, not with
 * records.
 */
@NullMarked
package org.globalfs.replica.state.check;

import org.jspecify.annotations.NullMarked;
