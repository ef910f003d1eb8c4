package org.globalfs.datastore.client;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Random;
import org.globalfs.protocol.wire.BlockRef;

/** Blocks of random content, small and large, and what reads of them have to give. */
public final class SomeBlocks {
    private SomeBlocks() {}

    /** Writes so many of each size. */
    public static Map<BlockRef, byte[]> put(
            BlockStore store, int region, Random random, int times, int... sizes)
            throws IOException {
        Map<BlockRef, byte[]> blocks = new LinkedHashMap<>();
        for (int size : sizes) {
            for (int i = 0; i < times; i++) {
                byte[] content = new byte[size];
                random.nextBytes(content);
                blocks.put(store.put(region, ByteBuffer.wrap(content)), content);
            }
        }
        return blocks;
    }

    /** Reads each whole and some ranges of it, so many times in all. */
    public static void readAll(
            BlockStore store, Map<BlockRef, byte[]> blocks, Random random, int times)
            throws IOException {
        for (Map.Entry<BlockRef, byte[]> entry : blocks.entrySet()) {
            byte[] content = entry.getValue();
            for (int i = 0; i < times; i++) {
                int from = i == 0 ? 0 : random.nextInt(content.length);
                int to = i == 0 ? content.length : from + 1 + random.nextInt(content.length - from);
                byte[] read = store.get(entry.getKey(), from, to - from).array();
                assertThat(Arrays.equals(read, Arrays.copyOfRange(content, from, to)))
                        .as("bytes %d to %d of %s", from, to, entry.getKey())
                        .isTrue();
            }
        }
    }
}
