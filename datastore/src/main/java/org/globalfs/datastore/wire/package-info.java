/**
 * The storage protocol: frames between block clients and storage nodes
 * (docs/formats/storage-protocol.md).
 */
@NullMarked
package org.globalfs.datastore.wire;

import org.jspecify.annotations.NullMarked;
