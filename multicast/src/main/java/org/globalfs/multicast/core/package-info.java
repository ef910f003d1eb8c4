/**
 * The protocol of one ring as a pure machine: no threads, sockets, clocks, files or randomness.
 *
 * <p>{@link org.globalfs.multicast.core.RingCore} is where to start; {@link
 * org.globalfs.multicast.core.Effects} says what its caller owes it.
 */
@NullMarked
package org.globalfs.multicast.core;

import org.jspecify.annotations.NullMarked;
