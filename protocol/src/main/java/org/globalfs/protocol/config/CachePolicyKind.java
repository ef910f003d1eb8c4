package org.globalfs.protocol.config;

/** How a cache decides what it keeps. */
public enum CachePolicyKind {
    /** A plan for each period: as many chunks of each block as are worth it. */
    AGAR,
    /** The blocks used last, a fixed number of chunks of each. */
    LRU,
    /** The most popular blocks of the last periods, likewise. */
    LFU,
    /** As LRU, but a newcomer has to be more popular than what would go for it. */
    TINY_LFU
}
