package org.globalfs.datastore.wire;

import java.nio.ByteBuffer;

/**
 * What a cache says of itself; counts are since it started.
 *
 * @param capacityBytes disk space that chunks may take
 * @param usedBytes of the chunks themselves; while some come in it may be more for a moment
 * @param chunks that it keeps
 * @param requests for blocks
 * @param partHits requests of which it had some chunk
 * @param wholeHits requests that needed nothing else
 * @param servedBytes sent to clients
 * @param fetchedBytes got from storage nodes
 * @param missed requests and chunks that it had no time for
 * @param damaged chunks that were damaged on disk
 * @param planned blocks that the policy's plan for this period has
 */
public record CacheStatistics(
        long capacityBytes,
        long usedBytes,
        long chunks,
        long requests,
        long partHits,
        long wholeHits,
        long servedBytes,
        long fetchedBytes,
        long missed,
        long damaged,
        long planned) {

    public void write(ByteBuffer to) {
        to.putLong(capacityBytes).putLong(usedBytes).putLong(chunks);
        to.putLong(requests).putLong(partHits).putLong(wholeHits);
        to.putLong(servedBytes).putLong(fetchedBytes).putLong(missed);
        to.putLong(damaged).putLong(planned);
    }

    public static CacheStatistics read(ByteBuffer from) {
        return new CacheStatistics(
                from.getLong(),
                from.getLong(),
                from.getLong(),
                from.getLong(),
                from.getLong(),
                from.getLong(),
                from.getLong(),
                from.getLong(),
                from.getLong(),
                from.getLong(),
                from.getLong());
    }
}
