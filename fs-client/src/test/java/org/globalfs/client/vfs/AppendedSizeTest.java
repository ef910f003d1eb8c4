package org.globalfs.client.vfs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.globalfs.client.vfs.TestClient.bytes;

import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.globalfs.client.FakeBlockStore;
import org.globalfs.client.FakeCluster;
import org.globalfs.client.vfs.TestClient.Open;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** How long a file is while appends of this client are pending, and as they are committed. */
class AppendedSizeTest {

    private static final long LONGER_THAN_CERTAINTY_MS = 1_500;

    @TempDir Path folder;

    private FakeCluster cluster;
    private TestClient client;
    private Open log;

    @BeforeEach
    void begin() throws FsException {
        cluster = new FakeCluster(folder, 1);
        client = new TestClient(cluster, new FakeBlockStore(), 1, TestClient.SLOW_FLUSH);
        long home = client.mkdir(client.mkdir(FileSystem.ROOT, "top"), "home");
        client.put(home, "log", "one");
        log = client.open(client.lookup(home, "log"), OpenFlags.O_WRONLY | OpenFlags.O_APPEND);
        client.write(log, 3, bytes("two"));
    }

    @AfterEach
    void end() {
        client.close();
        cluster.close();
    }

    private long size() {
        try {
            return client.fs.getAttributes(client.caller(), log.ino(), log.handle()).stat().size();
        } catch (FsException e) {
            throw new IllegalStateException(e);
        }
    }

    private void flush() {
        try {
            client.flush(log);
        } catch (FsException e) {
            throw new IllegalStateException(e);
        }
    }

    @Test
    void whatIsPendingCounts() {
        assertThat(size()).isEqualTo(6);
        flush();
        assertThat(size()).isEqualTo(6);
    }

    /** A replica tells the new size before the client has heard that its append is in it. */
    @Test
    void anAppendCountsOnceWhileItIsCommitted() {
        AtomicReference<CompletableFuture<Long>> asked = new AtomicReference<>();
        cluster.beforeReply =
                command -> {
                    if (command.getOp().isSetWrite()) {
                        asked.set(
                                CompletableFuture.supplyAsync(
                                        this::size, Thread::startVirtualThread));
                        awaitLongerThanThat(asked.get());
                    }
                };
        flush();
        assertThat(asked.get().join()).isEqualTo(6);
    }

    private static void awaitLongerThanThat(CompletableFuture<Long> answer) {
        try {
            answer.get(LONGER_THAN_CERTAINTY_MS, TimeUnit.MILLISECONDS);
        } catch (TimeoutException e) {
            // It waits for the commit, which goes on now.
        } catch (InterruptedException | ExecutionException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Then the replica's answer does not have it, and nothing is pending any more. */
    @Test
    void anAppendThatIsCommittedAsTheSizeIsAskedForCounts() {
        AtomicBoolean committed = new AtomicBoolean();
        cluster.afterRead =
                () -> {
                    if (committed.compareAndSet(false, true)) {
                        flush();
                    }
                };
        assertThat(size()).isEqualTo(6);
        assertThat(committed).isTrue();
    }
}
