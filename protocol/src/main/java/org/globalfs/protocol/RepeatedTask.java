package org.globalfs.protocol;

import org.slf4j.Logger;

/**
 * What a timer does again and again, whatever went wrong the last time. An executor would keep an
 * Error to itself and never run the task again: who handles what ends threads is told of it.
 */
public final class RepeatedTask implements Runnable {
    private final Logger log;
    private final String failure;
    private final Runnable task;

    /**
     * @param failure what to log when the task fails
     */
    public RepeatedTask(Logger log, String failure, Runnable task) {
        this.log = log;
        this.failure = failure;
        this.task = task;
    }

    @Override
    public void run() {
        try {
            task.run();
        } catch (RuntimeException | OutOfMemoryError e) {
            // A full heap ends the process; where no thread could be begun, one may be next time.
            log.error(failure, e);
        } catch (Error e) {
            Thread thread = Thread.currentThread();
            thread.getUncaughtExceptionHandler().uncaughtException(thread, e);
            throw e;
        }
    }
}
