package org.globalfs.jepsen.fault;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.globalfs.jepsen.cluster.Surroundings;
import org.globalfs.jepsen.cluster.TestedCluster;
import org.junit.jupiter.api.Test;

/** A server that dies again and again, with a process that starts at once. */
class RestartLoopTest {
    private static final int ROUNDS = 3;

    private final TestedCluster cluster =
            new TestedCluster(
                    List.of(),
                    Path.of("none"),
                    new Surroundings(Optional.empty(), Optional.empty(), Optional.empty()));
    private final ProcessFault dead =
            new ProcessFault("restart-loop", cluster, List.of("us-west-a"), true);
    private final AtomicInteger kills = new AtomicInteger();
    private final AtomicInteger starts = new AtomicInteger();
    private final AtomicInteger killedWhileStarting = new AtomicInteger();
    private volatile boolean serves = true;
    private volatile CountDownLatch killed = new CountDownLatch(1);

    private RestartLoop loop(Alternation.Change start, long seed) {
        return new RestartLoop(dead, this::kill, start, new Random(seed));
    }

    private void kill() {
        kills.incrementAndGet();
        if (!serves && starts.get() > 0) {
            killedWhileStarting.incrementAndGet();
        }
        serves = false;
        killed.countDown();
    }

    private void start() {
        starts.incrementAndGet();
        serves = true;
    }

    @Test
    void diesSeveralTimesAndServesInTheEnd() throws IOException {
        RestartLoop loop = loop(this::start, 1);
        loop.begin();
        loop.end();
        assertThat(kills).hasValueGreaterThan(ROUNDS);
        assertThat(starts).hasValue(kills.get());
        assertThat(serves).isTrue();
    }

    /** A start that is killed fails, which is what was wanted. */
    @Test
    void diesBeforeItServesToo() throws IOException {
        RestartLoop loop = loop(this::startOnceKilled, earlySeed());
        loop.begin();
        loop.end();
        assertThat(killedWhileStarting).hasPositiveValue();
        assertThat(serves).isTrue();
    }

    /** Of which the first rounds are early ones: this start ends only by being killed. */
    private static long earlySeed() {
        for (long seed = 0; ; seed++) {
            Random random = new Random(seed);
            boolean early = true;
            for (int round = 0; round < ROUNDS; round++) {
                early &= random.nextBoolean();
                random.nextInt(3_000);
            }
            if (early) {
                return seed;
            }
        }
    }

    private void startOnceKilled() throws IOException {
        if (starts.incrementAndGet() > ROUNDS) {
            serves = true;
            return;
        }
        CountDownLatch mine = new CountDownLatch(1);
        killed = mine;
        try {
            if (mine.await(10, TimeUnit.SECONDS)) {
                throw new IOException("killed");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        throw new IOException("nobody killed it");
    }

    @Test
    void oneThatStartsNoMoreIsAFault() throws IOException {
        RestartLoop loop =
                loop(
                        () -> {
                            throw new IOException("its folder is damaged");
                        },
                        1);
        loop.begin();
        assertThatThrownBy(loop::end).hasStackTraceContaining("its folder is damaged");
    }

    @Test
    void isNotMissed() {
        RestartLoop loop = loop(this::start, 1);
        assertThat(loop.name()).isEqualTo("restart-loop");
        assertThat(loop.spares("us-west", "us-west")).isTrue();
        assertThat(loop.spares("eu-west", FaultKind.GLOBAL)).isTrue();
    }
}
