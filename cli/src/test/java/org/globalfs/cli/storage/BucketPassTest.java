package org.globalfs.cli.storage;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.globalfs.datastore.wire.PassState;
import org.globalfs.protocol.HostPort;
import org.globalfs.protocol.config.Topology;
import org.globalfs.protocol.rpc.MetadataCalls;
import org.globalfs.protocol.rpc.RpcServer;
import org.globalfs.protocol.wire.PassProgress;
import org.globalfs.protocol.wire.UpkeepPass;
import org.globalfs.protocol.wire.UpkeepReply;
import org.globalfs.protocol.wire.UpkeepRequest;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Passes over buckets, whose coordinator may change while they are followed. */
@Timeout(60)
class BucketPassTest {
    private final Replica first = new Replica();
    private final Replica second = new Replica();
    private final List<RpcServer> servers = new ArrayList<>();
    private BucketPlaces places;

    /** Counts its passes by itself; one that is asked for runs until it is told that it ended. */
    private static final class Replica {
        volatile boolean leads;
        volatile long pass;
        volatile PassState state = PassState.NONE;
        volatile int begun;

        synchronized UpkeepReply answer(UpkeepRequest request) {
            if (!leads) {
                return new UpkeepReply(false, -1);
            }
            PassProgress said = progress();
            if (request.isSetStarts()) {
                begun++;
                pass++;
                state = PassState.RUNNING;
                // A repair begins a moment later; a scrub says of the one that begins.
                said = request.getStarts() == UpkeepPass.SCRUB ? progress() : said;
            }
            return new UpkeepReply(true, 1).setRepair(said).setScrub(said);
        }

        private PassProgress progress() {
            return new PassProgress(
                    pass, state.code(), 1_000, 10, 10, 1, 0, 0, 0, 0, 0, 0, List.of());
        }

        /** As it is who led, and ended a pass, days ago. */
        void endedLongAgo(long number) {
            pass = number;
            state = PassState.ENDED;
        }
    }

    @BeforeEach
    void start() throws IOException {
        List<Topology.ReplicaSite> sites = new ArrayList<>();
        for (Replica replica : List.of(first, second)) {
            RpcServer server =
                    RpcServer.start(
                            "replica",
                            "127.0.0.1",
                            0,
                            new RpcServer.Calls().on(MetadataCalls.UPKEEP, replica::answer));
            servers.add(server);
            HostPort rpc = new HostPort("127.0.0.1", server.port());
            sites.add(new Topology.ReplicaSite(sites.size() + 1, "a", rpc, rpc));
        }
        places =
                new BucketPlaces(
                        new Topology("test", List.of(new Topology.Region("west", 1, sites))));
        first.leads = true;
    }

    @AfterEach
    void stop() {
        servers.forEach(RpcServer::close);
    }

    private void follow(NodePass pass, boolean silentBetween) {
        pass.look();
        assertThat(first.begun).isEqualTo(1);
        second.endedLongAgo(40);
        first.leads = false;
        if (silentBetween) {
            pass.look(); // nobody leads: the connection is given up, and opened again
        }
        second.leads = true;
        pass.look();
        assertThat(pass.hasEnded()).as(pass.row().text()).isFalse();
        assertThat(second.begun).isEqualTo(1);
        second.state = PassState.ENDED;
        pass.look();
        assertThat(pass.hasEnded()).isTrue();
        assertThat(pass.complaint()).isNull();
        assertThat(second.begun).isEqualTo(1);
        pass.close();
    }

    @Test
    void aRepairIsBegunAgainByWhoeverLeadsThen() {
        follow(new NodeRepair("west", places, 30_000), false);
    }

    @Test
    void aScrubIsBegunAgainByWhoeverLeadsThen() {
        follow(new NodeScrub("west", places, 30_000, 0), false);
    }

    @Test
    void aRepairIsBegunAgainAfterATimeWithoutACoordinator() {
        follow(new NodeRepair("west", places, 30_000), true);
    }

    @Test
    void aScrubIsBegunAgainAfterATimeWithoutACoordinator() {
        follow(new NodeScrub("west", places, 30_000, 0), true);
    }
}
