package org.globalfs.client.vfs;

import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells the kernel how long open files have become by what other clients write.
 *
 * <p>The kernel asks for a file's size when a program does, and not when a program touches a mapped
 * page: beyond the end that it knows that is SIGBUS, however long ago another client's write was
 * acknowledged. So after a recall of an open file this client asks by itself, until it holds a
 * grant again: then it knows of all that was acknowledged, and the next change is recalled.
 *
 * <p>Whoever writes the file waits for each recall. So a file is asked for again only after twenty
 * times as long as the last question took.
 */
final class GrownFiles implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(GrownFiles.class);

    private static final long FIRST_PAUSE_NS = TimeUnit.MILLISECONDS.toNanos(5);
    private static final long LONGEST_PAUSE_NS = TimeUnit.SECONDS.toNanos(1);
    private static final long LEAST_REST_NS = TimeUnit.MILLISECONDS.toNanos(200);
    private static final int REST_FACTOR = 20;
    private static final int MOST_THREADS = 100;

    /** Tells the kernel a file's size. */
    interface Question {
        /** False: to be asked again, as the file may have become longer since. */
        boolean settled(long ino);
    }

    private final OpenFiles files;
    private final Question question;

    /** Files being asked for; true: and recalled since the last answer. */
    private final ConcurrentMap<Long, Boolean> asking = new ConcurrentHashMap<>();

    private volatile boolean closed;

    GrownFiles(OpenFiles files, Question question) {
        this.files = files;
        this.question = question;
    }

    /** Somebody else is about to change the inode, and the kernel has no pages of it any more. */
    void recalled(long ino) {
        if (files.isOpenFile(ino) && asking.put(ino, true) == null) {
            begin(ino);
        }
    }

    /**
     * Who tells the kernel may wait for a page, in a system call, and would keep a processor's
     * share of virtual threads meanwhile. Beyond what threads there may be, that is put up with.
     */
    private void begin(long ino) {
        String name = "grown-" + ino;
        if (asking.size() <= MOST_THREADS) {
            try {
                var _ = Thread.ofPlatform().daemon().name(name).start(() -> ask(ino));
                return;
            } catch (OutOfMemoryError e) {
                LOG.debug("no thread for the size of inode {}", ino, e);
            }
        }
        var _ = Thread.ofVirtual().name(name).start(() -> ask(ino));
    }

    private void ask(long ino) {
        do {
            asking.replace(ino, false);
            long tookNs = untilSettled(ino);
            LockSupport.parkNanos(Math.max(LEAST_REST_NS, REST_FACTOR * tookNs));
        } while (!asking.remove(ino, false));
    }

    /** Returns how long the last question took. */
    private long untilSettled(long ino) {
        long pauseNs = FIRST_PAUSE_NS;
        while (true) {
            // What it was recalled for is executed once the recall was acknowledged.
            LockSupport.parkNanos(pauseNs);
            long startNs = System.nanoTime();
            if (closed || !files.isOpenFile(ino) || question.settled(ino)) {
                return System.nanoTime() - startNs;
            }
            pauseNs = Math.min(2 * pauseNs, LONGEST_PAUSE_NS);
        }
    }

    @Override
    public void close() {
        closed = true;
    }
}
