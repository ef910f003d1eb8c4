package org.globalfs.jepsen.cluster;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.snakeyaml.engine.v2.api.Load;
import org.snakeyaml.engine.v2.api.LoadSettings;

/** What {@code globalfs status --json} says of the rings. */
record ClusterStatus(Map<?, ?> parsed) {
    private static final int GLOBAL_RING = 0;
    private static final int RINGS = TestedCluster.REGIONS.size() + 1;

    /**
     * @param text its output
     */
    static ClusterStatus parse(String text) {
        String json = text.substring(text.indexOf('{'));
        Object parsed = new Load(LoadSettings.builder().build()).loadFromString(json);
        return new ClusterStatus((Map<?, ?>) parsed);
    }

    private static List<Map<?, ?>> maps(Map<?, ?> parent, String key) {
        List<Map<?, ?>> all = new ArrayList<>();
        if (parent.get(key) instanceof Collection<?> items) {
            items.forEach(item -> all.add((Map<?, ?>) item));
        }
        return all;
    }

    /**
     * Every replica answered for each of its rings, is a member that votes, and has read its state.
     */
    boolean complete() {
        int complete = 0;
        for (Map<?, ?> ring : rings()) {
            boolean member = Boolean.TRUE.equals(ring.get("member"));
            boolean rejoins = Boolean.TRUE.equals(ring.get("rejoining"));
            complete += member && !rejoins && ring.get("hash") != null ? 1 : 0;
        }
        return complete == 2 * TestedCluster.allServers().size();
    }

    /** Complete, and replicas of a ring are at one position, in one state. */
    boolean equal() {
        Map<Object, Set<Object>> byRing = new HashMap<>();
        for (Map<?, ?> ring : rings()) {
            byRing.computeIfAbsent(ring.get("ring"), r -> new HashSet<>())
                    .add(ring.get("hashPosition") + " " + ring.get("hash"));
        }
        return complete()
                && byRing.size() == RINGS
                && byRing.values().stream().allMatch(states -> states.size() == 1);
    }

    private List<Map<?, ?>> rings() {
        List<Map<?, ?>> all = new ArrayList<>();
        for (Map<?, ?> region : maps(parsed, "regions")) {
            for (Map<?, ?> replica : maps(region, "replicas")) {
                all.addAll(maps(replica, "rings"));
            }
        }
        return all;
    }

    /** See {@link TestedCluster#coordinator}. */
    Optional<String> coordinator(String partition) {
        boolean regional = TestedCluster.REGIONS.contains(partition);
        Map<Object, String> servers = new HashMap<>();
        Map<Object, Integer> votes = new LinkedHashMap<>();
        for (Map<?, ?> region : maps(parsed, "regions")) {
            for (Map<?, ?> replica : maps(region, "replicas")) {
                servers.put(
                        replica.get("id"), region.get("name") + "-" + replica.get("datacenter"));
                for (Map<?, ?> ring : maps(replica, "rings")) {
                    boolean global = Integer.valueOf(GLOBAL_RING).equals(ring.get("ring"));
                    if (regional ? !global && partition.equals(region.get("name")) : global) {
                        votes.merge(ring.get("coordinator"), 1, Integer::sum);
                    }
                }
            }
        }
        return votes.entrySet().stream()
                .filter(vote -> servers.containsKey(vote.getKey()))
                .max(Map.Entry.comparingByValue())
                .map(vote -> servers.get(vote.getKey()));
    }
}
