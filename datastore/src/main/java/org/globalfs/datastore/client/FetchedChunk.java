package org.globalfs.datastore.client;

/**
 * A chunk as its node has it.
 *
 * @param index which one of its block
 * @param region the partition of the node's region
 * @param tookNs from when it was asked for
 */
public record FetchedChunk(int index, int region, byte[] bytes, long tookNs) {}
