package org.globalfs.replica.service;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import org.globalfs.protocol.Shutdown;
import org.globalfs.protocol.rpc.MetadataCalls;
import org.globalfs.protocol.rpc.RpcClient;
import org.globalfs.protocol.rpc.RpcServer;
import org.globalfs.protocol.wire.CheckpointReply;
import org.globalfs.protocol.wire.CheckpointRequest;
import org.globalfs.protocol.wire.PieceReply;
import org.globalfs.replica.state.store.StateOptions;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A state on its way from one replica to another. */
class CheckpointTransferTest {

    @TempDir Path folder;

    private HostedPartition here;
    private HostedPartition there;
    private CheckpointSource source;

    @BeforeEach
    void open() throws IOException {
        here = new HostedPartition(folder.resolve("here"), 1, StateOptions.defaults(), false);
        there = new HostedPartition(folder.resolve("there"), 1, StateOptions.defaults(), false);
        source = new CheckpointSource(Map.of(1, there), folder.resolve("outgoing"));
    }

    @AfterEach
    void close() {
        here.close();
        there.close();
    }

    private boolean takeOver(
            UnaryOperator<CheckpointRequest> asked, UnaryOperator<PieceReply> arrived)
            throws IOException {
        RpcServer.Calls calls =
                new RpcServer.Calls()
                        .on(MetadataCalls.CHECKPOINT, r -> source.checkpoint(asked.apply(r)))
                        .on(MetadataCalls.CHECKPOINT_PIECE, r -> arrived.apply(source.piece(r)))
                        .on(MetadataCalls.RELEASE_CHECKPOINT, source::release);
        try (RpcServer server = RpcServer.start("peer", "127.0.0.1", 0, calls);
                RpcClient peer = new RpcClient("127.0.0.1", server.port())) {
            return new CheckpointFetch(partition -> List.of(peer), new Shutdown())
                    .takeOver(here, 0);
        }
    }

    private static PieceReply damaged(PieceReply piece) {
        byte[] data = piece.getData();
        data[data.length / 2] ^= 1;
        return piece.setData(data);
    }

    @Test
    void arrives() throws IOException {
        assertThat(takeOver(asked -> asked, piece -> piece)).isTrue();
    }

    @Test
    void isNotTakenOverDamaged() throws IOException {
        assertThat(takeOver(asked -> asked, CheckpointTransferTest::damaged)).isFalse();
    }

    /** One of before neither knows what it is asked nor sums pieces up. */
    @Test
    void arrivesFromAReplicaThatSumsUpFiles() throws IOException {
        UnaryOperator<CheckpointRequest> older =
                asked -> new CheckpointRequest(asked.getPartition(), asked.getMinimum());
        UnaryOperator<PieceReply> bare = piece -> new PieceReply(piece.bufferForData());
        assertThat(takeOver(older, bare)).isTrue();
        assertThat(takeOver(older, piece -> bare.apply(damaged(piece)))).isFalse();
    }

    /** Reading all of a large state takes longer than anybody waits for the answer. */
    @Test
    void isOfferedWithoutReadingAllOfIt() throws IOException {
        CheckpointReply offer = source.checkpoint(new CheckpointRequest(1, 0).setPieceSums(true));
        assertThat(offer.getFiles())
                .isNotEmpty()
                .allSatisfy(file -> {
                    assertThat(file.getCrc32c()).isZero();
                    Path copy = folder.resolve("outgoing").resolve(Long.toHexString(offer.getId()));
                    assertThat(Files.size(copy.resolve(file.getName()))).isEqualTo(file.getSize());
                });
    }
}
