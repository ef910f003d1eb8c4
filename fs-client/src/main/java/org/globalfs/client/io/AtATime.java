package org.globalfs.client.io;

/**
 * How many blocks are on their way at once while all regions answer: each takes memory that no
 * budget counts, a fetched one up to 4 MiB until the cache has it, a stored one what its chunks
 * take: 6 MiB of four and two of parity, twice that of one and two of parity, in three buckets.
 *
 * @param transfers of either kind: as many as are fetched ahead, and some for those who wait
 * @param uploads of those; fewer, so that reads never wait for a queue of uploads
 */
record AtATime(int transfers, int uploads) {
    private static final int MOST_TRANSFERS = 30;
    private static final int LEAST_TRANSFERS = 6;
    private static final long HEAP_OF_A_TRANSFER = 32L << 20;
    private static final int MOST_OF_EACH_REGION = 2;
    private static final int MOST_UPLOADS = 6;
    private static final long LEAST_UPLOADING = 12L << 20;

    /** Of the heap, for each byte of the chunks of a block that is being stored. */
    private static final double HEAP_OF_A_BYTE = 64 / 3.0;

    /**
     * @param putBytes what storing a block takes
     */
    static AtATime of(long heapBytes, int putBytes) {
        int leastUploads = (int) Math.max(1, LEAST_UPLOADING / putBytes);
        return new AtATime(
                Math.clamp(heapBytes / HEAP_OF_A_TRANSFER, LEAST_TRANSFERS, MOST_TRANSFERS),
                Math.clamp(
                        (long) (heapBytes / HEAP_OF_A_BYTE / putBytes),
                        leastUploads,
                        MOST_UPLOADS));
    }

    /**
     * Of so many of a kind: how many more each region may have on their way when others hold all
     * places. What goes to a silent region keeps its place for up to 90 s.
     */
    static int ofEachRegion(int atATime) {
        return Math.clamp(atATime / 3, 1, MOST_OF_EACH_REGION);
    }

    /** Those that are no uploads. */
    int fetches() {
        return transfers - uploads;
    }
}
