package org.globalfs.datastore.s3;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Random;
import org.globalfs.datastore.erasure.ReedSolomon;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class SpreadTest {
    @ParameterizedTest
    @CsvSource({"2, 1, 1", "3, 6, 3", "4, 9, 3", "5, 9, 3", "12, 9, 3", "40, 9, 3"})
    void takesTheWidestCodeThatSurvivesAnyBucket(int buckets, int data, int parity) {
        ReedSolomon code = Spread.code(buckets);
        assertThat(code.dataChunks()).isEqualTo(data);
        assertThat(code.parityChunks()).isEqualTo(parity);
    }

    @Test
    void oneBucketIsNotEnough() {
        assertThat(Spread.code(0)).isNull();
        assertThat(Spread.code(1)).isNull();
    }

    @ParameterizedTest
    @CsvSource({"3, 1", "4, 2", "11, 9"})
    void aCodeWithoutOneBucketNeedsAllButTwo(int buckets, int data) {
        ReedSolomon code = Spread.codeWithoutOne(buckets);
        assertThat(code.dataChunks()).isEqualTo(data);
        assertThat(code.chunks()).isEqualTo(buckets);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2, 12, 40})
    void thereIsNoneForTooFewAndNoneIsNeededForMany(int buckets) {
        assertThat(Spread.codeWithoutOne(buckets)).isNull();
    }

    /** In MiB, of a block of 4 MiB, with what fills the last chunk up. */
    @ParameterizedTest
    @CsvSource({"1, 4", "2, 8", "3, 12", "4, 8", "5, 6.7", "12, 5.4"})
    void theChunksOfABlockTakeAsMuchAsWithTheCodeOfLessData(int buckets, double mib) {
        double most = Spread.mostBytes(buckets, 4 << 20) / (double) (1 << 20);
        assertThat(most).isBetween(mib - 0.1, mib);
    }

    @Test
    void noBucketHasMoreChunksThanMayBeLost() {
        Random random = new Random(1);
        for (int buckets = 2; buckets <= 20; buckets++) {
            ReedSolomon code = Spread.code(buckets);
            int[] starts = new int[buckets];
            for (int i = 0; i < 1_000; i++) {
                long id = random.nextLong();
                int[] held = new int[buckets];
                for (int c = 0; c < code.chunks(); c++) {
                    held[Spread.bucket(id, c, buckets)]++;
                }
                for (int each : held) {
                    assertThat(each).isLessThanOrEqualTo(code.parityChunks());
                }
                starts[Spread.bucket(id, 0, buckets)]++;
            }
            for (int each : starts) {
                assertThat(each).isPositive();
            }
        }
    }
}
