package org.globalfs.client.vfs;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.ThreadFactory;
import java.util.function.LongFunction;
import org.globalfs.client.cache.LeaseOffer;
import org.globalfs.client.cache.MetadataCache;
import org.globalfs.client.io.FileContent;
import org.globalfs.client.meta.Answer;
import org.globalfs.client.meta.MetadataClient;
import org.globalfs.client.meta.Patience;
import org.globalfs.client.meta.Session;
import org.globalfs.protocol.FailureNews;
import org.globalfs.protocol.Threads;
import org.globalfs.protocol.wire.RecallReply;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Listens at each partition's coordinator that gave grants, on a thread a partition: keeps the
 * lease running, and gives recalled grants back.
 *
 * <p>A recall is acknowledged once this client's caches and the kernel's have dropped what it
 * names. The kernel may be slow: dropping a name takes the directory's lock, which a local
 * operation may hold that itself waits for the coordinator, and dropping a page waits for its read
 * or write. Then the recall ends with the lease instead, and the kernel gets no names of that
 * directory for a while.
 *
 * <p>Dropping mapped pages has the kernel write back those that a program has changed, each whole:
 * with bytes that the other client is about to change. They are committed before the recall is
 * acknowledged, so before the other's change, which they would undo afterwards.
 */
final class Recalls implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(Recalls.class);
    private static final Duration POLL = Duration.ofSeconds(20);
    private static final long IDLE_NS = 60_000_000_000L;
    private static final long KERNEL_WAIT_MS = 200;
    private static final long COMMIT_CHECK_MS = 2;

    /**
     * After an answer was written to the kernel, the program that gets it has to run before the
     * kernel itself goes by it.
     */
    private static final long SETTLES_NS = 100_000_000;

    private final MetadataClient client;
    private final MetadataCache cache;
    private final GrownFiles grown;
    private final LongFunction<@Nullable FileContent> contents;
    private final ConcurrentMap<Integer, Listener> listeners = new ConcurrentHashMap<>();
    private final ThreadFactory threads;
    private final FailureNews shortages = new FailureNews();
    private volatile @Nullable KernelCache kernel;
    private volatile boolean closed;

    /**
     * @param contents of open files
     * @param threads to listen
     */
    Recalls(
            MetadataClient client,
            MetadataCache cache,
            GrownFiles grown,
            LongFunction<@Nullable FileContent> contents,
            ThreadFactory threads) {
        this.threads = threads;
        this.contents = contents;
        this.client = client;
        this.cache = cache;
        this.grown = grown;
    }

    void mounted(KernelCache kernelCache) {
        kernel = kernelCache;
    }

    /** A grant of this partition was received. */
    void granted(int partition) {
        Listener listener = listeners.get(partition);
        if (listener == null) {
            listener = listeners.computeIfAbsent(partition, Listener::new);
        }
        if (!listener.started) {
            begin(listener);
        }
        listener.usedNs = System.nanoTime();
    }

    /**
     * What was granted is good all the same: who wants it back waits for the end of the lease,
     * which is not extended for a session that does not give back. The next grant tries again.
     */
    private void begin(Listener listener) {
        try {
            listener.start();
        } catch (OutOfMemoryError e) {
            if (shortages.of(e, System.nanoTime())) {
                LOG.warn(
                        "no thread could be begun that gives grants of partition {} back: who"
                                + " changes what this mount has read waits for its lease. {}",
                        listener.partition,
                        Threads.remedy());
            }
        }
    }

    @Override
    public void close() {
        closed = true;
        grown.close();
    }

    private final class Listener implements Runnable {
        private final int partition;
        private volatile long usedNs = System.nanoTime();
        private volatile boolean started;
        private int replica = -1;
        private long acknowledged;
        private Session.Settled settled = new Session.Settled(0, List.of());
        private Session.@Nullable Settled settling;
        private long settlingSinceNs;

        Listener(int partition) {
            this.partition = partition;
        }

        synchronized void start() {
            if (!started) {
                Thread thread = threads.newThread(this);
                thread.setName("recalls-" + partition);
                thread.start();
                started = true; // Only now: there may have been no thread.
            }
        }

        @Override
        public void run() {
            try {
                while (!closed && System.nanoTime() - usedNs < IDLE_NS) {
                    poll();
                }
            } catch (InterruptedException e) {
                LOG.debug("recalls of partition {} interrupted", partition);
            } catch (RuntimeException e) {
                LOG.error("recalls of partition {}", partition, e);
            } finally {
                listeners.remove(partition, this);
            }
        }

        private void poll() throws InterruptedException {
            Answer<RecallReply> answer =
                    client.recalls(partition, replica, acknowledged, settled(), Patience.of(POLL));
            if (answer == null) {
                return;
            }
            RecallReply reply = answer.reply();
            replica = answer.replica();
            if (reply.isSetInodes() && !reply.getInodes().isEmpty()) {
                for (long ino : reply.getInodes()) {
                    cache.recalled(ino);
                }
                waitForKernel(reply.getInodes());
                commitPages(reply.getInodes());
                reply.getInodes().forEach(grown::recalled);
            }
            if (reply.isSetNumber()) {
                acknowledged = reply.getNumber();
            }
            cache.extendLease(
                    partition,
                    new LeaseOffer(
                            answer.replica(),
                            reply.getLease(),
                            answer.sentNs(),
                            reply.getLeaseMs()));
            if (reply.getLeaseMs() <= 0 && !reply.isSetNumber()) {
                // Nothing to recall and no lease: no hurry to ask again.
                Thread.sleep(KERNEL_WAIT_MS);
            }
        }

        private Session.Settled settled() {
            long nowNs = System.nanoTime();
            if (settling == null || nowNs - settlingSinceNs >= SETTLES_NS) {
                settled = settling == null ? settled : settling;
                settling = client.session().settled();
                settlingSinceNs = nowNs;
            }
            return settled;
        }

        private void commitPages(List<Long> inodes) throws InterruptedException {
            List<CompletableFuture<Void>> commits = new ArrayList<>();
            for (long ino : inodes) {
                FileContent content = contents.apply(ino);
                if (content != null && content.hasPendingPages()) {
                    CompletableFuture<Void> commit = new CompletableFuture<>();
                    Thread.startVirtualThread(() -> {
                        try {
                            content.flush();
                        } finally {
                            commit.complete(null);
                        }
                    });
                    commits.add(commit);
                }
            }
            CompletableFuture<Void> all =
                    CompletableFuture.allOf(commits.toArray(CompletableFuture[]::new));
            // Two clients that do this at once wait for each other until a lease ends.
            while (!all.isDone() && !closed && cache.leased(partition)) {
                Thread.sleep(COMMIT_CHECK_MS);
            }
        }

        private void waitForKernel(Collection<Long> inodes) throws InterruptedException {
            KernelCache mounted = kernel;
            while (mounted != null && !closed && !mounted.await(inodes, KERNEL_WAIT_MS)) {
                if (!cache.leased(partition)) {
                    return;
                }
            }
        }
    }
}
