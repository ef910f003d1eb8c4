package org.globalfs.multicast.core;

/** A decided instance, ready for the learner. */
public record Decision(long instance, Batch batch) {}
