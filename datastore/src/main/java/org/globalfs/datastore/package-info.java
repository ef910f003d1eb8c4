/** Blocks: storage nodes, and the client that codes, places, writes and reads them. */
@NullMarked
package org.globalfs.datastore;

import org.jspecify.annotations.NullMarked;
