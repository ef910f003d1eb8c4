package org.globalfs.client;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.globalfs.datastore.client.BlockStore;
import org.globalfs.datastore.client.BlockStoreException;
import org.globalfs.protocol.wire.BlockRef;

/** Blocks in memory, with faults to order. */
public class FakeBlockStore implements BlockStore {

    private final Map<Long, byte[]> blocks = new ConcurrentHashMap<>();
    private final Map<Long, BlockRef> refs = new ConcurrentHashMap<>();
    private final AtomicLong ids = new AtomicLong();

    /** In ms, of new blocks' ids. */
    public final AtomicLong idTime = new AtomicLong();

    public final AtomicInteger puts = new AtomicInteger();
    public final AtomicInteger gets = new AtomicInteger();
    public volatile boolean refusePuts;

    /** So many more blocks find room. */
    public final AtomicInteger room = new AtomicInteger(Integer.MAX_VALUE);

    /** So many more blocks are stored for another region than the file lives in by then. */
    public final AtomicInteger late = new AtomicInteger();

    public final AtomicInteger failingGets = new AtomicInteger();

    /** Runs while somebody waits for a block. */
    public volatile Runnable beforeGet = () -> {};

    /** Runs while somebody waits for a block to be stored. */
    public volatile Runnable beforePut = () -> {};

    @Override
    public BlockRef put(int region, ByteBuffer content) throws IOException {
        beforePut.run();
        if (refusePuts) {
            throw new IOException("no storage node answers");
        }
        if (room.getAndUpdate(left -> Math.max(0, left - 1)) == 0) {
            throw new BlockStoreException(BlockStoreException.Reason.NO_SPACE, "full");
        }
        puts.incrementAndGet();
        byte[] bytes = new byte[content.remaining()];
        content.get(content.position(), bytes);
        long id = ids.incrementAndGet();
        blocks.put(id, bytes);
        int of = late.getAndUpdate(left -> Math.max(0, left - 1)) > 0 ? region + 1 : region;
        BlockRef ref =
                new BlockRef(idTime.get() << 16, id, bytes.length, of, (byte) 4, (byte) 2, 1);
        refs.put(id, ref);
        return ref;
    }

    @Override
    public void get(BlockRef ref, int offset, byte[] into, int at, int length) throws IOException {
        gets.incrementAndGet();
        beforeGet.run();
        if (failingGets.getAndUpdate(left -> Math.max(0, left - 1)) > 0) {
            throw new IOException("chunks missing");
        }
        byte[] bytes = blocks.get(ref.getIdLow());
        if (bytes == null) {
            throw new IOException("no such block");
        }
        System.arraycopy(bytes, offset, into, at, length);
    }

    @Override
    public void newBlocksNotBefore(long timeMs) {
        idTime.accumulateAndGet(timeMs, Math::max);
    }

    @Override
    public void list(int region, Consumer<BlockRef> each) {
        for (BlockRef ref : refs.values()) {
            if (ref.getRegion() == region) {
                each.accept(ref);
            }
        }
    }

    @Override
    public Census count(int region, List<BlockRef> counted) {
        int[] chunks = new int[counted.size()];
        Arrays.setAll(chunks, i -> blocks.containsKey(counted.get(i).getIdLow()) ? 6 : 0);
        return new Census(chunks, List.of());
    }

    @Override
    public List<BlockRef> deleteAll(Collection<BlockRef> deleted) {
        deleted.forEach(ref -> {
            blocks.remove(ref.getIdLow());
            refs.remove(ref.getIdLow());
        });
        return List.copyOf(deleted);
    }

    public int count() {
        return blocks.size();
    }

    @Override
    public void close() {}
}
