package org.globalfs.jepsen.fault;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import org.globalfs.jepsen.cluster.TestedCluster;
import org.jspecify.annotations.Nullable;

/**
 * A server that is killed and started again, over and over: each time before it serves, or just
 * after, as chance wants it.
 */
final class RestartLoop implements Fault {
    private static final int LEAST_ROUNDS = 3;
    private static final int MOST_BEFORE_MS = 3_000;
    private static final int MOST_AFTER_MS = 500;

    private final ProcessFault dead;
    private final Alternation.Change kill;
    private final Alternation.Change start;
    private final Random random;
    private volatile boolean over;
    private @Nullable CompletableFuture<Void> looping;

    /**
     * @param dead what it is while the server is down
     * @param kill returns once it is dead; does nothing when it is
     * @param start returns once it serves; fails when it dies before
     */
    RestartLoop(
            ProcessFault dead, Alternation.Change kill, Alternation.Change start, Random random) {
        this.dead = dead;
        this.kill = kill;
        this.start = start;
        this.random = random;
    }

    static Fault of(String name, TestedCluster cluster, String server, Random random) {
        List<String> servers = List.of(server);
        return new RestartLoop(
                new ProcessFault(name, cluster, servers, true),
                () -> cluster.kill(servers),
                () -> cluster.start(servers),
                new Random(random.nextLong()));
    }

    @Override
    public String name() {
        return dead.name();
    }

    @Override
    public String target() {
        return dead.target();
    }

    @Override
    public boolean spares(String client, String partition) {
        return dead.spares(client, partition);
    }

    @Override
    public void begin() throws IOException {
        kill.make();
        looping = begun(this::loop);
    }

    private static CompletableFuture<Void> begun(Alternation.Change change) {
        return CompletableFuture.runAsync(
                () -> {
                    try {
                        change.make();
                    } catch (IOException e) {
                        throw new UncheckedIOException(e);
                    }
                },
                Thread::startVirtualThread);
    }

    private void loop() throws IOException {
        for (int round = 0; round < LEAST_ROUNDS || !over; round++) {
            startAndKill(random.nextBoolean());
        }
    }

    /**
     * @param early whether it may be killed before it serves, and so fail to start
     */
    private void startAndKill(boolean early) throws IOException {
        CompletableFuture<Void> starting = begun(start);
        if (early) {
            boolean _ = isOver(starting, random.nextInt(MOST_BEFORE_MS));
        } else {
            join(starting);
            LockSupport.parkNanos(random.nextInt(MOST_AFTER_MS) * 1_000_000L);
        }
        kill.make();
        // who starts it may not have come to that yet: two at a time would be in each other's way
        boolean _ = isOver(starting, Integer.MAX_VALUE);
    }

    private static boolean isOver(CompletableFuture<Void> starting, int withinMs)
            throws IOException {
        try {
            starting.get(withinMs, TimeUnit.MILLISECONDS);
            return true;
        } catch (ExecutionException e) {
            return true; // killed; one that starts no more at all fails at the end
        } catch (TimeoutException e) {
            return false;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted", e);
        }
    }

    private void join(CompletableFuture<Void> future) throws IOException {
        try {
            future.join();
        } catch (CompletionException e) {
            throw new IOException(target() + " does not start again", e);
        }
    }

    @Override
    public void end() throws IOException {
        over = true;
        try {
            if (looping != null) {
                join(looping);
            }
        } finally {
            start.make();
        }
    }
}
