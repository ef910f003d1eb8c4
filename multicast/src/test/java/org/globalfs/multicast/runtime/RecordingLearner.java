package org.globalfs.multicast.runtime;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.ArrayList;
import java.util.List;
import java.util.function.BiConsumer;
import java.util.function.LongConsumer;
import org.globalfs.multicast.Entry;
import org.globalfs.multicast.Learner;
import org.globalfs.multicast.Membership;
import org.jspecify.annotations.Nullable;

/** Keeps what it was told, and checks that nothing is missing, doubled or out of order. */
final class RecordingLearner implements Learner {
    private final List<String> values = new ArrayList<>();
    private long applied;
    private long lastTimestamp;
    private @Nullable Membership membership;
    BiConsumer<Long, List<Entry>> onDelivered = (instance, entries) -> {};
    LongConsumer onBehind =
            first -> {
                throw new AssertionError("behind " + first);
            };

    @Override
    public synchronized long applied() {
        return applied;
    }

    @Override
    public synchronized long lastTimestamp() {
        return lastTimestamp;
    }

    @Override
    public synchronized @Nullable Membership membership() {
        return membership;
    }

    @Override
    public void deliver(long instance, List<Entry> entries) {
        synchronized (this) {
            if (instance != applied + 1) {
                throw new AssertionError("instance " + instance + " after " + applied);
            }
            for (Entry entry : entries) {
                switch (entry) {
                    case Entry.Command c -> {
                        if (c.timestamp() <= lastTimestamp) {
                            throw new AssertionError(
                                    "timestamp " + c.timestamp() + " after " + lastTimestamp);
                        }
                        lastTimestamp = c.timestamp();
                        values.add(new String(c.value(), UTF_8));
                    }
                    case Entry.Import i -> values.add("import " + i.instance());
                    case Entry.Noop _, Entry.Skip _, Entry.Subscription _ -> {}
                    case Entry.Members m -> membership = m.membership();
                }
            }
            applied = instance;
            notifyAll();
        }
        onDelivered.accept(instance, entries);
    }

    @Override
    public void behind(long firstAvailable) {
        onBehind.accept(firstAvailable);
    }

    synchronized void takeOver(RecordingLearner peer) {
        synchronized (peer) {
            values.clear();
            values.addAll(peer.values);
            applied = peer.applied;
            lastTimestamp = peer.lastTimestamp;
            membership = peer.membership;
        }
    }

    synchronized List<String> values() {
        return List.copyOf(values);
    }

    synchronized int count() {
        return values.size();
    }

    synchronized boolean has(String value) {
        return values.contains(value);
    }
}
