package org.globalfs.client.meta;

import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import org.apache.thrift.TSerializable;
import org.globalfs.protocol.rpc.MetadataCalls;
import org.globalfs.protocol.rpc.RpcClient;
import org.globalfs.protocol.rpc.RpcException;
import org.globalfs.protocol.rpc.RpcMethod;
import org.globalfs.protocol.wire.ReadReply;
import org.globalfs.protocol.wire.ReadRequest;
import org.globalfs.protocol.wire.RecallReply;
import org.globalfs.protocol.wire.RecallRequest;
import org.globalfs.protocol.wire.UpdateReply;
import org.globalfs.protocol.wire.UpdateRequest;

/** Calls over Thrift, with connections kept to every replica that was called. */
public final class RpcReplicaCalls implements ReplicaCalls {

    private final ConcurrentMap<String, RpcClient> clients = new ConcurrentHashMap<>();

    @Override
    public UpdateReply update(Replica replica, UpdateRequest request, long timeoutMs)
            throws NoReplyException {
        return call(replica, MetadataCalls.UPDATE, request, timeoutMs);
    }

    @Override
    public ReadReply read(Replica replica, ReadRequest request, long timeoutMs)
            throws NoReplyException {
        return call(replica, MetadataCalls.READ, request, timeoutMs);
    }

    @Override
    public RecallReply recalls(Replica replica, RecallRequest request, long timeoutMs)
            throws NoReplyException {
        return call(replica, MetadataCalls.RECALLS, request, timeoutMs);
    }

    private <Q extends TSerializable, R extends TSerializable> R call(
            Replica replica, RpcMethod<Q, R> method, Q request, long timeoutMs)
            throws NoReplyException {
        RpcClient client =
                clients.computeIfAbsent(
                        replica.address(),
                        address -> new RpcClient(replica.host(), replica.port()));
        try {
            return client.call(method, request, timeoutMs);
        } catch (RpcException e) {
            throw new NoReplyException(kind(e), String.valueOf(e.getMessage()));
        }
    }

    private static NoReplyException.Kind kind(RpcException e) {
        return switch (e.outcome()) {
            case NOT_SENT -> NoReplyException.Kind.UNREACHABLE;
            case REFUSED -> NoReplyException.Kind.FAILED;
            case UNKNOWN ->
                    e.getCause() instanceof java.net.SocketTimeoutException
                            ? NoReplyException.Kind.SILENT
                            : NoReplyException.Kind.UNREACHABLE;
        };
    }

    @Override
    public void close() {
        clients.values().forEach(RpcClient::close);
    }
}
