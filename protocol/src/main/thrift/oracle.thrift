/** Where a path or inode is, and what an update of it touches. */
namespace java org.globalfs.protocol.wire

struct LocateRequest {
  1: optional binary path;          // absolute, or
  2: optional i64 ino;
}

struct LocateReply {
  1: required i32 errno;
  2: optional i64 ino;
  3: optional i32 partition;
  4: optional list<i32> updates;    // partitions that an update of it touches
  5: optional i32 replica;          // nearest replica of the partition, seen from the oracle
  6: optional string placement;     // the rule that placed it
}
