package org.globalfs.replica.service;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import org.globalfs.protocol.rpc.MetadataCalls;
import org.globalfs.protocol.rpc.RpcException;
import org.globalfs.protocol.wire.Command;
import org.globalfs.protocol.wire.Consistency;
import org.globalfs.protocol.wire.CreateOp;
import org.globalfs.protocol.wire.Credentials;
import org.globalfs.protocol.wire.DirectoryEntry;
import org.globalfs.protocol.wire.LookupOp;
import org.globalfs.protocol.wire.Position;
import org.globalfs.protocol.wire.ReadDirectoryOp;
import org.globalfs.protocol.wire.ReadOp;
import org.globalfs.protocol.wire.ReadReply;
import org.globalfs.protocol.wire.ReadRequest;
import org.globalfs.protocol.wire.RenameOp;
import org.globalfs.protocol.wire.Status;
import org.globalfs.protocol.wire.UnlinkOp;
import org.globalfs.protocol.wire.UpdateOp;
import org.globalfs.protocol.wire.UpdateReply;
import org.globalfs.protocol.wire.UpdateRequest;
import org.globalfs.replica.state.Escalation;

/**
 * A client as simple as one can be that still follows redirections, resends and keeps its vector.
 */
final class TestSession {

    static final long ROOT = 1;
    private static final long PATIENCE_NS = 60_000_000_000L;
    private static final int DIRECTORY = 0040755;
    private static final int FILE = 0100644;

    private final ReplicaCluster cluster;
    final int region;
    final long id = ThreadLocalRandom.current().nextLong(1, Long.MAX_VALUE);
    private final Map<Integer, Long> seen = new HashMap<>();
    private final Map<Integer, Integer> coordinators = new HashMap<>();
    private long sequence;
    private int turn;

    /** For a watching thread. */
    volatile int created;

    /** Attempts beyond the first of the last update. */
    int resent;

    TestSession(ReplicaCluster cluster, int region) {
        this.cluster = cluster;
        this.region = region;
    }

    static int partitionOf(long ino) {
        return (int) (ino >>> 48);
    }

    static ByteBuffer bytes(String name) {
        return ByteBuffer.wrap(name.getBytes(StandardCharsets.UTF_8));
    }

    UpdateReply mkdir(long parent, String name) throws InterruptedException {
        return update(
                partitionOf(parent), UpdateOp.create(new CreateOp(parent, bytes(name), DIRECTORY)));
    }

    UpdateReply create(long parent, String name) throws InterruptedException {
        return update(
                partitionOf(parent), UpdateOp.create(new CreateOp(parent, bytes(name), FILE)));
    }

    UpdateReply unlink(long parent, String name) throws InterruptedException {
        return update(
                partitionOf(parent), UpdateOp.unlink(new UnlinkOp(parent, bytes(name), false)));
    }

    UpdateReply rmdir(long parent, String name) throws InterruptedException {
        return update(
                partitionOf(parent), UpdateOp.unlink(new UnlinkOp(parent, bytes(name), true)));
    }

    UpdateReply rename(long parent, String name, long newParent, String newName)
            throws InterruptedException {
        return update(
                partitionOf(parent),
                UpdateOp.rename(new RenameOp(parent, bytes(name), newParent, bytes(newName), 0)));
    }

    UpdateReply update(int partition, UpdateOp op) throws InterruptedException {
        return send(partition, command(op), PATIENCE_NS);
    }

    Command command(UpdateOp op) {
        return new Command(id, ++sequence, sequence, new Credentials(0, 0), region, op);
    }

    /** Sends one command until it is executed. */
    UpdateReply send(int partition, Command first, long patienceNs) throws InterruptedException {
        long deadline = System.nanoTime() + patienceNs;
        Command command = first;
        int target = partition;
        resent = -1;
        while (System.nanoTime() < deadline) {
            resent++;
            command.setGlobalSeen(seen.getOrDefault(0, 0L));
            int replica = replica(target);
            UpdateReply reply;
            try {
                UpdateRequest request = new UpdateRequest(target, command).setWaitMs(2_000);
                reply = cluster.client(replica).call(MetadataCalls.UPDATE, request, 2_500);
            } catch (RpcException e) {
                coordinators.remove(target);
                turn++;
                pause();
                continue;
            }
            switch (reply.getStatus()) {
                case DONE -> {
                    see(reply.getPosition(), reply.isSetGlobalSeen() ? reply.getGlobalSeen() : 0);
                    return reply;
                }
                case REDIRECT -> redirected(target, reply.getCoordinator());
                case RETRY -> pause();
                case ESCALATE -> {
                    Escalation escalation = Escalation.of(command, reply);
                    target = escalation.partition();
                    command = escalation.command();
                }
            }
        }
        throw new AssertionError("not executed in time: " + command);
    }

    ReadReply lookup(long parent, String name) throws InterruptedException {
        return read(partitionOf(parent), ReadOp.lookup(new LookupOp(parent, bytes(name))));
    }

    ReadReply read(int partition, ReadOp op) throws InterruptedException {
        Consistency consistency = partition == 0 ? Consistency.CAUSAL : Consistency.STRONG;
        long deadline = System.nanoTime() + PATIENCE_NS;
        while (System.nanoTime() < deadline) {
            ReadRequest request =
                    new ReadRequest(
                            id,
                            partition,
                            new Credentials(0, 0),
                            consistency,
                            seen.getOrDefault(partition, 0L),
                            seen.getOrDefault(0, 0L),
                            op);
            ReadReply reply;
            try {
                reply =
                        cluster.client(replica(partition))
                                .call(MetadataCalls.READ, request.setWaitMs(2_000), 2_500);
            } catch (RpcException e) {
                coordinators.remove(partition);
                turn++;
                pause();
                continue;
            }
            if (reply.getStatus() == Status.DONE) {
                see(reply.getPosition(), reply.isSetGlobalSeen() ? reply.getGlobalSeen() : 0);
                return reply;
            }
            if (reply.getStatus() == Status.REDIRECT) {
                redirected(partition, reply.getCoordinator());
            } else {
                pause();
            }
        }
        throw new AssertionError("not answered in time: " + op);
    }

    /** Names of a directory, sorted. */
    List<String> list(long directory) throws InterruptedException {
        TreeSet<String> names = new TreeSet<>();
        long cookie = 0;
        while (true) {
            ReadReply reply =
                    read(
                            partitionOf(directory),
                            ReadOp.readDirectory(new ReadDirectoryOp(directory, cookie, 100)));
            if (reply.getErrno() != 0) {
                throw new AssertionError("readdir: errno " + reply.getErrno());
            }
            for (DirectoryEntry entry : reply.getEntries()) {
                names.add(new String(entry.getName(), StandardCharsets.UTF_8));
                cookie = entry.getCookie();
            }
            if (reply.isLast() || reply.getEntries().isEmpty()) {
                return new ArrayList<>(names);
            }
        }
    }

    /** Makes this session see all that another has seen. */
    void learnFrom(TestSession other) {
        other.seen.forEach((partition, instance) -> seen.merge(partition, instance, Math::max));
    }

    private void see(Position position, long globalSeen) {
        if (position != null) {
            seen.merge(position.getPartition(), position.getInstance(), Math::max);
        }
        seen.merge(0, globalSeen, Math::max);
    }

    private int replica(int partition) {
        Integer coordinator = partition == 0 ? null : coordinators.get(partition);
        if (coordinator != null) {
            return coordinator;
        }
        int[] members = cluster.topology.members(partition == 0 ? region : partition);
        return IntStream.of(members).skip(turn % members.length).findFirst().orElseThrow();
    }

    private void redirected(int partition, int coordinator) {
        if (coordinator > 0 && !Integer.valueOf(coordinator).equals(coordinators.get(partition))) {
            coordinators.put(partition, coordinator);
        } else {
            coordinators.remove(partition);
            turn++;
            pause();
        }
    }

    private static void pause() {
        LockSupport.parkNanos(10_000_000);
    }
}
