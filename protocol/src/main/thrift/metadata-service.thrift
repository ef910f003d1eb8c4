/**
 * Calls of a metadata replica and of a partition oracle. Served over framed transport with the compact protocol.
 * Every call takes one struct and answers one.
 */
include "metadata.thrift"
include "oracle.thrift"

service MetadataService {
  metadata.UpdateReply update(1: metadata.UpdateRequest request)
  metadata.ReadReply read(1: metadata.ReadRequest request)
  metadata.RecallReply recalls(1: metadata.RecallRequest request)
  metadata.ReplicaStatus status(1: metadata.StatusRequest request)
  metadata.RingChangeReply changeRing(1: metadata.RingChangeRequest request)
  metadata.HashReply stateHash(1: metadata.HashRequest request)
  metadata.CheckReply check(1: metadata.CheckRequest request)
  metadata.ContentReply content(1: metadata.ContentRequest request)
  metadata.UpkeepReply upkeep(1: metadata.UpkeepRequest request)
  metadata.CheckpointReply checkpoint(1: metadata.CheckpointRequest request)
  metadata.PieceReply checkpointPiece(1: metadata.PieceRequest request)
  metadata.ReleaseReply releaseCheckpoint(1: metadata.ReleaseRequest request)
}

service OracleService {
  oracle.LocateReply locate(1: oracle.LocateRequest request)
  oracle.UseReply reportUse(1: oracle.UseReport report)
  oracle.ExplainReply explain(1: oracle.ExplainRequest request)
}
