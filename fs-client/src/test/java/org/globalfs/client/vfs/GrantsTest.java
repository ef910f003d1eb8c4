package org.globalfs.client.vfs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.globalfs.client.vfs.TestClient.bytes;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.globalfs.client.FakeBlockStore;
import org.globalfs.client.FakeCluster;
import org.globalfs.client.vfs.TestClient.Open;
import org.globalfs.protocol.Errno;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What grants save, and that nothing stale is ever told under them. */
class GrantsTest {

    @TempDir Path folder;

    private FakeCluster cluster;
    private FakeBlockStore blocks;
    private TestClient one;
    private TestClient two;
    private long home;

    @BeforeEach
    void begin() throws FsException {
        cluster = new FakeCluster(folder, 1);
        cluster.leaseMs = 5_000;
        blocks = new FakeBlockStore();
        one = new TestClient(cluster, blocks, 1, TestClient.SLOW_FLUSH);
        two = new TestClient(cluster, blocks, 1, TestClient.SLOW_FLUSH);
        long top = one.mkdir(FileSystem.ROOT, "top");
        home = one.mkdir(top, "home");
    }

    @AfterEach
    void end() {
        one.close();
        two.close();
        cluster.close();
    }

    private int calls() {
        return cluster.reads.get() + cluster.updates.get();
    }

    /** As tar does it: look, create, write, set times, close. */
    private void unpack(String name) throws FsException {
        assertThat(absent(one, name)).isTrue();
        Open file = one.create(home, name);
        one.write(file, 0, bytes("content of " + name));
        one.set(file.ino(), SetAttributes.MTIME, 1_000_000, file.handle());
        one.close(file);
    }

    private boolean absent(TestClient client, String name) throws FsException {
        try {
            return client.fs.lookup(client.caller(), home, bytes(name)).stat() == null;
        } catch (FsException e) {
            if (e.errno() == Errno.ENOENT) {
                return true;
            }
            throw e;
        }
    }

    @Test
    void unpackingAFileCostsTwoUpdates() throws FsException {
        unpack("first");
        int before = calls();
        for (int i = 0; i < 10; i++) {
            unpack("f" + i);
        }
        assertThat(calls() - before).isEqualTo(20);
    }

    /** It is asked for once more with the next grant, and what was asked for is answered. */
    @Test
    void whoCanBeginNoThreadGivesGrantsBackOnceItCan() throws FsException {
        AtomicBoolean none = new AtomicBoolean(true);
        AtomicInteger begun = new AtomicInteger();
        ThreadFactory few =
                task -> {
                    if (none.get()) {
                        throw new OutOfMemoryError("unable to create native thread");
                    }
                    begun.incrementAndGet();
                    return Thread.ofPlatform().daemon().unstarted(task);
                };
        try (TestClient poor =
                new TestClient(
                        cluster, blocks, 1, TestClient.SLOW_FLUSH, Duration.ofSeconds(60), few)) {
            Open file = poor.create(home, "file");
            none.set(false);
            for (int i = 0; i < 3; i++) {
                poor.mkdir(home, "later" + i);
            }
            assertThat(begun).as("one listens").hasValue(1);
            poor.close(file);
        }
    }

    @Test
    void whatWasWrittenHereIsKnownHere() throws FsException {
        unpack("file");
        int before = calls();
        long ino = one.lookup(home, "file");
        assertThat(one.stat(ino).mtimeNs()).isEqualTo(1_000_000);
        assertThat(one.content(ino)).isEqualTo(bytes("content of file"));
        assertThat(absent(one, "other")).isTrue();
        assertThat(calls()).isEqualTo(before);
    }

    @Test
    void whatWasReadOnceIsKnown() throws FsException {
        unpack("file");
        long ino = two.lookup(home, "file");
        two.content(ino);
        assertThat(absent(two, "other")).isTrue();
        int before = calls();
        assertThat(two.lookup(home, "file")).isEqualTo(ino);
        assertThat(two.content(ino)).isEqualTo(bytes("content of file"));
        assertThat(two.stat(ino).size()).isEqualTo(15);
        assertThat(absent(two, "other")).isTrue();
        assertThat(calls()).isEqualTo(before);
    }

    @Test
    void aListingGrantsItsEntries() throws FsException {
        unpack("a");
        unpack("b");
        two.lookup(home, "a");
        assertThat(two.list(home, 100)).containsExactly("a", "b");
        int before = calls();
        two.stat(two.lookup(home, "b"));
        assertThat(absent(two, "c")).isTrue();
        assertThat(calls()).isEqualTo(before);
    }

    @Test
    void anUpdateElsewhereIsSeenAtOnce() throws FsException {
        unpack("file");
        long ino = two.lookup(home, "file");
        two.content(ino);
        assertThat(absent(two, "new")).isTrue();

        one.put(home, "file", "changed");
        one.put(home, "new", "x");
        one.set(ino, SetAttributes.MODE, 0640, FileSystem.NO_HANDLE);

        assertThat(two.content(ino)).isEqualTo(bytes("changed"));
        assertThat(two.stat(ino).mode()).isEqualTo(0100640);
        assertThat(absent(two, "new")).isFalse();
        one.fs.unlink(one.caller(), home, bytes("file"));
        assertThat(absent(two, "file")).isTrue();
    }

    /** The answer to a write comes after another mount's write, and after a read of that. */
    @Test
    void aLateAnswerToAWriteDoesNotCoverWhatCameAfterIt() throws Exception {
        unpack("file");
        long ino = one.lookup(home, "file");
        one.content(ino);
        Open mine = one.open(ino, OpenFlags.O_RDWR);
        Open reader = one.open(ino, OpenFlags.O_RDONLY);
        Open theirs = two.open(ino, OpenFlags.O_RDWR);
        AtomicBoolean first = new AtomicBoolean(true);
        cluster.beforeReply =
                command -> {
                    if (command.getOp().isSetWrite() && first.getAndSet(false)) {
                        elsewhere(() -> {
                            two.write(theirs, 0, bytes("theirs, and longer than before"));
                            two.flush(theirs);
                            one.read(reader, 0, 100);
                        });
                    }
                };
        one.write(mine, 0, bytes("mine"));
        one.flush(mine);
        assertThat(one.content(ino)).isEqualTo(bytes("theirs, and longer than before"));
        assertThat(one.stat(ino).size()).isEqualTo(30);
        for (Open open : new Open[] {mine, reader}) {
            one.close(open);
        }
        two.close(theirs);
    }

    /** Its session is not told: grants are not taken back for a session's own updates. */
    @Test
    void anUpdateThatWasGivenUpIsSeenOnceItTakesEffect() throws Exception {
        unpack("file");
        long ino = one.lookup(home, "file");
        one.fs.link(one.caller(), ino, home, bytes("other"));
        assertThat(one.stat(ino).nlink()).isEqualTo(2);
        giveUp(caller -> one.fs.makeDirectory(caller, home, bytes("new"), 0755));
        giveUp(caller -> one.fs.unlink(caller, home, bytes("file")));
        assertThat(absent(one, "new")).isTrue();
        assertThat(absent(one, "file")).isFalse();
        assertThat(one.list(home, 100)).containsExactly("file", "other");
        assertThat(one.stat(ino).nlink()).isEqualTo(2);
        cluster.executeLate();
        assertThat(absent(one, "new")).isFalse();
        assertThat(absent(one, "file")).isTrue();
        assertThat(one.list(home, 100)).containsExactlyInAnyOrder("new", "other");
        assertThat(one.stat(ino).nlink()).isEqualTo(1);
    }

    private interface Attempt {
        void run(Caller caller) throws FsException;
    }

    /** As when a program is killed while a coordinator cannot answer. */
    private void giveUp(Attempt attempt) {
        Caller caller = one.caller();
        cluster.late =
                op -> {
                    caller.cancel();
                    return true;
                };
        GlobalFileSystemTest.assertFails(Errno.EIO, () -> attempt.run(caller));
        cluster.late = op -> false;
    }

    /** Its kernel would take them for newer than all that it was told before it went on reading. */
    @Test
    void aListingThatIsReadSlowlyTellsNoAttributesOfBefore() throws FsException {
        for (String name : new String[] {"a", "b", "c"}) {
            one.put(home, name, "short");
        }
        two.lookup(home, "a");
        long handle = two.fs.openDirectory(two.caller(), home, 0).handle();
        List<ListedEntries.Listed> first = listed(handle, 0, 1);
        assertThat(first).hasSize(1);
        assertThat(first.getFirst().entry()).isNotNull();
        one.put(home, "b", "longer than before");
        List<ListedEntries.Listed> others = listed(handle, first.getFirst().cookie(), 10);
        assertThat(others).hasSize(2);
        assertThat(others.getFirst().entry()).as("changed since").isNull();
        assertThat(others.getLast().entry()).as("as it was").isNotNull();
        two.fs.releaseDirectory(home, handle);
    }

    private List<ListedEntries.Listed> listed(long handle, long cookie, int room)
            throws FsException {
        ListedEntries listed = new ListedEntries(room);
        two.fs.readDirectory(two.caller(), home, handle, cookie, listed);
        return listed.taken();
    }

    private interface Work {
        void run() throws FsException;
    }

    private static void elsewhere(Work work) {
        CompletableFuture<Void> done = new CompletableFuture<>();
        Thread.ofPlatform()
                .start(() -> {
                    try {
                        work.run();
                        done.complete(null);
                    } catch (Throwable e) {
                        done.completeExceptionally(e);
                    }
                });
        done.join();
    }

    @Test
    void permissionsAreCheckedOnWhatIsCachedToo() throws FsException {
        unpack("file");
        long ino = two.lookup(home, "file");
        two.content(ino);
        one.set(ino, SetAttributes.MODE, 0600, FileSystem.NO_HANDLE);
        two.content(ino);
        two.uid = 1000;
        GlobalFileSystemTest.assertFails(Errno.EACCES, () -> two.open(ino, OpenFlags.O_RDONLY));
        one.set(home, SetAttributes.MODE, 0700, FileSystem.NO_HANDLE);
        GlobalFileSystemTest.assertFails(Errno.EACCES, () -> two.lookup(home, "file"));
    }

    @Test
    void aClientThatDoesNotGiveBackHoldsOthersUpNoLongerThanItsLease() throws FsException {
        cluster.leaseMs = 600;
        unpack("file");
        two.content(two.lookup(home, "file"));
        two.fs.close();
        long startNs = System.nanoTime();
        one.put(home, "file", "changed");
        assertThat((System.nanoTime() - startNs) / 1_000_000).isLessThan(3_000);
    }

    @Test
    void anotherCoordinatorDoesNotInheritGrants() throws FsException {
        cluster.leaseMs = 600;
        unpack("file");
        long ino = two.lookup(home, "file");
        two.content(ino);
        cluster.moveCoordinator(1, 2);
        one.put(home, "file", "changed");
        two.lookup(home, "file");
        assertThat(two.content(ino)).isEqualTo(bytes("changed"));
    }

    /**
     * Two writers count up in files of one directory; each reads both numbers and must never see
     * one fall.
     */
    @Test
    void nothingEverGoesBackwards() throws Exception {
        long seed = 42;
        one.put(home, "c1", "0");
        one.put(home, "c2", "0");
        AtomicBoolean done = new AtomicBoolean();
        Counter first = new Counter(one, "c1", "c2", new Random(seed), done);
        Counter second = new Counter(two, "c2", "c1", new Random(seed + 1), done);
        Thread a = Thread.ofPlatform().start(first);
        Thread b = Thread.ofPlatform().start(second);
        a.join();
        b.join();
        assertThat(first.failure).isNull();
        assertThat(second.failure).isNull();
    }

    private final class Counter implements Runnable {
        private final TestClient client;
        private final String own;
        private final String other;
        private final Random random;
        private final AtomicBoolean done;
        volatile @Nullable Throwable failure;

        Counter(TestClient client, String own, String other, Random random, AtomicBoolean done) {
            this.client = client;
            this.own = own;
            this.other = other;
            this.random = random;
            this.done = done;
        }

        @Override
        public void run() {
            try {
                int mine = 0;
                int theirs = 0;
                for (int i = 0; i < 300 && !done.get(); i++) {
                    if (random.nextBoolean()) {
                        mine++;
                        client.put(home, own, Integer.toString(mine));
                    } else if (random.nextInt(4) == 0) {
                        mine++;
                        client.put(home, own + ".tmp", Integer.toString(mine));
                        client.fs.rename(
                                client.caller(), home, bytes(own + ".tmp"), home, bytes(own), 0);
                    }
                    assertThat(number(own)).isEqualTo(mine);
                    int now = number(other);
                    assertThat(now).isGreaterThanOrEqualTo(theirs);
                    theirs = now;
                }
            } catch (Throwable e) {
                failure = e;
            } finally {
                done.set(failure != null);
            }
        }

        /** Old or new, never empty: the writers replace content in one command or by rename. */
        private int number(String name) throws FsException {
            while (true) {
                String text =
                        new String(
                                client.content(client.lookup(home, name)),
                                java.nio.charset.StandardCharsets.UTF_8);
                if (!text.isEmpty()) {
                    return Integer.parseInt(text);
                }
            }
        }
    }
}
