package org.globalfs.client.io;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import org.globalfs.client.FakeBlockStore;
import org.globalfs.client.meta.Answer;
import org.globalfs.client.meta.Patience;
import org.globalfs.protocol.wire.BlockRef;
import org.globalfs.protocol.wire.Credentials;
import org.globalfs.protocol.wire.Extent;
import org.globalfs.protocol.wire.UpdateOp;
import org.globalfs.protocol.wire.UpdateReply;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Blocks on their way to a store that fails. */
@Timeout(60)
class WriteBackTest {

    private static final IoOptions OPTIONS =
            new IoOptions(
                    0,
                    32 << 20,
                    64 << 20,
                    64 << 20,
                    Duration.ofMinutes(10),
                    Duration.ofNanos(1), // over before the first attempt has failed
                    false);

    private final AtomicInteger attempts = new AtomicInteger();
    private volatile int failing;

    private final FakeBlockStore blocks =
            new FakeBlockStore() {
                @Override
                public BlockRef put(int region, ByteBuffer content) throws IOException {
                    if (attempts.getAndIncrement() < failing) {
                        throw new IOException("no storage node answers");
                    }
                    return super.put(region, content);
                }
            };

    /** As when the process was stopped in the middle of the attempt, and goes on. */
    @Test
    void aBlockWhoseTimeIsOverIsTriedOnceMore() throws ExecutionException, InterruptedException {
        failing = 1;
        try (WriteBack writeBack = new WriteBack(new NoReplicas(), blocks, OPTIONS)) {
            BlockRef ref = stored(writeBack);
            assertThat(ref.getLength()).isEqualTo(100);
        }
        assertThat(attempts).hasValue(2);
    }

    @Test
    void aBlockThatFindsNoStoreThenEitherIsGivenUp() {
        failing = Integer.MAX_VALUE;
        try (WriteBack writeBack = new WriteBack(new NoReplicas(), blocks, OPTIONS)) {
            assertThatThrownBy(() -> stored(writeBack))
                    .cause()
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining("no storage node answers");
        }
        assertThat(attempts).hasValue(2);
    }

    /** A read that is still under way, or the cache when it drops what it has. */
    @Test
    void whoComesAfterTheEndIsServedAllTheSame() throws ExecutionException, InterruptedException {
        WriteBack writeBack = new WriteBack(new NoReplicas(), blocks, OPTIONS);
        BlockRef ref = stored(writeBack);
        writeBack.close();
        assertThat(stored(writeBack).getLength()).isEqualTo(100);
        assertThat(writeBack.cache().fetch(ref, 0, 100)).allSatisfy(slice -> slice.get());
    }

    private static BlockRef stored(WriteBack writeBack)
            throws ExecutionException, InterruptedException {
        WriteBuffer buffer = new WriteBuffer(100);
        buffer.append(ByteBuffer.allocate(100), 100);
        writeBack.store(1, buffer);
        return Objects.requireNonNull(buffer.upload()).get();
    }

    /** Nothing is committed. */
    private static final class NoReplicas implements Backing {
        @Override
        public @Nullable ContentMap known(long ino) {
            return null;
        }

        @Override
        public ContentMap fetch(long ino, long offset, long length, Patience patience) {
            throw new AssertionError("nothing is read");
        }

        @Override
        public ContentMap page(long ino, long offset, Patience patience) {
            throw new AssertionError("nothing is read");
        }

        @Override
        public int home(long ino) {
            return 1;
        }

        @Override
        public Answer<UpdateReply> update(
                long ino, Credentials credentials, UpdateOp op, Patience patience) {
            throw new AssertionError("nothing is committed");
        }

        @Override
        public void changed(
                long ino, UpdateOp op, List<Extent> extents, Answer<UpdateReply> answer) {}

        @Override
        public void rearranged(long ino) {}

        @Override
        public void lost(long ino) {}
    }
}
