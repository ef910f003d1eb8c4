/**
 * Records and requests of the metadata service. Only structs live here; the calls are in
 * metadata-service.thrift.
 *
 * Every integer named *Ns is nanoseconds since 1970 UTC, *Ms milliseconds. An inode number is 16 bits of
 * birth partition and 48 bits of counter. Names are bytes, not text.
 */
namespace java org.globalfs.protocol.wire

/** How far a partition's state machine has come: the highest executed instance of its ring. */
struct Position {
  1: required i32 partition;
  2: required i64 instance;
}

/** The caller on whose behalf an operation runs. */
struct Credentials {
  1: required i32 uid;
  2: required i32 gid;
  3: optional list<i32> groups;
}

/** What stat(2) says of an inode. `version` rises with every change of the inode's attributes or content. */
struct Attributes {
  1: required i64 ino;
  2: required i32 mode;       // type and permission bits, as st_mode
  3: required i32 nlink;
  4: required i32 uid;
  5: required i32 gid;
  6: required i32 rdev;
  7: required i64 size;
  8: required i64 allocated;  // bytes, st_blocks * 512
  9: required i64 atimeNs;
  10: required i64 mtimeNs;
  11: required i64 ctimeNs;
  12: required i64 btimeNs;
  13: required i64 version;
  14: optional i32 extended = 0; // 1 has named extended attributes, 2 a default access control list, 4 security.capability, 8 user.globalfs.policy
  15: optional binary accessAcl; // as in system.posix_acl_access; absent: none
}

/** Where an immutable block is: placement follows from id, region, code and placement epoch. */
struct BlockRef {
  1: required i64 idHigh;
  2: required i64 idLow;
  3: required i32 length;       // bytes of content, 1 .. 4 MiB
  4: required i32 region;       // partition number of the region that stores it; 0: spread over all regions
  5: required i8 dataChunks;    // k
  6: required i8 parityChunks;  // m
  7: required i32 epoch;        // placement epoch it was written in
}

/**
 * A byte range of a file: a part of a block, the bytes themselves, or space that is allocated and not written yet. The
 * last, and a range that no extent covers, read as zeros.
 */
struct Extent {
  1: required i64 offset;       // in the file
  2: required i64 length;
  3: optional BlockRef block;
  4: optional i32 blockOffset;  // where in the block the range begins
  5: optional binary data;      // instead of block: exactly `length` bytes
  6: optional bool unwritten;   // instead of block and data; never in an update
}

// ---------------------------------------------------------------- updates

/** mknod, mkdir, symlink and open(O_CREAT): the type is in `mode`. */
struct CreateOp {
  1: required i64 parent;
  2: required binary name;
  3: required i32 mode;             // type and permission bits; the umask already applied unless `umask` is set
  4: optional i32 rdev;
  5: optional binary target;        // symlink's
  6: optional bool exclusive = true; // false: an existing regular file is opened instead (existed = true)
  7: optional bool truncate = false; // with exclusive = false: an existing file is cut to 0; one of very many extents fails with ESTALE, to be opened and cut by itself
  8: optional i32 umask;            // to be applied by the replica, unless the directory has a default access control list
  9: optional bool temporary = false; // O_TMPFILE: a regular file without a name (`name` is ignored); exclusive: it can never get one
}

/** unlink (directory = false) and rmdir (true). */
struct UnlinkOp {
  1: required i64 parent;
  2: required binary name;
  3: required bool directory;
}

/** flags as renameat2: 1 NOREPLACE, 2 EXCHANGE. */
struct RenameOp {
  1: required i64 parent;
  2: required binary name;
  3: required i64 newParent;
  4: required binary newName;
  5: required i32 flags;
}

struct LinkOp {
  1: required i64 ino;
  2: required i64 newParent;
  3: required binary newName;
}

/** Absent fields stay. A time given as "now" is the command's timestamp. `handle` true: through a descriptor opened for writing (size change needs no permission). */
struct SetAttributesOp {
  1: required i64 ino;
  2: optional i32 mode;
  3: optional i32 uid;
  4: optional i32 gid;
  5: optional i64 size;
  6: optional i64 atimeNs;
  7: optional i64 mtimeNs;
  8: optional bool atimeNow;
  9: optional bool mtimeNow;
  10: optional bool handle;
  11: optional bool partly;     // with size: a command that meets very many extents beyond it only cuts some of them off; see `done` of the reply
}

/**
 * New content: each extent replaces what the range held; the size grows to the furthest end. mtime and ctime become
 * the command's timestamp, set-id bits are cleared unless the caller is root. Written through a descriptor, so no
 * permission check. append: extents' offsets count from the size at execution.
 * attributes: a setattr of the same inode executed right after, atomically (saves tar a command).
 */
struct WriteOp {
  1: required i64 ino;
  2: required list<Extent> extents;
  3: optional bool append = false;
  4: optional SetAttributesOp attributes;
}

/** fcntl(2)'s and flock(2)'s locks take no notice of each other. */
enum LockKind {
  POSIX = 1,
  FLOCK = 2
}

enum LockType {
  UNLOCK = 0,
  READ = 1,    // shared
  WRITE = 2    // exclusive
}

/** A range of a file, and how somebody has, or wants, it locked. */
struct FileLock {
  1: required i64 owner;    // who, in the session's own numbers: (session, owner) holds locks
  2: required i32 pid;      // for fcntl(F_GETLK) in the same session
  3: required LockKind kind;
  4: required LockType type;
  5: required i64 first;    // byte
  6: required i64 last;     // byte; 2^63 - 1: to the end, wherever that is
  7: optional i64 session;  // in answers
}

/** What became of a request for a lock. */
enum LockState {
  GRANTED = 1,
  WAITING = 2,
  GONE = 3      // not known: cancelled, or ended with the session's lease
}

/** Takes or drops a lock, or cancels a request that waits. The session must have renewed its lease before. */
struct LockOp {
  1: required i64 ino;
  2: optional FileLock lock;
  3: optional i64 request;       // wait for the lock, under this number of the session, > 0
  4: optional i64 cancel;        // instead of lock: nobody waits for this request any more; the reply tells if it had been granted
  5: optional list<i64> known;   // requests that waited and whose outcome the session has learned
}

/** Says that the session lives and which inodes it holds open: unlinked ones among them are kept. */
struct RenewSessionOp {
  1: required list<i64> openInodes;
  2: optional bool ended = false;    // the session ends: drop its claims, its locks and its table entry
  3: optional i32 leaseMs;           // without another renewal the session's locks and claims end after so long
  4: optional list<i64> known;       // as in LockOp
  5: optional list<i64> unfenced;    // inodes whose locks ended with the lease: what was written under them is settled
}

/** Removes orphans that no session with a lease claims and that have been ones for the grace period; their blocks join the doomed list. Proposed by the coordinator only. */
struct CollectOrphansOp {
  1: required i32 limit;             // 0: none
  2: optional map<i64, i64> lapsed;  // session -> time of its last renewal: its lease ends, unless it has renewed since
  3: optional i64 before;            // what became an orphan before this time has been one for the grace period. Without it, as in logs of old, the command's time tells that, and which leases run
  4: optional i64 first;             // inodes of lower numbers are left alone
  5: optional i64 last;              // so are those of higher ones
  6: optional bool silence;          // whether sessions that were silent for too long are forgotten. Without it, as in logs of old, they are, by the command's time
}

/** Blocks of the doomed list that the datastore has deleted. Proposed by the coordinator only. */
struct BlocksDeletedOp {
  1: required list<BlockRef> blocks;
}

/**
 * From here on the partition refers to no block whose id is older than this, unless it does already: what older blocks
 * it does not refer to are garbage. Proposed by the coordinator only.
 */
struct FenceBlocksOp {
  1: required i64 before;           // ms, as in block ids
}

/** A participant's vote in a coordinated operation, ordered in P0. */
struct VoteOp {
  1: required i64 transaction;      // (instance << 16 | index) of the prepare in ring global
  2: required i32 partition;
  3: required i32 errno;            // 0: yes
  4: optional binary detail;        // what the other participants need to execute the commit
}

/** Ends a coordinated operation: commits if every participant voted yes in P0 by now, aborts otherwise. */
struct DecideOp {
  1: required i64 transaction;
}

/**
 * Says, in ring global, that a partition's replicas have imported through this instance and will not ask again: P0
 * forgets its older verdicts for the partition. Proposed by the partition's coordinator only.
 */
struct ConfirmImportsOp {
  1: required i32 partition;
  2: required i64 through;
}

/** setxattr(2); flags: 1 CREATE, 2 REPLACE. */
struct SetXattrOp {
  1: required i64 ino;
  2: required binary name;          // with its name space
  3: required binary value;
  4: optional i32 flags = 0;
}

struct RemoveXattrOp {
  1: required i64 ino;
  2: required binary name;
}

/**
 * fallocate(2) of a regular file through a descriptor; flags as there: 1 KEEP_SIZE, 2 PUNCH_HOLE, 16 ZERO_RANGE. What
 * touches very many extents is done in part: see `done` of the reply.
 */
struct AllocateOp {
  1: required i64 ino;
  2: required i64 offset;
  3: required i64 length;
  4: required i32 flags;
}

/**
 * copy_file_range(2): the target refers to the source's blocks. Both are regular files of this partition (EXDEV
 * otherwise). Fewer bytes may be copied: see `done` of the reply; 0 only at the source's end.
 */
struct CopyRangeOp {
  1: required i64 ino;              // the target
  2: required i64 offset;
  3: required i64 source;
  4: required i64 sourceOffset;
  5: required i64 length;
}

/**
 * The same bytes in other extents, within the file's size: executed only while the inode still has this version (EAGAIN
 * otherwise). Times stay.
 */
struct CompactOp {
  1: required i64 ino;
  2: required i64 version;
  3: required list<Extent> extents;
}

/**
 * Limits of the tree below a directory of a regional partition, for root only; absent ones stay, 0 takes a limit away,
 * and without any the tree has no quota of its own.
 */
struct SetQuotaOp {
  1: required i64 ino;
  2: optional i64 bytes;
  3: optional i64 inodes;
}

/** Counts, in trees that got their quota when they were not empty, so many more entries. Proposed by the coordinator only. */
struct AdoptQuotaOp {
  1: required i32 limit;
}

/**
 * Lets inodes live in another regional partition from now on, all at once or none; a coordinated operation, for root
 * only. With a directory go its names and what they lead to, as far as one command may carry it. See `done`, `rest`
 * and `stayed` of the reply.
 */
struct MoveOp {
  1: required list<i64> inodes;     // directories and files
  2: required i32 to;               // partition
  3: optional i32 limit;            // inodes at most; fewer when they do not fit into one command
  4: optional i64 tree;             // directories with a policy of their own stay, with all below them, but for this one
  5: optional i32 bytes;            // of records, at most about 1 MiB; a directory that has more goes in several commands
  6: optional i32 source;           // only those that live in that partition
}

/**
 * Ends the copying ahead of directories that nobody goes on with, and erases so many records that were left behind by
 * it at most. Proposed by the coordinator only.
 */
struct TidyCopiesOp {
  1: required i32 limit;
  2: required map<i64, i64> idle;   // by the copy: the part that it came to long ago
}

/** What one partition owes others, in its order `first`, `first` + 1, …: delivered once, by ring global. Proposed by the coordinator only. */
struct NoticesOp {
  1: required i32 partition;        // whose notices
  2: required i64 first;
  3: required list<binary> notices;
}

union UpdateOp {
  1: CreateOp create;
  2: UnlinkOp unlink;
  3: RenameOp rename;
  4: LinkOp link;
  5: SetAttributesOp setAttributes;
  6: WriteOp write;
  7: RenewSessionOp renewSession;
  8: CollectOrphansOp collectOrphans;
  9: BlocksDeletedOp blocksDeleted;
  10: VoteOp vote;
  11: DecideOp decide;
  12: ConfirmImportsOp confirmImports;
  13: SetXattrOp setXattr;
  14: RemoveXattrOp removeXattr;
  15: LockOp lock;
  16: AllocateOp allocate;
  17: CopyRangeOp copyRange;
  18: CompactOp compact;
  19: SetQuotaOp setQuota;
  20: AdoptQuotaOp adoptQuota;
  21: FenceBlocksOp fenceBlocks;
  22: MoveOp move;
  23: NoticesOp notices;
  24: TidyCopiesOp tidyCopies;
}

/**
 * One update, as it travels and as it stands in the log. (session, sequence) makes it take effect once however often
 * it is sent. Sequences of a session rise by one from 1, over all partitions together.
 */
struct Command {
  1: required i64 session;
  2: required i64 sequence;
  3: required i64 answeredBelow;      // replies of lower sequences were received and may be forgotten
  4: required Credentials credentials;
  5: required i32 origin;             // partition of the client's region
  6: required UpdateOp op;
  7: optional i64 globalSeen = 0;     // P0 instance in the session's vector: execution keeps causality across partitions
  8: optional bool coordinated = false; // ring global: prepare of a coordinated operation
  9: optional list<i32> participants; // with coordinated: the partitions that vote
  10: optional i64 expectedSource;    // copied from an ESCALATE reply: what the (old) name points to
  11: optional i64 expectedTarget;    // copied from an ESCALATE reply: what the new name points to
  12: optional bool movesDirectory;   // copied from an ESCALATE reply: a directory gets another parent; saves a round
}

enum Status {
  DONE = 1,        // executed: see errno
  REDIRECT = 2,    // not executed: ask `coordinator` (replica id; -1: none known, try later)
  RETRY = 3,       // not executed or unknown: send the same (session, sequence) again after a moment
  ESCALATE = 4,    // not executed: one partition in `participants` executes it alone; several: submit to ring global as a coordinated command;
                   // of a read: ask where `homes` says
}

struct UpdateReply {
  1: required Status status;
  2: required i32 errno;                 // 0 or a Linux errno
  3: optional Position position;         // where it was executed
  4: optional i32 coordinator;
  5: optional Attributes attributes;     // the inode that the operation made or changed
  6: optional Attributes parent;         // the directory after the change, when in the same partition
  7: optional Attributes newParent;      // rename
  8: optional bool existed;              // create
  9: optional i64 offset;                // append: where the first extent went
  10: optional list<i32> participants;
  11: optional i64 globalSeen;           // P0 instance that this partition's state depends on: joins the session's vector
  12: optional i32 leaseMs;              // > 0: the session holds grants on what is returned; its lease runs this long from when the request was sent
  13: optional i64 removed;              // unlink, rename: inode that lost a name
  14: optional i64 expectedSource;       // ESCALATE: copy into the coordinated command; DONE: what the old name of a coordinated rename pointed to
  15: optional i64 expectedTarget;       // likewise, the new name
  16: optional LockState lockState;      // lock: WAITING: ask by GetLockOp
  17: optional i64 lapses;               // renewSession: how often the session's lease has run out in this partition
  19: optional i64 done;                 // allocate, copyRange: bytes done, from the range's beginning; size set `partly`: the size so far, and nothing else was done: send it again, as another command
  25: optional bool movesDirectory;      // ESCALATE: copy into the coordinated command
  26: optional i64 lease;                // with leaseMs: which of the session's leases at this replica; nothing granted under another holds any more
  28: optional i64 fence;                // write or compact refused with EAGAIN: a block may be gone; store it again, with an id of this time (ms) or later
  27: optional bool cutOff;              // the replica hears of no coordinator: another one may do better
  29: optional map<i64, i32> homes;     // inodes that live elsewhere than where they were born: in which partition, as far as is known here
  30: optional list<i64> rest;          // move: what goes along and is still where it was
  31: optional list<i64> stayed;        // move: what cannot go now: locked, in a quota whose directory stays, content that has not followed yet, or too large
}

/** waitMs bounds how long the replica may wait before it answers RETRY (default 5 s); a caller's own time-out should be longer. */
struct UpdateRequest {
  1: required i32 partition;
  2: required Command command;
  3: optional i32 waitMs;
  4: optional bool again;           // sent before, to whomever: it may have been executed, or may be yet; never refused for want of room
}

// ---------------------------------------------------------------- reads

struct LookupOp {
  1: required i64 parent;
  2: required binary name;
  3: optional bool content = false;   // small files: also return the content map
}

struct GetAttributesOp {
  1: required i64 ino;
}

/** Attributes and the content map from `offset` on; accessMask (4 read, 2 write, 1 execute) is checked against the mode when not 0. */
struct OpenOp {
  1: required i64 ino;
  2: required i32 accessMask;
}

struct ContentOp {
  1: required i64 ino;
  2: required i64 offset;
  3: required i64 length;
}

struct ReadDirectoryOp {
  1: required i64 ino;
  2: required i64 cookie;      // 0: from the start; else the cookie of the last entry received
  3: required i32 limit;       // entries
  4: optional bool attributes = false;
  5: optional bool handle = false; // through an open directory: no permission check
}

struct ReadLinkOp {
  1: required i64 ino;
}

struct StatFsOp {
}

struct GetXattrOp {
  1: required i64 ino;
  2: required binary name;
}

/** values: with their values, if all together are not too long for one reply. */
struct ListXattrOp {
  1: required i64 ino;
  2: optional bool values = false;
}

/** fcntl(F_GETLK): what lock is in the way of `lock`. Or with `request`: waits, up to waitMs, while that request of the session does. */
struct GetLockOp {
  1: required i64 ino;
  2: optional FileLock lock;
  3: optional i64 request;
}

/** The quotas that count an inode, the innermost first; without `ino`: the partition's, from the one after `after` on. */
struct QuotaOp {
  1: optional i64 ino;
  2: optional i64 after;
}

union ReadOp {
  1: LookupOp lookup;
  2: GetAttributesOp getAttributes;
  3: OpenOp open;
  4: ContentOp content;
  5: ReadDirectoryOp readDirectory;
  6: ReadLinkOp readLink;
  7: StatFsOp statFs;
  8: GetXattrOp getXattr;
  9: ListXattrOp listXattr;
  10: GetLockOp getLock;
  12: QuotaOp quota;
}

enum Consistency {
  CAUSAL = 1,
  STRONG = 2,
}

struct ReadRequest {
  1: required i64 session;
  2: required i32 partition;
  3: required Credentials credentials;
  4: required Consistency consistency;
  5: required i64 seen;            // instance of `partition` in the session's vector
  6: required i64 globalSeen;      // P0 instance in the session's vector
  7: required ReadOp op;
  8: optional i32 waitMs;          // as in UpdateRequest
  9: optional i64 settledBelow;    // as in RecallRequest
  10: optional list<i64> unsettled; // likewise
}

struct DirectoryEntry {
  1: required i64 ino;
  2: required binary name;
  3: required i32 type;            // S_IFMT bits of the mode
  4: required i64 cookie;
  5: optional Attributes attributes; // absent for a fringe dentry
}

/** Inodes and bytes, of one partition. Limits come from the storage nodes. */
struct FileSystemStatistics {
  1: required i64 inodes;
  2: required i64 bytes;
}

/** An extended attribute that the caller is shown. */
struct NamedValue {
  1: required binary name;
  2: optional binary value;
}

/** A tree's limits, and what counts: one for an inode, and the space that is allocated to it. */
struct Quota {
  1: required i64 id;
  2: required i64 ino;             // the directory that it was set on
  3: required i64 bytes;           // 0: no limit
  4: required i64 inodes;          // 0: no limit
  5: required i64 usedBytes;       // trees with quotas of their own included
  6: required i64 usedInodes;
  7: required i64 parent;          // id of the quota around it, 0: none
  8: required bool counting;       // what was there before it is still being counted
}

struct ReadReply {
  1: required Status status;
  2: required i32 errno;
  3: required Position position;           // the replica's, when it read
  4: optional i32 coordinator;
  5: optional Attributes attributes;
  6: optional i64 ino;                     // lookup: also when the inode lives in another partition (attributes absent)
  7: optional i32 type;                    // lookup: S_IFMT bits
  8: optional list<Extent> extents;
  9: optional i64 contentEnd;              // the map in `extents` is complete from the asked offset to here
  10: optional list<DirectoryEntry> entries;
  11: optional bool last;                  // readDirectory: no more entries
  12: optional binary target;
  13: optional FileSystemStatistics statistics;
  14: optional i64 globalSeen;
  15: optional i32 leaseMs;
  16: optional Attributes parent;          // lookup: the directory searched (ENOENT too)
  17: optional binary value;               // getXattr
  18: optional list<NamedValue> xattrs;    // listXattr
  20: optional FileLock lock;              // getLock: absent when nothing is in the way
  21: optional LockState lockState;        // getLock with `request`
  26: optional list<Quota> quotas;         // quota; with `last`
  27: optional i64 lease;                  // as UpdateReply's
  28: optional bool cutOff;                // likewise; of partition 0
  29: optional map<i64, i32> homes;        // likewise
  30: optional list<i64> awaits;           // the session's own updates, not settled when it asked, that this may show: only once they are settled does nobody read through it what was before
  31: optional i64 newestCookie;           // readDirectory: no entry of the directory has a higher one
}

// ---------------------------------------------------------------- grants, status

/** Long poll of a session at a partition's coordinator: renews its lease and fetches recalled grants. */
struct RecallRequest {
  1: required i64 session;
  2: required i32 partition;
  3: required i64 acknowledged;     // recalls up to this number were dropped, kernel caches included
  4: optional i64 settledBelow = 0; // what the answers to updates of lower sequences say has reached whoever reads through this session, ...
  5: optional list<i64> unsettled;  // ... except for these
}

struct RecallReply {
  1: required Status status;
  2: optional i32 coordinator;
  3: optional i64 number;           // of the last recall in `inodes`
  4: optional list<i64> inodes;     // grants on these are recalled: attributes, content map, and names when a directory
  5: optional i32 leaseMs;
  6: optional i64 lease;            // as UpdateReply's
}

struct StatusRequest {
}

struct RingStatus {
  1: required i32 ring;
  2: required i32 coordinator;      // replica id, -1 unknown
  3: required i64 decided;
  4: required i64 applied;
  5: required i64 imported;         // regional rings: last imported global instance
  6: required i64 checkpointed;     // applied instance that outlives a crash without the log
  7: optional i64 importedDurable;  // `imported` as of `checkpointed`
  8: optional bool rejoining;       // lost its log; takes no part until every other member was reached
  9: optional i32 generation;       // how often the ring's membership has changed
  10: optional list<i32> acceptors; // replica ids
  11: optional list<i32> learners;  // replica ids: they follow without a vote
  12: optional bool serves;         // the replica is one of them, and has all up to when it became one
}

enum RingChangeKind {
  ADD = 1      // `replica`, which listens at `address`, follows without a vote
  PROMOTE = 2  // `replica`, a learner that has caught up, becomes an acceptor
  REMOVE = 3   // `replica` leaves
  REPLACE = 4  // `replica` leaves, and the learner `by`, which has caught up, becomes an acceptor
}

struct RingChangeRequest {
  1: required i32 ring;
  2: required RingChangeKind kind;
  3: required i32 replica;
  4: optional string address;
  5: optional i32 by;
}

enum RingChangeResult {
  PROPOSED = 1         // a fail-over may still undo it: ask again until it is UNCHANGED
  UNCHANGED = 2        // in force
  NOT_COORDINATOR = 3
  NOT_YET = 4          // another change, or catching up, is under way
  REFUSED = 5
}

struct RingChangeReply {
  1: required RingChangeResult result;
  2: required string detail;        // for people
  3: required i32 coordinator;      // replica id, -1 unknown
}

struct ReplicaStatus {
  1: required i32 id;
  2: required list<RingStatus> rings;
  3: required i64 sessions;
  4: optional i64 freeBytes;     // of its fullest disk
  5: optional i64 reservedBytes; // what is to stay free there
  6: optional bool full;         // updates that need room are refused
}

/** minimum: the replica first waits until it has applied this instance (bounded). */
struct HashRequest {
  1: required i32 partition;
  2: optional i64 minimum;
}

struct HashReply {
  1: required Position position;
  2: required binary hash;
}

// ---------------------------------------------------------------- fsck

/** Asks whether a partition's records agree with each other, as of now. Reads all of them. */
struct CheckRequest {
  1: required i32 partition;
  2: optional bool paged;          // the answer's lists may come in parts
  3: optional i64 id;              // nothing is read: what follows in the lists of this answer
  4: optional i64 offset;          // with id: as it said
  5: optional i64 minimum;         // waits until the partition has executed this instance
}

/** An inode, and a number of names. */
struct Links {
  1: required i64 ino;
  2: required i32 names;
}

/** A directory whose parent is in another partition, as one of the two says. */
struct Crossing {
  1: required i64 ino;
  2: required i64 parent;
  3: optional i64 top;   // said by the parent's partition: the uppermost directory above, and with, the parent that is there
}

struct CheckReply {
  1: required Position position;
  2: required i64 inodes;           // looked at, as names, extents and blocks
  3: required i64 names;
  4: required i64 extents;
  5: required i64 blocks;
  6: required i64 faults;           // how many
  7: required list<string> findings; // the first of them, for people
  8: required list<Links> foreign;  // inodes of other partitions, and how many names here point to each
  9: required list<Links> unexplained; // inodes here, and how many of their links no name here accounts for
  10: optional list<Crossing> hanging; // directories here whose parents are in other partitions
  11: optional list<Crossing> held;    // directories of other partitions that have names here
  12: optional i64 globalBelow;        // directories of partition 0 that lie in regional ones, or were born there and live elsewhere, as this partition knows
  13: optional map<i32, i64> homes;    // digests of the inodes that live elsewhere than where they were born, by partition that they live in
  14: optional map<i32, i64> births;   // the same by partition of their birth
  15: optional map<i32, i64> lent;     // digests of the blocks lent, by borrower
  16: optional map<i32, i64> borrowed; // digests of the blocks borrowed, by lender
  17: optional i64 id;                 // the lists go on: ask for the rest by this, within a minute
  18: optional i64 nextOffset;         // from here
}

// ---------------------------------------------------------------- checkpoints, between replicas

/** Asks for a copy of a partition's state that stands at `minimum` or later; kept until released or a while unused. */
struct CheckpointRequest {
  1: required i32 partition;
  2: required i64 minimum;
  3: optional bool pieceSums;       // pieces carry checksums: those of the files, which take reading all of them, are not needed
}

struct CheckpointFile {
  1: required string name;
  2: required i64 size;
  3: required i32 crc32c;           // 0 with pieceSums
}

struct CheckpointReply {
  1: required i64 id;               // 0: this replica has none
  2: required i64 instance;
  3: required list<CheckpointFile> files;
}

struct PieceRequest {
  1: required i64 id;
  2: required string file;
  3: required i64 offset;
  4: required i32 length;
}

/** Shorter than asked at the end of the file only. */
struct PieceReply {
  1: required binary data;
  2: optional i32 crc32c;
}

struct ReleaseRequest {
  1: required i64 id;
}

struct ReleaseReply {
}

// ---------------------------------------------------------------- content, as the datastore has it

/** Asks the coordinator of a partition's ring to look in the datastore for blocks that the partition's files have. */
struct ContentRequest {
  1: required i32 partition;
  2: optional BlockRef after;      // goes on behind this one; absent: begins
  3: optional i32 limit;           // look for so many at most
  4: optional list<BlockRef> of;   // instead: which files have some of these blocks, of any partition
}

struct ContentReply {
  1: required bool leads;          // false: nothing else is set but `coordinator`
  2: required i32 coordinator;     // replica id, -1 unknown
  3: optional i64 blocks;          // that were looked for now
  4: optional i64 reduced;         // of these, those with fewer chunks than they were written with
  5: optional list<BlockRef> lost; // that cannot be read any more: fewer chunks are left than are needed
  6: optional i64 unclear;         // that what answered has too few chunks of, or that could not be read now
  7: optional list<string> problems; // what did not answer, for people
  8: optional BlockRef last;       // ask for those behind it; absent: there are no more
  9: optional list<string> files;  // with `of`: the first of them, for people
}

// ---------------------------------------------------------------- content in buckets

enum UpkeepPass {
  REPAIR = 1   // compares what the buckets have, and makes anew what lacks
  SCRUB = 2    // reads all objects
}

/** Asks the coordinator of a partition's ring how it looks after what the partition has in buckets; and has a pass begin. */
struct UpkeepRequest {
  1: required i32 partition;
  2: optional UpkeepPass starts;   // the pass that begins; absent: none
  3: optional i64 bytesPerSecond;  // with SCRUB; absent: as configured
}

/** The last pass of a kind. */
struct PassProgress {
  1: required i64 number;          // of the pass, counted from 1 since the replica started; 0: there was none
  2: required i32 state;           // 0 none, 1 begins soon, 2 runs, 3 has ended, 4 switched off
  3: required i64 elapsedMs;
  4: required i64 total;           // objects; of SCRUB their bytes
  5: required i64 done;
  6: required i64 bytesPerSecond;  // of SCRUB
  7: required i64 damaged;         // of SCRUB: objects found damaged or missing
  8: required i64 made;            // objects made anew
  9: required i64 left;            // objects that should have been
  10: required i64 unclear;        // of REPAIR: blocks that not all buckets said enough of
  11: required i64 lost;           // of REPAIR: blocks of which too little is left
  12: required i64 unreadable;     // of SCRUB: objects that a bucket did not give
  13: required list<string> problems; // the first of them, for people
}

struct BucketState {
  1: required string region;
  2: required i64 objects;         // of the partition, when the buckets were compared last
  3: required i64 bytes;
  4: required string away;         // why it does not answer; empty: it does
}

struct UpkeepReply {
  1: required bool leads;          // false: nothing else is set but `coordinator`
  2: required i32 coordinator;     // replica id, -1 unknown
  3: optional PassProgress repair;
  4: optional PassProgress scrub;
  5: optional list<BucketState> buckets;
  6: optional i64 comparedMs;      // when the buckets were compared last, ago; absent: not yet
  7: optional double scrubbed;     // how far the reading of a period is, of 1
}
