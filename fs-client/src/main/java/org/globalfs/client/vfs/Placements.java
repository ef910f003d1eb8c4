package org.globalfs.client.vfs;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongConsumer;
import org.globalfs.client.use.RegionOracle;
import org.globalfs.protocol.Errno;
import org.globalfs.protocol.placement.TreeCount;
import org.globalfs.protocol.placement.TreeMove;
import org.globalfs.protocol.rpc.OracleCalls;
import org.globalfs.protocol.rpc.RpcClient;
import org.globalfs.protocol.rpc.RpcException;
import org.globalfs.protocol.wire.DirectoryUse;
import org.globalfs.protocol.wire.ExplainReply;
import org.globalfs.protocol.wire.ExplainRequest;
import org.globalfs.protocol.wire.MoveOp;
import org.globalfs.protocol.wire.ReadOp;
import org.globalfs.protocol.wire.RegionUse;
import org.globalfs.protocol.wire.UpdateOp;
import org.globalfs.protocol.wire.UpdateReply;

/**
 * Which regions the inodes of a tree live in, their moves to another one, and what the oracle would
 * move by itself.
 */
final class Placements {

    private static final int ROUNDS = 4;
    private static final long PAUSE_NS = TimeUnit.SECONDS.toNanos(1);
    private static final long EXPLAIN_MS = 10_000;

    private final Requests requests;

    Placements(Requests requests) {
        this.requests = requests;
    }

    /** Inodes of the tree by the partition that they live in. */
    Map<Integer, Long> count(Caller caller, long ino) throws FsException {
        return new TreeCount<>(tree(caller)).of(ino);
    }

    /**
     * What the oracle thinks of a directory.
     *
     * @param way the directory and those above it, as far as this client knows them
     */
    Explanation explain(RegionOracle oracle, List<DirectoryUse> way, long directory)
            throws FsException {
        RpcClient asked = oracle.client();
        if (asked == null) {
            throw FsException.of(
                    Errno.EIO,
                    "no partition oracle of region "
                            + oracle.region()
                            + " is announced: is one running?");
        }
        ExplainReply reply;
        try {
            ExplainRequest request = new ExplainRequest(directory, way);
            reply = asked.call(OracleCalls.EXPLAIN, request, EXPLAIN_MS);
        } catch (RpcException e) {
            throw FsException.of(
                    Errno.EIO,
                    "the partition oracle of region " + oracle.region() + ": " + e.getMessage());
        }
        Requests.check(reply.getErrno());
        List<Explanation.Use> uses = new ArrayList<>();
        if (reply.isSetRegions()) {
            for (RegionUse use : reply.getRegions()) {
                uses.add(new Explanation.Use(use.getRegion(), use.getReads(), use.getWrites()));
            }
        }
        return new Explanation(
                reply.isSetPartition()
                        ? requests.client().regionOf(reply.getPartition())
                        : "unknown",
                reply.isSetRule() ? reply.getRule() : "",
                uses,
                reply.isSetVerdict() ? reply.getVerdict() : "");
    }

    /**
     * Moves the tree. Root only.
     *
     * @param to the partition of a region, or 0
     * @param moved told how many more were moved
     * @return how many could not be moved: they are locked, too large, or a quota counts them whose
     *     directory does not move
     */
    long move(Caller caller, long ino, int to, LongConsumer moved) throws FsException {
        TreeMove<FsException> move =
                new TreeMove<>(tree(caller), to, moved::accept, TreeMove.Scope.ALL);
        long stayed = 0;
        for (int round = 0; round < ROUNDS; round++) {
            if (round > 0) {
                // Locks are let go, and content follows what was moved before.
                LockSupport.parkNanos(PAUSE_NS);
            }
            stayed = move.pass(ino).count();
            if (stayed == 0) {
                break;
            }
        }
        return stayed;
    }

    private TreeMove.Access<FsException> tree(Caller caller) {
        return new TreeMove.Access<>() {
            @Override
            public TreeMove.Answer read(long ino, ReadOp op) throws FsException {
                Requests.Read read = requests.read(caller, requests.home(ino), op);
                return new TreeMove.Answer(read.partition(), read.reply());
            }

            @Override
            public TreeMove.Answer ask(long ino, ReadOp op) {
                Requests.Read read = requests.tryRead(caller, requests.home(ino), op);
                return new TreeMove.Answer(read.partition(), read.reply());
            }

            @Override
            public UpdateReply move(MoveOp op) throws FsException {
                if (caller.cancelled()) {
                    throw FsException.of(Errno.EINTR);
                }
                return requests.update(caller, 0, UpdateOp.move(op)).reply();
            }
        };
    }
}
