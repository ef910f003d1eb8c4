package org.globalfs.datastore.client;

import org.globalfs.protocol.wire.BlockRef;
import org.jspecify.annotations.Nullable;

/**
 * What reads through the caches of a region share. Thread-safe.
 *
 * @param region whose caches are asked
 * @param detector knows which of them are suspect
 */
record RegionCaches(
        String region, CacheDirectory directory, FailureDetector detector, CacheTimes times) {

    /**
     * The cache to ask for a block; null: there is none that answers.
     *
     * @param anyway also one that is suspect
     */
    @Nullable String cacheOf(BlockRef ref, boolean anyway) {
        return directory.cache(
                region,
                ref.getIdHigh(),
                ref.getIdLow(),
                cache -> !anyway && detector.isSuspect(cache));
    }
}
