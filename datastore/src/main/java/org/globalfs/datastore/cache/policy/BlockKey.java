package org.globalfs.datastore.cache.policy;

/** Names a block. */
public record BlockKey(long high, long low) {}
