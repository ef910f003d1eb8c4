package org.globalfs.replica.service;

import java.io.IOException;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.globalfs.protocol.config.ConfigException;
import org.globalfs.protocol.rpc.MetadataCalls;
import org.globalfs.protocol.rpc.RpcClient;
import org.globalfs.protocol.rpc.RpcException;
import org.globalfs.protocol.wire.RingStatus;
import org.globalfs.protocol.wire.StatusRequest;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Whether the others of the region agree that this replica is one of those that its rings began
 * with, as its own topology says. Where they do not, nobody would ever send it anything, and it
 * would answer reads from an empty state.
 */
final class RingClaim {

    private static final Logger LOG = LoggerFactory.getLogger(RingClaim.class);
    private static final long CALL_TIMEOUT_MS = 1_000;

    private final int self;
    private final int home;
    private final Map<Integer, List<Integer>> first;
    private final RingPeers peers;
    private final Map<Integer, HostedPartition> partitions;
    private final Set<String> agreeing = new HashSet<>();

    /**
     * @param first the acceptors that each ring began with, as this replica believes
     */
    RingClaim(
            int self,
            int home,
            Map<Integer, List<Integer>> first,
            RingPeers peers,
            Map<Integer, HostedPartition> partitions) {
        this.self = self;
        this.home = home;
        this.first = first;
        this.peers = peers;
        this.partitions = partitions;
    }

    /**
     * Before a replica with an empty folder takes part.
     *
     * @throws IOException somebody knows better
     */
    void checkAtFirst() throws IOException {
        check(true);
    }

    /**
     * To be called now and then by one thread: others may have answered nothing before.
     *
     * @throws IOException somebody knows better
     */
    void tick() throws IOException {
        check(false);
    }

    private void check(boolean atFirst) throws IOException {
        String refusal = null;
        for (RpcClient peer : peers.others(home)) {
            if (!agreeing.contains(peer.address())) {
                String said = refusal(peer, atFirst);
                refusal = said == null ? refusal : said;
            }
        }
        // Where some agree it is the other whose topology is wrong, and that stops nobody else.
        if (refusal != null && (atFirst || agreeing.isEmpty())) {
            throw new IOException(refusal, new ConfigException(refusal));
        }
    }

    /** Null: it does not say so; perhaps it says nothing. */
    private @Nullable String refusal(RpcClient peer, boolean atFirst) {
        List<RingStatus> rings;
        try {
            rings =
                    peer.call(MetadataCalls.STATUS, new StatusRequest(), CALL_TIMEOUT_MS)
                            .getRings();
        } catch (RpcException e) {
            LOG.debug(
                    "{} does not say who its rings' replicas are: {}",
                    peer.address(),
                    e.toString());
            return null;
        }
        for (RingStatus ring : rings) {
            // Who is none of them itself knows no better.
            if (claims(ring.getRing()) && ring.isServes()) {
                if (has(ring)) {
                    agreeing.add(peer.address());
                } else if (atFirst || ring.getGeneration() == 0) {
                    // One that was taken out later hears of it from the ring.
                    return refusal(ring, peer, atFirst);
                }
            }
        }
        return null;
    }

    private boolean claims(int ring) {
        HostedPartition partition = partitions.get(ring);
        return partition != null
                && partition.membership() == null
                && first.getOrDefault(ring, List.of()).contains(self);
    }

    private boolean has(RingStatus ring) {
        return Stream.of(ring.getAcceptors(), ring.getLearners())
                .anyMatch(members -> members != null && members.contains(self));
    }

    private String refusal(RingStatus ring, RpcClient peer, boolean atFirst) {
        return "replica "
                + self
                + " is none of the replicas of ring "
                + ring.getRing()
                + ", which are "
                + ring.getAcceptors()
                + " by "
                + peer.address()
                + ", but its own topology has it among those that the ring began with: mark it with"
                + " 'added: true' there, "
                + (atFirst ? "" : "empty its data folder, ")
                + "start it again, and let it in with 'globalfs ring add "
                + self
                + "' or 'globalfs ring replace OLD "
                + self
                + "'";
    }
}
