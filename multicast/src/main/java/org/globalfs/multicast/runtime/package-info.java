/** The event loop that drives the ring cores, and delivery to learners. */
@NullMarked
package org.globalfs.multicast.runtime;

import org.jspecify.annotations.NullMarked;
