package org.globalfs.replica.service;

import java.util.HashSet;
import java.util.Set;
import org.globalfs.protocol.wire.Command;
import org.globalfs.protocol.wire.Status;
import org.globalfs.protocol.wire.UpdateOp;
import org.globalfs.protocol.wire.UpdateReply;
import org.globalfs.replica.state.Escalation;
import org.jspecify.annotations.Nullable;

/**
 * A command that a client of {@link CutRegions} carries on until it is done: asks again, goes where
 * it is sent, and waits while nobody is in reach who could answer.
 */
final class Errand {

    private static final long PATIENCE_NS = 2_000_000_000L;

    private final CutRegions all;
    private final int region;
    private final Set<Integer> declined = new HashSet<>();
    private Command command;
    private int partition;
    private long seen;
    private long askedNs;
    private @Nullable UpdateReply outcome;

    /**
     * @param session that has no other errand
     */
    Errand(CutRegions all, int region, long session, int partition, UpdateOp op) {
        this.all = all;
        this.region = region;
        this.partition = partition;
        command = numbered(session, op);
    }

    private Command numbered(long session, UpdateOp op) {
        long sequence = all.nextSequence(session);
        return new Command(session, sequence, sequence, CutRegions.root(), region, op);
    }

    /** Null while it is under way. */
    @Nullable UpdateReply outcome() {
        return outcome;
    }

    /** Looks for an answer; without one asks again, as who does not wait any longer. */
    void goOn() {
        int asked = partition == 0 ? region : partition;
        if (outcome != null || !all.joined(region, asked)) {
            return;
        }
        UpdateReply reply = all.region(asked).takeReply(partition, command);
        if (reply != null && reply.getStatus() == Status.DONE) {
            outcome = reply;
            return;
        }
        if (reply == null && askedNs > 0 && all.nowNs() - askedNs < PATIENCE_NS) {
            return;
        }
        if (reply != null && reply.getStatus() == Status.ESCALATE) {
            seen = Math.max(seen, reply.getGlobalSeen());
            goElsewhere(Escalation.of(command, reply));
        }
        command.setGlobalSeen(seen);
        askedNs = all.nowNs();
        if (partition == 0) {
            all.propose(region, 0, CommandBytes.of(command));
        } else if (all.joined(region, partition) && all.region(partition).hasSeen(seen)) {
            all.propose(partition, partition, CommandBytes.of(command));
        }
    }

    private void goElsewhere(Escalation next) {
        declined.add(partition);
        partition = next.partition();
        command = next.command();
        if (partition != 0 && declined.contains(partition)) {
            // It has said that it will never execute this command, and the inode is back.
            command = numbered(command.getSession(), command.getOp());
            declined.clear();
        }
    }

    @Override
    public String toString() {
        return "from " + region + " to " + partition + ": " + command.getOp();
    }
}
