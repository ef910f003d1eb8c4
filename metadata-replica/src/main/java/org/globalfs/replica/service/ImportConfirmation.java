package org.globalfs.replica.service;

import org.globalfs.multicast.Multicast;
import org.globalfs.protocol.rpc.MetadataCalls;
import org.globalfs.protocol.rpc.RpcClient;
import org.globalfs.protocol.rpc.RpcException;
import org.globalfs.protocol.wire.ConfirmImportsOp;
import org.globalfs.protocol.wire.RingStatus;
import org.globalfs.protocol.wire.StatusRequest;
import org.globalfs.protocol.wire.UpdateOp;
import org.globalfs.replica.state.VerdictSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Lets partition 0 forget verdicts that every replica of the home partition has imported for good.
 * A peer that does not answer holds it up, until it is removed from the ring: it may need them when
 * it returns.
 */
final class ImportConfirmation {

    private static final Logger LOG = LoggerFactory.getLogger(ImportConfirmation.class);
    private static final long CALL_TIMEOUT_MS = 1_000;
    private static final long WORTHWHILE_INSTANCES = 16;

    private static final int AT_ONCE = 16_384;

    private final HostedPartition global;
    private final int home;
    private final Flusher own;
    private final RingPeers peers;
    private final Multicast multicast;

    ImportConfirmation(
            HostedPartition global, int home, Flusher own, RingPeers peers, Multicast multicast) {
        this.global = global;
        this.home = home;
        this.own = own;
        this.peers = peers;
        this.multicast = multicast;
    }

    void tick() {
        long known = global.trimmedThrough(home);
        long through = own.importedDurable();
        if (!multicast.isCoordinator(home) || through - known < WORTHWHILE_INSTANCES) {
            return;
        }
        if (!peers.knowsAll(home)) {
            LOG.debug("imports are not confirmed: the address of a member is unknown");
            return;
        }
        for (RpcClient peer : peers.others(home)) {
            try {
                for (RingStatus ring :
                        peer.call(MetadataCalls.STATUS, new StatusRequest(), CALL_TIMEOUT_MS)
                                .getRings()) {
                    if (ring.getRing() == home) {
                        through = Math.min(through, ring.getImportedDurable());
                    }
                }
            } catch (RpcException e) {
                LOG.debug("imports are not confirmed: {}", e.getMessage());
                return;
            }
        }
        if (through > known) {
            long some = some(global, home, known, through, AT_ONCE);
            UpdateOp op = UpdateOp.confirmImports(new ConfirmImportsOp(home, some));
            multicast.propose(0, CommandBytes.internal(home, op), new int[] {0});
        }
    }

    /**
     * Through which instance so many verdicts at most are forgotten: a region that was away leaves
     * any number, and one command must not have to erase them all.
     */
    static long some(VerdictSource verdicts, int partition, long after, long through, int most) {
        long last = after;
        for (int i = 0; i < most; i++) {
            long next = verdicts.nextConcerning(partition, last);
            if (next < 0 || next > through) {
                return through;
            }
            last = next;
        }
        return last;
    }
}
