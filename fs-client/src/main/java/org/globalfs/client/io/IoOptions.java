package org.globalfs.client.io;

import java.time.Duration;

/**
 * Limits of buffering.
 *
 * @param inlineMaxBytes content of up to so many bytes travels inside a metadata command instead of
 *     a block
 * @param flushBytes a file with so many uncommitted bytes is committed in the background
 * @param bufferBytes uncommitted bytes of all files together; those of one partition take at most
 *     two thirds
 * @param cacheBytes memory for blocks that were read or written
 * @param flushDelay the longest time that a write stays uncommitted
 * @param timeout the longest time that a commit is tried
 * @param sync every write is committed before it returns
 */
public record IoOptions(
        int inlineMaxBytes,
        long flushBytes,
        long bufferBytes,
        long cacheBytes,
        Duration flushDelay,
        Duration timeout,
        boolean sync) {

    public static IoOptions defaults() {
        long heap = Runtime.getRuntime().maxMemory();
        long buffers = Math.clamp(heap / 8, 16 << 20, 256 << 20);
        return new IoOptions(
                16 << 10,
                // Twice within a partition's part: one is written while one is committed.
                Math.min(32 << 20, buffers / 3),
                buffers,
                Math.min(256 << 20, heap / 4),
                Duration.ofSeconds(2),
                Duration.ofSeconds(60),
                false);
    }
}
