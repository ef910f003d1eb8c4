package org.globalfs.client;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.globalfs.client.io.Blocks;
import org.globalfs.protocol.wire.BlockRef;

/** Blocks in memory, with faults to order. */
public final class FakeBlocks implements Blocks {

    private final Map<Long, byte[]> blocks = new ConcurrentHashMap<>();
    private final AtomicLong ids = new AtomicLong();
    public final AtomicInteger puts = new AtomicInteger();
    public final AtomicInteger gets = new AtomicInteger();
    public volatile boolean refusePuts;
    public final AtomicInteger failingGets = new AtomicInteger();

    @Override
    public BlockRef put(int region, ByteBuffer content) throws IOException {
        if (refusePuts) {
            throw new IOException("no storage node answers");
        }
        puts.incrementAndGet();
        byte[] bytes = new byte[content.remaining()];
        content.get(content.position(), bytes);
        long id = ids.incrementAndGet();
        blocks.put(id, bytes);
        return new BlockRef(1, id, bytes.length, region, (byte) 4, (byte) 2, 1);
    }

    @Override
    public ByteBuffer get(BlockRef ref, int offset, int length) throws IOException {
        gets.incrementAndGet();
        if (failingGets.getAndUpdate(left -> Math.max(0, left - 1)) > 0) {
            throw new IOException("chunks missing");
        }
        byte[] bytes = blocks.get(ref.getIdLow());
        if (bytes == null) {
            throw new IOException("no such block");
        }
        return ByteBuffer.wrap(bytes, offset, length).slice();
    }

    @Override
    public void delete(BlockRef ref) {
        blocks.remove(ref.getIdLow());
    }

    public int count() {
        return blocks.size();
    }
}
