package org.globalfs.datastore.node;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.globalfs.datastore.node.FaultPoints.Step;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(60)
class GroupSyncTest {
    @TempDir Path folder;
    private final GroupSync groupSync = new GroupSync();

    /** Whether by a bug, or because there is no memory left. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aSyncThatIsBrokenOffMakesNothingDurable(boolean byError) throws IOException {
        SegmentFile file =
                SegmentFile.create(folder, 1, "c", "n", (step, path) -> breakOff(step, byError));
        long ticket = groupSync.wrote(file);
        assertThatThrownBy(() -> groupSync.await(ticket)).hasMessage("broken off");
        assertThatThrownBy(() -> groupSync.await(ticket))
                .isInstanceOf(IOException.class)
                .hasRootCauseMessage("broken off");
        assertThat(groupSync.failure()).isNotNull();
        file.close();
    }

    private static void breakOff(Step step, boolean byError) {
        if (step == Step.SYNCED) {
            if (byError) {
                throw new OutOfMemoryError("broken off");
            }
            throw new IllegalStateException("broken off");
        }
    }

    @Test
    void whatWasSyncedStaysDurableAfterALaterFailure() throws IOException {
        FailingDisk disk = new FailingDisk();
        SegmentFile file = SegmentFile.create(folder, 1, "c", "n", disk);
        long first = groupSync.wrote(file);
        groupSync.await(first);
        disk.failAfter(0);
        long second = groupSync.wrote(file);
        assertThatThrownBy(() -> groupSync.await(second)).hasMessageContaining("disk failed");
        groupSync.await(first);
        file.close();
    }

    /** Those that come while one syncs are on disk with the next sync, and not before. */
    @Test
    void oneSyncServesAllThatWait() throws Exception {
        int waiting = 60;
        CountDownLatch firstIsThrough = new CountDownLatch(1);
        AtomicInteger syncs = new AtomicInteger();
        AtomicInteger acknowledged = new AtomicInteger();
        List<Integer> acknowledgedAtSync = new CopyOnWriteArrayList<>();
        SegmentFile file =
                SegmentFile.create(
                        folder,
                        1,
                        "c",
                        "n",
                        (step, path) -> {
                            if (step == Step.SYNCED) {
                                acknowledgedAtSync.add(acknowledged.get());
                                if (syncs.incrementAndGet() == 1) {
                                    awaitUninterruptibly(firstIsThrough);
                                }
                            }
                        });
        List<Thread> puts = new ArrayList<>();
        for (int i = 0; i <= waiting; i++) {
            Thread put =
                    Thread.ofPlatform()
                            .daemon()
                            .start(() -> {
                                try {
                                    groupSync.await(groupSync.wrote(file));
                                    acknowledged.incrementAndGet();
                                } catch (IOException e) {
                                    throw new UncheckedIOException(e);
                                }
                            });
            puts.add(put);
            await().until(() -> put.getState() == Thread.State.WAITING);
        }
        firstIsThrough.countDown();
        for (Thread put : puts) {
            put.join();
        }
        assertThat(acknowledged).hasValue(waiting + 1);
        assertThat(syncs).hasValue(2);
        assertThat(acknowledgedAtSync.getFirst()).isZero();
        assertThat(acknowledgedAtSync.getLast()).as("only the first one's").isLessThan(2);
        file.close();
    }

    private static void awaitUninterruptibly(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
