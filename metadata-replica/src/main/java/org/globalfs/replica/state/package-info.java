/**
 * The deterministic metadata state machine of one partition: what the ring's order means, on
 * RocksDB.
 */
@NullMarked
package org.globalfs.replica.state;

import org.jspecify.annotations.NullMarked;
