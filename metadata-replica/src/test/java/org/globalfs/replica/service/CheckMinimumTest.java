package org.globalfs.replica.service;

import static org.assertj.core.api.Assertions.assertThat;
import static org.globalfs.replica.service.TestSession.ROOT;

import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.globalfs.protocol.rpc.MetadataCalls;
import org.globalfs.protocol.rpc.RpcException;
import org.globalfs.protocol.wire.CheckReply;
import org.globalfs.protocol.wire.CheckRequest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A check of records that somebody was told of waits until the replica has them. */
final class CheckMinimumTest {

    @TempDir Path folder;

    @Test
    void aCheckWaitsForWhatItsAskerKnowsOf() throws Exception {
        try (ReplicaCluster cluster =
                new ReplicaCluster(folder, 1, ReplicaOptions.defaults()).startAll()) {
            TestSession session = new TestSession(cluster, 1);
            long home = session.mkdir(ROOT, "home").getAttributes().getIno();
            int id = cluster.coordinator(1);
            long minimum = cluster.status(id, 1).getApplied() + 10;
            CompletableFuture<CheckReply> checked =
                    CompletableFuture.supplyAsync(
                            () -> check(cluster, id, minimum), Thread::startVirtualThread);
            for (int i = 0; cluster.status(id, 1).getApplied() < minimum; i++) {
                session.create(home, "f" + i);
            }
            CheckReply reply = checked.get(30, TimeUnit.SECONDS);
            assertThat(reply.getPosition().getInstance()).isGreaterThanOrEqualTo(minimum);
        }
    }

    private static CheckReply check(ReplicaCluster cluster, int id, long minimum) {
        try {
            CheckRequest request = new CheckRequest(1).setMinimum(minimum);
            return cluster.client(id).call(MetadataCalls.CHECK, request, 30_000);
        } catch (RpcException e) {
            throw new AssertionError(e);
        }
    }
}
