package org.globalfs.datastore.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.globalfs.protocol.HostPort;
import org.globalfs.protocol.discovery.InMemoryDiscovery;
import org.globalfs.protocol.discovery.Member;
import org.globalfs.protocol.discovery.Role;
import org.globalfs.protocol.wire.BlockRef;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Of a cache that takes connections and answers nothing. */
@Timeout(60)
class CacheReaderTest {
    private static final int LANES = 32;
    private static final int BYTES = 1_000;
    private static final BlockRef REF = new BlockRef(1, 2, BYTES, 2, (byte) 1, (byte) 0, 3);

    private final AtomicInteger connections = new AtomicInteger();
    private final List<Socket> open = new CopyOnWriteArrayList<>();
    private ServerSocket silent;
    private CacheReader reader;

    @BeforeEach
    void start() throws IOException {
        silent = new ServerSocket(0, 100, InetAddress.getLoopbackAddress());
        Thread.ofVirtual().start(this::accept);
        InMemoryDiscovery discovery = new InMemoryDiscovery();
        HostPort address = new HostPort("127.0.0.1", silent.getLocalPort());
        discovery.register(new Member(Role.CACHE, "c1", "west", 1, "a", address, Map.of()));
        reader = new CacheReader("test-cluster", "west", discovery);
    }

    private void accept() {
        try {
            while (true) {
                open.add(silent.accept());
                connections.incrementAndGet();
            }
        } catch (IOException e) {
            return; // the test is over
        }
    }

    @AfterEach
    void stop() throws IOException {
        reader.close();
        silent.close();
        for (Socket socket : open) {
            socket.close();
        }
    }

    private static long inNs(long seconds) {
        return System.nanoTime() + TimeUnit.SECONDS.toNanos(seconds);
    }

    /** One it waits on is a connection. */
    @Test
    void thoseThatWaitLongLeaveConnectionsForOthers() throws InterruptedException {
        AtomicInteger atFirstEnd = new AtomicInteger(-1);
        List<Thread> asks = new ArrayList<>();
        for (int i = 0; i < LANES; i++) {
            asks.add(
                    Thread.ofPlatform()
                            .start(() -> {
                                try {
                                    reader.readPatiently(REF, 1, 0, BYTES, inNs(30));
                                } catch (IOException e) {
                                    return;
                                } finally {
                                    atFirstEnd.compareAndSet(-1, connections.get());
                                }
                            }));
        }
        for (Thread ask : asks) {
            ask.join();
        }
        // And that of whoever looks whether it answers again.
        assertThat(atFirstEnd.get()).isBetween(1, LANES / 2 + 2);
    }

    /** What they wait behind, for longer than one waits for an answer, may be another cache's. */
    @Test
    void whoHasWaitedToAskDoesAsk() throws Exception {
        int asking = 3 * LANES / 2;
        List<Thread> asks = new ArrayList<>();
        for (int i = 0; i < asking; i++) {
            asks.add(Thread.ofPlatform().start(this::ask));
        }
        for (Thread ask : asks) {
            ask.join();
        }
        // Each gives its connection up.
        assertThat(connections.get()).isGreaterThanOrEqualTo(asking);
    }

    private void ask() {
        try {
            reader.readPatiently(REF, 1, 0, BYTES, inNs(60));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** What is asked next would wait behind it, up to ten seconds. */
    @Test
    void aConnectionWhoseLateAnswerIsLetGoIsNotUsedAgain() throws IOException {
        CacheAnswer answer = reader.read(REF, 1, 0, BYTES);
        assertThat(answer.isLate()).isTrue();
        answer.close();
        assertThatFirstIsClosed();
    }

    @Test
    void norOneOfWhoIsInterruptedWhileHeWaits() throws Exception {
        CacheAnswer answer = reader.read(REF, 1, 0, BYTES);
        AtomicReference<IOException> ended = new AtomicReference<>();
        Thread waits =
                Thread.ofPlatform()
                        .start(() -> {
                            try {
                                answer.later(inNs(30));
                            } catch (IOException e) {
                                ended.set(e);
                            }
                        });
        waits.interrupt();
        waits.join();
        assertThat(ended.get()).isInstanceOf(InterruptedIOException.class);
        assertThatFirstIsClosed();
    }

    private void assertThatFirstIsClosed() throws IOException {
        await().until(() -> !open.isEmpty()); // a connection is there before it is accepted
        Socket first = open.getFirst();
        first.setSoTimeout(20_000);
        // Hello and the request before it.
        assertThat(first.getInputStream().readNBytes(1 << 20)).isNotEmpty();
    }

    @Test
    void theDeadlineEndsAPatientAskToo() throws IOException {
        assertThat(reader.readPatiently(REF, 1, 0, BYTES, System.nanoTime() - 1)).isEmpty();
    }
}
