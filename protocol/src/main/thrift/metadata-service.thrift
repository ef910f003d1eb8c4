/** Calls of a metadata replica and of a partition oracle. Served over framed transport with the compact protocol. */
include "metadata.thrift"
include "oracle.thrift"

service MetadataService {
  metadata.UpdateReply update(1: i32 partition, 2: metadata.Command command)
  metadata.ReadReply read(1: metadata.ReadRequest request)
  metadata.RecallReply recalls(1: metadata.RecallRequest request)
  metadata.ReplicaStatus status()
  metadata.HashReply stateHash(1: i32 partition)
}

service OracleService {
  oracle.LocateReply locate(1: oracle.LocateRequest request)
}
