package org.globalfs.client.meta;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.globalfs.protocol.wire.Credentials;
import org.globalfs.protocol.wire.RenewSessionOp;
import org.globalfs.protocol.wire.UpdateOp;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells every partition that the session has to do with that it lives, and which inodes it holds
 * open; says goodbye at the end.
 */
public final class SessionKeeper implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(SessionKeeper.class);
    private static final Credentials SYSTEM = new Credentials(0, 0);

    private final MetadataClient client;
    private final Supplier<Set<Long>> openInodes;
    private final Duration patience;
    private final ScheduledExecutorService timer;
    private final Set<Integer> claimed = new TreeSet<>();

    public SessionKeeper(MetadataClient client, Supplier<Set<Long>> openInodes, Duration interval) {
        this.client = client;
        this.openInodes = openInodes;
        this.patience = interval;
        this.timer =
                Executors.newSingleThreadScheduledExecutor(
                        Thread.ofPlatform().daemon().name("session-keeper").factory());
        ScheduledFuture<?> _ =
                timer.scheduleWithFixedDelay(
                        this::renewLogged,
                        interval.toMillis(),
                        interval.toMillis(),
                        TimeUnit.MILLISECONDS);
    }

    private void renewLogged() {
        try {
            renew();
        } catch (RuntimeException e) {
            LOG.error("session {} could not be renewed", client.session().id(), e);
        }
    }

    /** One round of renewals. */
    public void renew() {
        Map<Integer, List<Long>> open = new HashMap<>();
        for (long ino : openInodes.get()) {
            open.computeIfAbsent(Inodes.partition(ino), partition -> new ArrayList<>()).add(ino);
        }
        Set<Integer> partitions = new TreeSet<>(client.updatedPartitions());
        partitions.addAll(open.keySet());
        synchronized (claimed) {
            partitions.addAll(claimed);
            claimed.addAll(partitions);
        }
        for (int partition : partitions) {
            send(partition, new RenewSessionOp(open.getOrDefault(partition, List.of())), patience);
        }
    }

    private void send(int partition, RenewSessionOp op, Duration atMost) {
        Answer<?> answer =
                client.update(partition, SYSTEM, UpdateOp.renewSession(op), Patience.of(atMost));
        if (!answer.answered()) {
            LOG.warn(
                    "session {} is not renewed in partition {}: nobody answers",
                    client.session().id(),
                    partition);
        }
    }

    /** Ends the session. Partitions that do not answer now drop it when it is not renewed. */
    @Override
    public void close() {
        timer.shutdownNow();
        Set<Integer> partitions = new TreeSet<>(client.updatedPartitions());
        synchronized (claimed) {
            partitions.addAll(claimed);
        }
        for (int partition : partitions) {
            send(partition, new RenewSessionOp(List.of()).setEnded(true), Duration.ofSeconds(1));
        }
    }
}
