package org.globalfs.datastore.cache.policy;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Blocks may be so small that a cache's memory is full of their names long before its disk is. */
class ManyBlocksTest {
    private static final int MOST = 100;
    private static final long ROOMY = Long.MAX_VALUE / 2;
    private static final RegionLatencies LATENCIES = new RegionLatencies(50);
    private static final ChunkLayout SMALL = new ChunkLayout(64, 2, List.of(1, 1, 1));

    private static RequestMonitor monitor() {
        return new RequestMonitor(1 << 10, 40);
    }

    private static AgarPolicy agar() {
        return new AgarPolicy(monitor(), new HullPlanner(), LATENCIES, 1, ROOMY, MOST);
    }

    static Stream<CachePolicy> policies() {
        List<CachePolicy> all = new ArrayList<>();
        all.add(agar());
        for (FixedChunks.Choice choice : FixedChunks.Choice.values()) {
            all.add(new FixedChunks(choice, 2, monitor(), LATENCIES, ROOMY, MOST));
        }
        return all.stream();
    }

    private static BlockKey key(int i) {
        return new BlockKey(i, ~i);
    }

    private static void leave(Map<BlockKey, Long> kept, Map<BlockKey, Long> leaving) {
        leaving.forEach((key, chunks) -> {
            assertThat(kept.get(key) & chunks).isEqualTo(chunks);
            kept.computeIfPresent(key, (k, had) -> had.equals(chunks) ? null : had & ~chunks);
        });
    }

    @ParameterizedTest
    @MethodSource("policies")
    void onlySoManyAreKept(CachePolicy policy) {
        Map<BlockKey, Long> kept = new HashMap<>();
        for (int i = 0; i < 10 * MOST; i++) {
            policy.asked(key(i), SMALL);
            kept.put(key(i), 3L);
            leave(kept, policy.add(key(i), SMALL, 3));
            assertThat(kept).hasSizeLessThanOrEqualTo(MOST);
            if (i % (2 * MOST) == 0) {
                policy.endPeriod();
            }
        }
        assertThat(kept).hasSize(MOST);
        for (int i = 0; i < 10 * MOST; i++) {
            assertThat(policy.cached(key(i))).isEqualTo(kept.getOrDefault(key(i), 0L));
        }
    }

    @ParameterizedTest
    @MethodSource("policies")
    void moreOfABlockThatIsThereMayCome(CachePolicy policy) {
        Map<BlockKey, Long> kept = new HashMap<>();
        for (int i = 0; i < MOST; i++) {
            kept.put(key(i), 1L);
            leave(kept, policy.add(key(i), SMALL, 1));
        }
        for (int i = 0; i < MOST; i++) {
            assertThat(policy.wanted(key(i), SMALL)).isEqualTo(2);
            assertThat(policy.add(key(i), SMALL, 2)).isEmpty();
        }
    }

    /** What it wants now takes the place of what was only kept because there was room. */
    @Test
    void thePlanGoesBeforeTheRest() {
        AgarPolicy policy = agar();
        for (int i = 0; i < MOST; i++) {
            assertThat(policy.add(key(i), SMALL, 1)).isEmpty();
        }
        BlockKey popular = key(-1);
        BlockKey other = key(-2);
        assertThat(policy.wanted(other, SMALL)).as("nobody plans for it").isZero();
        for (int i = 0; i < 10_000; i++) {
            policy.asked(popular, SMALL);
        }
        policy.endPeriod();
        long wanted = policy.wanted(popular, SMALL);
        assertThat(wanted).isNotZero();
        assertThat(policy.add(popular, SMALL, wanted)).containsExactly(Map.entry(key(0), 1L));
        assertThat(policy.cached(popular)).isEqualTo(wanted);
        assertThat(policy.wanted(other, SMALL)).isZero();
    }
}
