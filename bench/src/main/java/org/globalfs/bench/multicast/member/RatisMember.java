package org.globalfs.bench.multicast.member;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.ratis.conf.RaftProperties;
import org.apache.ratis.grpc.GrpcConfigKeys;
import org.apache.ratis.proto.RaftProtos.LogEntryProto;
import org.apache.ratis.protocol.ClientId;
import org.apache.ratis.protocol.Message;
import org.apache.ratis.protocol.RaftClientReply;
import org.apache.ratis.protocol.RaftClientRequest;
import org.apache.ratis.protocol.RaftGroup;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.protocol.RaftPeer;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.RaftServerConfigKeys;
import org.apache.ratis.statemachine.TransactionContext;
import org.apache.ratis.statemachine.impl.BaseStateMachine;
import org.apache.ratis.thirdparty.com.google.protobuf.UnsafeByteOperations;
import org.apache.ratis.util.TimeDuration;
import org.jspecify.annotations.Nullable;

/**
 * A server of Apache Ratis at its best durable settings: an entry is synced before it is counted.
 * Values are handed to the leader inside its process, without a client's hop, as ours are.
 */
final class RatisMember implements MeasuredLog {
    /** What its appenders wait for more entries, for the highest rate. */
    static final int BATCHING_WAIT_MS = 4;

    /** With its 150 ms a busy machine has it elect leaders over and over. */
    private static final int LEADER_SILENT_MS = 1_000;

    private static final RaftGroupId GROUP = RaftGroupId.valueOf(new UUID(0x676c6f62, 0x616c6673));
    private static final String ID_PREFIX = "member-";

    private final Acknowledged acknowledged;
    private final RaftServer server;
    private final RaftServer.Division division;
    private final ClientId client = ClientId.randomId();
    private final ExecutorService submitter =
            Executors.newSingleThreadExecutor(task -> {
                Thread thread = new Thread(task, "submit");
                thread.setDaemon(true);
                return thread;
            });
    private final AtomicLong calls = new AtomicLong();
    private final ConcurrentLinkedQueue<Long> replied = new ConcurrentLinkedQueue<>();

    RatisMember(MemberOptions options, int waitMs, Acknowledged acknowledged) throws IOException {
        this.acknowledged = acknowledged;
        RaftProperties properties = new RaftProperties();
        RaftServerConfigKeys.setStorageDir(properties, List.of(options.folder().toFile()));
        RaftServerConfigKeys.Log.setUseMemory(properties, !options.durable());
        RaftServerConfigKeys.Log.setLogMetadataEnabled(properties, false);
        RaftServerConfigKeys.Log.Appender.setWaitTimeMin(properties, ms(waitMs));
        RaftServerConfigKeys.Rpc.setTimeoutMin(properties, ms(LEADER_SILENT_MS));
        RaftServerConfigKeys.Rpc.setTimeoutMax(properties, ms(2 * LEADER_SILENT_MS));
        GrpcConfigKeys.Server.setHost(properties, options.address().getHostString());
        GrpcConfigKeys.Server.setPort(properties, options.address().getPort());
        List<RaftPeer> peers = new ArrayList<>();
        options.addresses()
                .forEach((member, address) ->
                        peers.add(
                                RaftPeer.newBuilder()
                                        .setId(ID_PREFIX + member)
                                        .setAddress(address)
                                        .build()));
        server =
                RaftServer.newBuilder()
                        .setServerId(RaftPeerId.valueOf(ID_PREFIX + options.self()))
                        .setGroup(RaftGroup.valueOf(GROUP, peers))
                        .setProperties(properties)
                        .setStateMachine(new AppliedIndex())
                        .build();
        server.start();
        division = server.getDivision(GROUP);
    }

    private static TimeDuration ms(int ms) {
        return TimeDuration.valueOf(ms, TimeUnit.MILLISECONDS);
    }

    /** The least that a state machine can do. */
    private static final class AppliedIndex extends BaseStateMachine {
        private static final CompletableFuture<Message> DONE =
                CompletableFuture.completedFuture(Message.EMPTY);

        @Override
        public CompletableFuture<Message> applyTransaction(TransactionContext transaction) {
            LogEntryProto entry = transaction.getLogEntry();
            updateLastAppliedTermIndex(entry.getTerm(), entry.getIndex());
            return DONE;
        }
    }

    @Override
    public boolean propose(byte[] value) {
        if (!division.getInfo().isLeaderReady()) {
            return false;
        }
        long id = Values.id(value);
        RaftClientRequest request =
                RaftClientRequest.newBuilder()
                        .setClientId(client)
                        .setServerId(server.getId())
                        .setGroupId(GROUP)
                        .setCallId(calls.incrementAndGet())
                        .setRepliedCallIds(takeReplied())
                        .setMessage(Message.valueOf(UnsafeByteOperations.unsafeWrap(value)))
                        .setType(RaftClientRequest.writeRequestType())
                        .build();
        submitter.execute(() -> submit(request, id));
        return true;
    }

    /**
     * May block until the log has queued the entry: never on the thread that acknowledges. One
     * thread hands in all, in order, as a client's stream does.
     */
    private void submit(RaftClientRequest request, long id) {
        try {
            CompletableFuture<RaftClientReply> _ =
                    server.submitClientRequestAsync(request)
                            .whenComplete(
                                    (reply, failure) -> completed(id, request.getCallId(), reply));
        } catch (IOException e) {
            System.err.println("not submitted, proposed again later: " + e);
        }
    }

    private void completed(long id, long call, @Nullable RaftClientReply reply) {
        replied.add(call);
        if (reply != null && reply.isSuccess()) {
            acknowledged.value(id);
        }
    }

    /** What the server may forget of this client, as its own client library tells it. */
    private List<Long> takeReplied() {
        List<Long> taken = new ArrayList<>();
        for (Long call = replied.poll(); call != null; call = replied.poll()) {
            taken.add(call);
        }
        return taken;
    }

    @Override
    public int coordinator() {
        RaftPeerId leader = division.getInfo().getLeaderId();
        return leader == null
                ? NONE
                : Integer.parseInt(leader.toString().substring(ID_PREFIX.length()));
    }

    @Override
    public void close() {
        submitter.shutdown();
        try {
            server.close();
        } catch (IOException e) {
            System.err.println("closing Ratis: " + e);
        }
    }
}
