package org.globalfs.client.vfs;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import java.time.Duration;
import java.util.BitSet;
import java.util.List;
import java.util.Map;
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
 * after the other, and for the listings of the directories in it, while a program lists them, with
 * their first files if it opened all in others: else each costs it round trips over an ocean.
 *
 * <p>Each is asked for at most once for each time that it was listed, and only what comes soon
 * after a wanted one in the listing. Nothing is believed for it that an open would not believe:
 * what comes goes into the caches by the usual rules.
 */
final class DirectoryReadAhead implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(DirectoryReadAhead.class);
    static final Credentials SYSTEM = new Credentials(0, 0);

    /** Files after the opened one: at first, and when the program was found to go on. */
    private static final int WINDOW_MIN = 8;

    private static final int WINDOW_MAX = 32;

    /** The beginning of a long file is enough: then its own read-ahead follows. */
    private static final long FILE_BYTES = 1 << 20;

    private static final long WINDOW_BYTES = 8 << 20;

    /** Of a directory's first files, before any was opened. */
    private static final long BEGINNING_BYTES = 1 << 20;

    private static final int PARALLEL = 32;
    private static final int PLACES = 20_000;

    /** In directories, whose listings take memory for each. */
    private static final int FILES = 400_000;

    private static final Duration TIMEOUT = Duration.ofSeconds(5);
    private static final long INTERRUPTIBLE_MS = 100;

    private final Requests requests;
    private final MetadataCache cache;
    private final WriteBack writeBack;
    private final Cache<Long, Place> places =
            Caffeine.newBuilder().maximumSize(PLACES).executor(Runnable::run).build();

    /** A directory's files. */
    private final Cache<Long, Listing> filesOf =
            Caffeine.newBuilder()
                    .maximumWeight(FILES)
                    .weigher((Long ino, Listing files) -> 8 + files.inodes.size())
                    .executor(Runnable::run)
                    .build();

    private final ConcurrentMap<Long, CompletableFuture<Void>> underWay = new ConcurrentHashMap<>();
    private final Semaphore permits = new Semaphore(PARALLEL, true);
    private final ExecutorService executor = Executors.newVirtualThreadPerTaskExecutor();
    private final LongAdder filesAsked = new LongAdder();
    private final LongAdder directoriesAsked = new LongAdder();
    private volatile boolean closed;

    private record Place(Listing listing, int index) {}

    /** Lets the caches know what will be wanted of an inode. */
    interface Fetch {
        void fetch(long ino, Patience patience) throws FsException;
    }

    /** Inodes of a kind in the order in which a directory was listed. Guarded by itself. */
    private static final class Listing {
        final long directory;
        final List<Long> inodes;
        final boolean files;
        final Fetch fetch;
        final BitSet asked = new BitSet();
        boolean begun;
        int wanted;
        int last = -1;
        int window = WINDOW_MIN;

        /** Of directories: the program that lists them opens the files in them, too. */
        volatile boolean filesToo;

        Listing(long directory, List<Long> inodes, boolean files, Fetch fetch) {
            this.directory = directory;
            this.inodes = inodes;
            this.files = files;
            this.fetch = fetch;
        }
    }

    DirectoryReadAhead(Requests requests, WriteBack writeBack) {
        this.requests = requests;
        this.cache = requests.cache();
        this.writeBack = writeBack;
    }

    /** Regular files were listed in a directory in this order. */
    void listed(long directory, List<Long> files) {
        Listing listing = new Listing(directory, files, true, this::content);
        listed(listing);
        filesOf.put(directory, listing);
        if (filesToo(directory)) {
            begin(directory);
        }
    }

    /**
     * Directories were listed in a directory in this order.
     *
     * @param fetch lists one
     */
    void listed(long directory, List<Long> directories, Fetch fetch) {
        Listing listing = new Listing(directory, directories, false, fetch);
        listing.filesToo = filesToo(directory);
        listed(listing);
    }

    private boolean filesToo(long directory) {
        Place place = places.getIfPresent(directory);
        return place != null && place.listing.filesToo;
    }

    private void listed(Listing listing) {
        for (int i = 0; i < listing.inodes.size(); i++) {
            places.put(listing.inodes.get(i), new Place(listing, i));
        }
    }

    /**
     * A program is about to open a file to read it, or to list a directory. Asks for others, and
     * waits for what was asked of this one before.
     */
    void wanted(long ino, Patience patience) {
        Place place = places.getIfPresent(ino);
        if (place == null) {
            return;
        }
        synchronized (place.listing) {
            askAfter(place.listing, place.index);
            noteOpened(place.listing);
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
        askFrom(listing, index + 1, WINDOW_BYTES);
        if (listing.filesToo) {
            int endOfBeginnings = Math.min(listing.inodes.size(), index + 1 + WINDOW_MIN);
            listing.inodes.subList(index, endOfBeginnings).forEach(this::begin);
        }
    }

    /** Asks for a directory's first files, if it has been listed. */
    private void begin(long directory) {
        Listing listing = filesOf.getIfPresent(directory);
        if (listing == null) {
            return;
        }
        synchronized (listing) {
            if (!listing.begun) {
                listing.begun = true;
                askFrom(listing, 0, BEGINNING_BYTES);
            }
        }
    }

    private void askFrom(Listing listing, int first, long mostBytes) {
        int end = Math.min(listing.inodes.size(), first + listing.window);
        long bytes = 0;
        for (int i = first; i < end && bytes < mostBytes; i++) {
            long ino = listing.inodes.get(i);
            Attributes attributes = cache.attributes(ino);
            bytes += attributes == null ? 0 : Math.min(attributes.getSize(), FILE_BYTES);
            if (!listing.asked.get(i)) {
                listing.asked.set(i);
                ask(listing, ino);
            }
        }
    }

    /** Whoever opened all, or many, of a directory's files will open the next directory's. */
    private void noteOpened(Listing listing) {
        listing.wanted++;
        if (listing.files && listing.wanted >= Math.min(listing.inodes.size(), WINDOW_MIN)) {
            Place place = places.getIfPresent(listing.directory);
            if (place != null) {
                place.listing.filesToo = true;
            }
        }
    }

    private void ask(Listing listing, long ino) {
        CompletableFuture<Void> coming = new CompletableFuture<>();
        if (!closed && underWay.putIfAbsent(ino, coming) == null) {
            (listing.files ? filesAsked : directoriesAsked).increment();
            executor.execute(() -> {
                try {
                    fetch(listing.fetch, ino);
                } finally {
                    underWay.remove(ino, coming);
                    coming.complete(null);
                }
            });
        }
    }

    /** Whoever wants it asks again if this fails, and hears why. */
    private void fetch(Fetch fetch, long ino) {
        permits.acquireUninterruptibly();
        try {
            if (!closed) {
                long deadlineNs = System.nanoTime() + TIMEOUT.toNanos();
                fetch.fetch(ino, Patience.until(deadlineNs, () -> closed));
            }
        } catch (FsException | RuntimeException e) {
            LOG.debug("asking ahead for inode {} failed", ino, e);
        } finally {
            permits.release();
        }
    }

    private void content(long ino, Patience patience) {
        ContentMap content = cache.content(ino);
        if (content == null) {
            requests.open(SYSTEM, ino, 0, patience);
            content = cache.content(ino);
        }
        if (content != null && !closed) {
            writeBack.fetch(content, FILE_BYTES);
        }
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

    /** How many files were asked for before anybody opened them, and directories likewise. */
    void counters(Map<String, Long> into) {
        into.put("filesAskedAhead", filesAsked.sum());
        into.put("directoriesAskedAhead", directoriesAsked.sum());
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
