package org.globalfs.protocol.rpc;

import org.globalfs.protocol.wire.CheckReply;
import org.globalfs.protocol.wire.CheckRequest;
import org.globalfs.protocol.wire.CheckpointReply;
import org.globalfs.protocol.wire.CheckpointRequest;
import org.globalfs.protocol.wire.ContentReply;
import org.globalfs.protocol.wire.ContentRequest;
import org.globalfs.protocol.wire.HashReply;
import org.globalfs.protocol.wire.HashRequest;
import org.globalfs.protocol.wire.PieceReply;
import org.globalfs.protocol.wire.PieceRequest;
import org.globalfs.protocol.wire.ReadReply;
import org.globalfs.protocol.wire.ReadRequest;
import org.globalfs.protocol.wire.RecallReply;
import org.globalfs.protocol.wire.RecallRequest;
import org.globalfs.protocol.wire.ReleaseReply;
import org.globalfs.protocol.wire.ReleaseRequest;
import org.globalfs.protocol.wire.ReplicaStatus;
import org.globalfs.protocol.wire.RingChangeReply;
import org.globalfs.protocol.wire.RingChangeRequest;
import org.globalfs.protocol.wire.StatusRequest;
import org.globalfs.protocol.wire.UpdateReply;
import org.globalfs.protocol.wire.UpdateRequest;
import org.globalfs.protocol.wire.UpkeepReply;
import org.globalfs.protocol.wire.UpkeepRequest;

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
    public static final RpcMethod<RingChangeRequest, RingChangeReply> CHANGE_RING =
            new RpcMethod<>("changeRing", RingChangeRequest::new, RingChangeReply::new);
    public static final RpcMethod<HashRequest, HashReply> STATE_HASH =
            new RpcMethod<>("stateHash", HashRequest::new, HashReply::new);
    public static final RpcMethod<CheckRequest, CheckReply> CHECK =
            new RpcMethod<>("check", CheckRequest::new, CheckReply::new);
    public static final RpcMethod<ContentRequest, ContentReply> CONTENT =
            new RpcMethod<>("content", ContentRequest::new, ContentReply::new);
    public static final RpcMethod<UpkeepRequest, UpkeepReply> UPKEEP =
            new RpcMethod<>("upkeep", UpkeepRequest::new, UpkeepReply::new);

    public static final RpcMethod<CheckpointRequest, CheckpointReply> CHECKPOINT =
            new RpcMethod<>("checkpoint", CheckpointRequest::new, CheckpointReply::new);
    public static final RpcMethod<PieceRequest, PieceReply> CHECKPOINT_PIECE =
            new RpcMethod<>("checkpointPiece", PieceRequest::new, PieceReply::new);
    public static final RpcMethod<ReleaseRequest, ReleaseReply> RELEASE_CHECKPOINT =
            new RpcMethod<>("releaseCheckpoint", ReleaseRequest::new, ReleaseReply::new);

    private MetadataCalls() {}
}
