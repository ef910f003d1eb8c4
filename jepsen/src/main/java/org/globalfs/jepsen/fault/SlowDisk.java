package org.globalfs.jepsen.fault;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.globalfs.jepsen.cluster.Disks;
import org.globalfs.jepsen.cluster.TestedCluster;
import org.jspecify.annotations.Nullable;

/** A server's disk that stands still most of the time. */
final class SlowDisk implements Fault {
    private static final int STILL_MS = 400;
    private static final int WORKS_MS = 100;

    private final String name;
    private final Disks disks;
    private final String server;
    private final CountDownLatch over = new CountDownLatch(1);
    private @Nullable CompletableFuture<Void> freezing;

    SlowDisk(String name, TestedCluster cluster, String server) {
        this.name = name;
        disks = cluster.around().disks().orElseThrow();
        this.server = server;
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public String target() {
        return server;
    }

    @Override
    public boolean spares(String client, String partition) {
        return true;
    }

    @Override
    public void begin() {
        freezing = CompletableFuture.runAsync(this::freezeAndThaw, Thread::startVirtualThread);
    }

    private void freezeAndThaw() {
        try {
            do {
                disks.freeze(server);
                boolean ended = over.await(STILL_MS, TimeUnit.MILLISECONDS);
                disks.thaw(server);
                if (ended) {
                    return;
                }
            } while (!over.await(WORKS_MS, TimeUnit.MILLISECONDS));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public void end() throws IOException {
        over.countDown();
        if (freezing != null) {
            try {
                freezing.join();
            } catch (CompletionException e) {
                throw new IOException("the disk of " + server + " cannot be slowed", e);
            }
        }
    }
}
