package org.globalfs.client.vfs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.globalfs.client.vfs.TestClient.bytes;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.awaitility.Awaitility;
import org.globalfs.client.FakeBlockStore;
import org.globalfs.client.FakeCluster;
import org.globalfs.client.cache.KernelPages;
import org.globalfs.client.cache.MetadataCache;
import org.globalfs.client.meta.Session;
import org.globalfs.client.meta.SessionVector;
import org.globalfs.client.vfs.TestClient.Open;
import org.globalfs.protocol.Errno;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What the kernel keeps of a file that one client holds open while another changes it. */
@Timeout(120)
class PageGrantsTest {

    @TempDir Path folder;

    private FakeCluster cluster;
    private FakeBlockStore blocks;
    private TestClient writer;
    private TestClient reader;
    private FirstPage kernel;
    private long home;

    @BeforeEach
    void begin() throws FsException {
        cluster = new FakeCluster(folder, 1);
        blocks = new FakeBlockStore();
        writer = new TestClient(cluster, blocks, 1, TestClient.SLOW_FLUSH);
        reader = new TestClient(cluster, blocks, 1, TestClient.SLOW_FLUSH);
        kernel = new FirstPage(reader);
        reader.fs.mounted(kernel);
        long top = writer.mkdir(FileSystem.ROOT, "top");
        home = writer.mkdir(top, "home");
    }

    @AfterEach
    void end() {
        writer.close();
        reader.close();
        cluster.close();
    }

    /** A lookup may have to wait until old pages are gone. */
    @Test
    void aNameIsToldForNoLongerThanItIsKnownOnceTheKernelHasDroppedItsPages() throws FsException {
        cluster.leaseMs = 60_000;
        writer.put(home, "file", "content");
        long ino = reader.lookup(home, "file");
        long self = Thread.currentThread().threadId();
        AtomicBoolean waited = new AtomicBoolean();
        kernel.whileWaiting =
                () -> {
                    if (Thread.currentThread().threadId() == self) {
                        waited.set(true);
                        reader.fs.cache().endLease(1);
                    }
                };
        Entry entry;
        do {
            Open file = reader.open(ino, OpenFlags.O_RDONLY);
            reader.read(file, 0, 100);
            // Seldom it is dropped before the lookup finds it.
            reader.fs.cache().endLease(1);
            entry = reader.fs.lookup(reader.caller(), home, bytes("file"));
            reader.close(file);
        } while (!waited.get());
        assertThat(entry.entryTimeoutNs()).isZero();
        assertThat(entry.attributesTimeoutNs()).isZero();
    }

    /**
     * Linux' page cache with explicit invalidation, for the first page of one file: it is read once
     * and kept, and shown as far as the newest attributes say that the file goes. What is to be
     * dropped stays until somebody waits for that.
     */
    private static final class FirstPage implements KernelCache {
        private final TestClient client;
        private byte @Nullable [] page;
        private int queued;
        private int queuedBeforeAnswer;
        private boolean answering;
        private final List<Runnable> afterAnswer = new ArrayList<>();
        private volatile long told;
        private volatile boolean doubts;
        private volatile long lengthenedTo;
        private volatile Runnable whileWaiting = () -> {};
        private volatile Runnable whileLengthening = () -> {};
        private volatile Runnable whileShortening = () -> {};

        FirstPage(TestClient client) {
            this.client = client;
        }

        String read(Open file) throws FsException {
            int size = (int) client.stat(file.ino()).size();
            return shown(file, size);
        }

        /** As far as the file went before: Linux asks for no attributes then. */
        synchronized String shown(Open file, int size) throws FsException {
            byte[] shown = page;
            if (shown == null) {
                answering = true;
                shown = Arrays.copyOf(client.read(file, 0, 4096), 4096);
                queuedBeforeAnswer = queued;
                page = shown;
                answering = false;
                List<Runnable> answered = List.copyOf(afterAnswer);
                afterAnswer.clear();
                answered.forEach(Runnable::run);
            }
            return new String(shown, 0, size, java.nio.charset.StandardCharsets.UTF_8);
        }

        @Override
        public synchronized void afterAnswer(Runnable then) {
            if (answering) {
                afterAnswer.add(then);
            } else {
                then.run();
            }
        }

        void ask(Open file) {
            try {
                told = client.stat(file.ino()).size();
            } catch (FsException e) {
                throw new IllegalStateException(e);
            }
        }

        /** Reads the page and shows it as far as the file goes by what was told until then. */
        synchronized String page(Open file) throws FsException {
            page = null;
            shown(file, 0);
            return shown(file, (int) told);
        }

        synchronized boolean kept() {
            return page != null;
        }

        @Override
        public @Nullable Doubt doubt(long ino) {
            return !doubts
                    ? null
                    : new Doubt() {
                        @Override
                        public boolean covers(long size) {
                            return lengthenedTo >= size;
                        }

                        @Override
                        public boolean lengthen(long size) {
                            whileLengthening.run();
                            lengthenedTo = size;
                            return true;
                        }
                    };
        }

        @Override
        public void shortened(long ino) {
            whileShortening.run();
        }

        @Override
        public boolean isStoring(long ino) {
            return true;
        }

        @Override
        public boolean mapsDirectFiles() {
            return true;
        }

        @Override
        public boolean forgetsAtOnce() {
            return false;
        }

        @Override
        public void forgetNow(Collection<Long> inodes, long believedNs) {
            throw new AssertionError("this kernel cannot");
        }

        @Override
        public synchronized void invalidateInode(long ino, long offset, long length) {
            queued++;
        }

        @Override
        public synchronized boolean awaitInode(long ino, long timeoutMs) {
            whileWaiting.run();
            if (queued > 0) {
                page = null;
            }
            queued = 0;
            return true;
        }

        @Override
        public void afterInode(long ino, Runnable then) {
            awaitInode(ino, 0);
            then.run();
        }

        @Override
        public boolean await(Collection<Long> inodes, long timeoutMs) {
            return awaitInode(0, timeoutMs);
        }

        @Override
        public void invalidateEntry(long parent, byte[] name) {}

        @Override
        public void entryMoved(long parent, byte[] name) {}
    }

    /**
     * It would not believe an answer that ends sooner than the file did, if it was told to drop
     * something of the file in between.
     */
    @Test
    void whatIsReadWithoutAGrantIsDroppedOnceItIsAnswered() throws FsException {
        writer.put(home, "file", "content");
        Open file = reader.open(reader.lookup(home, "file"), OpenFlags.O_RDONLY);
        kernel.read(file);
        assertThat(kernel.queuedBeforeAnswer).isZero();
        assertThat(kernel.kept()).isFalse();
        reader.close(file);
    }

    /** Something reads or writes it all the while. */
    @Test
    void whatTheKernelDoesNotDropHoldsUpNoOtherFile() throws Exception {
        MetadataCache cache = new MetadataCache(new SessionVector(), 1 << 20);
        try (PageGrants grants = new PageGrants(cache, new KernelPages(), Session.begin())) {
            grants.mounted(new Busy(1));
            for (long ino = 1; ino <= 3; ino++) {
                grants.read(ino, 7);
            }
            assertTimeoutPreemptively(Duration.ofSeconds(20), () -> grants.settle(2));
            assertThat(grants.has(2)).isFalse();
            Awaitility.await().atMost(Duration.ofSeconds(20)).until(() -> !grants.has(3));
            grants.read(3, 8);
            Awaitility.await().atMost(Duration.ofSeconds(20)).until(() -> !grants.has(3));
            assertThat(grants.has(1)).isTrue();
        }
    }

    /** A read that holds a page may have met what the append did whose pages are to go. */
    @Test
    void whoHoldsAPageDoesNotWaitForWhoeverHasItDropped() throws Exception {
        cluster.leaseMs = 60_000;
        Session session = reader.metadata.session();
        writer.put(home, "file", "content");
        long ino = reader.lookup(home, "file");
        Open file = reader.open(ino, OpenFlags.O_WRONLY | OpenFlags.O_APPEND);
        Open read = reader.open(ino, OpenFlags.O_RDONLY);
        AtomicBoolean met = new AtomicBoolean();
        Thread self = Thread.currentThread();
        kernel.whileWaiting =
                () -> {
                    if (Thread.currentThread().equals(self) && holdsAPage(session)) {
                        met.set(true);
                    }
                };
        do {
            reader.read(read, 0, 100);
            // Seldom it is dropped before the append finds it.
            try (FileSystem.Answering _ = reader.fs.answering()) {
                reader.write(file, 7, bytes("more"));
            }
        } while (!met.get());
        reader.close(read);
        reader.close(file);
    }

    /** A read may hold the page that has to be there before the kernel makes the file longer. */
    @Test
    void whoHoldsAPageDoesNotWaitForWhoeverTellsASize() throws Exception {
        Session session = reader.metadata.session();
        Open file = reader.create(home, "file");
        AtomicBoolean met = new AtomicBoolean();
        kernel.doubts = true;
        kernel.whileLengthening = () -> met.set(holdsAPage(session));
        try (FileSystem.Answering _ = reader.fs.answering()) {
            reader.write(file, 0, bytes("content"));
            assertThat(told(file).stat().size()).isEqualTo(7);
        }
        assertThat(met).isTrue();
        reader.close(file);
    }

    @Test
    void whoHoldsAPageDoesNotWaitForATruncation() throws Exception {
        Session session = reader.metadata.session();
        writer.put(home, "file", "content");
        long ino = reader.lookup(home, "file");
        AtomicInteger met = new AtomicInteger();
        kernel.whileShortening = () -> met.addAndGet(holdsAPage(session) ? 1 : 0);
        truncate(ino, 5);
        Open file = reader.open(ino, OpenFlags.O_RDWR);
        truncate(ino, 3);
        assertThat(met).hasValue(2);
        reader.close(file);
    }

    private void truncate(long ino, long size) throws FsException {
        try (FileSystem.Answering _ = reader.fs.answering()) {
            reader.set(ino, SetAttributes.SIZE, size, FileSystem.NO_HANDLE);
        }
    }

    /** False: nothing is unsettled. */
    private static boolean holdsAPage(Session session) {
        List<Long> unsettled = session.settled().unsettled();
        if (unsettled.isEmpty()) {
            return false;
        }
        assertTimeoutPreemptively(
                Duration.ofSeconds(20), () -> session.awaitSettled(unsettled, Long.MAX_VALUE / 2));
        return true;
    }

    /** A kernel that never drops one inode's pages, and all others' at once. */
    private record Busy(long busy) implements KernelCache {
        @Override
        public void invalidateInode(long ino, long offset, long length) {}

        @Override
        public void invalidateEntry(long parent, byte[] name) {}

        @Override
        public void entryMoved(long parent, byte[] name) {}

        @Override
        public boolean await(Collection<Long> inodes, long timeoutMs) throws InterruptedException {
            if (inodes.contains(busy)) {
                TimeUnit.MILLISECONDS.sleep(timeoutMs);
            }
            return !inodes.contains(busy);
        }

        @Override
        public boolean awaitInode(long ino, long timeoutMs) throws InterruptedException {
            return await(List.of(ino), timeoutMs);
        }

        @Override
        public void afterInode(long ino, Runnable then) {
            if (ino != busy) {
                then.run();
            }
        }

        @Override
        public @Nullable Doubt doubt(long ino) {
            return null;
        }

        @Override
        public void shortened(long ino) {}

        @Override
        public boolean isStoring(long ino) {
            return false;
        }

        @Override
        public boolean mapsDirectFiles() {
            return true;
        }

        @Override
        public boolean forgetsAtOnce() {
            return false;
        }

        @Override
        public void forgetNow(Collection<Long> inodes, long believedNs) {
            throw new AssertionError("this kernel cannot");
        }
    }

    private void untilDropped() {
        Awaitility.await()
                .atMost(Duration.ofSeconds(20))
                .pollInterval(Duration.ofMillis(5))
                .until(() -> !kernel.kept());
    }

    @Test
    void aReaderAlongNeverSeesZeros() throws FsException {
        Open log = writer.create(home, "log");
        Open along = reader.open(reader.lookup(home, "log"), OpenFlags.O_RDONLY);
        StringBuilder written = new StringBuilder();
        for (int i = 0; i < 100; i++) {
            String text = "record " + i + "\n";
            writer.write(log, written.length(), bytes(text));
            writer.flush(log);
            written.append(text);
            assertThat(kernel.read(along)).isEqualTo(written.toString());
        }
    }

    @Test
    void whatIsReadWithoutAGrantIsNotKept() throws Exception {
        writer.put(home, "file", "one");
        Open open = reader.open(reader.lookup(home, "file"), OpenFlags.O_RDONLY);
        assertThat(kernel.read(open)).isEqualTo("one");
        untilDropped();
        writer.put(home, "file", "two");
        assertThat(kernel.shown(open, 3)).isEqualTo("two");
    }

    @Test
    void whatIsReadUnderAGrantIsKept() throws Exception {
        cluster.leaseMs = 5_000;
        writer.put(home, "file", "one");
        Open open = reader.open(reader.lookup(home, "file"), OpenFlags.O_RDONLY);
        int reads = cluster.reads.get();
        for (int i = 0; i < 1_000; i++) {
            assertThat(kernel.read(open)).isEqualTo("one");
        }
        assertThat(kernel.kept()).isTrue();
        assertThat(cluster.reads.get()).isEqualTo(reads);
        writer.put(home, "file", "two");
        untilDropped();
        assertThat(kernel.read(open)).isEqualTo("two");
    }

    /** Its coordinator is gone, and with it who would have told of the change. */
    @Test
    void whatWasGrantedIsDroppedWhenTheLeaseEnds() throws Exception {
        cluster.leaseMs = 600;
        writer.put(home, "file", "one");
        Open open = reader.open(reader.lookup(home, "file"), OpenFlags.O_RDONLY);
        assertThat(kernel.read(open)).isEqualTo("one");
        cluster.moveCoordinator(1, 2);
        writer.put(home, "file", "two");
        untilDropped();
        assertThat(kernel.shown(open, 3)).isEqualTo("two");
    }

    /** Then the kernel makes the file longer for all readers, whatever its pages have. */
    @Test
    void anAppendIsAnsweredOnceThePagesBeforeItAreGone() throws Exception {
        cluster.leaseMs = 60_000;
        writer.put(home, "log", "one");
        Open along = reader.open(reader.lookup(home, "log"), OpenFlags.O_RDONLY);
        Open log = reader.open(along.ino(), OpenFlags.O_WRONLY | OpenFlags.O_APPEND);
        assertThat(kernel.read(along)).isEqualTo("one");
        assertThat(kernel.kept()).isTrue();
        reader.write(log, 3, bytes("two"));
        assertThat(kernel.shown(along, 6)).isEqualTo("onetwo");
    }

    /** The append finds no pages to be dropped, and the kernel goes by its size from then on. */
    @Test
    void aReadOfTheEndHasWhatIsAppendedAndCommittedMeanwhile() throws FsException {
        cluster.leaseMs = 60_000;
        writer.put(home, "log", "x".repeat(100_000));
        Open along = reader.open(reader.lookup(home, "log"), OpenFlags.O_RDONLY);
        Open log = reader.open(along.ino(), OpenFlags.O_WRONLY | OpenFlags.O_APPEND);
        AtomicBoolean appended = new AtomicBoolean();
        blocks.beforeGet =
                () -> {
                    if (appended.compareAndSet(false, true)) {
                        append(reader, log, 12_500);
                    }
                };
        byte[] tail = reader.read(along, 99_999, 4096);
        assertThat(appended).isTrue();
        assertThat(tail).isEqualTo(bytes("x0012500 "));
    }

    /**
     * The kernel drops what it has of a hole, or behind an end, only when it is told of success.
     */
    @Test
    void whatAFailedChangeMayHaveMadeOldIsDropped() throws Exception {
        cluster.leaseMs = 60_000;
        Open unanswered = held("unanswered");
        Caller caller = reader.caller();
        cluster.late =
                op -> {
                    caller.cancel();
                    return op.isSetAllocate();
                };
        assertDropped(Errno.EIO, unanswered, () -> punch(caller, unanswered));
        cluster.late = op -> false;
        cluster.executeLate();
        assertThat(kernel.read(unanswered)).isEqualTo("\0ne");
        Open refused = held("refused");
        cluster.refusal = Errno.EDQUOT;
        cluster.refused = op -> op.isSetAllocate() || op.isSetSetAttributes();
        assertDropped(Errno.EDQUOT, refused, () -> punch(reader.caller(), refused));
        assertThat(kernel.read(refused)).isEqualTo("one");
        assertDropped(
                Errno.EDQUOT,
                refused,
                () -> reader.set(refused.ino(), SetAttributes.SIZE, 1, refused.handle()));
    }

    @Test
    void whatAChangeMadeOldThatFailsForEarlierDataIsDropped() throws Exception {
        cluster.leaseMs = 60_000;
        Open file = held("file");
        reader.write(file, 0, bytes("two"));
        cluster.refused =
                op -> {
                    if (op.isSetAllocate()) {
                        // What was lost is gone from the kernel; somebody reads meanwhile.
                        kernel.awaitInode(file.ino(), 0);
                        assertThatCode(() -> kernel.shown(file, 3)).doesNotThrowAnyException();
                    }
                    return op.isSetWrite();
                };
        assertDropped(Errno.EIO, file, () -> punch(reader.caller(), file));
        assertThat(kernel.read(file)).isEqualTo("\0ne");
    }

    /** Open for writing, its page in the kernel by a grant. */
    private Open held(String name) throws FsException {
        writer.put(home, name, "one");
        Open open = reader.open(reader.lookup(home, name), OpenFlags.O_RDWR);
        kernel.awaitInode(open.ino(), 0);
        assertThat(kernel.read(open)).isEqualTo("one");
        return open;
    }

    private void punch(Caller caller, Open file) throws FsException {
        int keepSizeAndPunchHole = 3;
        reader.fs.allocate(caller, file.ino(), file.handle(), 0, 1, keepSizeAndPunchHole);
    }

    private void assertDropped(Errno errno, Open file, ThrowingCallable change) {
        kernel.awaitInode(file.ino(), 0);
        assertThat(kernel.kept()).isTrue();
        assertThatThrownBy(change)
                .isInstanceOfSatisfying(
                        FsException.class, e -> assertThat(e.errno()).isEqualTo(errno));
        kernel.awaitInode(file.ino(), 0);
        assertThat(kernel.kept()).isFalse();
    }

    /** The kernel would cut what is read at a size that it was told, or believed, before. */
    @Test
    void whatOthersWriteIsReadPastThePages() throws Exception {
        cluster.leaseMs = 60_000;
        writer.put(home, "file", "one");
        long ino = reader.lookup(home, "file");
        assertThat(reader.fs.open(reader.caller(), ino, OpenFlags.O_RDONLY).directIo()).isFalse();
        writer.put(home, "file", "two");
        assertThat(reader.fs.open(reader.caller(), ino, OpenFlags.O_RDONLY).directIo()).isTrue();
        long quiet = reader.lookup(home, "file");
        assertThat(writer.fs.open(writer.caller(), quiet, OpenFlags.O_RDONLY).directIo()).isFalse();
    }

    /** They raise the version, and leave the content as it is. */
    @Test
    void whoRenamesOrLinksAFileKeepsItsPages() throws Exception {
        cluster.leaseMs = 60_000;
        reader.put(home, "file", "one");
        long ino = reader.lookup(home, "file");
        openKeepsPages(ino);
        reader.fs.rename(reader.caller(), home, bytes("file"), home, bytes("moved"), 0);
        assertThat(openKeepsPages(ino)).isTrue();
        reader.fs.link(reader.caller(), ino, home, bytes("second"));
        assertThat(openKeepsPages(ino)).isTrue();
        reader.fs.unlink(reader.caller(), home, bytes("moved"));
        assertThat(openKeepsPages(ino)).isTrue();
        writer.put(home, "second", "two");
        reader.fs.rename(reader.caller(), home, bytes("second"), home, bytes("file"), 0);
        assertThat(openKeepsPages(ino)).isFalse();
    }

    private boolean openKeepsPages(long ino) throws FsException {
        OpenResult open = reader.fs.open(reader.caller(), ino, OpenFlags.O_RDONLY);
        reader.fs.release(ino, open.handle());
        return open.keepCache();
    }

    /** Who touches a mapped page asks nobody for a size: beyond the end known that is SIGBUS. */
    @Test
    void theKernelIsToldHowLongOthersMakeAnOpenFile() throws Exception {
        cluster.leaseMs = 60_000;
        kernel.doubts = true;
        writer.put(home, "file", "one");
        Open open = reader.open(reader.lookup(home, "file"), OpenFlags.O_RDONLY);
        assertThat(kernel.read(open)).isEqualTo("one");
        Open longer = writer.open(open.ino(), OpenFlags.O_RDWR);
        for (int size = 100; size <= 500; size += 100) {
            long expected = size;
            writer.write(longer, size - 1, bytes("x"));
            writer.flush(longer);
            Awaitility.await()
                    .atMost(Duration.ofSeconds(20))
                    .until(() -> kernel.lengthenedTo == expected);
        }
    }

    /** To have the kernel believe the size can take longer than they are granted for. */
    @Test
    void attributesAreToldForNoLongerThanTheyAreKnownOnceTheSizeIsTold() throws Exception {
        cluster.leaseMs = 60_000;
        kernel.doubts = true;
        writer.put(home, "file", "one");
        Open open = reader.open(reader.lookup(home, "file"), OpenFlags.O_RDONLY);
        assertThat(told(open).timeoutNs()).isPositive();
        kernel.lengthenedTo = 0;
        kernel.whileLengthening = () -> reader.fs.cache().endLease(1);
        assertThat(told(open).timeoutNs()).isZero();
        assertThat(kernel.lengthenedTo).isEqualTo(3);
    }

    private AttributesReply told(Open file) throws FsException {
        return reader.fs.getAttributes(reader.caller(), file.ino(), FileSystem.NO_HANDLE);
    }

    /** Somebody else's question may make the file longer while a short read is under way. */
    @Test
    void aReadUnderWayIsNeverTakenForZeros() throws Exception {
        int records = 400;
        Open log = writer.create(home, "log");
        Open along = reader.open(reader.lookup(home, "log"), OpenFlags.O_RDONLY);
        CompletableFuture<Void> appended =
                CompletableFuture.runAsync(
                        () -> {
                            for (int i = 0; i < records; i++) {
                                append(writer, log, i);
                                kernel.ask(along);
                            }
                        },
                        Thread::startVirtualThread);
        try {
            while (!appended.isDone()) {
                assertThat(kernel.page(along)).doesNotContain("\0");
            }
        } finally {
            appended.join();
        }
        kernel.ask(along);
        assertThat(kernel.page(along)).hasSize(8 * records);
    }

    private static void append(TestClient client, Open log, int record) {
        try {
            client.write(log, 8L * record, bytes("%07d ".formatted(record)));
            client.flush(log);
        } catch (FsException e) {
            throw new IllegalStateException(e);
        }
    }
}
