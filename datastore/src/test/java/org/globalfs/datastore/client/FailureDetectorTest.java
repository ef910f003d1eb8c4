package org.globalfs.datastore.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.globalfs.protocol.HostPort;
import org.globalfs.protocol.discovery.InMemoryDiscovery;
import org.globalfs.protocol.discovery.InMemoryPlacementEpochs;
import org.globalfs.protocol.discovery.Member;
import org.globalfs.protocol.discovery.Role;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class FailureDetectorTest {
    private static final int HUNG = 5;

    /** Connections to hung nodes that whoever made them has not given up. */
    private final AtomicInteger open = new AtomicInteger();

    /** A node that takes connections and says nothing. */
    private ServerSocket hung() throws IOException {
        ServerSocket server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        Thread.ofPlatform()
                .daemon()
                .start(() -> {
                    try {
                        while (true) {
                            Socket socket = server.accept();
                            Thread.ofPlatform().daemon().start(() -> hold(socket));
                        }
                    } catch (IOException e) {
                        // closed: the test is over
                    }
                });
        return server;
    }

    private void hold(Socket socket) {
        open.incrementAndGet();
        try (socket) {
            var _ = socket.getInputStream().transferTo(java.io.OutputStream.nullOutputStream());
        } catch (IOException e) {
            // given up
        } finally {
            open.decrementAndGet();
        }
    }

    /** As one that was drained and stopped: it is never announced again, nor in an epoch. */
    @Test
    void aNodeThatIsGoneForGoodIsSuspectAndNotAsked() throws IOException {
        InMemoryDiscovery discovery = new InMemoryDiscovery();
        NodeDirectory directory = new NodeDirectory(discovery, new InMemoryPlacementEpochs());
        try (ServerSocket server = hung();
                FailureDetector detector = new FailureDetector("c", directory, () -> {}, 60_000)) {
            detector.unreachable("n", "it was stopped");
            await().until(() -> !detector.isPinged("n"));
            assertThat(detector.isSuspect("n")).isTrue();
            detector.unreachable("n", "a block was there");
            assertThat(detector.isPinged("n")).isFalse();

            HostPort address = new HostPort("127.0.0.1", server.getLocalPort());
            discovery.register(new Member(Role.STORAGE, "n", "west", 1, "a", address, Map.of()));
            assertThat(detector.isSuspect("n")).isFalse();
            detector.unreachable("n", "it says nothing");
            await().until(() -> open.get() == 1);
            assertThat(detector.isPinged("n")).isTrue();
        }
    }

    @Test
    void nodesThatSayNothingAreAskedAllAtOnce() throws IOException {
        InMemoryDiscovery discovery = new InMemoryDiscovery();
        List<ServerSocket> servers = new ArrayList<>();
        for (int i = 0; i < HUNG; i++) {
            ServerSocket server = hung();
            servers.add(server);
            HostPort address = new HostPort("127.0.0.1", server.getLocalPort());
            discovery.register(
                    new Member(Role.STORAGE, "n" + i, "west", 1, "a", address, Map.of()));
        }
        NodeDirectory directory = new NodeDirectory(discovery, new InMemoryPlacementEpochs());
        try (FailureDetector detector = new FailureDetector("c", directory, () -> {}, 60_000)) {
            for (int i = 0; i < HUNG; i++) {
                detector.unreachable("n" + i, "it says nothing");
            }
            await().until(() -> open.get() == HUNG);
        } finally {
            for (ServerSocket server : servers) {
                server.close();
            }
        }
    }
}
