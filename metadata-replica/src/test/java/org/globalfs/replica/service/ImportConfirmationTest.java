package org.globalfs.replica.service;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.TreeSet;
import java.util.stream.LongStream;
import org.globalfs.replica.state.VerdictSource;
import org.globalfs.replica.state.model.Verdict;
import org.junit.jupiter.api.Test;

final class ImportConfirmationTest {

    /** Of partition 3 there is one in every tenth instance. */
    private static final class Kept implements VerdictSource {
        private final TreeSet<Long> instances = new TreeSet<>();

        Kept() {
            LongStream.rangeClosed(1, 100).forEach(i -> instances.add(10 * i));
        }

        @Override
        public long applied() {
            return 1000;
        }

        @Override
        public long nextConcerning(int partition, long after) {
            Long next = partition == 3 ? instances.higher(after) : null;
            return next == null ? -1 : next;
        }

        @Override
        public List<Verdict> verdicts(int partition, long instance) {
            return List.of();
        }

        @Override
        public long trimmedThrough(int partition) {
            return 0;
        }
    }

    @Test
    void forgetsAFewAtATime() {
        Kept kept = new Kept();
        assertThat(ImportConfirmation.some(kept, 3, 0, 905, 5)).isEqualTo(50);
        assertThat(ImportConfirmation.some(kept, 3, 50, 905, 5)).isEqualTo(100);
        assertThat(ImportConfirmation.some(kept, 3, 855, 905, 5)).isEqualTo(900);
        assertThat(ImportConfirmation.some(kept, 3, 865, 905, 5)).isEqualTo(905);
        assertThat(ImportConfirmation.some(kept, 4, 0, 905, 5)).isEqualTo(905);
    }
}
