package org.globalfs.datastore.node;

import java.io.IOException;

/**
 * How a node looks for damage of its chunks.
 *
 * @param periodMs it reads each of them once in this time; 0: it does not read them by itself
 * @param bytesPerSecond reads at most, however short the period is
 * @param source what it makes damaged ones anew from
 */
public record ScrubOptions(long periodMs, long bytesPerSecond, ChunkSource source) {

    /** Of a node that has no others to ask: damage stays, and is not looked for. */
    public static final ScrubOptions ALONE =
            new ScrubOptions(
                    0,
                    0,
                    (key, shape) -> {
                        throw new IOException("this node asks no others");
                    });
}
