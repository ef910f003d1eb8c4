/** The block client: codes, places, writes and reads blocks on the storage nodes. */
@NullMarked
package org.globalfs.datastore.client;

import org.jspecify.annotations.NullMarked;
