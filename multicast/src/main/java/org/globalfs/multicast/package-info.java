/** Ordered, durable multicast: what a replica sees of the rings. */
@NullMarked
package org.globalfs.multicast;

import org.jspecify.annotations.NullMarked;
