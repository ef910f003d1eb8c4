package org.globalfs.client.vfs;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import org.globalfs.client.FakeBlockStore;
import org.globalfs.client.FakeCluster;
import org.globalfs.client.vfs.TestClient.Open;
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
            Open file = here.create(here.mkdir(FileSystem.ROOT, "home"), "file");
            for (int i = 0; i < EXTENTS; i++) {
                here.write(file, i * APART, new byte[] {1});
            }
            here.close(file);
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
