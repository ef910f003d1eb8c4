package org.globalfs.datastore.s3;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Of a block of 3 data and 3 parity chunks. */
class ChunkChoiceTest {
    private static final int ENOUGH = 3;
    private static final int SMALL = 4_096;
    private static final int LARGE = 700_000;

    private static List<Integer> choose(long wanted, long had, int enough, int width, long... ms) {
        long[] ways = new long[ms.length];
        for (int i = 0; i < ms.length; i++) {
            ways[i] = ms[i] < 0 ? RequestTime.UNKNOWN : TimeUnit.MILLISECONDS.toNanos(ms[i]);
        }
        long others = 0b111111 & ~wanted & ~had;
        return ChunkChoice.of(wanted, others, enough, ways, width);
    }

    @Test
    void whatIsAsNearIsReadAsItIs() {
        assertThat(choose(0b111, 0, ENOUGH, LARGE, 20, 25, 30, 20, 20, 20)).containsOnly(0, 1, 2);
        assertThat(choose(0b010, 0, ENOUGH, SMALL, 1, 9, 1, 1, 1, 1)).containsExactly(1);
    }

    @Test
    void whatIsFartherIsDecodedFromTheNearest() {
        assertThat(choose(0b111, 0, ENOUGH, LARGE, 20, 70, 150, 70, 20, 150))
                .containsExactly(0, 4, 1);
        assertThat(choose(0b100, 0, ENOUGH, SMALL, 20, 70, 150, 70, 20, 150))
                .containsExactly(0, 4, 1);
    }

    @Test
    void notAtTheCostOfReadingManyTimesAsMuch() {
        assertThat(choose(0b100, 0, ENOUGH, LARGE, 20, 70, 150, 70, 20, 150)).containsExactly(2);
    }

    @Test
    void whatIsNotMeasuredIsReadAsItIs() {
        assertThat(choose(0b111, 0, ENOUGH, LARGE, 20, 70, 150, 70, 20, -1)).containsOnly(0, 1, 2);
    }

    @Test
    void whatIsHadSparesTheFarthest() {
        assertThat(choose(0b101, 0b10, 2, LARGE, 20, 70, 150, 70, 20, 150)).containsExactly(0, 4);
        assertThat(choose(0b111, 0b1000, 2, LARGE, 150, 20, 20, 70, 150, 150))
                .containsExactly(1, 2);
        assertThat(choose(0, 0b111, 0, LARGE, 20, 70, 150, 70, 20, 150)).isEmpty();
    }

    @Test
    void aTimeIsForgottenAfterAWhile() {
        RequestTime time = new RequestTime();
        assertThat(time.ns(0)).isEqualTo(RequestTime.UNKNOWN);
        time.record(1_000, 5);
        assertThat(time.ns(6)).isEqualTo(1_000);
        time.record(2_000, 7);
        assertThat(time.ns(8)).isEqualTo(1_200);
        long later = 8 + TimeUnit.SECONDS.toNanos(61);
        assertThat(time.ns(later)).isEqualTo(RequestTime.UNKNOWN);
        time.record(3_000, later);
        assertThat(time.ns(later)).isEqualTo(3_000);
    }
}
