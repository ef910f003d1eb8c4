package org.globalfs.datastore.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.globalfs.datastore.node.StorageServer;
import org.globalfs.datastore.wire.ChunkKey;
import org.globalfs.datastore.wire.ChunkStatus;
import org.globalfs.datastore.wire.Opcode;
import org.globalfs.protocol.HostPort;
import org.globalfs.protocol.discovery.InMemoryDiscovery;
import org.globalfs.protocol.discovery.InMemoryPlacementEpochs;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Lanes, and their connections, that nobody has used for a while. */
@Timeout(60)
class LaneTest {
    private static final long MINUTE_NS = TimeUnit.MINUTES.toNanos(1);

    private static Exchange ask(Lane lane, HostPort address) throws IOException {
        Exchange exchange = send(lane, address);
        while (lane.poll() == null) {
            lane.await(System.nanoTime() + MINUTE_NS);
        }
        lane.endOperation();
        return exchange;
    }

    private static Exchange send(Lane lane, HostPort address) {
        ChunkKey key = new ChunkKey(1, 2, 3);
        Exchange exchange =
                new Exchange(
                        Opcode.GET,
                        "n",
                        0,
                        lane.nextRequest(),
                        to -> {
                            key.write(to);
                            to.putInt(0).putInt(1);
                        },
                        new byte[0],
                        0,
                        0);
        lane.send(exchange, address);
        return exchange;
    }

    @Test
    void aConnectionThatTheNodeClosedAsItWasIdleFailsNothing() throws IOException {
        StorageServer.Limits limits = new StorageServer.Limits(200, 60_000);
        try (StorageServer server =
                new StorageServer("c", "n", new HostPort("127.0.0.1", 0), limits)) {
            server.start(() ->
                    (header, opcode, meta, payload, replies) ->
                            replies.send(opcode, ChunkStatus.NOT_FOUND, header.request()));
            Lane lane = new Lane("c", false);
            for (int round = 0; round < 3; round++) {
                Exchange exchange = ask(lane, server.address());
                assertThat(exchange.failure()).isNull();
                assertThat(exchange.status()).isEqualTo(ChunkStatus.NOT_FOUND);
                var _ = send(lane, server.address());
                lane.endOperation(); // nobody wants that answer any more
                await().until(() -> server.connections() == 0);
            }
            lane.close();
        }
    }

    /** It is there, as far as the kernel goes, but does not even say who it is. */
    @Test
    void aConnectionThatTheNodeNeverGreetsIsGivenUp() throws IOException {
        try (ServerSocket node = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
            HostPort address = new HostPort("127.0.0.1", node.getLocalPort());
            Lane lane = new Lane("c", false, 0);
            var _ = send(lane, address);
            try (Socket first = node.accept()) {
                lane.await(System.nanoTime() + MINUTE_NS); // connected: all is written
                assertThat(first.getInputStream().read()).isNotNegative();
                lane.endOperation();
                node.setSoTimeout(10_000);
                var _ = send(lane, address);
                try (Socket second = node.accept()) {
                    assertThat(second.isConnected()).isTrue();
                }
            }
            lane.close();
        }
    }

    @Test
    void lanesThatNobodyNeedsAreClosedThoughNoneIsGivenBack() throws IOException {
        try (LanePool pool = new LanePool("c", 8, false)) {
            List<Lane> burst = new ArrayList<>();
            for (int i = 0; i < 8; i++) {
                burst.add(pool.take(System.nanoTime() + MINUTE_NS));
            }
            for (Lane lane : burst) {
                pool.give(lane);
            }
            assertThat(pool.unused()).isEqualTo(8);
            pool.closeUnused(System.nanoTime());
            assertThat(pool.unused()).isEqualTo(8);
            pool.closeUnused(System.nanoTime() + 2 * MINUTE_NS);
            assertThat(pool.unused()).isZero();
            pool.give(pool.take(System.nanoTime() + MINUTE_NS));
            assertThat(pool.unused()).isEqualTo(1);
        }
    }

    @Test
    void whoLooksForSuspectsKeepsHouseAsWell() {
        NodeDirectory directory =
                new NodeDirectory(new InMemoryDiscovery(), new InMemoryPlacementEpochs());
        AtomicInteger kept = new AtomicInteger();
        try (FailureDetector _ = new FailureDetector("c", directory, kept::incrementAndGet, 5)) {
            await().until(() -> kept.get() >= 3);
        }
    }
}
