package org.globalfs.client.io;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.Executor;

/**
 * Runs tasks on other threads in order, some at a time: uploads leave room for reads on shared
 * threads.
 */
final class UploadQueue implements Executor {

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
        threads.execute(() -> runAll(task));
    }

    private void runAll(Runnable first) {
        Runnable task = first;
        while (task != null) {
            try {
                task.run();
            } finally {
                synchronized (waiting) {
                    task = waiting.poll();
                    if (task == null) {
                        running--;
                    }
                }
            }
        }
    }
}
