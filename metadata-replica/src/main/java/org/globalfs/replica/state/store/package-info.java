/**
 * RocksDB underneath a partition: tables, keys, the uncommitted overlay of one instance, snapshots.
 */
@NullMarked
package org.globalfs.replica.state.store;

import org.jspecify.annotations.NullMarked;
