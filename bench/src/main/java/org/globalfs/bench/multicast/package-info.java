/**
 * {@code globalfs bench multicast}: starts members as processes, has them put load on their ring,
 * and prints what they measured.
 */
@NullMarked
package org.globalfs.bench.multicast;

import org.jspecify.annotations.NullMarked;
