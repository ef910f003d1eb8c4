/** Storage nodes, erasure code, placement and block client. */
@NullMarked
package org.globalfs.datastore;

import org.jspecify.annotations.NullMarked;
