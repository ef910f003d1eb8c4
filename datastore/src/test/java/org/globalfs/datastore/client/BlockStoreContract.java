package org.globalfs.datastore.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.globalfs.datastore.wire.ChunkKey;
import org.globalfs.protocol.BlockIds;
import org.globalfs.protocol.wire.BlockRef;
import org.junit.jupiter.api.Test;

/** What every block store does, whatever it keeps blocks on. */
public abstract class BlockStoreContract {
    private static final long SEED = 987_654_321;

    protected static final Comparator<BlockRef> BY_ID =
            Comparator.comparing(ref -> new ChunkKey(ref.getIdHigh(), ref.getIdLow(), 0));

    protected final Random random = new Random(SEED);

    /** The store under test. */
    protected abstract BlockStore store();

    /** The region to write blocks for. */
    protected abstract int region();

    protected final byte[] bytes(int length) {
        byte[] bytes = new byte[length];
        random.nextBytes(bytes);
        return bytes;
    }

    protected final Map<BlockRef, byte[]> putSome(int count, int maxBytes) throws IOException {
        Map<BlockRef, byte[]> blocks = new LinkedHashMap<>();
        for (int i = 0; i < count; i++) {
            byte[] content = bytes(1 + random.nextInt(maxBytes));
            blocks.put(store().put(region(), ByteBuffer.wrap(content)), content);
        }
        return blocks;
    }

    protected final void assertReadable(Map<BlockRef, byte[]> blocks) throws IOException {
        for (Map.Entry<BlockRef, byte[]> block : blocks.entrySet()) {
            assertWhole(block.getKey(), block.getValue());
        }
    }

    protected final void assertWhole(BlockRef ref, byte[] content) throws IOException {
        assertThat(store().get(ref, 0, content.length).array()).isEqualTo(content);
        int from = random.nextInt(content.length);
        int length = random.nextInt(content.length - from + 1);
        assertThat(store().get(ref, from, length).array())
                .isEqualTo(Arrays.copyOfRange(content, from, from + length));
    }

    /** Something of the store. */
    public interface Work {
        void run() throws IOException;
    }

    public static void assertFails(BlockStoreException.Reason reason, String says, Work work) {
        assertThatThrownBy(work::run)
                .hasMessageContaining(says)
                .isInstanceOfSatisfying(
                        BlockStoreException.class, e -> assertThat(e.reason()).isEqualTo(reason));
    }

    @Test
    void readsBackWhatWasWrittenInAnySizeAndRange() throws IOException {
        List<Integer> sizes =
                new ArrayList<>(
                        List.of(
                                1, 63, 64, 65, 255, 256, 257, 4096, 65_535, 65_536, 65_537, 262_144,
                                4 << 20));
        for (int i = 0; i < 30; i++) {
            sizes.add(1 + random.nextInt(1 << (4 + random.nextInt(18))));
        }
        for (int size : sizes) {
            byte[] content = bytes(size);
            ByteBuffer buffer = ByteBuffer.allocateDirect(size + 7).position(7);
            buffer.put(content).position(7);
            BlockRef ref = store().put(region(), buffer);
            assertThat(buffer.remaining()).isEqualTo(size);
            assertThat(ref.getLength()).isEqualTo(size);
            assertThat(ref.getRegion()).isEqualTo(region());
            assertWhole(ref, content);
            for (int i = 0; i < 5; i++) {
                assertWhole(ref, content);
            }
        }
    }

    @Test
    void readsIntoTheMiddleOfAnArrayAndNothingBesides() throws IOException {
        byte[] content = bytes(300_000);
        BlockRef ref = store().put(region(), ByteBuffer.wrap(content));
        byte[] into = new byte[1_000];
        Arrays.fill(into, (byte) 7);
        store().get(ref, 70_000, into, 100, 500);
        byte[] expected = new byte[1_000];
        Arrays.fill(expected, (byte) 7);
        System.arraycopy(content, 70_000, expected, 100, 500);
        assertThat(into).isEqualTo(expected);
        store().get(ref, content.length, into, 0, 0);
        assertThat(into).isEqualTo(expected);
    }

    @Test
    void refusesSizesAndRangesThatCannotBe() throws IOException {
        assertThatThrownBy(() -> store().put(region(), ByteBuffer.allocate(0)))
                .isInstanceOf(IllegalArgumentException.class);
        ByteBuffer large = ByteBuffer.allocate(BlockStore.MAX_BLOCK_BYTES + 1);
        assertThatThrownBy(() -> store().put(region(), large))
                .isInstanceOf(IllegalArgumentException.class);
        BlockRef ref = store().put(region(), ByteBuffer.wrap(bytes(1_000)));
        for (int[] range : new int[][] {{-1, 1}, {0, 1_001}, {1_000, 1}, {1, -1}}) {
            byte[] into = new byte[2_000];
            assertThatThrownBy(() -> store().get(ref, range[0], into, 0, range[1]))
                    .isInstanceOf(IllegalArgumentException.class);
        }
    }

    @Test
    void aBlockThatIsNotThereIsLost() throws IOException {
        BlockRef ref = store().put(region(), ByteBuffer.wrap(bytes(1_000)));
        BlockRef unknown = new BlockRef(ref);
        unknown.setIdHigh(ref.getIdHigh() + 1);
        assertFails(BlockStoreException.Reason.LOST, "", () -> store().get(unknown, 0, 1));
        assertThat(store().deleteAll(List.of(unknown))).containsExactly(unknown);
    }

    @Test
    void deletingAgainDoesNoHarm() throws IOException {
        Map<BlockRef, byte[]> blocks = putSome(20, 100_000);
        List<BlockRef> refs = new ArrayList<>(blocks.keySet());
        BlockRef first = refs.removeFirst();
        BlockRef kept = refs.removeLast();
        store().delete(first);
        store().delete(first);
        assertFails(BlockStoreException.Reason.LOST, "", () -> store().get(first, 0, 1));
        assertThat(store().deleteAll(refs)).containsExactlyInAnyOrderElementsOf(refs);
        assertThat(store().deleteAll(refs)).containsExactlyInAnyOrderElementsOf(refs);
        assertThat(store().deleteAll(List.of())).isEmpty();
        for (BlockRef ref : refs) {
            assertFails(BlockStoreException.Reason.LOST, "", () -> store().get(ref, 0, 1));
        }
        assertWhole(kept, blocks.get(kept));
    }

    @Test
    void listsWhatIsThere() throws IOException {
        Set<BlockRef> refs = new HashSet<>(putSome(30, 100_000).keySet());
        assertThat(listed()).containsAll(refs);
        BlockRef gone = refs.iterator().next();
        store().delete(gone);
        refs.remove(gone);
        assertThat(listed()).containsAll(refs).doesNotContain(gone);
        assertThat(listed()).allMatch(ref -> ref.getRegion() == region());
    }

    /** Blocks that others have between them, and some that are gone or never were. */
    @Test
    void countsTheChunksThatThereAreOfBlocks() throws IOException {
        List<BlockRef> all = new ArrayList<>(putSome(40, 100_000).keySet());
        List<BlockRef> asked = new ArrayList<>();
        List<Integer> expected = new ArrayList<>();
        for (int i = 0; i < all.size(); i++) {
            BlockRef ref = all.get(i);
            switch (i % 4) {
                case 0 -> expected.add(ref.getDataChunks() + ref.getParityChunks());
                case 1 -> {
                    store().delete(ref);
                    expected.add(0);
                }
                case 2 -> {
                    ref = new BlockRef(ref).setIdLow(ref.getIdLow() + 1);
                    expected.add(0);
                }
                default -> {
                    continue;
                }
            }
            asked.add(ref);
        }
        assertThat(store().count(region(), List.of()).chunks()).isEmpty();
        Map<BlockRef, Integer> byBlock = new TreeMap<>(BY_ID);
        for (int i = 0; i < asked.size(); i++) {
            byBlock.put(asked.get(i), expected.get(i));
        }
        BlockStore.Census census = store().count(region(), List.copyOf(byBlock.keySet()));
        assertThat(census.silent()).isEmpty();
        assertThat(census.chunks())
                .containsExactly(byBlock.values().stream().mapToInt(i -> i).toArray());
    }

    @Test
    void tellsWhetherABlockCanBeRead() throws IOException {
        BlockRef ref = store().put(region(), ByteBuffer.wrap(bytes(100_000)));
        assertThat(store().isReadable(ref)).isTrue();
        store().delete(ref);
        assertThat(store().isReadable(ref)).isFalse();
    }

    private Set<BlockRef> listed() throws IOException {
        Set<BlockRef> found = new HashSet<>();
        store().list(region(), found::add);
        return found;
    }

    @Test
    void idsAreNotBeforeAFence() throws IOException {
        long timeMs = System.currentTimeMillis() + 1_000_000;
        store().newBlocksNotBefore(timeMs);
        BlockRef ref = store().put(region(), ByteBuffer.wrap(bytes(10)));
        assertThat(BlockIds.timeMs(ref)).isGreaterThanOrEqualTo(timeMs);
    }

    @Test
    void aClosedStoreSaysSo() throws IOException {
        BlockRef ref = store().put(region(), ByteBuffer.wrap(bytes(1_000)));
        store().close();
        BlockStoreException.Reason closed = BlockStoreException.Reason.CLOSED;
        assertFails(closed, "closed", () -> store().get(ref, 0, 1));
        assertFails(closed, "closed", () -> store().put(region(), ByteBuffer.wrap(bytes(10))));
        assertFails(closed, "closed", () -> store().delete(ref));
        store().close();
    }

    @Test
    void manyThreadsPutGetAndDelete() throws Exception {
        try (ExecutorService threads = Executors.newFixedThreadPool(12)) {
            List<Future<?>> done = new ArrayList<>();
            for (int t = 0; t < 12; t++) {
                long seed = SEED + t;
                done.add(threads.submit(() -> work(new Random(seed))));
            }
            for (Future<?> future : done) {
                future.get();
            }
        }
    }

    private Void work(Random own) throws IOException {
        List<BlockRef> refs = new ArrayList<>();
        List<byte[]> contents = new ArrayList<>();
        for (int i = 0; i < 60; i++) {
            byte[] content = new byte[1 + own.nextInt(1 << (6 + own.nextInt(14)))];
            own.nextBytes(content);
            refs.add(store().put(region(), ByteBuffer.wrap(content)));
            contents.add(content);
            int look = own.nextInt(refs.size());
            byte[] expected = contents.get(look);
            int from = own.nextInt(expected.length);
            assertThat(store().get(refs.get(look), from, expected.length - from).array())
                    .isEqualTo(Arrays.copyOfRange(expected, from, expected.length));
            if (own.nextInt(3) == 0) {
                int gone = own.nextInt(refs.size());
                store().delete(refs.remove(gone));
                contents.remove(gone);
            }
        }
        return null;
    }
}
