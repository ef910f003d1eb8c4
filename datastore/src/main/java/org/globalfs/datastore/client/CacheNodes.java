package org.globalfs.datastore.client;

/** How a region's caches are called, and share its blocks. */
public final class CacheNodes {
    private CacheNodes() {}

    /** What the storage protocol calls a cache: no storage node can have the name. */
    public static String name(String id) {
        return "cache/" + id;
    }

    /** The cache with the highest one keeps the block: rendezvous hashing. */
    static long draw(String name, long idHigh, long idLow) {
        long z = idHigh * 0x9e3779b97f4a7c15L + idLow + name.hashCode() * 0xc2b2ae3d27d4eb4fL;
        z = (z ^ z >>> 30) * 0xbf58476d1ce4e5b9L;
        z = (z ^ z >>> 27) * 0x94d049bb133111ebL;
        return z ^ z >>> 31;
    }
}
