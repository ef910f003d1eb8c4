package org.globalfs.protocol.rpc;

import org.globalfs.protocol.wire.HashReply;
import org.globalfs.protocol.wire.HashRequest;
import org.globalfs.protocol.wire.ReadReply;
import org.globalfs.protocol.wire.ReadRequest;
import org.globalfs.protocol.wire.RecallReply;
import org.globalfs.protocol.wire.RecallRequest;
import org.globalfs.protocol.wire.ReplicaStatus;
import org.globalfs.protocol.wire.StatusRequest;
import org.globalfs.protocol.wire.UpdateReply;
import org.globalfs.protocol.wire.UpdateRequest;

/** The calls of {@code MetadataService}. */
public final class MetadataCalls {

    public static final RpcMethod<UpdateRequest, UpdateReply> UPDATE =
            new RpcMethod<>("update", UpdateRequest::new, UpdateReply::new);
    public static final RpcMethod<ReadRequest, ReadReply> READ =
            new RpcMethod<>("read", ReadRequest::new, ReadReply::new);
    public static final RpcMethod<RecallRequest, RecallReply> RECALLS =
            new RpcMethod<>("recalls", RecallRequest::new, RecallReply::new);
    public static final RpcMethod<StatusRequest, ReplicaStatus> STATUS =
            new RpcMethod<>("status", StatusRequest::new, ReplicaStatus::new);
    public static final RpcMethod<HashRequest, HashReply> STATE_HASH =
            new RpcMethod<>("stateHash", HashRequest::new, HashReply::new);

    private MetadataCalls() {}
}
