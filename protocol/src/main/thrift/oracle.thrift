/** Where a path or inode is, what an update of it touches, who uses it, and where it will move. */
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

// ---------------------------------------------------------------- use of the tree

/** What was done in a directory since the last report. Its directories above come along, with zeros if nobody used them. */
struct DirectoryUse {
  1: required i64 ino;
  2: required i64 parent;          // 0: not known; the root's is itself
  3: required i32 partition;       // that it lives in, as far as the reporter knows
  4: required i64 reads;           // operations on it, its names and its files that changed nothing
  5: required i64 writes;          // those that did
  6: optional i64 astray = 0;      // those of both that were on files which live elsewhere than the directory
  7: optional string policy;       // its user.globalfs.policy; empty: it has none; absent: not known
}

/** Of a mount to its region's oracle; of an oracle, for all its mounts together, to the other regions' ones. */
struct UseReport {
  1: required string region;       // whose users these are
  2: required list<DirectoryUse> directories;
}

struct UseReply {
  1: required i32 periodMs;        // the next one is due then
}

struct ExplainRequest {
  1: required i64 ino;             // a directory
  2: required list<DirectoryUse> way; // it and those above it, as far as the asker knows them, without what is not reported yet
}

struct RegionUse {
  1: required string region;
  2: required double reads;        // within the rule's window; older ones fade away
  3: required double writes;
}

struct ExplainReply {
  1: required i32 errno;
  2: optional i32 partition;       // that it lives in
  3: optional string rule;         // as policy.yaml says it
  4: optional list<RegionUse> regions; // of the directory and all below
  5: optional string verdict;      // for people: what the oracle would do, and why
}
