package org.globalfs.multicast.runtime;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.globalfs.multicast.core.Batch;
import org.globalfs.multicast.core.Message;
import org.globalfs.multicast.core.ReadDecided;
import org.globalfs.multicast.log.MulticastLog;
import org.globalfs.multicast.log.StoredRecord;
import org.globalfs.multicast.wire.LogCodec;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Answers lagging peers from the log, on a thread of its own so that the event loop never reads the
 * disk.
 */
final class CatchUpReader {
    private static final Logger logger = LoggerFactory.getLogger(CatchUpReader.class);
    private static final int REPLY_BYTES = 1 << 20;
    private static final int WAITING_READS = 64;

    interface Reply {
        void send(int peer, int ring, Message message);
    }

    private final MulticastLog log;
    private final Reply reply;
    private final FatalStop stop;
    private final ThreadPoolExecutor thread;

    CatchUpReader(int node, MulticastLog log, Reply reply, FatalStop stop) {
        this(
                log,
                reply,
                stop,
                task -> {
                    Thread reader = new Thread(task, "catch-up-" + node);
                    reader.setDaemon(true);
                    return reader;
                });
    }

    CatchUpReader(MulticastLog log, Reply reply, FatalStop stop, ThreadFactory threads) {
        this.log = log;
        this.reply = reply;
        this.stop = stop;
        // A read that finds the queue full is dropped: the peer asks again.
        this.thread =
                new ThreadPoolExecutor(
                        1,
                        1,
                        5,
                        TimeUnit.SECONDS,
                        new LinkedBlockingQueue<>(WAITING_READS),
                        threads,
                        new ThreadPoolExecutor.DiscardPolicy());
        thread.allowCoreThreadTimeOut(true);
    }

    void read(int ring, ReadDecided read) {
        try {
            thread.execute(() -> answerOrStop(ring, read));
        } catch (OutOfMemoryError e) {
            // No thread to be had, as where the queue is full: the peer asks again.
            logger.debug("a peer that lags is not answered: {}", e.getMessage());
        }
    }

    private void answerOrStop(int ring, ReadDecided read) {
        try {
            answer(ring, read);
        } catch (Throwable e) {
            stop.fatal("catch-up reads", e);
        }
    }

    private void answer(int ring, ReadDecided read) {
        List<StoredRecord> records = log.read(ring, read.from(), read.through(), REPLY_BYTES);
        if (!records.isEmpty()) {
            List<Batch> batches = new ArrayList<>(records.size());
            for (StoredRecord record : records) {
                batches.add(LogCodec.batch(record));
            }
            reply.send(
                    read.peer(),
                    ring,
                    new Message.CatchUpReply(read.from(), batches, read.through()));
            return;
        }
        long first = log.firstAvailable(ring);
        if (first > read.from()) {
            reply.send(read.peer(), ring, new Message.TooOld(read.from(), first, read.through()));
        }
    }

    void close() {
        thread.shutdown();
        try {
            if (!thread.awaitTermination(10, TimeUnit.SECONDS)) {
                logger.warn("a catch-up read does not end");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
