package org.globalfs.client.meta;

import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.IntFunction;
import org.globalfs.protocol.Errno;
import org.globalfs.protocol.wire.Attributes;
import org.globalfs.protocol.wire.Command;
import org.globalfs.protocol.wire.Consistency;
import org.globalfs.protocol.wire.Credentials;
import org.globalfs.protocol.wire.GetAttributesOp;
import org.globalfs.protocol.wire.Position;
import org.globalfs.protocol.wire.ReadOp;
import org.globalfs.protocol.wire.ReadReply;
import org.globalfs.protocol.wire.ReadRequest;
import org.globalfs.protocol.wire.RecallReply;
import org.globalfs.protocol.wire.RecallRequest;
import org.globalfs.protocol.wire.Status;
import org.globalfs.protocol.wire.UpdateOp;
import org.globalfs.protocol.wire.UpdateReply;
import org.globalfs.protocol.wire.UpdateRequest;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One session's way to the metadata: brings each update to effect once and each read to an answer,
 * whichever replicas are alive. Thread-safe; any number of operations run at a time.
 *
 * <p>Updates of a regional partition, and reads of it (which are strong), go to the partition's
 * coordinator; updates of the global partition to the nearest replica, which forwards them; reads
 * of it to the nearest replica, causally. An update keeps its sequence over all attempts, also when
 * it turns out to concern several partitions and goes to partition 0.
 */
public final class MetadataClient {

    private static final Logger LOG = LoggerFactory.getLogger(MetadataClient.class);

    private static final int RETRIES_AT_ONE = 4;

    /** A replica that could not bring an update into order for so long may be cut off. */
    private static final long SLOW_NS = 500_000_000L;

    /** Where nobody answers a read for so long, it is asked whether that is still the place. */
    private static final long SILENCE_NS = 1_000_000_000L;

    private static final long OWN_WAIT_NS = 1_000_000_000L;

    private final Session session;
    private final ReplicaCalls calls;
    private final Routes routes;
    private final int origin;
    private final LongAdder attempts = new LongAdder();
    private final LongAdder retries = new LongAdder();
    private final LongAdder redirects = new LongAdder();
    private final LongAdder failovers = new LongAdder();
    private final Set<Integer> updated = ConcurrentHashMap.newKeySet();
    private final Homes homes = new Homes();

    /**
     * @param origin the partition of this client's region
     * @param datacenter this client's, if it is in one
     */
    public MetadataClient(
            Session session,
            ReplicaCalls calls,
            ReplicaDirectory directory,
            int origin,
            String region,
            @Nullable String datacenter) {
        this.session = session;
        this.calls = calls;
        this.routes = new Routes(directory, region, datacenter);
        this.origin = origin;
    }

    public Session session() {
        return session;
    }

    /** The partition of this client's region. */
    public int origin() {
        return origin;
    }

    /** Where inodes live. */
    public Homes homes() {
        return homes;
    }

    /** Partitions that this session has sent updates to. */
    public Set<Integer> updatedPartitions() {
        return Set.copyOf(updated);
    }

    /** The partitions of the regions that replicas are known of, by name. */
    public Map<String, Integer> regions() {
        Map<String, Integer> result = new java.util.TreeMap<>();
        for (Replica replica : routes.candidates(0)) {
            result.put(replica.region(), replica.partition());
        }
        return result;
    }

    /** The name of a partition's region, or "global". */
    public String regionOf(int partition) {
        if (partition == 0) {
            return "global";
        }
        for (Map.Entry<String, Integer> region : regions().entrySet()) {
            if (region.getValue() == partition) {
                return region.getKey();
            }
        }
        return "partition " + partition;
    }

    /** Partitions that replicas are known of. */
    public Set<Integer> partitions() {
        Set<Integer> result = new java.util.TreeSet<>();
        for (Replica replica : routes.candidates(0)) {
            result.add(0);
            result.add(replica.partition());
        }
        return result;
    }

    /**
     * Calls of replicas; how many of them had to be repeated, went to a replica that sent the
     * caller on, or got no answer, so that another replica was tried.
     */
    public void counters(Map<String, Long> into) {
        into.put("replicaCalls", attempts.sum());
        into.put("retries", retries.sum());
        into.put("redirects", redirects.sum());
        into.put("failovers", failovers.sum());
    }

    /**
     * Executes one update. The reply's status is DONE. When nobody answers, where the inodes are
     * that it names is found out for the next one, in the last second of the patience, of which it
     * takes a quarter at most. That one itself goes nowhere else: whoever is silent may have
     * executed it before its inodes left.
     */
    public Answer<UpdateReply> update(
            int partition, Credentials credentials, UpdateOp op, Patience patience) {
        boolean mayFind = partition != 0 && !Named.inodes(op).isEmpty();
        long findingNs = mayFind ? Math.clamp(patience.leftNs() / 4, 0, SILENCE_NS) : 0;
        Retry retry =
                new Retry(Patience.until(patience.deadlineNs() - findingNs, patience::cancelled));
        int target = partition;
        while (true) {
            Answer<UpdateReply> answer = numbered(target, credentials, op, retry);
            if (!answer.answered()) {
                findFrom(answer.partition(), op, patience);
            }
            if (!answer.answered() || answer.reply().getStatus() == Status.DONE) {
                return answer;
            }
            // All whom it concerned have said that they will never execute that number.
            retry.pause();
            target = answer.reply().getParticipants().getFirst();
        }
    }

    private void findFrom(int silent, UpdateOp op, Patience patience) {
        for (long ino : Named.inodes(op)) {
            if (silent != 0 && homes.of(ino) == silent && !find(ino, patience)) {
                return;
            }
        }
    }

    /**
     * Learns where an inode is whose partition does not answer. The global partition, which is in
     * every region and orders all moves, is asked, for a second at most.
     *
     * @param within for no longer than this either
     * @return false: it did not answer
     */
    boolean find(long ino, Patience within) {
        long untilNs = System.nanoTime() + Math.min(SILENCE_NS, within.leftNs());
        Patience patience = Patience.until(untilNs, within::cancelled);
        ReadOp op = ReadOp.getAttributes(new GetAttributesOp(ino));
        ReadRequest request = request(0, new Credentials(0, 0), usual(0), op);
        Answer<ReadReply> answer = new ReadAttempts(0, request).run(new Retry(patience));
        if (answer.answered()) {
            ReadReply reply = answer.reply();
            see(reply.getPosition(), reply.isSetGlobalSeen() ? reply.getGlobalSeen() : 0);
            learn(reply, answer.partition());
        }
        return answer.answered();
    }

    /** Under one number, until it comes to a partition that has declined it before. */
    private Answer<UpdateReply> numbered(
            int partition, Credentials credentials, UpdateOp op, Retry retry) {
        long sequence = session.nextSequence();
        boolean answered = false;
        try {
            Command command =
                    new Command(
                            session.id(),
                            sequence,
                            session.answeredBelow(),
                            credentials,
                            origin,
                            op);
            Answer<UpdateReply> answer = update(partition, command, retry);
            answered = answer.answered();
            return answer;
        } finally {
            if (answered) {
                session.answered(sequence);
            } else {
                session.abandoned(sequence);
            }
        }
    }

    private Answer<UpdateReply> update(int partition, Command command, Retry retry) {
        int target = partition;
        Command sent = command;
        boolean again = false;
        Set<Integer> declined = new HashSet<>();
        updated.add(target);
        while (!retry.over()) {
            sent.setGlobalSeen(session.vector().globalSeen());
            Answer<UpdateReply> answer = new UpdateAttempts(target, sent, again).run(retry);
            again = true;
            UpdateReply reply = answer.reply();
            if (answer.answered()) {
                see(reply.getPosition(), reply.isSetGlobalSeen() ? reply.getGlobalSeen() : 0);
                learn(reply, answer.partition());
            }
            if (!answer.answered() || reply.getStatus() == Status.DONE) {
                return answer;
            }
            List<Integer> participants = reply.getParticipants();
            declined.add(target);
            if (participants.size() == 1) {
                target = participants.getFirst();
                sent = command;
            } else {
                target = 0;
                sent = coordinated(command, reply);
            }
            updated.addAll(participants);
            updated.add(target);
            if (LOG.isDebugEnabled()) {
                LOG.debug("update {} concerns partitions {}", command.getSequence(), participants);
            }
            if (target != 0 && declined.contains(target)) {
                return answer;
            }
        }
        return gaveUp(target);
    }

    private void learn(UpdateReply reply, int partition) {
        if (reply.isSetHomes()) {
            homes.learn(reply.getHomes());
        }
        if (partition != 0) {
            // Partition 0 tells of directories, too, that it has just placed.
            told(reply.getAttributes(), partition);
            told(reply.getParent(), partition);
            told(reply.getNewParent(), partition);
        }
    }

    /** A partition tells of its own inodes. */
    private void told(@Nullable Attributes attributes, int partition) {
        if (attributes != null) {
            homes.livesIn(attributes.getIno(), partition);
        }
    }

    /**
     * Partition 0 finds out itself whose votes it takes: who replied may have named one from which
     * everything has moved away, and that one may be out of reach.
     */
    private static Command coordinated(Command command, UpdateReply escalation) {
        Command result = new Command(command);
        result.setCoordinated(true);
        if (escalation.isSetExpectedSource()) {
            result.setExpectedSource(escalation.getExpectedSource());
        }
        if (escalation.isSetExpectedTarget()) {
            result.setExpectedTarget(escalation.getExpectedTarget());
        }
        if (escalation.isMovesDirectory()) {
            result.setMovesDirectory(true);
        }
        return result;
    }

    private static Answer<UpdateReply> gaveUp(int partition) {
        UpdateReply reply = new UpdateReply(Status.DONE, Errno.EIO.number());
        return new Answer<>(reply, partition, -1, System.nanoTime());
    }

    /** Answers one read. The reply's status is DONE. */
    public Answer<ReadReply> read(
            int partition, Credentials credentials, ReadOp op, Patience patience) {
        return read(
                partition,
                op,
                patience,
                target ->
                        new ReadAttempts(target, request(target, credentials, usual(target), op)));
    }

    private static Consistency usual(int partition) {
        return partition == 0 ? Consistency.CAUSAL : Consistency.STRONG;
    }

    /** As {@link #read}, of the newest state in the global partition too. */
    public Answer<ReadReply> readNewest(
            int partition, Credentials credentials, ReadOp op, Patience patience) {
        return read(
                partition,
                op,
                patience,
                target ->
                        new ReadAttempts(
                                target, request(target, credentials, Consistency.STRONG, op)));
    }

    /** As {@link #read}, where the replica itself may wait for as long as {@code waitMs}. */
    public Answer<ReadReply> readLater(
            int partition, Credentials credentials, ReadOp op, int waitMs, Patience patience) {
        return read(
                partition,
                op,
                patience,
                target ->
                        new WaitAttempts(
                                target, request(target, credentials, usual(target), op), waitMs));
    }

    private ReadRequest request(
            int partition, Credentials credentials, Consistency consistency, ReadOp op) {
        Session.Settled settled = session.settledHere();
        ReadRequest request =
                new ReadRequest(
                                session.id(),
                                partition,
                                credentials,
                                consistency,
                                session.vector().seen(partition),
                                session.vector().globalSeen(),
                                op)
                        .setSettledBelow(settled.below());
        return settled.unsettled().isEmpty() ? request : request.setUnsettled(settled.unsettled());
    }

    /**
     * Asks where the inode is, as often as an answer says that it is elsewhere. When nobody answers
     * there for a while, the inode may have left in time: the global partition, which is in every
     * region and orders all moves, is asked. What is asked of a partition itself only that one can
     * answer.
     */
    private Answer<ReadReply> read(
            int partition, ReadOp op, Patience patience, IntFunction<ReadAttempts> attempts) {
        boolean moves = namesInode(op);
        Retry retry = new Retry(patience);
        Set<Integer> declined = new HashSet<>();
        int target = partition;
        while (true) {
            boolean elsewhere = moves && target != 0;
            Answer<ReadReply> answer =
                    attempts.apply(target).run(retry, elsewhere ? SILENCE_NS : Long.MAX_VALUE);
            if (!answer.answered() && elsewhere && !retry.over()) {
                Answer<ReadReply> global = attempts.apply(0).run(retry, SILENCE_NS);
                if (!global.answered() || isAt(target, global.reply())) {
                    continue;
                }
                LOG.debug("partition {} is silent, and what it is asked for is elsewhere", target);
                answer = global;
            }
            ReadReply reply = answer.reply();
            see(reply.getPosition(), reply.isSetGlobalSeen() ? reply.getGlobalSeen() : 0);
            if (answer.answered()) {
                learn(reply, answer.partition());
            }
            if (!answer.answered() || reply.getStatus() == Status.DONE) {
                awaitOwn(reply);
                return answer;
            }
            if (!declined.add(target)) {
                retry.pause();
            }
            target = reply.getHomes().values().iterator().next();
        }
    }

    private static boolean namesInode(ReadOp op) {
        return switch (op.getSetField()) {
            case STAT_FS -> false;
            case QUOTA -> op.getQuota().isSetIno();
            default -> true;
        };
    }

    /**
     * This session's updates that the reply may show are answered, but who reads through the
     * session may not see them yet. Their answers are on their way; two threads that wait for each
     * other must not do so for long.
     */
    private void awaitOwn(ReadReply reply) {
        if (reply.isSetAwaits()) {
            try {
                session.awaitSettled(reply.getAwaits(), OWN_WAIT_NS);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private static boolean isAt(int partition, ReadReply reply) {
        return reply.getStatus() != Status.DONE && reply.getHomes().containsValue(partition);
    }

    private void learn(ReadReply reply, int partition) {
        if (reply.isSetHomes()) {
            homes.learn(reply.getHomes());
        }
        told(reply.getAttributes(), partition);
        told(reply.getParent(), partition);
        if (reply.isSetEntries()) {
            reply.getEntries().forEach(entry -> told(entry.getAttributes(), partition));
        }
    }

    /**
     * Waits at the partition's coordinator for recalled grants; no retry beyond finding the
     * coordinator.
     *
     * @param acknowledged recall up to which the grants of {@code replica} are given back; another
     *     replica counts its own
     * @param settled what can be said of this session's updates
     * @return null: no coordinator answered
     */
    public @Nullable Answer<RecallReply> recalls(
            int partition,
            int replica,
            long acknowledged,
            Session.Settled settled,
            Patience patience) {
        RecallAttempts attempts = new RecallAttempts(partition, replica, acknowledged, settled);
        Answer<RecallReply> answer = attempts.run(new Retry(patience));
        return answer.answered() ? answer : null;
    }

    private void see(@Nullable Position position, long globalSeen) {
        if (position != null) {
            session.vector().advance(position.getPartition(), position.getInstance());
        }
        if (globalSeen > 0) {
            session.vector().advance(0, globalSeen);
        }
    }

    /** The attempts of one call at one partition's replicas until one of them has an answer. */
    private abstract class Attempts<R> {
        private final int partition;

        Attempts(int partition) {
            this.partition = partition;
        }

        abstract R call(Replica replica, long timeoutMs, int waitMs) throws NoReplyException;

        /** How long one call may take. */
        long timeoutMs(Retry retry) {
            return retry.timeoutMs();
        }

        abstract Status status(R reply);

        abstract int coordinator(R reply);

        abstract boolean cutOff(R reply);

        abstract R failure();

        Answer<R> run(Retry retry) {
            return run(retry, Long.MAX_VALUE);
        }

        /** For so long, and no longer than {@code retry} lets it. */
        Answer<R> run(Retry retry, long forNs) {
            long beginNs = System.nanoTime();
            Replica target = routes.first(partition);
            int redirects = 0;
            int retries = 0;
            while (!retry.over() && System.nanoTime() - beginNs < forNs) {
                if (target == null) {
                    retry.pause();
                    target = routes.first(partition);
                    continue;
                }
                long timeoutMs = timeoutMs(retry);
                long sentNs = System.nanoTime();
                R reply;
                try {
                    MetadataClient.this.attempts.increment();
                    reply = call(target, timeoutMs, retry.waitMs(timeoutMs));
                } catch (NoReplyException e) {
                    retry.took(sentNs, timeoutMs * 1_000_000);
                    target = afterFailure(target, e, retry);
                    continue;
                }
                routes.worked(target);
                boolean cutOff = cutOff(reply);
                if (cutOff) {
                    routes.cutOff(target);
                }
                switch (status(reply)) {
                    case DONE, ESCALATE -> {
                        if (partition != 0) {
                            routes.coordinatorIs(partition, target.id());
                        }
                        return new Answer<>(reply, partition, target.id(), sentNs);
                    }
                    case RETRY -> {
                        MetadataClient.this.retries.increment();
                        retry.pause();
                        retries++;
                        boolean slow = System.nanoTime() - sentNs > SLOW_NS;
                        if (cutOff || slow || retries % RETRIES_AT_ONE == 0) {
                            // It may be cut off from the majority that others can reach.
                            target = routes.after(partition, target);
                        }
                    }
                    case REDIRECT -> {
                        MetadataClient.this.redirects.increment();
                        redirects++;
                        target = redirected(target, coordinator(reply), redirects, retry);
                    }
                }
            }
            return new Answer<>(failure(), partition, -1, System.nanoTime());
        }

        private @Nullable Replica afterFailure(Replica failed, NoReplyException e, Retry retry) {
            LOG.debug("replica {}: {}", failed.id(), e.getMessage());
            failovers.increment();
            boolean againAlready = routes.suspected(failed.id());
            routes.failed(failed, e.kind());
            if (e.kind() == NoReplyException.Kind.SILENT) {
                retry.timedOut();
            }
            Replica next = routes.after(partition, failed);
            if (againAlready
                    || next == null
                    || next.id() == failed.id()
                    || e.kind() == NoReplyException.Kind.FAILED) {
                retry.pause();
            }
            return next;
        }

        private @Nullable Replica redirected(
                Replica from, int coordinator, int redirects, Retry retry) {
            Replica next =
                    coordinator < 0 || coordinator == from.id() || routes.unreachable(coordinator)
                            ? null
                            : routes.replica(coordinator);
            if (next == null) {
                // An election: the others may know more by then.
                retry.pause();
                return routes.after(partition, from);
            }
            routes.coordinatorIs(partition, coordinator);
            if (redirects > 2) {
                retry.pause();
            }
            return next;
        }
    }

    private final class UpdateAttempts extends Attempts<UpdateReply> {
        private final int partition;
        private final Command command;
        private boolean again;

        UpdateAttempts(int partition, Command command, boolean again) {
            super(partition);
            this.partition = partition;
            this.command = command;
            this.again = again;
        }

        @Override
        UpdateReply call(Replica replica, long timeoutMs, int waitMs) throws NoReplyException {
            UpdateRequest request = new UpdateRequest(partition, command);
            request.setWaitMs(waitMs);
            if (again) {
                request.setAgain(true);
            }
            again = true;
            return calls.update(replica, request, timeoutMs);
        }

        @Override
        Status status(UpdateReply reply) {
            return reply.getStatus();
        }

        @Override
        int coordinator(UpdateReply reply) {
            return reply.isSetCoordinator() ? reply.getCoordinator() : -1;
        }

        @Override
        boolean cutOff(UpdateReply reply) {
            return reply.isCutOff();
        }

        @Override
        UpdateReply failure() {
            return gaveUp(partition).reply();
        }
    }

    private class ReadAttempts extends Attempts<ReadReply> {
        private final int partition;
        final ReadRequest request;

        ReadAttempts(int partition, ReadRequest request) {
            super(partition);
            this.partition = partition;
            this.request = request;
        }

        @Override
        ReadReply call(Replica replica, long timeoutMs, int waitMs) throws NoReplyException {
            request.setWaitMs(waitMs);
            return calls.read(replica, request, timeoutMs);
        }

        @Override
        Status status(ReadReply reply) {
            return reply.getStatus();
        }

        @Override
        int coordinator(ReadReply reply) {
            return reply.isSetCoordinator() ? reply.getCoordinator() : -1;
        }

        @Override
        boolean cutOff(ReadReply reply) {
            return reply.isCutOff();
        }

        @Override
        ReadReply failure() {
            return new ReadReply(Status.DONE, Errno.EIO.number(), new Position(partition, 0));
        }
    }

    private final class WaitAttempts extends ReadAttempts {
        /** A live replica answers so long after its own wait at the latest. */
        private static final long MARGIN_MS = 2_000;

        private final int replicaWaitMs;

        WaitAttempts(int partition, ReadRequest request, int replicaWaitMs) {
            super(partition, request);
            this.replicaWaitMs = replicaWaitMs;
        }

        @Override
        long timeoutMs(Retry retry) {
            return replicaWaitMs + MARGIN_MS;
        }

        @Override
        ReadReply call(Replica replica, long timeoutMs, int waitMs) throws NoReplyException {
            request.setWaitMs(replicaWaitMs);
            return calls.read(replica, request, timeoutMs);
        }
    }

    private final class RecallAttempts extends Attempts<RecallReply> {
        /** A live coordinator answers in a tenth of a second; what another grants is recalled. */
        private static final long TIMEOUT_MS = 2_000;

        private final int partition;
        private final int grantor;
        private final long acknowledged;
        private final Session.Settled settled;

        RecallAttempts(int partition, int grantor, long acknowledged, Session.Settled settled) {
            super(partition);
            this.settled = settled;
            this.partition = partition;
            this.grantor = grantor;
            this.acknowledged = acknowledged;
        }

        @Override
        long timeoutMs(Retry retry) {
            return TIMEOUT_MS;
        }

        @Override
        RecallReply call(Replica replica, long timeoutMs, int waitMs) throws NoReplyException {
            long known = replica.id() == grantor ? acknowledged : 0;
            RecallRequest request = new RecallRequest(session.id(), partition, known);
            request.setSettledBelow(settled.below());
            if (!settled.unsettled().isEmpty()) {
                request.setUnsettled(settled.unsettled());
            }
            return calls.recalls(replica, request, timeoutMs);
        }

        @Override
        Status status(RecallReply reply) {
            return reply.getStatus();
        }

        @Override
        int coordinator(RecallReply reply) {
            return reply.isSetCoordinator() ? reply.getCoordinator() : -1;
        }

        @Override
        boolean cutOff(RecallReply reply) {
            return false;
        }

        @Override
        RecallReply failure() {
            return new RecallReply(Status.RETRY);
        }
    }
}
