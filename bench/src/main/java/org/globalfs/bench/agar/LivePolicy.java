package org.globalfs.bench.agar;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.globalfs.bench.BenchFailure;
import org.globalfs.protocol.config.CachePolicyKind;
import org.globalfs.protocol.discovery.BlockCode;
import org.jspecify.annotations.Nullable;

/**
 * A way to run the cache, as the live benchmark names it: {@code agar}, {@code lfu-5}, {@code
 * none}.
 *
 * @param kind null: there is no cache
 * @param chunks kept of each block; 0: the policy decides
 */
record LivePolicy(@Nullable CachePolicyKind kind, int chunks) {
    static final LivePolicy NONE = new LivePolicy(null, 0);
    static final LivePolicy AGAR = new LivePolicy(CachePolicyKind.AGAR, 0);

    /** Those of the paper. */
    static List<LivePolicy> all() {
        List<LivePolicy> all = new ArrayList<>(List.of(NONE, AGAR));
        for (CachePolicyKind kind : List.of(CachePolicyKind.LRU, CachePolicyKind.LFU)) {
            for (int chunks : AgarBench.CHUNKS) {
                all.add(new LivePolicy(kind, chunks));
            }
        }
        return all;
    }

    static LivePolicy parse(String text) {
        if (text.equals(NONE.toString())) {
            return NONE;
        }
        if (text.equals(AGAR.toString())) {
            return AGAR;
        }
        int dash = text.lastIndexOf('-');
        try {
            CachePolicyKind kind =
                    CachePolicyKind.valueOf(
                            text.substring(0, Math.max(dash, 0)).toUpperCase(Locale.ROOT));
            int chunks = Integer.parseInt(text.substring(dash + 1));
            if (kind != CachePolicyKind.AGAR
                    && chunks >= 1
                    && chunks <= BlockCode.MAX_DATA_CHUNKS) {
                return new LivePolicy(kind, chunks);
            }
        } catch (IllegalArgumentException e) {
            // Falls through to what it should be.
        }
        throw new BenchFailure(
                "no policy '"
                        + text
                        + "': name none, agar, or lru, lfu, tiny_lfu with a number of"
                        + " chunks, as lfu-5");
    }

    @Override
    public String toString() {
        if (kind == null) {
            return "none";
        }
        String name = kind.name().toLowerCase(Locale.ROOT);
        return chunks == 0 ? name : name + "-" + chunks;
    }
}
