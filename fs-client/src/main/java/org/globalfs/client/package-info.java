/** File system client library and FUSE mount. */
@NullMarked
package org.globalfs.client;

import org.jspecify.annotations.NullMarked;
