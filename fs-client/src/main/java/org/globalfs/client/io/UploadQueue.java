package org.globalfs.client.io;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.Executor;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs tasks on other threads in order, some at a time: uploads leave room for reads on shared
 * threads.
 */
final class UploadQueue implements Executor {
    private static final Logger LOG = LoggerFactory.getLogger(UploadQueue.class);

    private final Executor threads;
    private final int atATime;
    private final Deque<Runnable> waiting = new ArrayDeque<>();
    private int running;

    UploadQueue(Executor threads, int atATime) {
        this.threads = threads;
        this.atATime = atATime;
    }

    @Override
    public void execute(Runnable task) {
        synchronized (waiting) {
            if (running == atATime) {
                waiting.add(task);
                return;
            }
            running++;
        }
        begin(task);
    }

    /** With a place of those that run, which is free again when no thread takes the task. */
    private void begin(Runnable task) {
        boolean begun = false;
        try {
            threads.execute(() -> run(task));
            begun = true;
        } finally {
            if (!begun) {
                synchronized (waiting) {
                    running--;
                }
            }
        }
    }

    /** Whatever becomes of one task, the next has its turn. */
    private void run(Runnable first) {
        Runnable task = first;
        while (task != null) {
            try {
                task.run();
            } catch (RuntimeException | Error e) {
                LOG.error("an upload failed unexpectedly", e);
            }
            synchronized (waiting) {
                task = waiting.poll();
                if (task == null) {
                    running--;
                }
            }
        }
    }
}
