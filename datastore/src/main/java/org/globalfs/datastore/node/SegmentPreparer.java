package org.globalfs.datastore.node;

import java.nio.ByteBuffer;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** The thread that writes zeros ahead in segments, one for all nodes of the process. */
final class SegmentPreparer {
    @SuppressWarnings("ThreadPriorityCheck") // serving comes first
    private static final ExecutorService THREAD =
            Executors.newSingleThreadExecutor(task ->
                    Thread.ofPlatform()
                            .daemon()
                            .name("segment-preparer")
                            .priority(Thread.MIN_PRIORITY)
                            .unstarted(task));

    private static final ByteBuffer ZEROS = ByteBuffer.allocateDirect(256 << 10);

    private SegmentPreparer() {}

    @SuppressWarnings("FutureReturnValueIgnored") // the task reports its own failures
    static void submit(Runnable task) {
        THREAD.submit(task);
    }

    static ByteBuffer zeros(int bytes) {
        return ZEROS.slice(0, bytes);
    }
}
