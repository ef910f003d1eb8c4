package org.globalfs.datastore.wire;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class CachedRequestTest {
    private static boolean isNonsense(int blockBytes, int k, int m, long wanted, int from, int to) {
        ChunkShape shape = new ChunkShape(blockBytes, 1, k, m, 1);
        return new CachedRequest(1, 2, shape, wanted, from, to).isNonsense();
    }

    /** A cache gets whole chunks of the block that is named, and takes memory for them. */
    @Test
    void whatNoBlockIsLikeIsNonsense() {
        assertThat(isNonsense(200_000, 4, 2, 0b110011, 0, 100)).isFalse();
        assertThat(isNonsense(Integer.MAX_VALUE, 4, 2, 1, 0, 100)).isTrue();
        assertThat(isNonsense(-1, 4, 2, 1, 0, 100)).isTrue();
        assertThat(isNonsense(200_000, 0, 2, 1, 0, 100)).isTrue();
        assertThat(isNonsense(200_000, 4, 0, 1, 0, 100)).isTrue();
        assertThat(isNonsense(200_000, 33, 7, 1, 0, 100)).isTrue();
        assertThat(isNonsense(200_000, 4, 2, 1 << 6, 0, 100)).isTrue();
        assertThat(isNonsense(200_000, 1, 0, 1, 0, 100)).as("an uncoded block").isFalse();
        assertThat(isNonsense(200_000, 1, 0, 2, 0, 100)).isTrue();
        assertThat(isNonsense(200_000, 4, 2, 1, Integer.MAX_VALUE, Integer.MIN_VALUE)).isTrue();
    }

    /** Their columns would be more than an answer may have. */
    @Test
    void noReadWantsMoreChunksThanMakeTheBlock() {
        assertThat(isNonsense(4 << 20, 1, 8, 0b111111111, 0, 4 << 20)).isTrue();
    }
}
