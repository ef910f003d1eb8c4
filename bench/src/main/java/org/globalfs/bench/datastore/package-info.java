/**
 * {@code globalfs bench datastore}: the coder, storage nodes, a cache and repair on this machine.
 */
@NullMarked
package org.globalfs.bench.datastore;

import org.jspecify.annotations.NullMarked;
