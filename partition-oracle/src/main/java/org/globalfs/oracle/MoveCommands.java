package org.globalfs.oracle;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.globalfs.protocol.Errno;
import org.globalfs.protocol.config.Topology;
import org.globalfs.protocol.rpc.MetadataCalls;
import org.globalfs.protocol.rpc.RpcException;
import org.globalfs.protocol.wire.Command;
import org.globalfs.protocol.wire.Credentials;
import org.globalfs.protocol.wire.MoveOp;
import org.globalfs.protocol.wire.Status;
import org.globalfs.protocol.wire.UpdateOp;
import org.globalfs.protocol.wire.UpdateReply;
import org.globalfs.protocol.wire.UpdateRequest;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Brings moves to effect, each once, whichever replicas live. One thread. */
final class MoveCommands {

    private static final Logger LOG = LoggerFactory.getLogger(MoveCommands.class);
    private static final int WAIT_MS = 5_000;
    private static final long TIMEOUT_MS = 6_000;
    private static final long PATIENCE_NS = TimeUnit.SECONDS.toNanos(60);
    private static final long PAUSE_NS = TimeUnit.MILLISECONDS.toNanos(50);

    private final Replicas replicas;
    private final int origin;
    private final Runnable pause;
    private long sequence;

    /**
     * @param origin the partition of this oracle's region
     */
    MoveCommands(Replicas replicas, int origin) {
        this(replicas, origin, () -> LockSupport.parkNanos(PAUSE_NS));
    }

    /**
     * As above.
     *
     * @param pause waits a little, before what was in vain is tried again
     */
    MoveCommands(Replicas replicas, int origin, Runnable pause) {
        this.replicas = replicas;
        this.origin = origin;
        this.pause = pause;
    }

    /**
     * Executes the move.
     *
     * @throws IOException it was refused, or no replica has answered: it may take effect later
     */
    UpdateReply move(MoveOp op) throws IOException {
        sequence++;
        Command command =
                new Command(
                        replicas.session(),
                        sequence,
                        sequence,
                        new Credentials(0, 0),
                        origin,
                        UpdateOp.move(op));
        long deadlineNs = System.nanoTime() + PATIENCE_NS;
        boolean again = false;
        while (System.nanoTime() - deadlineNs < 0 && !Thread.currentThread().isInterrupted()) {
            UpdateReply reply = attempt(command, again);
            again = true;
            if (reply == null) {
                pause.run();
            } else if (reply.getStatus() == Status.ESCALATE) {
                if (command.isCoordinated()) {
                    pause.run(); // who has just said whom it concerns has changed its mind
                }
                command.setCoordinated(true);
                command.setParticipants(new ArrayList<>(reply.getParticipants()));
            } else if (reply.getErrno() == 0) {
                return reply;
            } else {
                throw new RefusedException("a move was refused: " + Errno.of(reply.getErrno()));
            }
        }
        throw new IOException("no replica of partition 0 has brought a move to effect");
    }

    /** Asks one replica after the other; null: none of them has an answer yet. */
    private @Nullable UpdateReply attempt(Command command, boolean again) {
        List<Topology.ReplicaSite> sites = replicas.nearest().of(Topology.GLOBAL);
        for (Topology.ReplicaSite site : sites) {
            command.setGlobalSeen(replicas.seen(Topology.GLOBAL));
            UpdateRequest request =
                    new UpdateRequest(Topology.GLOBAL, command).setWaitMs(WAIT_MS).setAgain(again);
            try {
                UpdateReply reply =
                        replicas.client(site).call(MetadataCalls.UPDATE, request, TIMEOUT_MS);
                if (reply.getStatus() == Status.DONE || reply.getStatus() == Status.ESCALATE) {
                    replicas.saw(
                            reply.getPosition(),
                            reply.isSetGlobalSeen() ? reply.getGlobalSeen() : 0);
                    return reply;
                }
            } catch (RpcException e) {
                LOG.debug("replica {}: {}", site.id(), e.getMessage());
            }
        }
        return null;
    }
}
