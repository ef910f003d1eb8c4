/**
 * Deterministic simulation of rings: production cores on a simulated clock, network and disk, from
 * one seed.
 */
@NullMarked
package org.globalfs.multicast.sim;

import org.jspecify.annotations.NullMarked;
