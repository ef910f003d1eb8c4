package org.globalfs.datastore.node;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import org.globalfs.datastore.node.FaultPoints.Step;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
class SegmentFileTest {
    private static final DirectAppends CACHED = new DirectAppends(new DirectFiles(false));
    @TempDir Path folder;
    private SegmentFile file;

    @BeforeEach
    void create() throws IOException {
        file = SegmentFile.create(folder, 1, "c", "n", FaultPoints.NONE);
    }

    @AfterEach
    void close() throws IOException {
        file.close();
    }

    private long stampOnDisk() throws IOException {
        ByteBuffer header = ByteBuffer.allocate(SegmentFile.HEADER_BYTES);
        file.read(header, 0);
        return SegmentFile.stamp(header.flip());
    }

    /** A delete may have seen the epoch before a checkpoint, and come after the next death. */
    @Test
    void aStampIsNotTakenBack() throws IOException {
        file.stamp(7);
        file.stamp(6);
        assertThat(stampOnDisk()).isEqualTo(7);
        file.stamp(8);
        assertThat(stampOnDisk()).isEqualTo(8);
    }

    /** Or the file might be removed, or punched, with that record alive in it. */
    @Test
    void aRecordThatCouldNotBeKilledDoesNotCountAsDead() throws IOException {
        ByteBuffer record = ByteBuffer.allocate(128);
        file.append(record.slice(0, 64), record.slice(64, 64), 128, CACHED);
        file.close();
        assertThatThrownBy(() -> file.kill(SegmentFile.HEADER_BYTES, 128))
                .isInstanceOf(IOException.class);
        assertThat(file.garbageBytes()).isZero();
        assertThat(file.whollyDead()).isFalse();
    }

    /** By then its descriptor's number may be that of any file of the process. */
    @Test
    void aClosedFileTouchesItsDescriptorNoMore() throws IOException {
        int length = 128 << 10;
        ByteBuffer record = ByteBuffer.allocate(length);
        file.append(record.slice(0, 64), record.slice(64, length - 64), length, CACHED);
        file.kill(SegmentFile.HEADER_BYTES, length);
        file.sync();
        file.close();
        assertThat(file.punchAround(SegmentFile.HEADER_BYTES, true)).isZero();
        file.punchFound();
        assertThatThrownBy(() -> file.reserve(2 * length, 0))
                .isInstanceOf(ClosedChannelException.class);
        assertThatThrownBy(() -> file.append(record, record, 2 * length, CACHED))
                .isInstanceOf(ClosedChannelException.class);
    }

    @Test
    void isNotClosedUnderWhoIsChangingIt() throws Exception {
        CountDownLatch changing = new CountDownLatch(1);
        CountDownLatch done = new CountDownLatch(1);
        SegmentFile other =
                SegmentFile.create(
                        folder,
                        2,
                        "c",
                        "n",
                        (step, path) -> {
                            if (step == Step.SEGMENT_STAMPED) {
                                changing.countDown();
                                await().until(() -> done.getCount() == 0);
                            }
                        });
        FutureTask<?> change = task(() -> other.stamp(1));
        Thread.ofPlatform().start(change);
        changing.await();
        FutureTask<?> close = task(other::close);
        Thread closer = Thread.ofPlatform().start(close);
        await().until(() -> close.isDone() || closer.getState() == Thread.State.BLOCKED);
        assertThat(close.isDone()).isFalse();
        done.countDown();
        change.get();
        close.get();
    }

    private interface Work {
        void run() throws IOException;
    }

    private static FutureTask<?> task(Work work) {
        return new FutureTask<>(() -> {
            work.run();
            return true;
        });
    }
}
