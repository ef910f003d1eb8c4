/**
 * File content: what was written and is not committed yet, where committed bytes are, and the
 * blocks themselves. Nothing here knows names or handles of the kernel.
 */
@NullMarked
package org.globalfs.client.io;

import org.jspecify.annotations.NullMarked;
