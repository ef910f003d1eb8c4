package org.globalfs.bench.multicast.member;

import java.io.IOException;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.IntPredicate;
import org.globalfs.multicast.Entry;
import org.globalfs.multicast.Learner;
import org.globalfs.multicast.Membership;
import org.globalfs.multicast.MergePosition;
import org.globalfs.multicast.MergeStrategy;
import org.globalfs.multicast.MergedLearner;
import org.globalfs.multicast.Multicast;
import org.globalfs.multicast.MulticastOptions;
import org.globalfs.multicast.runtime.MulticastNode;
import org.jspecify.annotations.Nullable;

/**
 * A replica of a region that is merged with ring global: members up to {@link #HOME_MEMBERS} are
 * the region, with ring 1 and ring 0, the others another region, with ring 0 only. A member's load
 * goes to ring 1 if it has it. What ring 0 orders concerns the region.
 */
public final class MergedLogMember implements MeasuredLog {
    /** Replicas of the region whose commands are measured. */
    public static final int HOME_MEMBERS = 3;

    /** The region without ring 0. */
    public static final String ALONE = "merge-alone";

    public static final String HOME_RING = "merge-home-ring";
    private static final String ROUND_ROBIN = "merge-round-robin";
    private static final int SEGMENT_BYTES = 64 << 20;
    private static final long RETAINED_BYTES = 256L << 20;
    private static final int GLOBAL = 0;
    private static final int REGION = 1;
    private static final int[] NOWHERE = {};
    private static final int[] BOTH = {GLOBAL, REGION};

    private final Multicast multicast;
    private final int ring;

    static boolean runs(String system) {
        return system.equals(ALONE) || system.equals(HOME_RING) || system.startsWith(ROUND_ROBIN);
    }

    /** Name of the system that merges so. */
    public static String system(MergeStrategy.RoundRobin turns) {
        return "%s-%d-%d-%d"
                .formatted(ROUND_ROBIN, turns.turn(), turns.lambda(), turns.delta().toMillis());
    }

    private static MergeStrategy strategy(String system) {
        if (!system.startsWith(ROUND_ROBIN)) {
            return MergeStrategy.HOME_RING;
        }
        String[] numbers = system.substring(ROUND_ROBIN.length() + 1).split("-");
        return new MergeStrategy.RoundRobin(
                Integer.parseInt(numbers[0]),
                Long.parseLong(numbers[1]),
                Duration.ofMillis(Long.parseLong(numbers[2])));
    }

    MergedLogMember(MemberOptions options, Acknowledged acknowledged, Consumer<Throwable> onFatal)
            throws IOException {
        boolean home = options.self() <= HOME_MEMBERS;
        ring = home ? REGION : GLOBAL;
        Map<Integer, List<Integer>> rings = new HashMap<>();
        if (home) {
            rings.put(REGION, members(options, member -> member <= HOME_MEMBERS));
        }
        if (!options.system().equals(ALONE)) {
            rings.put(GLOBAL, members(options, member -> true));
        }
        MergeStrategy merge = strategy(options.system());
        boolean imports = home && rings.size() > 1 && merge instanceof MergeStrategy.HomeRing;
        MulticastOptions all =
                new MulticastOptions(
                                "bench",
                                options.self(),
                                options.address(),
                                options.addresses(),
                                rings,
                                imports ? REGION : -1,
                                options.folder(),
                                options.durable(),
                                SEGMENT_BYTES,
                                RETAINED_BYTES)
                        .mergedBy(merge);
        if (merge instanceof MergeStrategy.RoundRobin turns) {
            Turns learner = new Turns(ring, turns.turn(), rings, acknowledged);
            multicast = MulticastNode.startMerged(all, learner, onFatal);
            learner.multicast = multicast;
            return;
        }
        ImportedGlobal global =
                new ImportedGlobal(REGION, ring == GLOBAL ? acknowledged : id -> {});
        Map<Integer, Learner> learners = new HashMap<>();
        if (rings.containsKey(GLOBAL)) {
            learners.put(GLOBAL, global);
        }
        if (home) {
            learners.put(REGION, global.region(acknowledged));
        }
        multicast = MulticastNode.start(all, learners, imports ? global : null, onFatal);
        global.started(multicast);
    }

    private static List<Integer> members(MemberOptions options, IntPredicate which) {
        return options.addresses().keySet().stream().filter(which::test).sorted().toList();
    }

    @Override
    public boolean propose(byte[] value) {
        return multicast.propose(ring, value, ring == GLOBAL ? BOTH : NOWHERE);
    }

    @Override
    public int coordinator() {
        return multicast.coordinator(ring);
    }

    @Override
    public void close() {
        multicast.close();
    }

    /** The least that a merged learner can do. */
    private static final class Turns implements MergedLearner {
        private static final int INSTANCES_A_TRIM = 4096;

        private final int ring;
        private final Acknowledged acknowledged;
        private final Map<Integer, Long> timestamps = new HashMap<>();
        private volatile MergePosition position;
        private long delivered;
        private volatile @Nullable Multicast multicast;

        Turns(int ring, int turn, Map<Integer, List<Integer>> rings, Acknowledged acknowledged) {
            this.ring = ring;
            this.acknowledged = acknowledged;
            this.position = MergePosition.start(turn, List.copyOf(rings.keySet()));
        }

        @Override
        public int group() {
            return ring;
        }

        @Override
        public MergePosition position() {
            return position;
        }

        @Override
        public long lastTimestamp(int of) {
            return timestamps.getOrDefault(of, 0L);
        }

        /** Never changed here. */
        @Override
        public @Nullable Membership membership(int ring) {
            return null;
        }

        @Override
        public void deliver(int from, long instance, List<Entry> entries, MergePosition after) {
            for (Entry entry : entries) {
                if (entry instanceof Entry.Command command) {
                    timestamps.put(from, command.timestamp());
                    if (from == ring) {
                        acknowledged.value(Values.id(command.value()));
                    }
                }
            }
            position = after;
            Multicast node = multicast;
            if (++delivered % INSTANCES_A_TRIM == 0 && node != null) {
                node.checkpointed(after);
            }
        }

        @Override
        public void behind(int from, long firstAvailable) {
            throw new IllegalStateException(
                    "ring " + from + " is trimmed before " + firstAvailable);
        }
    }
}
