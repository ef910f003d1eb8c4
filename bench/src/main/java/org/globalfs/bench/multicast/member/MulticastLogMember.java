package org.globalfs.bench.multicast.member;

import java.io.IOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.LongConsumer;
import org.globalfs.multicast.Entry;
import org.globalfs.multicast.Learner;
import org.globalfs.multicast.Membership;
import org.globalfs.multicast.Multicast;
import org.globalfs.multicast.MulticastOptions;
import org.globalfs.multicast.runtime.MulticastNode;
import org.jspecify.annotations.Nullable;

/** GlobalFS's multicast; the load is on the first of its rings, the others are idle. */
final class MulticastLogMember implements MeasuredLog {
    private static final int SEGMENT_BYTES = 64 << 20;
    private static final long RETAINED_BYTES = 256L << 20;
    private static final int[] NOWHERE = {};
    private static final int[] GLOBAL = {0};

    private final Multicast multicast;
    private final int ring;
    private final int[] destinations;

    MulticastLogMember(
            MemberOptions options, Acknowledged acknowledged, Consumer<Throwable> onFatal)
            throws IOException {
        ring = options.firstRing();
        destinations = ring == 0 ? GLOBAL : NOWHERE;
        List<Integer> members = options.addresses().keySet().stream().sorted().toList();
        Map<Integer, List<Integer>> rings = new HashMap<>();
        Map<Integer, Learner> learners = new HashMap<>();
        CountingLearner loaded = new CountingLearner(acknowledged, options.keepsLog());
        for (int number = ring; number < ring + options.rings(); number++) {
            rings.put(number, members);
            learners.put(number, number == ring ? loaded : new CountingLearner(id -> {}, true));
        }
        multicast =
                MulticastNode.start(
                        new MulticastOptions(
                                        "bench",
                                        options.self(),
                                        options.address(),
                                        options.addresses(),
                                        rings,
                                        -1,
                                        options.folder(),
                                        options.durable(),
                                        SEGMENT_BYTES,
                                        RETAINED_BYTES)
                                .spreading(Map.of(ring, options.dissemination())),
                        learners,
                        null,
                        onFatal);
        loaded.trim(instance -> multicast.checkpointed(ring, instance));
    }

    @Override
    public boolean propose(byte[] value) {
        return multicast.propose(ring, value, destinations);
    }

    @Override
    public int coordinator() {
        return multicast.coordinator(ring);
    }

    @Override
    public void close() {
        multicast.close();
    }

    /** The least that a learner can do, so that ordering is what is measured. */
    private static final class CountingLearner implements Learner {
        /** As a state would that is checkpointed now and then. */
        private static final long BYTES_A_TRIM = 64 << 20;

        private final Acknowledged acknowledged;
        private final boolean keepsLog;
        private volatile LongConsumer trim = instance -> {};
        private volatile long applied;
        private volatile long lastTimestamp;
        private long bytes;

        CountingLearner(Acknowledged acknowledged, boolean keepsLog) {
            this.acknowledged = acknowledged;
            this.keepsLog = keepsLog;
        }

        void trim(LongConsumer to) {
            trim = to;
        }

        @Override
        public long applied() {
            return applied;
        }

        @Override
        public long lastTimestamp() {
            return lastTimestamp;
        }

        /** Never changed here. */
        @Override
        public @Nullable Membership membership() {
            return null;
        }

        @Override
        public void deliver(long instance, List<Entry> entries) {
            for (Entry entry : entries) {
                if (entry instanceof Entry.Command command) {
                    lastTimestamp = command.timestamp();
                    bytes += command.value().length;
                    acknowledged.value(Values.id(command.value()));
                }
            }
            applied = instance;
            if (!keepsLog && bytes >= BYTES_A_TRIM) {
                bytes = 0;
                trim.accept(instance);
            }
        }

        @Override
        public void behind(long firstAvailable) {
            applied = Math.max(applied, firstAvailable - 1);
        }
    }
}
