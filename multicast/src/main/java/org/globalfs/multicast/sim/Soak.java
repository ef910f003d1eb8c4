package org.globalfs.multicast.sim;

import java.util.ArrayList;
import java.util.List;
import java.util.PrimitiveIterator;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.Consumer;
import java.util.stream.LongStream;

/** Many simulated runs side by side, each on one thread. */
public final class Soak {

    private final PrimitiveIterator.OfLong seeds;
    private final long endNs;
    private final Consumer<RingSimulation.Outcome> listener;

    private Soak(LongStream seeds, long timeNs, Consumer<RingSimulation.Outcome> listener) {
        this.seeds = seeds.iterator();
        this.endNs = System.nanoTime() + timeNs;
        this.listener = listener;
    }

    /**
     * Runs the seeds until there are no more or the time is over; the listener hears of each run,
     * one at a time.
     */
    public static void run(
            LongStream seeds, long timeNs, int threads, Consumer<RingSimulation.Outcome> listener) {
        Soak soak = new Soak(seeds, timeNs, listener);
        try (ExecutorService pool = Executors.newFixedThreadPool(threads)) {
            List<Future<?>> workers = new ArrayList<>();
            for (int i = 0; i < threads; i++) {
                workers.add(pool.submit(soak::work));
            }
            for (Future<?> worker : workers) {
                worker.get();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (ExecutionException e) {
            throw new IllegalStateException("a simulation worker failed", e.getCause());
        }
    }

    private void work() {
        while (true) {
            long seed;
            synchronized (this) {
                if (!seeds.hasNext()
                        || System.nanoTime() - endNs >= 0
                        || Thread.currentThread().isInterrupted()) {
                    return;
                }
                seed = seeds.nextLong();
            }
            RingSimulation.Outcome outcome = RingSimulation.run(seed);
            synchronized (this) {
                listener.accept(outcome);
            }
        }
    }
}
