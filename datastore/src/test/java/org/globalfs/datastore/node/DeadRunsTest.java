package org.globalfs.datastore.node;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.globalfs.datastore.node.DeadRuns.Run;
import org.junit.jupiter.api.Test;

class DeadRunsTest {
    private static final int OFFSETS = 400;

    private final DeadRuns dead = new DeadRuns();

    private List<Run> all() {
        List<Run> runs = new ArrayList<>();
        dead.forEach(runs::add);
        return runs;
    }

    private void kill(int offset, int length, long death) {
        dead.put(dead.joined(offset, length), death);
    }

    @Test
    void neighboursAreOneRunWithWhatTheDiskHasGotBackOfBoth() {
        dead.put(new Run(100, 50, 0));
        dead.put(new Run(200, 50, 0));
        dead.punched(new Run(100, 50, 0), 30);
        dead.punched(new Run(200, 50, 0), 20);
        assertThat(dead.joined(150, 50)).isEqualTo(new Run(100, 150, 50));
        kill(150, 50, 1);
        assertThat(all()).containsExactly(new Run(100, 150, 50));
        assertThat(dead.bytes()).isEqualTo(150);
        assertThat(dead.punchedBytes()).isEqualTo(50);
        dead.punched(new Run(100, 150, 50), 140);
        assertThat(dead.punchedBytes()).isEqualTo(140);
    }

    @Test
    void aRunIsOnDiskOnceItsLastHeaderIs() {
        kill(100, 50, 1);
        kill(200, 50, 2);
        dead.synced(1);
        assertThat(dead.isSynced(new Run(100, 50, 0))).isTrue();
        assertThat(dead.isSynced(new Run(200, 50, 0))).isFalse();
        kill(150, 50, 3); // one run now, its header written again
        dead.synced(2);
        assertThat(dead.isSynced(new Run(100, 150, 0))).isFalse();
        dead.synced(3);
        assertThat(dead.isSynced(new Run(100, 150, 0))).isTrue();
        dead.put(new Run(300, 50, 0));
        assertThat(dead.isSynced(new Run(300, 50, 0))).isTrue();
    }

    @Test
    void inAnyOrderTheyAreWhatASetOfDeadBytesSays() {
        long seed = System.nanoTime();
        List<Integer> offsets = new ArrayList<>();
        for (int i = 0; i < OFFSETS; i++) {
            offsets.add(i);
        }
        Collections.shuffle(offsets, new Random(seed));
        BitSet bytes = new BitSet();
        Set<Integer> killed = new HashSet<>();
        for (int i : offsets) {
            assertThat(dead.covers(i * 64 + 5)).as("seed %s", seed).isFalse();
            kill(i * 64, 64, i);
            bytes.set(i * 64, i * 64 + 64);
            killed.add(i);
            assertThat(all()).as("seed %s", seed).isEqualTo(runsOf(bytes));
            assertThat(dead.count()).isEqualTo(runsOf(bytes).size());
            assertThat(dead.bytes()).isEqualTo(bytes.cardinality());
            for (int j = 0; j < OFFSETS; j++) {
                assertThat(dead.covers(j * 64)).as("seed %s", seed).isEqualTo(killed.contains(j));
            }
        }
        assertThat(all()).containsExactly(new Run(0, OFFSETS * 64, 0));
        assertThat(dead.floor(64)).isEqualTo(new Run(0, OFFSETS * 64, 0));
    }

    private static List<Run> runsOf(BitSet bytes) {
        List<Run> runs = new ArrayList<>();
        for (int at = bytes.nextSetBit(0); at >= 0; ) {
            int end = bytes.nextClearBit(at);
            runs.add(new Run(at, end - at, 0));
            at = bytes.nextSetBit(end);
        }
        return runs;
    }
}
