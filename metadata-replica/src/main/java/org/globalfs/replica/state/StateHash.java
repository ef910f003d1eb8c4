package org.globalfs.replica.state;

/**
 * Digest of everything a partition holds, and the instance it stands at: equal on all replicas at
 * equal instances.
 */
public record StateHash(long applied, byte[] digest) {}
