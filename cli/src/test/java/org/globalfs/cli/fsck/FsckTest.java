package org.globalfs.cli.fsck;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.globalfs.protocol.HostPort;
import org.globalfs.protocol.config.Topology;
import org.globalfs.protocol.rpc.MetadataCalls;
import org.globalfs.protocol.rpc.RpcServer;
import org.globalfs.protocol.wire.CheckReply;
import org.globalfs.protocol.wire.CheckRequest;
import org.globalfs.protocol.wire.Crossing;
import org.globalfs.protocol.wire.Links;
import org.globalfs.protocol.wire.Position;
import org.junit.jupiter.api.Test;

class FsckTest {

    private static final long FIRST = 1L << 48 | 5;
    private static final long SECOND = 1L << 48 | 6;

    /** What partition 0 says of names of partition 1's directories, or the other way about. */
    private static CheckReply part(int partition, long ino) {
        List<Links> one = List.of(new Links(ino, 1));
        List<Links> none = List.of();
        List<Crossing> crossing = List.of(new Crossing(ino, 1).setTop(1));
        CheckReply reply =
                new CheckReply(new Position(partition, 1), 1, 2, 0, 0, 0, List.of(), none, none);
        return partition == 0
                ? reply.setForeign(one).setHanging(List.of()).setHeld(crossing)
                : reply.setUnexplained(one).setHanging(crossing).setHeld(List.of());
    }

    private static CheckReply answer(CheckRequest request) {
        int partition = request.getPartition();
        if (request.isSetId()) {
            assertThat(request.getId()).isEqualTo(77);
            assertThat(request.getOffset()).isEqualTo(2);
            return part(partition, partition == 0 ? SECOND : FIRST);
        }
        CheckReply first = part(partition, partition == 0 ? FIRST : SECOND);
        return request.isPaged() ? first.setId(77).setNextOffset(2) : first;
    }

    @Test
    void putsTogetherWhatComesInParts() throws Exception {
        RpcServer.Calls calls = new RpcServer.Calls().on(MetadataCalls.CHECK, FsckTest::answer);
        try (RpcServer server = RpcServer.start("replica", "127.0.0.1", 0, calls)) {
            HostPort address = new HostPort("127.0.0.1", server.port());
            Topology.ReplicaSite site = new Topology.ReplicaSite(1, "dc1", address, address);
            Topology.Region region = new Topology.Region("region1", 1, List.of(site));
            List<String> lines = new ArrayList<>();
            boolean clean = new Fsck(new Topology("test", List.of(region)), lines::add).clean();
            assertThat(lines).last().isEqualTo("clean");
            assertThat(clean).isTrue();
        }
    }
}
