package org.globalfs.client.use;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import org.globalfs.protocol.wire.DirectoryUse;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

class UseCountsTest {
    private static final long ROOT = 1;
    private static final long HOME = 10;
    private static final long ANNE = 11;
    private static final long BOB = 12;
    private static final long FILE = 100;

    private final UseCounts counts = new UseCounts(ino -> (int) ino % 10);

    private void plant() {
        counts.found(HOME, ROOT, true);
        counts.found(ANNE, HOME, true);
        counts.found(BOB, HOME, true);
        counts.found(FILE, ANNE, false);
    }

    /** As "parent partition reads writes". */
    private static Map<Long, String> take(UseCounts counts) {
        List<DirectoryUse> uses = counts.take();
        Map<Long, String> lines = new TreeMap<>();
        for (DirectoryUse use : uses) {
            lines.put(
                    use.getIno(),
                    use.getParent()
                            + " "
                            + use.getPartition()
                            + " "
                            + use.getReads()
                            + " "
                            + use.getWrites());
        }
        assertThat(uses).hasSameSizeAs(lines.keySet());
        return lines;
    }

    @Test
    void aFileCountsForTheDirectoryThatItWasFoundInLast() {
        plant();
        counts.read(FILE);
        counts.read(FILE);
        counts.write(FILE);
        counts.found(FILE, BOB, false);
        counts.write(FILE);

        assertThat(take(counts))
                .isEqualTo(
                        Map.of(
                                ROOT, "1 1 0 0",
                                HOME, "1 0 0 0",
                                ANNE, "10 1 2 1",
                                BOB, "10 2 0 1"));
    }

    @Test
    void filesThatLiveElsewhereAreTold() {
        plant();
        counts.found(FILE + 1, ANNE, false);
        counts.read(FILE); // in partition 0, ANNE in 1
        counts.write(FILE);
        counts.read(FILE + 1);
        counts.read(ANNE);
        assertThat(counts.take())
                .filteredOn(use -> use.getIno() == ANNE)
                .containsExactly(new DirectoryUse(ANNE, HOME, 1, 3, 1).setAstray(2));
    }

    @Test
    void aDirectoryCountsForItself() {
        plant();
        counts.read(HOME);
        counts.write(ROOT);
        counts.readIn(HOME);
        counts.writeIn(HOME);

        assertThat(take(counts)).isEqualTo(Map.of(ROOT, "1 1 0 1", HOME, "1 0 2 1"));
    }

    @Test
    void whatIsNotKnownIsLeftOut() {
        counts.read(FILE);
        counts.write(ANNE);
        assertThat(take(counts)).isEmpty();

        counts.readIn(ANNE);
        counts.found(BOB, HOME, true);
        counts.writeIn(BOB);
        assertThat(take(counts))
                .isEqualTo(Map.of(ANNE, "0 1 1 0", HOME, "0 0 0 0", BOB, "10 2 0 1"));
    }

    @Test
    void whatWasTakenIsNotTakenAgain() {
        plant();
        counts.read(FILE);
        assertThat(take(counts)).hasSize(3);
        assertThat(take(counts)).isEmpty();
        counts.write(FILE);
        assertThat(take(counts)).containsEntry(ANNE, "10 1 0 1");
    }

    @Test
    void aRenameTakesFilesAndDirectoriesAlong() {
        plant();
        counts.moved(FILE, BOB);
        counts.moved(BOB, ANNE);
        counts.moved(7777, ANNE);
        counts.read(FILE);
        counts.read(7777);

        assertThat(take(counts))
                .isEqualTo(
                        Map.of(
                                ROOT, "1 1 0 0",
                                HOME, "1 0 0 0",
                                ANNE, "10 1 0 0",
                                BOB, "11 2 1 0"));
    }

    @Test
    void beyondTheBoundTheNearestCountedDirectoryAboveCounts() {
        UseCounts few = new UseCounts(ino -> (int) ino % 10, 2);
        few.found(HOME, ROOT, true);
        few.found(ANNE, HOME, true);
        few.found(BOB, ANNE, true);
        few.readIn(HOME);
        few.readIn(500);
        few.writeIn(BOB);
        few.writeIn(600);
        few.readIn(500);
        few.readIn(ROOT);
        assertThat(take(few)).isEqualTo(Map.of(ROOT, "1 1 1 0", HOME, "1 0 1 1", 500L, "0 0 2 0"));

        few.writeIn(BOB);
        assertThat(take(few)).containsEntry(BOB, "11 2 0 1");
    }

    @Test
    @Timeout(30)
    void parentsInACircleEndNowhere() {
        UseCounts few = new UseCounts(ino -> (int) ino % 10, 1);
        few.readIn(500);
        few.found(ANNE, BOB, true);
        few.found(BOB, ANNE, true);
        few.writeIn(ANNE);
        assertThat(take(few)).isEqualTo(Map.of(500L, "0 0 1 0"));

        few.writeIn(ANNE);
        assertThat(take(few)).isEqualTo(Map.of(ANNE, "12 1 0 1", BOB, "11 2 0 0"));
    }

    @Test
    @Timeout(60)
    void nothingIsLostOrTakenTwiceMeanwhile() throws Exception {
        int workers = 4;
        int each = 50_000;
        for (long directory = 2; directory < 10; directory++) {
            counts.found(directory, ROOT, true);
            counts.found(FILE + directory, directory, false);
        }
        AtomicBoolean over = new AtomicBoolean();
        try (ExecutorService threads = Executors.newFixedThreadPool(workers + 1)) {
            List<Future<?>> working = new ArrayList<>();
            for (int worker = 0; worker < workers; worker++) {
                working.add(threads.submit(() -> work(each)));
            }
            Future<long[]> taken = threads.submit(() -> takeUntil(over));
            for (Future<?> worker : working) {
                worker.get();
            }
            over.set(true);
            assertThat(taken.get()).containsExactly(workers * each, workers * each);
        }
    }

    private void work(int times) {
        for (int i = 0; i < times; i++) {
            counts.read(FILE + 2 + i % 8);
            counts.writeIn(2 + i % 8);
        }
    }

    private long[] takeUntil(AtomicBoolean over) {
        long[] sums = new long[2];
        boolean last;
        do {
            last = over.get();
            for (DirectoryUse use : counts.take()) {
                sums[0] += use.getReads();
                sums[1] += use.getWrites();
            }
        } while (!last);
        return sums;
    }
}
