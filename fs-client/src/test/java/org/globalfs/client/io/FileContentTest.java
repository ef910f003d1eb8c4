package org.globalfs.client.io;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.ToIntFunction;
import org.globalfs.client.FakeBlockStore;
import org.globalfs.client.meta.Answer;
import org.globalfs.client.meta.Patience;
import org.globalfs.protocol.Errno;
import org.globalfs.protocol.wire.Attributes;
import org.globalfs.protocol.wire.Credentials;
import org.globalfs.protocol.wire.Extent;
import org.globalfs.protocol.wire.SetAttributesOp;
import org.globalfs.protocol.wire.Status;
import org.globalfs.protocol.wire.UpdateOp;
import org.globalfs.protocol.wire.UpdateReply;
import org.globalfs.protocol.wire.WriteOp;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Writers, readers and commits of one file that meet, with one replica's state in memory. */
@Timeout(value = 20, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class FileContentTest {

    private static final Credentials ROOT = new Credentials(0, 0);
    private static final int INLINE_MAX = 16 << 10;

    private final FakeBlockStore blocks = new FakeBlockStore();
    private final OneFile replica = new OneFile();

    private static IoOptions options(long bufferBytes, Duration timeout) {
        return new IoOptions(
                INLINE_MAX,
                32 << 20,
                bufferBytes,
                16 << 20,
                Duration.ofMinutes(10),
                timeout,
                false);
    }

    private WriteBack writeBack() {
        return new WriteBack(replica, blocks, options(64 << 20, Duration.ofSeconds(50)));
    }

    private static Patience patience() {
        return Patience.of(Duration.ofSeconds(50));
    }

    private static void write(FileContent file, long offset, int length, boolean append) {
        try {
            file.write(offset, ByteBuffer.allocate(length), append, ROOT, patience());
        } catch (ContentException e) {
            throw new AssertionError(e);
        }
    }

    /** Each look that finds a MiB ill would else begin retries of its own. */
    @Test
    void aMibIsPutInOrderByOneAtATimeAndThroughWhatTheFileIsOpenedAs() {
        try (WriteBack writeBack = writeBack()) {
            FragmentedFiles files = writeBack.fragmented();
            FileContent file = writeBack.file(1);
            assertThat(writeBack.file(1)).isNotSameAs(file);
            assertThat(files.begin(file, List.of(0L, 3L))).containsExactly(0L, 3L);
            assertThat(files.begin(file, List.of(3L, 4L))).containsExactly(4L);
            assertThat(writeBack.file(1)).isSameAs(file);
            assertThat(writeBack.file(2)).isNotSameAs(file);
            files.done(1, 3);
            files.done(1, 0);
            assertThat(writeBack.file(1)).isSameAs(file);
            assertThat(files.begin(file, List.of(3L, 4L))).containsExactly(3L);
            files.done(1, 3);
            files.done(1, 4);
            assertThat(writeBack.file(1)).isNotSameAs(file);
        }
    }

    /** Who waits for a commit goes on however it ends. */
    @Test
    void aCommitWhoseOutcomeCannotBeTakenInHoldsUpNobody() throws InterruptedException {
        try (WriteBack writeBack = writeBack()) {
            FileContent file = writeBack.file(1);
            write(file, 0, 10, false);
            CountDownLatch go = new CountDownLatch(1);
            replica.beforeUpdate = op -> awaited(go);
            replica.failingChanges.set(1);
            Thread first =
                    Thread.ofPlatform()
                            .daemon()
                            .start(() -> {
                                try {
                                    file.flush();
                                } catch (IllegalStateException e) {
                                    assertThat(e).hasMessage("to be seen by who commits");
                                }
                            });
            await().until(() -> replica.updates.get() == 1);
            Thread second = Thread.ofPlatform().daemon().start(file::flush);
            await().until(() -> second.getState() == Thread.State.WAITING);
            go.countDown();
            first.join(10_000);
            second.join(10_000);
            assertThat(second.isAlive()).isFalse();
        }
    }

    /** Who appends tries again what was EIO. */
    @Test
    void whatIsGivenUpWhileItWaitsForACommitIsNotWrittenLater() throws InterruptedException {
        try (WriteBack writeBack = writeBack()) {
            FileContent file = writeBack.file(1);
            write(file, 0, 10, true);
            CountDownLatch go = new CountDownLatch(1);
            replica.beforeUpdate = op -> awaited(go);
            Thread commit = Thread.ofPlatform().daemon().start(file::flush);
            await().until(() -> replica.updates.get() == 1);
            AtomicBoolean answered = new AtomicBoolean();
            long deadlineNs = patience().deadlineNs();
            AtomicReference<Errno> failure = new AtomicReference<>();
            Thread append =
                    Thread.ofPlatform()
                            .daemon()
                            .start(() -> {
                                try {
                                    file.write(
                                            10,
                                            ByteBuffer.allocate(7),
                                            true,
                                            ROOT,
                                            Patience.until(deadlineNs, answered::get));
                                } catch (ContentException e) {
                                    failure.set(e.errno());
                                }
                            });
            await().until(() -> append.getState() == Thread.State.WAITING);
            answered.set(true);
            go.countDown();
            append.join();
            commit.join();
            assertThat(failure.get()).isEqualTo(Errno.EIO);
            assertThat(file.hasPending()).isFalse();
            assertThat(writeBack.budget().usedBytes()).isZero();
        }
    }

    private static void awaited(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Files of the region that it was written in would wait for that memory for ever. */
    @Test
    void whatAFileTookIsGivenBackWhereItWasTaken() {
        try (WriteBack writeBack = writeBack()) {
            FileContent file = writeBack.file(1);
            for (int home = 1; home <= 3; home++) {
                replica.home = home;
                write(file, home * 10L, 10, false);
            }
            file.flush();
            assertThat(file.errors()).isZero();
            assertThat(writeBack.budget().usedBytes()).isZero();
        }
    }

    /** Bytes far from each other, of which each takes a buffer: the replica is away. */
    @Test
    void scatteredBytesCountWithTheMemoryThatTheyTake() throws InterruptedException {
        IoOptions options = options(1 << 20, Duration.ofSeconds(50));
        try (WriteBack writeBack = new WriteBack(replica, blocks, options)) {
            CountDownLatch go = new CountDownLatch(1);
            replica.beforeUpdate = op -> awaited(go);
            List<FileContent> files = new ArrayList<>();
            for (int i = 0; i < 4; i++) {
                files.add(writeBack.file(i));
            }
            AtomicInteger written = new AtomicInteger();
            Thread writer =
                    Thread.ofPlatform()
                            .daemon()
                            .start(() -> {
                                for (int i = 0; i < 4_000; i++) {
                                    write(files.get(i % 4), i * 8192L, 1, false);
                                    written.incrementAndGet();
                                }
                            });
            writer.join(500);
            assertThat(written).as("buffers in a MiB").hasValueLessThan((1 << 20) / 512);
            go.countDown();
            writer.join();
        }
    }

    /**
     * Storage is away, and writers wait for room: they ask for commits of all files, all the time.
     */
    @Test
    void whoWaitsForRoomBeginsNoMoreThanOneFlushOfAFile() throws InterruptedException {
        IoOptions options = options(1 << 20, Duration.ofSeconds(50));
        AtomicInteger begun = new AtomicInteger();
        ThreadFactory flushing =
                task -> {
                    begun.incrementAndGet();
                    return Thread.ofVirtual().unstarted(task);
                };
        ThreadFactory transfers = Thread.ofPlatform().daemon().factory();
        try (WriteBack writeBack = new WriteBack(replica, blocks, options, transfers, flushing)) {
            CountDownLatch go = new CountDownLatch(1);
            replica.beforeUpdate = op -> awaited(go);
            List<Thread> writers = new ArrayList<>();
            AtomicInteger written = new AtomicInteger();
            for (int i = 0; i < 16; i++) {
                FileContent file = writeBack.file(i);
                writers.add(
                        Thread.ofPlatform()
                                .daemon()
                                .start(() -> {
                                    for (int at = 0; at < 16; at++) {
                                        write(file, at * 16384L, 16384, false);
                                        written.incrementAndGet();
                                    }
                                }));
            }
            writers.getFirst().join(3_000);
            assertThat(written).as("the budget is used up").hasValueBetween(40, 100);
            assertThat(begun).as("of 16 files").hasValueLessThanOrEqualTo(16);
            go.countDown();
            for (Thread writer : writers) {
                writer.join();
            }
        }
    }

    /** chmod(2) was answered; that content finds no storage node is no reason to forget it. */
    @Test
    void attributesStayWhenTheContentBeforeThemIsLost() {
        IoOptions options = options(64 << 20, Duration.ofNanos(1));
        try (WriteBack writeBack = new WriteBack(replica, blocks, options)) {
            FileContent file = writeBack.file(1);
            write(file, 0, 2 * INLINE_MAX, false);
            assertThat(file.defer(new SetAttributesOp(1).setMode(0600), ROOT)).isTrue();
            blocks.refusePuts = true;
            file.flush();
            assertThat(file.errors()).isEqualTo(1);
            assertThat(file.lastError()).isEqualTo(Errno.EIO);
            assertThat(replica.executed)
                    .containsExactly(UpdateOp.setAttributes(new SetAttributesOp(1).setMode(0600)));
        }
    }

    /** Somebody else owns the file now: what ftruncate(2) cut off is not to come back. */
    @Test
    void aTruncationStaysWhenAttributesBeforeItAreRefused() {
        try (WriteBack writeBack = writeBack()) {
            FileContent file = writeBack.file(1);
            write(file, 0, 10, false);
            assertThat(file.defer(new SetAttributesOp(1).setMode(0600), ROOT)).isTrue();
            replica.refusal =
                    op -> {
                        WriteOp write = op.getWrite();
                        boolean changesMode =
                                write.isSetAttributes() && write.getAttributes().isSetMode();
                        return changesMode ? Errno.EPERM.number() : 0;
                    };
            SetAttributesOp size = new SetAttributesOp(1).setSize(5).setPartly(true);
            size.setHandle(true);
            assertThat(file.setAttributes(size, ROOT, true, patience(), () -> {}).errno())
                    .isEqualTo(Errno.EPERM.number());
            Extent left = new Extent(0, 5).setData(new byte[5]);
            assertThat(replica.executed)
                    .containsExactly(
                            UpdateOp.write(new WriteOp(1, List.of(left)).setAttributes(size)));
        }
    }

    /**
     * What is small needs no storage node, and does not wait for one because of what was before.
     */
    @Test
    void noCommitWaitsForACompactionThatFindsNoStorage() {
        try (WriteBack writeBack = writeBack()) {
            FileContent file = writeBack.file(1);
            blocks.refusePuts = true;
            for (int i = 0; i < 400; i++) {
                write(file, i * 101L, 100, false);
                write(file, i * 101L + 100, 1, false);
                file.flush();
            }
            write(file, 0, 1, false);
            file.flush();
            assertThat(file.errors()).isZero();
        }
    }

    /** A process may have no thread more, and goes on with those that it has. */
    @Test
    void contentIsStoredAndReadWhereNoThreadCanBeBegun() throws ContentException {
        ThreadFactory none =
                task -> {
                    throw new OutOfMemoryError("unable to create native thread");
                };
        IoOptions options = options(64 << 20, Duration.ofSeconds(50));
        try (WriteBack writeBack =
                new WriteBack(replica, blocks, options, none, Thread.ofVirtual().factory())) {
            FileContent file = writeBack.file(1);
            write(file, 0, 40 << 20, false);
            file.flush();
            assertThat(file.errors()).isZero();
            ByteBuffer into = ByteBuffer.allocate(1 << 20);
            file.read(0, into, new ReadAhead(), patience());
            assertThat(into.hasRemaining()).isFalse();
        }
    }

    /** Caches learn of it before the commit is through. */
    @Test
    void whatWasAppendedIsNotAddedToASizeThatHasItAlready() throws ContentException {
        try (WriteBack writeBack =
                new WriteBack(replica, blocks, options(64 << 20, Duration.ofSeconds(50)))) {
            FileContent file = writeBack.file(1);
            write(file, 0, 100, true);
            List<Long> told = new ArrayList<>();
            replica.onceMade =
                    () -> {
                        told.add(sizeOver(file, 0, 0));
                        told.add(sizeOver(file, 1, 100));
                    };
            file.flush();
            assertThat(told).containsExactly(100L, 100L);
        }
    }

    private static long sizeOver(FileContent file, long version, long size) {
        Attributes base = new Attributes().setVersion(version).setSize(size);
        return Objects.requireNonNull(file.overlay(base)).getSize();
    }

    /** What the replicas hold of the file, whichever it is. */
    private static final class OneFile implements Backing {
        final AtomicInteger updates = new AtomicInteger();
        final AtomicInteger failingChanges = new AtomicInteger();
        final List<UpdateOp> executed = new ArrayList<>();
        private final AtomicLong version = new AtomicLong();
        private final AtomicReference<ContentMap> map = new AtomicReference<>(ContentMap.empty(0));
        volatile int home = 1;
        volatile Consumer<UpdateOp> beforeUpdate = op -> {};
        volatile Runnable onceMade = () -> {};
        volatile ToIntFunction<UpdateOp> refusal = op -> 0;

        @Override
        public @Nullable ContentMap known(long ino) {
            return null;
        }

        @Override
        public ContentMap fetch(long ino, long offset, long length, Patience patience) {
            return map.get();
        }

        @Override
        public ContentMap page(long ino, long offset, Patience patience) {
            return map.get();
        }

        @Override
        public int home(long ino) {
            return home;
        }

        @Override
        public Answer<UpdateReply> update(
                long ino,
                Credentials credentials,
                UpdateOp op,
                Patience patience,
                Consumer<Attributes> made) {
            updates.incrementAndGet();
            beforeUpdate.accept(op);
            int refused = refusal.applyAsInt(op);
            if (refused != 0) {
                return new Answer<>(new UpdateReply(Status.DONE, refused), 1, 0, 0);
            }
            UpdateReply reply = new UpdateReply(Status.DONE, 0);
            synchronized (executed) {
                executed.add(op);
                ContentMap before = map.get();
                long base = op.isSetWrite() && op.getWrite().isAppend() ? before.size() : 0;
                List<Extent> placed = new ArrayList<>();
                long size = before.size();
                for (Extent extent :
                        op.isSetWrite() ? op.getWrite().getExtents() : List.<Extent>of()) {
                    placed.add(new Extent(extent).setOffset(base + extent.getOffset()));
                    size = Math.max(size, base + extent.getOffset() + extent.getLength());
                }
                reply.setOffset(base);
                ContentMap after = before.changed(version.incrementAndGet(), size, placed);
                map.set(Objects.requireNonNull(after));
                made.accept(new Attributes().setVersion(after.version()).setSize(size));
            }
            onceMade.run();
            return new Answer<>(reply, 1, 0, 0);
        }

        @Override
        public void changed(
                long ino, UpdateOp op, List<Extent> extents, Answer<UpdateReply> answer) {
            if (failingChanges.getAndUpdate(left -> Math.max(0, left - 1)) > 0) {
                throw new IllegalStateException("to be seen by who commits");
            }
        }

        @Override
        public void rearranged(long ino) {}

        @Override
        public void lost(long ino) {}
    }
}
