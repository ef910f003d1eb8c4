package org.globalfs.datastore.cache.policy;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Agar's algorithm as published (thesis, algorithms 4 and 5): the best configuration found for each
 * weight is improved with one option after another, by relaxation, which makes room by shrinking
 * another block's option, and by addition. Two things that the paper leaves open: an option of a
 * block that a configuration has already takes the place of the other one, and weights are counted
 * in units, so that there are at most {@value #MAX_UNITS} configurations.
 *
 * <p>Its time grows with blocks x options x units x blocks chosen: for some thousand blocks.
 */
public final class PublishedPlanner implements CachePlanner {
    private static final int MAX_UNITS = 4096;
    private static final int NONE = -1;

    private record Item(BlockKey key, List<CachingOption> options, double popularity, int[] units) {
        double value(int option) {
            return option == NONE ? 0 : popularity * options.get(option).savedMs();
        }

        int weight(int option) {
            return option == NONE ? 0 : units[option];
        }

        /** The best option within a weight. */
        int within(int weight) {
            int found = NONE;
            for (int i = 0; i < units.length && units[i] <= weight; i++) {
                found = i;
            }
            return found;
        }
    }

    /** What is chosen of each item that is there; values and weights follow. */
    private static final class Config {
        final int[] chosen;
        double value;
        int weight;

        Config(int items) {
            chosen = new int[items];
            Arrays.fill(chosen, NONE);
        }

        void set(List<Item> items, int item, int option) {
            Item it = items.get(item);
            value += it.value(option) - it.value(chosen[item]);
            weight += it.weight(option) - it.weight(chosen[item]);
            chosen[item] = option;
        }

        void become(Config other) {
            System.arraycopy(other.chosen, 0, chosen, 0, chosen.length);
            value = other.value;
            weight = other.weight;
        }
    }

    @Override
    public CachePlan plan(
            List<Candidate> candidates,
            RegionLatencies latencies,
            double cacheMs,
            long capacityBytes) {
        List<List<CachingOption>> options = new ArrayList<>();
        long divisor = 0;
        for (Candidate candidate : candidates) {
            List<CachingOption> its = CachingOption.of(candidate.layout(), latencies, cacheMs);
            options.add(its);
            for (CachingOption option : its) {
                divisor = gcd(divisor, option.bytes());
            }
        }
        long unit = Math.max(divisor, (capacityBytes + MAX_UNITS - 1) / MAX_UNITS);
        if (unit == 0) {
            return CachePlan.EMPTY;
        }
        List<Item> items = new ArrayList<>();
        for (int i = 0; i < candidates.size(); i++) {
            items.add(item(candidates.get(i), options.get(i), unit));
        }
        items.sort(
                Comparator.comparingDouble((Item item) -> item.value(item.options.size() - 1))
                        .reversed());
        return planOf(items, populate(items, (int) (capacityBytes / unit)));
    }

    private static Item item(Candidate candidate, List<CachingOption> options, long unit) {
        int[] units =
                options.stream().mapToInt(o -> (int) ((o.bytes() + unit - 1) / unit)).toArray();
        return new Item(candidate.key(), options, candidate.popularity(), units);
    }

    private static long gcd(long a, long b) {
        return b == 0 ? a : gcd(b, a % b);
    }

    private static Config populate(List<Item> items, int capacity) {
        Config[] best = new Config[capacity + 1];
        best[0] = new Config(items.size());
        for (int item = 0; item < items.size(); item++) {
            for (int option = 0; option < items.get(item).options.size(); option++) {
                for (Config config : best) {
                    if (config != null) {
                        relax(items, config, item, option);
                    }
                }
                // From the heaviest down, so that none is made from what this option has made.
                for (int weight = capacity; weight >= 0; weight--) {
                    if (best[weight] != null) {
                        add(items, best, best[weight], item, option);
                    }
                }
            }
        }
        Config found = best[0];
        for (Config config : best) {
            if (config != null && config.value > found.value) {
                found = config;
            }
        }
        return found;
    }

    /** Puts the option in the place of a part of another one, if that is worth it. */
    private static void relax(List<Item> items, Config config, int item, int option) {
        if (config.chosen[item] != NONE) {
            return;
        }
        Item it = items.get(item);
        double gained = it.value(option);
        double bestValue = config.value;
        int bestOther = NONE;
        int bestRest = NONE;
        for (int other = 0; other < items.size(); other++) {
            int old = config.chosen[other];
            if (old == NONE || items.get(other).weight(old) < it.weight(option)) {
                continue;
            }
            Item its = items.get(other);
            int rest = its.within(its.weight(old) - it.weight(option));
            double value = config.value - its.value(old) + its.value(rest) + gained;
            if (value > bestValue) {
                bestValue = value;
                bestOther = other;
                bestRest = rest;
            }
        }
        if (bestOther != NONE) {
            config.set(items, bestOther, bestRest);
            config.set(items, item, option);
        }
    }

    private static void add(List<Item> items, Config[] best, Config config, int item, int option) {
        Item it = items.get(item);
        int old = config.chosen[item];
        int weight = config.weight - it.weight(old) + it.weight(option);
        double value = config.value - it.value(old) + it.value(option);
        if (weight >= best.length || weight == config.weight) {
            return;
        }
        Config target = best[weight];
        if (target == null) {
            target = new Config(items.size());
            best[weight] = target;
        } else if (target.value >= value) {
            return;
        }
        target.become(config);
        target.set(items, item, option);
    }

    private static CachePlan planOf(List<Item> items, Config config) {
        Map<BlockKey, Long> chunks = new HashMap<>();
        long bytes = 0;
        for (int i = 0; i < items.size(); i++) {
            if (config.chosen[i] != NONE) {
                CachingOption option = items.get(i).options.get(config.chosen[i]);
                chunks.put(items.get(i).key, option.chunks());
                bytes += option.bytes();
            }
        }
        return new CachePlan(Map.copyOf(chunks), bytes);
    }
}
