/** What all that keeps something in RocksDB shares. */
@NullMarked
package org.globalfs.datastore.rocksdb;

import org.jspecify.annotations.NullMarked;
