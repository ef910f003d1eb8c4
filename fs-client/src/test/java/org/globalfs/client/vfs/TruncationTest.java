package org.globalfs.client.vfs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.nio.file.Path;
import java.util.List;
import org.globalfs.client.FakeBlockStore;
import org.globalfs.client.FakeCluster;
import org.globalfs.client.vfs.TestClient.Open;
import org.globalfs.protocol.Errno;
import org.globalfs.protocol.wire.Command;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Files with more extents than a replica removes in one command. */
class TruncationTest {

    private static final int EXTENTS = 10_000;
    private static final long APART = 1 << 20;

    @TempDir Path folder;

    /**
     * @param open through a descriptor
     * @param pending after writes that are not committed yet
     */
    @ParameterizedTest
    @CsvSource({"false, false", "true, false", "true, true"})
    void takesSeveralCommands(boolean open, boolean pending) throws FsException {
        FakeBlockStore blocks = new FakeBlockStore();
        try (FakeCluster cluster = new FakeCluster(folder, 1);
                TestClient here = new TestClient(cluster, blocks, 1, TestClient.SLOW_FLUSH)) {
            Open file = fragmented(here);
            if (open) {
                // Opened anew, lest a commit that so many writes asked for takes the one below.
                file = here.open(file.ino(), OpenFlags.O_RDWR);
            }
            if (pending) {
                here.write(file, 10, new byte[] {2});
            }
            int before = commands(cluster);
            long size = 2 * APART + 1;
            here.set(
                    file.ino(),
                    SetAttributes.SIZE,
                    size,
                    open ? file.handle() : FileSystem.NO_HANDLE);
            assertThat(commands(cluster) - before).isEqualTo(3);
            assertThat(here.stat(file.ino()).size()).isEqualTo(size);
            here.set(file.ino(), SetAttributes.SIZE, 3 * APART + 1, FileSystem.NO_HANDLE);
            Open again = here.open(file.ino(), OpenFlags.O_RDONLY);
            assertThat(here.read(again, 0, 11)[0]).isEqualTo((byte) 1);
            assertThat(here.read(again, 10, 1)).containsExactly(pending ? 2 : 0);
            assertThat(here.read(again, 2 * APART, 1)).containsExactly(1);
            assertThat(here.read(again, 3 * APART, 1)).containsExactly(0);
        }
    }

    /** As long as the cluster gets on with it, and no longer. */
    @ParameterizedTest
    @CsvSource({"false, false", "true, false", "false, true", "true, true"})
    void hasPatienceAgainWithEachCommand(boolean open, boolean gone) throws FsException {
        FakeBlockStore blocks = new FakeBlockStore();
        try (FakeCluster cluster = new FakeCluster(folder, 1);
                TestClient here = new TestClient(cluster, blocks, 1, TestClient.SLOW_FLUSH)) {
            Open file = fragmented(here);
            if (open) {
                file = here.open(file.ino(), OpenFlags.O_RDWR);
            }
            long deadlineNs = System.nanoTime() + 1_000_000_000L;
            Caller caller = Caller.of(0, 0, new int[0], deadlineNs);
            cluster.beforeReply =
                    command -> {
                        await().until(() -> System.nanoTime() - deadlineNs > 0);
                        if (gone) {
                            List.of(1, 2, 3).forEach(cluster.silent::add);
                        }
                    };
            SetAttributes empty =
                    new SetAttributes(
                            SetAttributes.SIZE,
                            0,
                            0,
                            0,
                            0,
                            0,
                            0,
                            open ? file.handle() : FileSystem.NO_HANDLE);
            long ino = file.ino();
            if (gone) {
                assertThatThrownBy(() -> here.fs.setAttributes(caller, ino, empty))
                        .isInstanceOfSatisfying(
                                FsException.class, e -> assertThat(e.errno()).isEqualTo(Errno.EIO));
            } else {
                assertThat(here.fs.setAttributes(caller, ino, empty).stat().size()).isZero();
                assertThat(caller.deadlineNs() - deadlineNs).isPositive();
            }
        }
    }

    private static Open fragmented(TestClient here) throws FsException {
        Open file = here.create(here.mkdir(FileSystem.ROOT, "home"), "file");
        for (int i = 0; i < EXTENTS; i++) {
            here.write(file, i * APART, new byte[] {1});
        }
        here.close(file);
        return file;
    }

    /** Those that set attributes, with what was pending or after it. */
    private static int commands(FakeCluster cluster) {
        synchronized (cluster) {
            return (int)
                    cluster.executed.stream()
                            .map(Command::getOp)
                            .filter(op ->
                                    op.isSetSetAttributes()
                                            || (op.isSetWrite() && op.getWrite().isSetAttributes()))
                            .count();
        }
    }
}
