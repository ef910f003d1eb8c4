/**
 * What each command means: deterministic functions from records and a command to changed records
 * and a reply. Pure: no files, sockets, clocks, threads, randomness.
 *
 * <p>{@link org.globalfs.replica.state.operations.Machine} is the entry. A command is first looked
 * up in the session table, then one class an operation checks everything that can be refused, in
 * Linux's order, and only then changes records, so that a command happens whole or not at all.
 *
 * <h2>Several partitions</h2>
 *
 * <p>A name may point to an inode of another partition (fringe). Each partition tries an operation
 * alone; when a record that matters is elsewhere it answers ESCALATE, and the same command goes to
 * ring 0. There partition 0 either decides alone (a directory made for its creator's region: the
 * region learns of it by a verdict with effects) or coordinates:
 *
 * <ol>
 *   <li>Prepare, in ring 0. Partition 0 takes part first; then every participant finds a Prepare
 *       verdict at its import, looks at what it has, holds it (locks), and keeps its vote: yes or
 *       no, and the facts that only it knows.
 *   <li>Vote, in ring 0, one a participant, by any of its replicas, as often as they like: only the
 *       first counts.
 *   <li>The last vote decides, by rules over all facts. Partition 0 applies its effects at once and
 *       answers the client; each participant finds a Commit verdict with its effects, or an Abort,
 *       and lets go. A DecideOp in ring 0 before the last vote aborts. What partition 0 does not
 *       know any more was aborted or is done.
 * </ol>
 *
 * <p>Invariants:
 *
 * <ul>
 *   <li>A held name is neither added, removed nor repointed by anything but its transaction, its
 *       directory is not removed, and a held inode gets no entry and no further name. Whoever meets
 *       a lock is told to try again and holds nothing while waiting, so nothing can deadlock.
 *   <li>No directory lies below itself; see below.
 *   <li>An inode's link count is the number of names in all partitions, once everything decided is
 *       imported.
 *   <li>A prepare that meets a name it did not expect (the hint in the command was old) votes no
 *       with the true inode; the reply is ESCALATE again with better hints.
 *   <li>Verdicts stay until their import is confirmed, so that a partition that replays its log
 *       finds them again; one that asks too late is told so and takes over a checkpoint.
 * </ul>
 *
 * <h2>Directories that move</h2>
 *
 * <p>A rename gives a directory S another parent N, which may lie in any partition. It must not
 * close a cycle: S must not be on the chain of parents from N to the root. A partition knows its
 * own parts of chains. Two ways:
 *
 * <ul>
 *   <li>Locally, when S and both parents are here and the rest of the chain cannot come back here:
 *       in partition 0 when the chain reaches the root without leaving; in a region when it leaves
 *       to the root itself, or to another directory that was born in partition 0 while no directory
 *       of partition 0 lies in a regional one, and none that was born there lives elsewhere ({@code
 *       globalBelow}, the number of both, is 0). One command, refused (RETRY) while DirectoryMoves
 *       is held here.
 *   <li>Coordinated otherwise. Everybody who has a part of the chain, and S's partition, holds
 *       DirectoryMoves from its vote to the import of the decision, partition 0 from the prepare to
 *       the decision; so there is one such move at a time. The votes tell where parts begin and end
 *       and whether S is among them. When a part is missing, partition 0 begins another round and
 *       asks its partition too; locks are let go and taken again within one instance or import, so
 *       that nothing comes between. When the chain is known and S is not on it, it commits.
 *   <li>A directory of partition 0 that is the first to get a regional parent has every partition
 *       with directories for a participant, and its commit tells them all the new {@code
 *       globalBelow}. Any other change of that count is only told.
 * </ul>
 *
 * <p>Why no cycle arises. Take the parents as of now, with a coordinated move counted from its
 * decision and a local one from its execution. A partition that has not heard of a decision that
 * changes its own records still holds DirectoryMoves, so what an unlocked partition knows of its
 * own directories is true.
 *
 * <ul>
 *   <li>A coordinated move finds, at its decision, the chain above N as it is: each part was told
 *       by a partition whose directories have been still since, and partition 0 looks at that
 *       moment.
 *   <li>A local move in region i sees its part of the chain as it is. If that ends at the root, it
 *       is all of it. Else it ends at a directory that was born in partition 0: whether it still
 *       lives there only partition 0 knows, and so those that do not are counted, too. If there are
 *       none, and no directory of partition 0 has a regional parent, the rest is in partition 0,
 *       and S is not on it. If there were any, region i would have had to vote on the first of
 *       them: then it is still locked, or knows. If it had no directory at that time, and has not
 *       imported the decision yet, then no later decision has put anything below a directory of its
 *       own (it would have had to vote, hence to import the earlier one first), so no chain that
 *       leaves it comes back.
 *   <li>A local move in partition 0 sees the whole chain.
 * </ul>
 *
 * <p>A decision that is told late (fewer directories of partition 0 below) only makes local moves
 * run coordinated that need not. Nothing waits while it holds a lock: whoever meets one answers
 * RETRY or votes no, so crosswise renames end one after the other.
 *
 * <h2>Inodes that move</h2>
 *
 * <p>A move takes inodes from one partition to another by one decision: the source's vote carries
 * their records. Partition 0 is as good a source or target as any other; it votes with the prepare.
 * Invariants:
 *
 * <ul>
 *   <li>An inode's records are in exactly one partition, by what has been decided and imported.
 *       Partition 0 knows which one; so does the partition of its birth, and its home itself, each
 *       as of what it has executed.
 *   <li>From the vote to the import of the decision nothing of what may leave changes, no grant on
 *       it is given, and strong reads of it wait. What another operation holds does not leave. So
 *       the records that arrive are those that left, and nobody reads old ones.
 *   <li>Entries of a directory may be in a partition that it does not live in only as {@link
 *       org.globalfs.replica.state.operations.Staging} says, where nobody reads them; a directory
 *       with too many for one command moves as {@link org.globalfs.replica.state.operations.Copies}
 *       says.
 *   <li>A partition that declines a command because the inode is elsewhere records that: the
 *       command never takes effect there.
 *   <li>What is said above of chains of parents holds while directories move, because a chain that
 *       leads through one that may leave is not walked: who meets it tries again. Which partition
 *       tells of a directory is what changes, not its parent.
 *   <li>When directories of partition 0 move, or others come to it, the decision counts {@code
 *       globalBelow} anew: by the parents of those that move, by those in them that stay, and by
 *       where those were born that move. Partition 0 marks in its forwarding entries the
 *       directories that were born in it, to count them out when they are no more. The move that
 *       would make it more than 0 is decided only once every partition with directories has voted
 *       and holds DirectoryMoves, as for a rename; whoever was not asked at first is asked in a
 *       second round, within the instance of the last vote of the first.
 *   <li>A quota lives where its directory lives, and nothing that one counts goes while its
 *       directory stays. So whatever an arriving inode was counted by before has ended with its
 *       departure, and no partition names another's quota.
 *   <li>A block is referred to in its own partition as long as any extent refers to it anywhere.
 * </ul>
 */
@NullMarked
package org.globalfs.replica.state.operations;

import org.jspecify.annotations.NullMarked;
