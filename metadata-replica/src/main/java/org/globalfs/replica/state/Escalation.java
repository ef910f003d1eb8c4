package org.globalfs.replica.state;

import java.util.List;
import org.globalfs.protocol.wire.Command;
import org.globalfs.protocol.wire.Status;
import org.globalfs.protocol.wire.UpdateReply;

/**
 * What to submit where after a reply with status ESCALATE: the same (session, sequence), to another
 * partition. Partition 0 finds out itself whose votes it takes: who replied may have named one from
 * which everything has moved away, and that one may be out of reach.
 */
public record Escalation(int partition, Command command) {

    /** One participant: its ring alone suffices. Several: ring 0 coordinates. */
    public static Escalation of(Command command, UpdateReply reply) {
        if (reply.getStatus() != Status.ESCALATE) {
            throw new IllegalArgumentException("reply is " + reply.getStatus());
        }
        List<Integer> participants = reply.getParticipants();
        if (participants.size() == 1) {
            return new Escalation(participants.getFirst(), command);
        }
        Command coordinated = new Command(command);
        coordinated.setCoordinated(true);
        if (reply.isSetExpectedSource()) {
            coordinated.setExpectedSource(reply.getExpectedSource());
        }
        if (reply.isSetExpectedTarget()) {
            coordinated.setExpectedTarget(reply.getExpectedTarget());
        }
        if (reply.isMovesDirectory()) {
            coordinated.setMovesDirectory(true);
        }
        return new Escalation(0, coordinated);
    }
}
