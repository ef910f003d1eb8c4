/** Which partition a new node is placed in. */
@NullMarked
package org.globalfs.protocol.placement;

import org.jspecify.annotations.NullMarked;
