package org.globalfs.client.vfs;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import java.time.Duration;
import java.util.BitSet;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.LongAdder;
import org.globalfs.client.cache.MetadataCache;
import org.globalfs.client.io.ContentMap;
import org.globalfs.client.io.WriteBack;
import org.globalfs.client.meta.Patience;
import org.globalfs.protocol.wire.Attributes;
import org.globalfs.protocol.wire.Credentials;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Asks ahead for the files of a directory that lives in another region, while a program opens one
 * after the other: else each costs it round trips over an ocean.
 *
 * <p>A file is asked for at most once for each time that it was listed, and only what comes soon
 * after an opened one in the listing. Nothing is believed for it that an open would not believe:
 * what comes goes into the caches by the usual rules.
 */
final class DirectoryReadAhead implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(DirectoryReadAhead.class);
    private static final Credentials SYSTEM = new Credentials(0, 0);

    /** Files after the opened one: at first, and when the program was found to go on. */
    private static final int WINDOW_MIN = 8;

    private static final int WINDOW_MAX = 32;

    /** The beginning of a long file is enough: then its own read-ahead follows. */
    private static final long FILE_BYTES = 1 << 20;

    private static final long WINDOW_BYTES = 8 << 20;
    private static final int PARALLEL = 16;
    private static final int PLACES = 20_000;
    private static final Duration TIMEOUT = Duration.ofSeconds(5);
    private static final long INTERRUPTIBLE_MS = 100;

    private final Requests requests;
    private final MetadataCache cache;
    private final WriteBack writeBack;
    private final Cache<Long, Place> places =
            Caffeine.newBuilder().maximumSize(PLACES).executor(Runnable::run).build();
    private final ConcurrentMap<Long, CompletableFuture<Void>> underWay = new ConcurrentHashMap<>();
    private final Semaphore permits = new Semaphore(PARALLEL, true);
    private final ExecutorService executor = Executors.newVirtualThreadPerTaskExecutor();
    private final LongAdder asked = new LongAdder();
    private volatile boolean closed;

    private record Place(Listing listing, int index) {}

    /** Files in the order in which a directory was listed. Guarded by itself. */
    private static final class Listing {
        final List<Long> files;
        final BitSet asked = new BitSet();
        int last = -1;
        int window = WINDOW_MIN;

        Listing(List<Long> files) {
            this.files = files;
        }
    }

    DirectoryReadAhead(Requests requests, WriteBack writeBack) {
        this.requests = requests;
        this.cache = requests.cache();
        this.writeBack = writeBack;
    }

    /** Regular files were listed in this order. */
    void listed(List<Long> files) {
        Listing listing = new Listing(files);
        for (int i = 0; i < files.size(); i++) {
            places.put(files.get(i), new Place(listing, i));
        }
    }

    /**
     * A program is about to open a file to read it. Asks for others, and waits for what was asked
     * of this one before.
     */
    void opens(long ino, Patience patience) {
        Place place = places.getIfPresent(ino);
        if (place == null) {
            return;
        }
        synchronized (place.listing) {
            askAfter(place.listing, place.index);
        }
        CompletableFuture<Void> coming = underWay.get(ino);
        if (coming != null) {
            await(coming, patience);
        }
    }

    private void askAfter(Listing listing, int index) {
        int step = index - listing.last;
        if (listing.last >= 0) {
            boolean goesOn = step >= 0 && step <= listing.window;
            listing.window = goesOn ? Math.min(2 * listing.window, WINDOW_MAX) : WINDOW_MIN;
        }
        listing.last = index;
        listing.asked.set(index);
        int end = Math.min(listing.files.size(), index + 1 + listing.window);
        long bytes = 0;
        for (int i = index + 1; i < end && bytes < WINDOW_BYTES; i++) {
            long ino = listing.files.get(i);
            Attributes attributes = cache.attributes(ino);
            bytes += attributes == null ? 0 : Math.min(attributes.getSize(), FILE_BYTES);
            if (!listing.asked.get(i)) {
                listing.asked.set(i);
                ask(ino);
            }
        }
    }

    private void ask(long ino) {
        CompletableFuture<Void> coming = new CompletableFuture<>();
        if (!closed && underWay.putIfAbsent(ino, coming) == null) {
            asked.increment();
            executor.execute(() -> {
                try {
                    fetch(ino);
                } finally {
                    underWay.remove(ino, coming);
                    coming.complete(null);
                }
            });
        }
    }

    /** Whoever opens the file asks again if this fails, and hears why. */
    private void fetch(long ino) {
        permits.acquireUninterruptibly();
        try {
            ContentMap content = cache.content(ino);
            if (content == null && !closed) {
                requests.open(SYSTEM, ino, 0, patience());
                content = cache.content(ino);
            }
            if (content != null && !closed) {
                writeBack.fetch(content, FILE_BYTES);
            }
        } catch (RuntimeException e) {
            LOG.debug("asking ahead for inode {} failed", ino, e);
        } finally {
            permits.release();
        }
    }

    private Patience patience() {
        long deadlineNs = System.nanoTime() + TIMEOUT.toNanos();
        return new Patience() {
            @Override
            public long deadlineNs() {
                return deadlineNs;
            }

            @Override
            public boolean cancelled() {
                return closed;
            }
        };
    }

    /** It ends soon: asking ahead has little patience. */
    private static void await(CompletableFuture<Void> coming, Patience patience) {
        while (!patience.over()) {
            try {
                coming.get(INTERRUPTIBLE_MS, TimeUnit.MILLISECONDS);
                return;
            } catch (TimeoutException e) {
                // Whoever waits may have been interrupted.
            } catch (ExecutionException e) {
                return;
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                return;
            }
        }
    }

    /** How many files were asked for before anybody opened them. */
    long asked() {
        return asked.sum();
    }

    /** Nothing is asked for afterwards. */
    @Override
    public void close() {
        closed = true;
        executor.shutdown();
        try {
            if (!executor.awaitTermination(TIMEOUT.toMillis(), TimeUnit.MILLISECONDS)) {
                LOG.debug("what was asked ahead has not come");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
