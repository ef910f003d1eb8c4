package org.globalfs.replica.service;

import java.util.List;
import org.globalfs.multicast.Multicast;
import org.globalfs.protocol.rpc.MetadataCalls;
import org.globalfs.protocol.rpc.RpcClient;
import org.globalfs.protocol.rpc.RpcException;
import org.globalfs.protocol.wire.ReplicaStatus;
import org.globalfs.protocol.wire.StatusRequest;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Whether the disks of a ring's other replicas have room, where they are not this one's. One that
 * is full may have to stop, and others go on without it; when so many are full that no majority
 * would be left, the coordinator refuses what needs room, as if its own disk were full.
 */
final class PeerRoom {

    private static final Logger LOG = LoggerFactory.getLogger(PeerRoom.class);
    private static final long CALL_TIMEOUT_MS = 1_000;

    private final int ring;
    private final DiskRoom own;
    private final RingPeers peers;
    private final Multicast multicast;
    private volatile boolean lacking;

    PeerRoom(int ring, DiskRoom own, RingPeers peers, Multicast multicast) {
        this.ring = ring;
        this.own = own;
        this.peers = peers;
        this.multicast = multicast;
    }

    /** To be called now and then by one thread; waits for the others' answers. */
    void tick() {
        boolean before = lacking;
        lacking = multicast.isCoordinator(ring) && !own.isFull() && isMajorityAtRisk();
        if (lacking && !before) {
            LOG.warn(
                    "ring {}: so many replicas' disks are full that what needs room is refused (ENOSPC)",
                    ring);
        } else if (before && !lacking) {
            LOG.info("ring {}: what needs room is not refused any more for others' disks", ring);
        }
    }

    private boolean isMajorityAtRisk() {
        List<Integer> acceptors = multicast.status(ring).members();
        int withRoom = 1;
        int full = 0;
        for (RpcClient peer : peers.others(ring)) {
            try {
                ReplicaStatus status =
                        peer.call(MetadataCalls.STATUS, new StatusRequest(), CALL_TIMEOUT_MS);
                if (acceptors.contains(status.getId())) {
                    full += status.isFull() ? 1 : 0;
                    withRoom += status.isFull() ? 0 : 1;
                }
            } catch (RpcException e) {
                LOG.debug("ring {}: no word of {}'s disk: {}", ring, peer.address(), e.toString());
            }
        }
        return full > 0 && withRoom <= acceptors.size() / 2;
    }

    /** Whether what needs room is to be refused for the others' sake. */
    boolean isLacking() {
        return lacking;
    }
}
