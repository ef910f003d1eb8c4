package org.globalfs.client.vfs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;
import static org.globalfs.client.vfs.TestClient.bytes;

import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.globalfs.client.FakeBlockStore;
import org.globalfs.client.FakeCluster;
import org.globalfs.client.vfs.TestClient.Open;
import org.globalfs.protocol.Errno;
import org.globalfs.protocol.config.ClientConfig;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class GlobalFileSystemTest {

    @TempDir Path folder;

    private FakeCluster cluster;
    private FakeBlockStore blocks;
    private TestClient here;
    private TestClient there;
    private long home;

    @BeforeEach
    void begin() throws FsException {
        cluster = new FakeCluster(folder, 2);
        blocks = new FakeBlockStore();
        here = new TestClient(cluster, blocks, 1, TestClient.SLOW_FLUSH);
        there = new TestClient(cluster, blocks, 2, TestClient.SLOW_FLUSH);
        home = here.mkdir(FileSystem.ROOT, "home");
    }

    @AfterEach
    void end() {
        here.close();
        there.close();
        cluster.close();
    }

    static void assertFails(Errno errno, ThrowingCallable call) {
        assertThatThrownBy(call)
                .isInstanceOfSatisfying(
                        FsException.class, e -> assertThat(e.errno()).isEqualTo(errno));
    }

    @Test
    void whatOneClientClosedAnotherRegionReads() throws FsException {
        here.put(home, "file", "hello");
        long ino = there.lookup(there.lookup(FileSystem.ROOT, "home"), "file");
        assertThat(there.content(ino)).isEqualTo(bytes("hello"));
        assertThat(there.stat(ino).size()).isEqualTo(5);
        assertThat(blocks.count()).as("small content needs no block").isZero();
    }

    @Test
    void bufferedWritesAreSeenHereAndNotThereUntilClosed() throws FsException {
        Open file = here.create(home, "file");
        here.write(file, 0, bytes("hello"));

        assertThat(here.read(file, 0, 100)).isEqualTo(bytes("hello"));
        assertThat(here.fs.getAttributes(here.caller(), file.ino(), file.handle()).stat().size())
                .isEqualTo(5);
        assertThat(there.content(file.ino())).isEmpty();

        here.close(file);
        assertThat(there.content(file.ino())).isEqualTo(bytes("hello"));
    }

    @Test
    void statCommitsFirstSoThatTimesStay() throws FsException {
        Open file = here.create(home, "file");
        here.write(file, 0, bytes("hello"));
        Stat before = here.stat(file.ino());
        here.close(file);
        assertThat(here.stat(file.ino())).isEqualTo(before);
        assertThat(before.size()).isEqualTo(5);
    }

    @Test
    void aReadMergesDirtyRangesOverCommittedOnes() throws FsException {
        here.put(home, "file", "aaaaaaaaaa");
        long ino = here.lookup(home, "file");
        Open file = here.open(ino, OpenFlags.O_RDWR);
        here.write(file, 3, bytes("bb"));
        here.write(file, 12, bytes("c"));
        assertThat(here.read(file, 0, 100)).isEqualTo(bytes("aaabbaaaaa\0\0c"));
        here.close(file);
        assertThat(there.content(ino)).isEqualTo(bytes("aaabbaaaaa\0\0c"));
    }

    @Test
    void tooLargeASizeLeavesWhatWasWrittenBefore() throws FsException {
        Open file = here.create(home, "file");
        here.write(file, 0, bytes("kept"));
        here.set(file.ino(), SetAttributes.MODE, 0666, file.handle());
        assertFails(
                Errno.EFBIG,
                () ->
                        here.set(
                                file.ino(),
                                SetAttributes.SIZE,
                                Ranges.FILE_SIZE_MAX + 1,
                                file.handle()));
        here.close(file);
        assertThat(there.content(file.ino())).isEqualTo(bytes("kept"));
        assertThat(there.stat(file.ino()).mode() & 07777).isEqualTo(0666);
    }

    @Test
    void aDirectorysParentIsFoundWithoutItsName() throws FsException {
        long inner = here.mkdir(home, "inner");
        here.set(inner, SetAttributes.MODE, 0700, FileSystem.NO_HANDLE);
        there.uid = 1_000;
        assertThat(there.fs.parentOf(there.caller(), inner)).isEqualTo(home);
        assertThat(there.fs.parentOf(there.caller(), home)).isEqualTo(FileSystem.ROOT);
        assertThat(there.fs.parentOf(there.caller(), FileSystem.ROOT)).isEqualTo(FileSystem.ROOT);
    }

    @Test
    void truncationTakesDirtyDataWithIt() throws FsException {
        Open file = here.create(home, "file");
        here.write(file, 0, bytes("0123456789"));
        here.set(file.ino(), SetAttributes.SIZE, 4, file.handle());
        assertThat(there.content(file.ino())).isEqualTo(bytes("0123"));
        here.write(file, 6, bytes("x"));
        assertThat(here.read(file, 0, 100)).isEqualTo(bytes("0123\0\0x"));
        here.close(file);
        Open again = here.open(file.ino(), OpenFlags.O_RDWR | OpenFlags.O_TRUNC);
        assertThat(here.read(again, 0, 100)).isEmpty();
        here.close(again);
        assertThat(there.stat(file.ino()).size()).isZero();
    }

    /** The process was killed, or told EIO, while what was written before found no storage node. */
    @Test
    void aTruncationThatWasGivenUpTakesNothingThatIsWrittenSince() throws Exception {
        Open file = here.create(home, "file");
        byte[] content = new byte[100_000];
        Arrays.fill(content, (byte) 'a');
        here.write(file, 0, content);
        blocks.refusePuts = true;
        CompletableFuture<Void> storing = waiting(() -> here.flush(file));
        Caller gone = here.caller();
        SetAttributes empty =
                new SetAttributes(SetAttributes.SIZE, 0, 0, 0, 0, 0, 0, file.handle());
        CompletableFuture<Void> cutting =
                waiting(() ->
                        assertFails(
                                Errno.EIO, () -> here.fs.setAttributes(gone, file.ino(), empty)));
        gone.cancel();
        here.write(file, 0, bytes("B"));
        blocks.refusePuts = false;
        storing.join();
        cutting.join();
        here.flush(file);
        content[0] = 'B';
        assertThat(there.content(file.ino())).isEqualTo(content);
    }

    /** Returns once it waits for something. */
    private static CompletableFuture<Void> waiting(ThrowingCallable task) {
        CompletableFuture<Void> done = new CompletableFuture<>();
        Thread thread =
                Thread.ofPlatform()
                        .daemon()
                        .start(() -> {
                            try {
                                task.call();
                                done.complete(null);
                            } catch (Throwable e) {
                                done.completeExceptionally(e);
                            }
                        });
        await().until(() -> thread.getState() == Thread.State.WAITING || done.isDone());
        return done;
    }

    @Test
    void attributesSetAfterAWriteTravelWithIt() throws FsException {
        Open file = here.create(home, "file");
        here.write(file, 0, bytes("hello"));
        int before = cluster.executed.size();
        here.set(file.ino(), SetAttributes.MTIME, 1_234_567_890_123L, file.handle());
        here.set(file.ino(), SetAttributes.MODE, 0600, file.handle());
        here.close(file);
        assertThat(cluster.executed).hasSize(before + 1);
        Stat stat = there.stat(file.ino());
        assertThat(stat.mtimeNs()).isEqualTo(1_234_567_890_123L);
        assertThat(stat.mode()).isEqualTo(0100600);
        assertThat(stat.size()).isEqualTo(5);
    }

    /**
     * Who may not read it any more may not once chmod(2) has returned, whatever is not stored yet.
     */
    @Test
    void whatIsTakenFromOthersIsTakenAtOnce() throws FsException {
        Open file = here.create(home, "file");
        here.set(file.ino(), SetAttributes.MODE, 0644, file.handle());
        there.uid = 1_000;
        there.close(there.open(file.ino(), OpenFlags.O_RDONLY));
        here.write(file, 0, bytes("secret"));
        int before = cluster.executed.size();
        here.set(file.ino(), SetAttributes.MODE, 0600, file.handle());
        assertThat(cluster.executed).as("with what was written").hasSize(before + 1);
        assertFails(Errno.EACCES, () -> there.open(file.ino(), OpenFlags.O_RDONLY));
        here.write(file, 6, bytes("!"));
        here.set(file.ino(), SetAttributes.UID, 1_000, file.handle());
        here.set(file.ino(), SetAttributes.MODE, 0640, file.handle());
        here.set(file.ino(), SetAttributes.UID, 1_001, file.handle());
        assertFails(Errno.EACCES, () -> there.open(file.ino(), OpenFlags.O_RDONLY));
        here.close(file);
        assertThat(here.read(here.open(file.ino(), OpenFlags.O_RDONLY), 0, 100))
                .isEqualTo(bytes("secret!"));
    }

    /** And who may not until then may as soon as it has returned. */
    @Test
    void whatIsGivenToOthersIsGivenAtOnce() throws FsException {
        Open file = here.create(home, "file");
        here.set(file.ino(), SetAttributes.MODE, 0600, file.handle());
        here.write(file, 0, bytes("for all"));
        int before = cluster.executed.size();
        here.set(file.ino(), SetAttributes.MTIME, 1_234_567_890_123L, file.handle());
        here.set(file.ino(), SetAttributes.MODE, 0644, file.handle());
        assertThat(cluster.executed).as("with what was written").hasSize(before + 1);
        there.uid = 1_000;
        assertThat(there.content(file.ino())).isEqualTo(bytes("for all"));
        assertThat(there.stat(file.ino()).mtimeNs()).isEqualTo(1_234_567_890_123L);
        here.close(file);
        assertThat(cluster.executed).hasSize(before + 1);
    }

    /** Linux lets chown(2) take them even where it changes neither owner nor group. */
    @Test
    void changeOfOwnerTakesSetIdBitsAway() throws FsException {
        for (int what : new int[] {0, SetAttributes.UID, SetAttributes.GID}) {
            Open file = here.create(home, "file" + what);
            here.set(file.ino(), SetAttributes.MODE, 06755, file.handle());
            here.set(file.ino(), what, 0, file.handle());
            assertThat(here.stat(file.ino()).mode()).isEqualTo(0100755);
            here.write(file, 0, bytes("pending"));
            here.set(file.ino(), SetAttributes.MODE, 06755, file.handle());
            here.set(file.ino(), what, 0, file.handle());
            here.close(file);
            assertThat(there.stat(file.ino()).mode()).isEqualTo(0100755);
        }
    }

    /**
     * The kernel asks for it before it hands on the write of anybody, who need not be the owner.
     */
    @Test
    void aWriteTakesSetIdBitsAwayWhoeverWrites() throws FsException {
        here.put(home, "program", "x");
        long ino = here.lookup(home, "program");
        here.set(ino, SetAttributes.MODE, 06777, FileSystem.NO_HANDLE);
        there.uid = 1000;
        Open read = there.open(ino, OpenFlags.O_RDONLY);
        assertFails(Errno.EPERM, () -> there.set(ino, 0, 0, FileSystem.NO_HANDLE));
        Open file = there.open(ino, OpenFlags.O_WRONLY);
        there.set(ino, 0, 0, FileSystem.NO_HANDLE);
        assertThat(here.stat(ino).mode()).isEqualTo(0106777);
        there.write(file, 0, bytes("y"));
        there.close(file);
        there.close(read);
        assertThat(here.stat(ino).mode()).isEqualTo(0100777);
    }

    /** An update that sets nothing is a chown(2) that takes them away. */
    @Test
    void timesThatAWriteMadeVoidTakeNoSetIdBitsAway() throws FsException {
        here.put(home, "program", "x");
        long ino = here.lookup(home, "program");
        for (int times : new int[] {SetAttributes.MTIME, SetAttributes.MTIME_NOW}) {
            here.set(ino, SetAttributes.MODE, 06755, FileSystem.NO_HANDLE);
            Open file = here.open(ino, OpenFlags.O_WRONLY);
            here.write(file, 0, bytes("one"));
            here.set(ino, times, 1_000, file.handle());
            here.write(file, 3, bytes("two"));
            here.close(file);
            assertThat(there.stat(ino).mode()).isEqualTo(0106755);
        }
        assertThat(there.content(ino)).isEqualTo(bytes("onetwo"));
    }

    @Test
    void aTruncationTakesAwayTheSetIdBitsOfAChmodBeforeIt() throws FsException {
        here.put(home, "program", "x");
        long ino = here.lookup(home, "program");
        here.set(ino, SetAttributes.UID, 1000, FileSystem.NO_HANDLE);
        here.uid = 1000;
        Open file = here.open(ino, OpenFlags.O_WRONLY);
        here.write(file, 0, bytes("program"));
        here.set(ino, SetAttributes.MODE, 04755, file.handle());
        here.set(ino, SetAttributes.SIZE, 3, file.handle());
        here.close(file);
        assertThat(there.stat(ino).mode()).isEqualTo(0100755);
    }

    /** Two processes of one user and group may differ in what other groups they are in. */
    @Test
    void nobodyActsByTheGroupsOfAnother() throws FsException {
        here.put(home, "program", "x");
        long ino = here.lookup(home, "program");
        here.set(ino, SetAttributes.UID, 1000, FileSystem.NO_HANDLE);
        here.set(ino, SetAttributes.GID, 2000, FileSystem.NO_HANDLE);
        here.uid = 1000;
        int[][] members = {{2000}, {}};
        for (int chmod = 0; chmod < 2; chmod++) {
            here.groups = members[1 - chmod];
            Open file = here.open(ino, OpenFlags.O_WRONLY);
            here.write(file, 0, bytes("program"));
            here.groups = members[chmod];
            here.set(ino, SetAttributes.MODE, 02755, file.handle());
            here.close(file);
            assertThat(there.stat(ino).mode()).isEqualTo(chmod == 0 ? 0102755 : 0100755);
        }
    }

    @Test
    void aRenameCanLeaveAWhiteout() throws FsException {
        here.put(home, "file", "x");
        long ino = here.lookup(home, "file");
        there.lookup(home, "file");
        here.fs.rename(
                here.caller(),
                home,
                bytes("file"),
                home,
                bytes("moved"),
                FileSystem.RENAME_WHITEOUT);
        for (TestClient client : new TestClient[] {here, there}) {
            Stat whiteout = client.stat(client.lookup(home, "file"));
            assertThat(whiteout.mode()).isEqualTo(0020000);
            assertThat(whiteout.rdev()).isZero();
            assertThat(client.lookup(home, "moved")).isEqualTo(ino);
        }
    }

    @Test
    void aWriteAfterUtimesCountsAsTheLastChange() throws FsException {
        Open file = here.create(home, "file");
        here.write(file, 0, bytes("hello"));
        here.set(file.ino(), SetAttributes.MTIME, 1_000, file.handle());
        here.write(file, 5, bytes("!"));
        here.close(file);
        assertThat(here.stat(file.ino()).mtimeNs()).isGreaterThan(1_000);
    }

    @Test
    void appendersOfTwoClientsDoNotOverwriteEachOther() throws FsException {
        here.put(home, "log", "begin\n");
        long ino = here.lookup(home, "log");
        Open one = here.open(ino, OpenFlags.O_WRONLY | OpenFlags.O_APPEND);
        Open two = there.open(ino, OpenFlags.O_WRONLY | OpenFlags.O_APPEND);
        here.write(one, 6, bytes("one\n"));
        there.write(two, 6, bytes("two\n"));
        here.write(one, 10, bytes("more\n"));
        here.close(one);
        there.close(two);
        assertThat(new String(here.content(ino), java.nio.charset.StandardCharsets.UTF_8))
                .isEqualTo("begin\none\nmore\ntwo\n");
    }

    /** O_DSYNC and O_SYNC of open(2), and RWF_DSYNC of one write. */
    @Test
    void aSyncedAppendIsCommittedOnceItReturns() throws FsException {
        here.put(home, "log", "");
        long ino = here.lookup(home, "log");
        int append = OpenFlags.O_WRONLY | OpenFlags.O_APPEND;
        Open log = here.open(ino, append);
        here.write(log, 0, bytes("one"));
        assertThat(there.content(ino)).isEmpty();
        here.write(new Open(ino, log.handle(), append | OpenFlags.O_DSYNC), 3, bytes("two"));
        assertThat(there.content(ino)).isEqualTo(bytes("onetwo"));
        // fcntl(2) took O_APPEND away again.
        here.write(
                new Open(ino, log.handle(), OpenFlags.O_WRONLY | OpenFlags.O_SYNC),
                3,
                bytes("TWO"));
        assertThat(there.content(ino)).isEqualTo(bytes("oneTWO"));
    }

    @Test
    void aReaderReturnsWhileAProgramOfTheSameMountAppends() throws FsException {
        long ino = here.create(home, "log").ino();
        Open log = here.open(ino, OpenFlags.O_RDWR | OpenFlags.O_APPEND);
        here.write(log, 0, bytes("x"));
        AtomicInteger asked = new AtomicInteger();
        cluster.beforeRead =
                () -> {
                    asked.incrementAndGet();
                    append(log);
                };
        assertThat(here.read(log, 0, 100)).startsWith(bytes("x"));
        assertThat(asked.get()).isBetween(1, 2);
    }

    private void append(Open log) {
        try {
            here.write(log, 0, bytes("x"));
        } catch (FsException e) {
            throw new IllegalStateException(e);
        }
    }

    @Test
    void ownAppendsAreReadBackAndMixWithOtherWrites() throws FsException {
        Open file =
                here.create(home, "log", OpenFlags.O_RDWR | OpenFlags.O_CREAT | OpenFlags.O_APPEND);
        here.write(file, 0, bytes("abc"));
        assertThat(here.read(file, 0, 10)).isEqualTo(bytes("abc"));
        Open positional = here.open(file.ino(), OpenFlags.O_RDWR);
        here.write(file, 3, bytes("def"));
        here.write(positional, 0, bytes("X"));
        here.write(file, 6, bytes("g"));
        assertThat(here.read(positional, 0, 10)).isEqualTo(bytes("Xbcdefg"));
        here.close(positional);
        here.close(file);
    }

    @Test
    void largeFilesStreamIntoBlocksWhileTheyAreWritten() throws FsException {
        byte[] content = new byte[(11 << 20) + 12_345];
        new Random(1).nextBytes(content);
        Open file = here.create(home, "large");
        for (int at = 0; at < content.length; at += 128 << 10) {
            here.write(
                    file,
                    at,
                    java.util.Arrays.copyOfRange(
                            content, at, Math.min(content.length, at + (128 << 10))));
        }
        org.awaitility.Awaitility.await()
                .untilAsserted(() -> assertThat(blocks.puts.get()).isEqualTo(2));
        here.close(file);
        assertThat(blocks.puts.get()).isEqualTo(3);

        Open read = there.open(file.ino(), OpenFlags.O_RDONLY);
        for (int at = 0; at < content.length; at += 1 << 20) {
            int end = Math.min(content.length, at + (1 << 20));
            assertThat(there.read(read, at, 1 << 20))
                    .isEqualTo(java.util.Arrays.copyOfRange(content, at, end));
        }
        there.close(read);
        int gets = blocks.gets.get();
        assertThat(here.content(file.ino())).hasSize(1 << 20);
        assertThat(blocks.gets.get()).as("written blocks are cached").isEqualTo(gets);
    }

    @Test
    void unlinkedFilesStayUsableWhileOpen() throws FsException {
        Open file = here.create(home, "temporary");
        here.write(file, 0, bytes("still"));
        here.fs.unlink(here.caller(), home, bytes("temporary"));
        here.flush(file);
        here.write(file, 5, bytes(" here"));
        here.fs.sync(here.caller(), file.ino(), file.handle(), false);
        assertThat(here.read(file, 0, 100)).isEqualTo(bytes("still here"));
        assertThat(here.stat(file.ino()).nlink()).isZero();
        assertThat(here.fs.openInodes()).contains(file.ino());
        here.close(file);
        assertThat(here.fs.openInodes()).isEmpty();
    }

    @Test
    void anInodeWithoutANameIsNotFoundByNumber() throws FsException {
        here.put(home, "file", "content");
        long ino = here.lookup(home, "file");
        assertThat(here.fs.lookupInode(here.caller(), ino).stat().size()).isEqualTo(7);
        here.fs.unlink(here.caller(), home, bytes("file"));
        assertFails(Errno.ESTALE, () -> here.fs.lookupInode(here.caller(), ino));
    }

    @Test
    void nothingIsWrittenBeyondTheLargestSizeHoweverFar() throws FsException {
        Open file = here.create(home, "file");
        here.write(file, Ranges.FILE_SIZE_MAX - 3, bytes("end"));
        for (long beyond : new long[] {0, 1, (1L << 32) - 1, Long.MAX_VALUE - (1L << 60) - 2}) {
            assertFails(
                    Errno.EFBIG,
                    () -> here.write(file, Ranges.FILE_SIZE_MAX + beyond, bytes("far")));
        }
        here.close(file);
        assertThat(there.stat(file.ino()).size()).isEqualTo(Ranges.FILE_SIZE_MAX);
    }

    @Test
    void openWithCreateOpensWhatExistsInAnotherPartition() throws FsException {
        here.put(home, "file", "here");
        here.fs.rename(here.caller(), home, bytes("file"), FileSystem.ROOT, bytes("moved"), 0);
        Open file = there.create(FileSystem.ROOT, "moved", OpenFlags.O_RDWR | OpenFlags.O_CREAT);
        assertThat(there.read(file, 0, 100)).isEqualTo(bytes("here"));
        there.close(file);
        assertFails(Errno.EEXIST, () -> there.create(FileSystem.ROOT, "moved"));
    }

    @Test
    void directoriesAreListedInPagesAcrossChanges() throws FsException {
        List<String> names = IntStream.range(0, 1_200).mapToObj(i -> "f" + i).toList();
        for (String name : names) {
            here.fs.release(0, here.create(home, name).handle());
        }
        assertThat(here.list(home, 7)).containsExactlyElementsOf(names);
        assertThat(there.list(FileSystem.ROOT, 1)).containsExactly("home");
    }

    @Test
    void namesMoveLinkAndGo() throws FsException {
        here.put(home, "a", "1");
        here.put(home, "b", "2");
        long a = here.lookup(home, "a");
        here.fs.rename(
                here.caller(), home, bytes("a"), home, bytes("b"), FileSystem.RENAME_EXCHANGE);
        assertThat(here.lookup(home, "b")).isEqualTo(a);
        assertFails(
                Errno.EEXIST,
                () ->
                        here.fs.rename(
                                here.caller(),
                                home,
                                bytes("a"),
                                home,
                                bytes("b"),
                                FileSystem.RENAME_NOREPLACE));
        here.fs.link(here.caller(), a, home, bytes("c"));
        assertThat(here.stat(a).nlink()).isEqualTo(2);
        here.fs.unlink(here.caller(), home, bytes("b"));
        assertThat(there.lookup(home, "c")).isEqualTo(a);
        assertFails(Errno.ENOENT, () -> here.lookup(home, "b"));
        long directory = here.mkdir(home, "d");
        here.put(directory, "x", "");
        assertFails(
                Errno.ENOTEMPTY, () -> here.fs.removeDirectory(here.caller(), home, bytes("d")));
        here.fs.symbolicLink(here.caller(), home, bytes("s"), bytes("../target"));
        assertThat(there.fs.readLink(there.caller(), there.lookup(home, "s")))
                .isEqualTo(bytes("../target"));
    }

    /**
     * The kernel follows links, and opens pipes, itself, once it has looked up what came between.
     */
    @Test
    void aCreateThatComesUponNoFileHasItLookedUpAgain() throws FsException {
        there.fs.symbolicLink(there.caller(), home, bytes("link"), bytes("target"));
        there.fs.makeNode(there.caller(), home, bytes("pipe"), 0010644, 0);
        for (String name : new String[] {"link", "pipe"}) {
            assertFails(
                    Errno.ESTALE,
                    () -> here.create(home, name, OpenFlags.O_CREAT | OpenFlags.O_WRONLY));
            assertThat(here.fs.openInodes()).isEmpty();
            assertThat(here.stat(here.lookup(home, name)).mode() & Stat.TYPE_MASK)
                    .isNotEqualTo(Stat.REGULAR);
        }
    }

    @Test
    void aCreateTellsTheSizeAfterItsTruncation() throws FsException {
        there.put(home, "file", "12345");
        int flags = OpenFlags.O_CREAT | OpenFlags.O_TRUNC | OpenFlags.O_WRONLY;
        Created created = here.fs.create(here.caller(), home, bytes("file"), 0644, flags);
        assertThat(TestClient.stat(created.entry()).size()).isZero();
    }

    @Test
    void seekFindsDataAndHoles() throws FsException {
        Open file = here.create(home, "sparse");
        here.write(file, 1 << 20, bytes("data"));
        assertThat(here.fs.seek(here.caller(), file.ino(), file.handle(), 0, 3)).isEqualTo(1 << 20);
        assertThat(here.fs.seek(here.caller(), file.ino(), file.handle(), 0, 4)).isZero();
        assertThat(here.fs.seek(here.caller(), file.ino(), file.handle(), 1 << 20, 4))
                .isEqualTo((1 << 20) + 4);
        assertFails(
                Errno.ENXIO,
                () -> here.fs.seek(here.caller(), file.ino(), file.handle(), 2 << 20, 3));
        for (int whence : new int[] {3, 4}) {
            assertFails(
                    Errno.ENXIO,
                    () -> here.fs.seek(here.caller(), file.ino(), file.handle(), -1, whence));
        }
        here.close(file);
    }

    @Test
    void theLargestContentThatMayBeInlineNeedsNoBlock() throws FsException {
        int most = ClientConfig.INLINE_MAX_BYTES;
        byte[] content = new byte[most];
        new Random(2).nextBytes(content);
        try (TestClient client =
                new TestClient(
                        cluster,
                        blocks,
                        1,
                        TestClient.options(most, Duration.ofMinutes(10), 32 << 20, false))) {
            blocks.refusePuts = true;
            Open file = client.create(home, "file");
            client.write(file, 0, content);
            client.close(file);
            assertThat(there.content(file.ino())).isEqualTo(content);

            client.put(home, "other", "");
            Open other = client.open(client.lookup(home, "other"), OpenFlags.O_RDWR);
            client.write(other, 0, content);
            client.flush(other);
            client.write(other, most / 2, bytes("in the middle"));
            client.write(other, most, bytes("behind it"));
            client.close(other);
            byte[] expected = Arrays.copyOf(content, most + 9);
            System.arraycopy(bytes("in the middle"), 0, expected, most / 2, 13);
            System.arraycopy(bytes("behind it"), 0, expected, most, 9);
            assertThat(there.content(other.ino())).isEqualTo(expected);
        }
    }

    @Test
    void permissionsAreTheReplicas() throws FsException {
        here.put(home, "secret", "x");
        long ino = here.lookup(home, "secret");
        here.set(ino, SetAttributes.MODE, 0600, FileSystem.NO_HANDLE);
        there.uid = 1000;
        assertFails(Errno.EACCES, () -> there.open(ino, OpenFlags.O_RDONLY));
        assertFails(Errno.EACCES, () -> there.fs.access(there.caller(), ino, 4));
        assertFails(
                Errno.EPERM, () -> there.set(ino, SetAttributes.MODE, 0666, FileSystem.NO_HANDLE));
        assertFails(Errno.EACCES, () -> there.create(home, "new"));
    }

    @Test
    void lostDataIsReportedOnceByEveryHandle() throws FsException {
        TestClient client =
                new TestClient(
                        cluster,
                        blocks,
                        1,
                        new org.globalfs.client.io.IoOptions(
                                16 << 10,
                                32 << 20,
                                64 << 20,
                                64 << 20,
                                Duration.ofMinutes(1),
                                Duration.ofMillis(50),
                                false));
        Open one = client.create(home, "file");
        Open two = client.open(one.ino(), OpenFlags.O_RDWR);
        client.write(one, 0, new byte[100_000]);
        blocks.refusePuts = true;
        client.fs.syncAll();
        blocks.refusePuts = false;

        assertFails(Errno.EIO, () -> client.write(one, 0, bytes("x")));
        assertFails(Errno.EIO, () -> client.flush(two));
        client.write(one, 0, bytes("y"));
        client.close(one);
        client.close(two);
        assertThat(client.content(one.ino())).isEqualTo(bytes("y"));
        client.close();
    }

    @Test
    void aCommitThatTheReplicaRefusesIsReportedByClose() throws FsException {
        Open file = here.create(home, "file");
        here.write(file, 0, bytes("x"));
        cluster.refused = op -> op.isSetWrite();
        assertFails(Errno.EIO, () -> here.close(file));
        cluster.refused = op -> false;
    }

    @Test
    void contentOfAFileThatMovesAgainAndAgainIsStoredAnewAsOften() throws FsException {
        byte[] content = new byte[100_000];
        new Random(1).nextBytes(content);
        blocks.late.set(20);
        Open file = here.create(home, "file");
        here.write(file, 0, content);
        here.close(file);
        assertThat(blocks.late.get()).as("commits that came too late").isZero();
        assertThat(here.content(file.ino())).isEqualTo(content);
        assertThat(there.content(file.ino())).isEqualTo(content);
    }

    @Test
    void contentWithoutRoomIsLostWholeAndTheFileGoesOn() throws FsException {
        Open file = here.create(home, "file");
        here.write(file, 0, bytes("before"));
        here.flush(file);
        blocks.room.set(2);
        here.write(file, 0, new byte[20 << 20]);
        assertFails(Errno.ENOSPC, () -> here.flush(file));
        await().untilAsserted(() -> assertThat(blocks.count()).as("no garbage").isZero());
        assertThat(here.content(file.ino())).isEqualTo(bytes("before"));
        blocks.room.set(Integer.MAX_VALUE);
        here.write(file, 6, bytes(" and after"));
        here.close(file);
        assertThat(there.content(file.ino())).isEqualTo(bytes("before and after"));
    }

    @Test
    void aTruncationNeedsNoRoomWhateverIsPending() throws FsException {
        Open file = here.create(home, "file");
        here.write(file, 0, bytes("0123456789"));
        here.flush(file);
        blocks.room.set(0);
        here.write(file, 1, new byte[5 << 20]);
        here.set(file.ino(), SetAttributes.SIZE, 4, file.handle());
        assertFails(Errno.ENOSPC, () -> here.flush(file));
        assertThat(there.content(file.ino())).isEqualTo(bytes("0123"));

        cluster.refusal = Errno.ENOSPC;
        cluster.refused = op -> op.isSetWrite();
        here.write(file, 0, bytes("ab"));
        here.set(file.ino(), SetAttributes.SIZE, 3, file.handle());
        assertFails(Errno.ENOSPC, () -> here.close(file));
        assertThat(there.content(file.ino())).isEqualTo(bytes("012"));
        cluster.refused = op -> false;
    }

    @Test
    void synchronousWritesAreCommittedBeforeTheyReturn() throws FsException {
        TestClient client =
                new TestClient(
                        cluster,
                        blocks,
                        1,
                        TestClient.options(Duration.ofMinutes(1), 32 << 20, true));
        Open file = client.create(home, "file");
        client.write(file, 0, bytes("now"));
        assertThat(there.content(file.ino())).isEqualTo(bytes("now"));
        client.close(file);
        client.close();
    }

    @Test
    void bufferedDataIsCommittedAfterAWhileByItself() throws FsException {
        TestClient client =
                new TestClient(
                        cluster,
                        blocks,
                        1,
                        TestClient.options(Duration.ofMillis(20), 32 << 20, false));
        Open file = client.create(home, "file");
        client.write(file, 0, bytes("soon"));
        org.awaitility.Awaitility.await()
                .untilAsserted(
                        () -> assertThat(there.content(file.ino())).isEqualTo(bytes("soon")));
        client.close(file);
        client.close();
    }

    @Test
    void aBlockThatWentAwayUnderAnOldMapIsReadByTheNewOne() throws FsException {
        Open file = here.create(home, "file");
        byte[] content = new byte[200_000];
        new Random(2).nextBytes(content);
        here.write(file, 0, content);
        here.close(file);
        blocks.failingGets.set(2);
        Open read = there.open(file.ino(), OpenFlags.O_RDONLY);
        assertThat(there.read(read, 0, 300_000)).isEqualTo(content);
        there.close(read);
    }

    @Test
    void causalAcrossSessionsByTheirVector() throws FsException {
        here.put(home, "file", "x");
        there.metadata.session().vector().merge(here.metadata.session().vector().snapshot());
        assertThat(there.metadata.session().vector().seen(1))
                .isEqualTo(here.metadata.session().vector().seen(1));
    }
}
