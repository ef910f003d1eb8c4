package org.globalfs.client.io;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.globalfs.client.FakeBlockStore;
import org.globalfs.protocol.wire.BlockRef;
import org.globalfs.protocol.wire.Credentials;
import org.globalfs.protocol.wire.Extent;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** What one read sees of a file of which some is committed and some is not. */
class ContentViewTest {

    private static final Credentials CALLER = new Credentials(1, 1);

    private final FakeBlockStore blocks = new FakeBlockStore();
    private final BlockCache cache = new BlockCache(blocks, 64 << 20, Runnable::run);
    private final Random random = new Random(1979);

    private static Pending pending(long offset, byte[] content) {
        Pending pending = new Pending(false, CALLER);
        write(pending, offset, content);
        return pending;
    }

    private static void write(Pending pending, long offset, byte[] content) {
        pending.write(offset, ByteBuffer.wrap(content), buffer -> {});
    }

    private byte[] read(ContentView view, @Nullable ContentMap map, int from, int to, long ahead)
            throws IOException {
        ByteBuffer into = ByteBuffer.wrap(bytes(to - from, 99));
        view.compose(cache, from, into, map, ahead);
        return Arrays.copyOf(into.array(), into.position());
    }

    private byte[] read(ContentView view, @Nullable ContentMap map, int from, int to)
            throws IOException {
        return read(view, map, from, to, 0);
    }

    private static byte[] bytes(int count, int value) {
        byte[] bytes = new byte[count];
        Arrays.fill(bytes, (byte) value);
        return bytes;
    }

    @Test
    void theLaterLiesOverTheEarlierAndThatOverWhatIsCommitted() throws IOException {
        BlockRef block = blocks.put(1, ByteBuffer.wrap(bytes(100, 1)));
        ContentMap map =
                ContentMap.of(
                        1, 100, 0, Long.MAX_VALUE, List.of(new Extent(0, 100).setBlock(block)));
        for (int i = 0; i < 500; i++) {
            byte[] expected = bytes(200, 1);
            int size = 100;
            Pending[] all = new Pending[2];
            for (int n = 0; n < 2; n++) {
                int at = random.nextInt(150);
                int count = 1 + random.nextInt(50);
                all[n] = pending(at, bytes(count, 2 + n));
                if (at > size) {
                    Arrays.fill(expected, size, at, (byte) 0);
                }
                Arrays.fill(expected, at, at + count, (byte) (2 + n));
                size = Math.max(size, at + count);
            }
            int from = random.nextInt(200);
            int to = from + random.nextInt(200 - from);
            ContentView view = ContentView.of(from, to, all);
            assertThat(read(view, map, from, to))
                    .isEqualTo(
                            Arrays.copyOfRange(expected, Math.min(from, size), Math.min(to, size)));
        }
    }

    @Test
    void whatIsWrittenAfterwardsIsNotSeen() throws IOException {
        Pending pending = pending(0, bytes(10, 1));
        ContentView view = ContentView.of(0, 10, null, pending);
        write(pending, 0, bytes(10, 2));
        assertThat(view.covers(0, 10)).isTrue();
        assertThat(read(view, null, 0, 10)).isEqualTo(bytes(10, 1));
    }

    @Test
    void whatIsPendingBehindTheRangeMakesWhatIsBeforeItAHole() throws IOException {
        ContentView view = ContentView.of(0, 10, pending(1_000, bytes(1, 1)), null);
        assertThat(view.covers(0, 10)).isFalse();
        assertThat(read(view, ContentMap.empty(1), 0, 10)).isEqualTo(bytes(10, 0));
        assertThat(read(view, ContentMap.empty(1), 2_000, 2_010)).isEmpty();
    }

    @Test
    void whatIsFetchedAheadIsThereWhenItIsRead() throws IOException {
        BlockRef first = blocks.put(1, ByteBuffer.wrap(bytes(100, 1)));
        BlockRef second = blocks.put(1, ByteBuffer.wrap(bytes(100, 2)));
        List<Extent> extents =
                List.of(new Extent(0, 100).setBlock(first), new Extent(100, 100).setBlock(second));
        ContentMap map = ContentMap.of(1, 200, 0, Long.MAX_VALUE, extents);
        assertThat(read(ContentView.committed(), map, 0, 100, 1)).isEqualTo(bytes(100, 1));
        assertThat(blocks.gets).hasValue(2);
        assertThat(read(ContentView.committed(), map, 100, 200)).isEqualTo(bytes(100, 2));
        assertThat(blocks.gets).hasValue(2);
    }

    @Test
    void aBlockThatIsNotThereIsNeverAHole() {
        BlockRef gone = new BlockRef(1, 1, 100, 1, (byte) 4, (byte) 2, 1);
        ContentMap map =
                ContentMap.of(
                        1, 100, 0, Long.MAX_VALUE, List.of(new Extent(0, 100).setBlock(gone)));
        assertThatThrownBy(() -> read(ContentView.committed(), map, 0, 100))
                .isInstanceOf(IOException.class);
    }
}
