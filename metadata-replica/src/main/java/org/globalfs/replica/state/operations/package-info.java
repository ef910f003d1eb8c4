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
 *       directory is not removed, and a held directory inode stays empty. Whoever meets a lock is
 *       told to try again and holds nothing while waiting, so nothing can deadlock.
 *   <li>A directory lies in partition 0 or in a directory of its own partition (EXDEV otherwise). A
 *       chain of parents thus leaves a region only towards partition 0 and never comes back, and a
 *       cycle could only close inside one partition: that one checks, and holds all its directories
 *       in place until the decision.
 *   <li>An inode's link count is the number of names in all partitions, once everything decided is
 *       imported.
 *   <li>A prepare that meets a name it did not expect (the hint in the command was old) votes no
 *       with the true inode; the reply is ESCALATE again with better hints.
 *   <li>Verdicts stay until their import is confirmed, so that a partition that replays its log
 *       finds them again; one that asks too late is told so and takes over a checkpoint.
 * </ul>
 */
@NullMarked
package org.globalfs.replica.state.operations;

import org.jspecify.annotations.NullMarked;
