/**
 * Deterministic simulation of rings: production cores on a simulated clock, network and disk, from
 * one seed.
 *
 * <p>{@link org.globalfs.multicast.sim.RingSimulation} is where to start. A run has a phase with
 * faults, in which nothing wrong may happen ({@code Checker}), and then calm weather, in which
 * everything must (liveness, {@code CalmPhase}).
 */
@NullMarked
package org.globalfs.multicast.sim;

import org.jspecify.annotations.NullMarked;
