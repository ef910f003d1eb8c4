package org.globalfs.replica.state;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import org.globalfs.protocol.Errno;
import org.globalfs.protocol.placement.MoveRule;
import org.globalfs.protocol.placement.Placement;
import org.globalfs.protocol.wire.BlockRef;
import org.globalfs.protocol.wire.CollectOrphansOp;
import org.globalfs.protocol.wire.Command;
import org.globalfs.protocol.wire.CompactOp;
import org.globalfs.protocol.wire.CopyRangeOp;
import org.globalfs.protocol.wire.CreateOp;
import org.globalfs.protocol.wire.DecideOp;
import org.globalfs.protocol.wire.Extent;
import org.globalfs.protocol.wire.FileLock;
import org.globalfs.protocol.wire.GetAttributesOp;
import org.globalfs.protocol.wire.LockKind;
import org.globalfs.protocol.wire.LockOp;
import org.globalfs.protocol.wire.LockType;
import org.globalfs.protocol.wire.MoveOp;
import org.globalfs.protocol.wire.NoticesOp;
import org.globalfs.protocol.wire.ReadOp;
import org.globalfs.protocol.wire.ReadReply;
import org.globalfs.protocol.wire.RenameOp;
import org.globalfs.protocol.wire.RenewSessionOp;
import org.globalfs.protocol.wire.SetAttributesOp;
import org.globalfs.protocol.wire.SetXattrOp;
import org.globalfs.protocol.wire.Status;
import org.globalfs.protocol.wire.UnlinkOp;
import org.globalfs.protocol.wire.UpdateOp;
import org.globalfs.protocol.wire.UpdateReply;
import org.globalfs.protocol.wire.VoteOp;
import org.globalfs.protocol.wire.WriteOp;
import org.globalfs.replica.state.model.Inode;
import org.globalfs.replica.state.model.Mode;
import org.globalfs.replica.state.model.Partitions;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Inodes that move to another partition: what goes, what stays, and who is told what. */
final class MovesTest {

    private static final int REGIONS = 3;
    private static final int FILE = Mode.REGULAR | 0644;

    @TempDir Path folder;
    private Rings rings;
    private long home;

    @BeforeEach
    void open() {
        rings = new Rings(folder, REGIONS);
        home = made(Partitions.ROOT, "home", Mode.DIRECTORY | 0755);
        assertThat(rings.home(home)).isEqualTo(1);
    }

    @AfterEach
    void check() {
        rings.settle();
        Consistency.check(rings, REGIONS);
        rings.close();
    }

    private UpdateReply run(long ino, UpdateOp op) {
        return rings.run(rings.home(ino), rings.command(5, 0, 1, op));
    }

    private long made(long parent, String name, int mode) {
        ByteBuffer bytes = ByteBuffer.wrap(name.getBytes(UTF_8));
        UpdateReply reply = run(parent, UpdateOp.create(new CreateOp(parent, bytes, mode)));
        assertThat(reply.getErrno()).isZero();
        return reply.getAttributes().getIno();
    }

    private Command move(int to, long... inodes) {
        List<Long> list = new ArrayList<>();
        for (long ino : inodes) {
            list.add(ino);
        }
        return rings.command(9, 0, to, UpdateOp.move(new MoveOp(list, to)));
    }

    private UpdateReply moved(int to, long... inodes) {
        UpdateReply reply = rings.run(0, move(to, inodes));
        assertThat(reply.getErrno()).isZero();
        return reply;
    }

    private static BlockRef block(int number, int region) {
        return new BlockRef(number, number, 100_000, region, (byte) 4, (byte) 2, 1);
    }

    private UpdateReply written(long ino, BlockRef block) {
        Extent extent = new Extent(0, 100_000).setBlock(block).setBlockOffset(0);
        return run(ino, UpdateOp.write(new WriteOp(ino, List.of(extent))));
    }

    private UpdateOp chmod(long ino, int mode) {
        return UpdateOp.setAttributes(new SetAttributesOp(ino).setMode(mode));
    }

    private ReadReply attributes(int partition, long ino) {
        return rings.read(partition, 0, ReadOp.getAttributes(new GetAttributesOp(ino)));
    }

    @Test
    void whoeverIsAskedSaysWhereToAsk() {
        long file = made(home, "f", FILE);
        assertThat(moved(2, home).getDone()).isEqualTo(2);
        assertThat(attributes(2, file).getAttributes().getIno()).isEqualTo(file);
        for (int partition : new int[] {0, 1, 3}) {
            ReadReply elsewhere = attributes(partition, file);
            assertThat(elsewhere.getStatus()).isEqualTo(Status.ESCALATE);
            assertThat(elsewhere.getHomes().get(file)).isEqualTo(partition == 3 ? 1 : 2);
        }
        moved(3, home);
        assertThat(attributes(2, file).getHomes().get(file)).isEqualTo(1);
        assertThat(attributes(1, file).getHomes().get(file)).isEqualTo(3);
        moved(1, home);
        for (int partition = 0; partition <= REGIONS; partition++) {
            assertThat(rings.state(partition).forwards()).isZero();
        }
    }

    private void states(long directory, String policy) {
        SetXattrOp op =
                new SetXattrOp(
                        directory,
                        ByteBuffer.wrap(MoveRule.ATTRIBUTE.getBytes(UTF_8)),
                        ByteBuffer.wrap(policy.getBytes(UTF_8)));
        UpdateReply reply = run(directory, UpdateOp.setXattr(op));
        assertThat(reply.getErrno()).isZero();
        assertThat(reply.getAttributes().getExtended() & Inode.HAS_POLICY).isPositive();
    }

    @Test
    void aTreeLeavesDirectoriesBehindThatHavePoliciesOfTheirOwn() {
        long own = made(home, "own", Mode.DIRECTORY | 0755);
        long below = made(own, "below", FILE);
        long other = made(home, "other", FILE);
        states(own, "move: off");
        states(home, "move: eager");
        MoveOp op = new MoveOp(List.of(home, own), 2).setTree(home);
        UpdateReply reply = rings.run(0, rings.command(9, 0, 2, UpdateOp.move(op)));
        assertThat(reply.getDone()).isEqualTo(2);
        assertThat(reply.getRest()).isEmpty();
        assertThat(reply.getStayed()).isEmpty();
        assertThat(List.of(home, other)).allMatch(ino -> rings.home(ino) == 2);
        assertThat(List.of(own, below)).allMatch(ino -> rings.home(ino) == 1);
        assertThat(attributes(2, home).getAttributes().getExtended() & Inode.HAS_POLICY)
                .as("its policy went along")
                .isPositive();
        assertThat(moved(2, home, own).getDone()).as("asked for itself").isEqualTo(2);
    }

    @Test
    void nothingThatLeavesChangesBeforeTheDecision() {
        long file = made(home, "f", FILE);
        Command move = move(2, home);
        rings.deliver(0, List.of(rings.stamped(move)));
        rings.importInto(1);
        Command change = rings.command(6, 0, 1, chmod(file, 0600));
        rings.deliver(1, List.of(rings.stamped(change)));
        assertThat(rings.takeReply(change).getStatus()).isEqualTo(Status.RETRY);
        assertThat(rings.state(1).held().values())
                .anyMatch(held -> held.leaving().equals(Set.of(home, file)));
        // Nobody decides: it is undone, and nothing of it is left.
        long transaction = rings.state(0).pendingTransactions().getFirst().transaction();
        rings.internal(0, UpdateOp.decide(new DecideOp(transaction)));
        rings.settle();
        assertThat(rings.state(1).held()).isEmpty();
        assertThat(rings.run(1, change).getErrno()).isZero();
        assertThat(rings.home(file)).isEqualTo(1);
    }

    @Test
    void aCommandTakesEffectOnceWhereverItsInodeGoes() {
        long file = made(home, "f", FILE);
        Command done = rings.command(6, 0, 1, chmod(file, 0600));
        rings.run(1, done);
        moved(2, file);
        run(file, chmod(file, 0640));
        // The answer got lost: the old home knows it.
        rings.deliver(1, List.of(rings.stamped(done)));
        assertThat(rings.takeReply(done).getStatus()).isEqualTo(Status.DONE);
        assertThat(mode(file)).isEqualTo(0640);
        Command late = rings.command(7, 0, 1, chmod(file, 0666));
        rings.deliver(1, List.of(rings.stamped(late)));
        assertThat(rings.takeReply(late).getStatus()).isEqualTo(Status.ESCALATE);
        rings.run(2, late);
        run(file, chmod(file, 0644));
        moved(1, file);
        // A copy of it that was on its way all the time comes after the inode is back.
        rings.deliver(1, List.of(rings.stamped(late)));
        assertThat(mode(file)).isEqualTo(0644);
    }

    private int mode(long ino) {
        ReadReply reply = rings.readAt(ino, 0, ReadOp.getAttributes(new GetAttributesOp(ino)));
        return reply.getAttributes().getMode() & 07777;
    }

    /** Or the list of what is left would have all names of a tree's widest level. */
    @Test
    void whatIsLeftIsOnThePathToWhatCameLast() {
        List<Long> directories = new ArrayList<>();
        for (int d = 0; d < 5; d++) {
            directories.add(made(home, "d" + d, Mode.DIRECTORY | 0755));
            for (int f = 0; f < 10; f++) {
                made(directories.getLast(), "f" + f, FILE);
            }
        }
        MoveOp op = new MoveOp(List.of(home), 2).setLimit(7);
        UpdateReply reply = rings.run(0, rings.command(9, 0, 2, UpdateOp.move(op)));
        assertThat(reply.getDone()).isEqualTo(7);
        // Five files of the directory that has begun to leave, and the other four directories.
        assertThat(reply.getRest()).hasSize(5 + 4).containsAll(directories.subList(1, 5));
    }

    @Test
    void oneCommandTakesAsMuchAsFits() {
        Set<Long> all = new HashSet<>(Set.of(home));
        for (int i = 0; i < 20; i++) {
            all.add(made(home, "f" + i, FILE));
        }
        MoveOp op = new MoveOp(List.of(home), 2).setLimit(8);
        UpdateReply reply = rings.run(0, rings.command(9, 0, 2, UpdateOp.move(op)));
        assertThat(reply.getDone()).isEqualTo(8);
        assertThat(reply.getRest()).hasSize(13);
        all.removeAll(reply.getRest());
        for (long ino : all) {
            assertThat(rings.home(ino)).isEqualTo(2);
        }
        long[] rest = reply.getRest().stream().mapToLong(Long::longValue).toArray();
        assertThat(moved(2, rest).getDone()).isEqualTo(13);
        UpdateReply again = moved(2, home);
        assertThat(again.getDone()).isZero();
        assertThat(again.getStayed()).isEmpty();
    }

    @Test
    void aLockedFileStaysUntilItIsUnlocked() {
        long file = made(home, "f", FILE);
        run(home, UpdateOp.renewSession(new RenewSessionOp(List.of())));
        FileLock lock = new FileLock(1, 1, LockKind.POSIX, LockType.WRITE, 0, 9);
        assertThat(run(file, UpdateOp.lock(new LockOp(file).setLock(lock))).getErrno()).isZero();
        assertThat(moved(2, home).getStayed()).containsExactly(file);
        assertThat(rings.home(home)).isEqualTo(2);
        assertThat(rings.home(file)).isEqualTo(1);
        FileLock unlock = new FileLock(lock).setType(LockType.UNLOCK);
        run(file, UpdateOp.lock(new LockOp(file).setLock(unlock)));
        assertThat(moved(2, file).getDone()).isEqualTo(1);
    }

    @Test
    void lentBlocksAreKeptUntilTheyAreGivenBack() {
        long file = made(home, "f", FILE);
        long stays = made(home, "stays", FILE);
        BlockRef own = block(1, 1);
        written(file, own);
        written(stays, own);
        moved(2, file);
        assertThat(rings.state(2).withForeignContent(0, 9)).containsExactly(file);
        written(stays, block(2, 1));
        assertThat(rings.state(1).refersTo(own)).isTrue();
        assertThat(rings.state(1).doomed(9)).isEmpty();
        assertThat(moved(3, file).getStayed()).containsExactly(file);
        assertThat(written(file, block(3, 2)).getErrno()).isZero();
        rings.settle();
        assertThat(rings.state(1).doomed(9)).containsExactly(own);
        assertThat(rings.state(2).refersTo(own)).isFalse();
    }

    @Test
    void aCopyOfLentContentStays() {
        long file = made(home, "f", FILE);
        written(file, block(1, 1));
        moved(2, home);
        long copy = made(home, "copy", FILE);
        CopyRangeOp all = new CopyRangeOp(copy, 0, file, 0, 100_000);
        assertThat(run(copy, UpdateOp.copyRange(all)).getDone()).isEqualTo(100_000);
        assertThat(rings.state(2).withForeignContent(0, 9)).containsExactly(file, copy);
        assertThat(moved(3, copy).getStayed()).containsExactly(copy);
        written(file, block(2, 2));
        written(copy, block(3, 2));
        rings.settle();
        assertThat(rings.state(1).doomed(9)).containsExactly(block(1, 1));
    }

    @Test
    void aBlockThatWasStoredForTheOldHomeIsRefused() {
        long file = made(home, "f", FILE);
        moved(2, file);
        UpdateReply reply = written(file, block(1, 1));
        assertThat(reply.getErrno()).isEqualTo(Errno.EAGAIN.number());
        assertThat(reply.isSetFence()).isTrue();
        assertThat(written(file, block(1, 2)).getErrno()).isZero();
    }

    @Test
    void openFilesLearnThatTheyHaveMoved() {
        long file = made(home, "f", FILE);
        moved(2, file);
        RenewSessionOp renewal = new RenewSessionOp(List.of(file, home));
        UpdateReply reply = rings.run(1, rings.command(6, 0, 1, UpdateOp.renewSession(renewal)));
        assertThat(reply.getHomes()).containsOnlyKeys(file).containsValue(2);
    }

    private long globalBelow(int partition) {
        return rings.state(partition).check().report().globalBelow;
    }

    @Test
    void aTreeBecomesEveryRegionsAndAnotherOnesAgain() {
        long file = made(home, "f", FILE);
        long below = made(home, "d", Mode.DIRECTORY | 0755);
        assertThat(moved(0, home).getDone()).isEqualTo(3);
        assertThat(List.of(home, file, below)).allMatch(ino -> rings.home(ino) == 0);
        assertThat(attributes(1, file).getHomes().get(file)).isZero();
        assertThat(run(file, chmod(file, 0600)).getErrno()).isZero();
        assertThat(mode(file)).isEqualTo(0600);
        long later = made(below, "later", FILE);
        assertThat(Partitions.ofBirth(later)).isZero();
        assertThat(moved(2, home).getDone()).isEqualTo(4);
        assertThat(List.of(home, file, below, later)).allMatch(ino -> rings.home(ino) == 2);
        assertThat(attributes(1, file).getHomes().get(file)).isEqualTo(2);
        moved(1, home);
        assertThat(rings.state(0).forwards()).as("what was born in 0").isEqualTo(1);
    }

    @Test
    void globalDirectoriesBelowRegionalOnesAreCountedEverywhere() {
        long middle = made(home, "middle", Mode.DIRECTORY | 0755);
        long leaf = made(middle, "leaf", Mode.DIRECTORY | 0755);
        moved(2, made(Partitions.ROOT, "other", Mode.DIRECTORY | 0755));
        moved(0, leaf);
        assertThat(List.of(0, 1, 2)).allMatch(partition -> globalBelow(partition) == 1);
        moved(0, middle);
        assertThat(List.of(0, 1, 2)).allMatch(partition -> globalBelow(partition) == 1);
        moved(0, home);
        assertThat(List.of(0, 1, 2)).allMatch(partition -> globalBelow(partition) == 0);
        MoveOp alone = new MoveOp(List.of(home), 3).setLimit(1);
        assertThat(rings.run(0, rings.command(9, 0, 2, UpdateOp.move(alone))).getDone())
                .isEqualTo(1);
        assertThat(List.of(0, 1, 2, 3)).allMatch(partition -> globalBelow(partition) == 1);
        moved(3, leaf);
        assertThat(List.of(0, 1, 2, 3)).allMatch(partition -> globalBelow(partition) == 1);
        moved(3, middle);
        assertThat(List.of(0, 1, 2, 3)).allMatch(partition -> globalBelow(partition) == 0);
    }

    private Command rename(long parent, String name, long newParent) {
        ByteBuffer bytes = ByteBuffer.wrap(name.getBytes(UTF_8));
        RenameOp op = new RenameOp(parent, bytes, newParent, bytes, 0);
        return rings.command(7, 0, 1, UpdateOp.rename(op));
    }

    @Test
    void whileAGlobalDirectoryMayComeToLieBelowARegionalOneNoneGetsAnotherParent() {
        long leaf = made(home, "leaf", Mode.DIRECTORY | 0755);
        long other = made(Partitions.ROOT, "other", Mode.DIRECTORY | 0755);
        long a = made(other, "a", Mode.DIRECTORY | 0755);
        made(other, "b", Mode.DIRECTORY | 0755);
        moved(2, other);
        Command move = move(0, leaf);
        rings.deliver(0, List.of(rings.stamped(move)));
        rings.importInto(1);
        rings.vote(1);
        assertThat(rings.takeReply(move)).as("the others have to agree").isNull();
        rings.importInto(2);
        Command rename = rename(other, "b", a);
        rings.deliver(2, List.of(rings.stamped(rename)));
        assertThat(rings.takeReply(rename).getStatus()).isEqualTo(Status.RETRY);
        rings.settle();
        assertThat(globalBelow(2)).isEqualTo(1);
        assertThat(rings.run(2, rename).getErrno()).isZero();
        assertThat(rings.home(leaf)).isZero();
    }

    @Test
    void aDirectoryThatWasBornGlobalAndHasLeftClosesNoCircle() {
        long other = made(Partitions.ROOT, "other", Mode.DIRECTORY | 0755);
        long outer = made(other, "outer", Mode.DIRECTORY | 0755);
        long inner = made(other, "inner", Mode.DIRECTORY | 0755);
        moved(2, other);
        moved(0, home);
        long born = made(home, "born", Mode.DIRECTORY | 0755);
        moved(1, born);
        assertThat(List.of(0, 1, 2)).allMatch(partition -> globalBelow(partition) == 1);
        assertThat(rings.run(2, rename(other, "inner", born)).getErrno()).isZero();
        assertThat(rings.run(0, rename(home, "born", outer)).getErrno()).isZero();
        assertThat(rings.run(2, rename(other, "outer", inner)).getErrno())
                .isEqualTo(Errno.EINVAL.number());
        moved(0, born);
        assertThat(List.of(0, 1, 2))
                .as("it lies in a regional one")
                .allMatch(partition -> globalBelow(partition) == 1);
    }

    @Test
    void directoriesThatWereBornGlobalCountUntilTheyAreNoMore() {
        long other = made(Partitions.ROOT, "other", Mode.DIRECTORY | 0755);
        moved(2, other);
        moved(0, home);
        long born = made(home, "born", Mode.DIRECTORY | 0755);
        made(born, "inside", Mode.DIRECTORY | 0755);
        moved(1, home);
        moved(2, born);
        assertThat(List.of(0, 1, 2)).allMatch(partition -> globalBelow(partition) == 2);
        UnlinkOp inside = new UnlinkOp(born, ByteBuffer.wrap("inside".getBytes(UTF_8)), true);
        assertThat(run(born, UpdateOp.unlink(inside)).getErrno()).isZero();
        rings.passMs(120_000);
        rings.internal(2, UpdateOp.collectOrphans(new CollectOrphansOp(10)));
        rings.settle();
        assertThat(List.of(0, 1, 2)).allMatch(partition -> globalBelow(partition) == 1);
        assertThat(rings.state(0).check().report().faults).isZero();
    }

    @Test
    void otherRegionsAreNotAskedWhenNoGlobalDirectoryComesToLieBelowARegionalOne() {
        made(home, "d", Mode.DIRECTORY | 0755);
        moved(2, made(Partitions.ROOT, "other", Mode.DIRECTORY | 0755));
        for (int to : List.of(0, 1)) {
            Command move = move(to, home);
            rings.deliver(0, List.of(rings.stamped(move)));
            rings.importInto(1);
            rings.vote(1);
            UpdateReply reply = rings.takeReply(move);
            assertThat(reply).as("decided without region 2").isNotNull();
            assertThat(reply.getDone()).isEqualTo(2);
            rings.importInto(1);
        }
        assertThat(rings.home(home)).isEqualTo(1);
    }

    /** What replicas voted that took the source of a prepare for 0. */
    @Test
    void aMoveThatNobodyVotedRecordsForIsAskedForAgain() {
        Command move = move(2, home);
        rings.deliver(0, List.of(rings.stamped(move)));
        rings.importInto(1);
        rings.importInto(2);
        VoteOp nothing = rings.state(2).pendingVotes().getFirst();
        rings.internal(0, UpdateOp.vote(nothing));
        rings.internal(0, UpdateOp.vote(new VoteOp(nothing).setPartition(1)));
        assertThat(rings.takeReply(move).getStatus()).isEqualTo(Status.RETRY);
        rings.settle();
        assertThat(rings.run(0, move).getDone()).isEqualTo(1);
        assertThat(rings.home(home)).isEqualTo(2);
    }

    @Test
    void nothingThatLeavesTheGlobalPartitionChangesBeforeTheDecision() {
        long file = made(home, "f", FILE);
        moved(0, home);
        Command move = move(2, home);
        rings.deliver(0, List.of(rings.stamped(move)));
        Command change = rings.command(6, 0, 1, chmod(file, 0600));
        rings.deliver(0, List.of(rings.stamped(change)));
        assertThat(rings.takeReply(change).getStatus()).isEqualTo(Status.RETRY);
        rings.crash(0);
        Command again = rings.command(6, 0, 1, chmod(file, 0600));
        rings.deliver(0, List.of(rings.stamped(again)));
        assertThat(rings.takeReply(again).getStatus()).isEqualTo(Status.RETRY);
        long transaction = rings.state(0).pendingTransactions().getFirst().transaction();
        rings.internal(0, UpdateOp.decide(new DecideOp(transaction)));
        rings.settle();
        assertThat(rings.run(0, again).getErrno()).isZero();
        assertThat(rings.home(file)).isZero();
        assertThat(moved(2, home).getDone()).isEqualTo(2);
    }

    @Test
    void aCommandThatTheGlobalPartitionDeclinedNeverTakesEffectThere() {
        long file = made(home, "f", FILE);
        Command late = rings.command(7, 0, 1, chmod(file, 0666));
        rings.deliver(0, List.of(rings.stamped(late)));
        assertThat(rings.takeReply(late).getStatus()).isEqualTo(Status.ESCALATE);
        rings.run(1, late);
        run(file, chmod(file, 0644));
        moved(0, file);
        rings.deliver(0, List.of(rings.stamped(late)));
        assertThat(mode(file)).isEqualTo(0644);
    }

    @Test
    void theGlobalPartitionLendsAndBorrowsBlocks() {
        long file = made(home, "f", FILE);
        BlockRef regional = block(1, 1);
        written(file, regional);
        moved(0, home);
        assertThat(rings.state(0).withForeignContent(0, 9)).containsExactly(file);
        assertThat(rings.state(1).refersTo(regional)).isTrue();
        BlockRef global = block(2, 0);
        assertThat(written(file, global).getErrno()).isZero();
        rings.settle();
        assertThat(rings.state(1).doomed(9)).containsExactly(regional);
        assertThat(moved(2, home).getStayed())
                .as("until it is seen to have no foreign content")
                .containsExactly(file);
        long version = attributes(0, file).getAttributes().getVersion();
        run(file, UpdateOp.compact(new CompactOp(file, version, List.of())));
        assertThat(moved(2, file).getDone()).isEqualTo(1);
        assertThat(rings.state(0).refersTo(global)).isTrue();
        assertThat(written(file, block(3, 2)).getErrno()).isZero();
        rings.settle();
        assertThat(rings.state(0).doomed(9)).containsExactly(global);
    }

    @Test
    void whereDirectoriesArePlacedIsSaidInTheGlobalPartitionAlone() {
        byte[] name = Placement.ATTRIBUTE.getBytes(UTF_8);
        byte[] creator = Placement.CREATOR.word().getBytes(UTF_8);
        moved(0, home);
        SetXattrOp op = new SetXattrOp(home, ByteBuffer.wrap(name), ByteBuffer.wrap(creator));
        assertThat(run(home, UpdateOp.setXattr(op)).getErrno()).isZero();
        CreateOp placed = new CreateOp(home, ByteBuffer.wrap(new byte[] {'p'}), Mode.DIRECTORY);
        UpdateReply made = rings.run(0, rings.command(5, 0, 3, UpdateOp.create(placed)));
        assertThat(rings.home(made.getAttributes().getIno())).isEqualTo(3);
        moved(2, home);
        assertThat(run(home, UpdateOp.setXattr(op)).getErrno())
                .isEqualTo(Errno.EOPNOTSUPP.number());
        placed.setName(new byte[] {'q'});
        made = rings.run(2, rings.command(5, 0, 3, UpdateOp.create(placed)));
        assertThat(rings.home(made.getAttributes().getIno())).isEqualTo(2);
    }

    @Test
    void onlyRootMovesAndTheRootStays() {
        MoveOp op = new MoveOp(List.of(home), 2);
        assertThat(rings.run(0, rings.command(9, 1000, 2, UpdateOp.move(op))).getErrno())
                .isEqualTo(Errno.EPERM.number());
        op.setTo(-1);
        assertThat(rings.run(0, rings.command(9, 0, 2, UpdateOp.move(op))).getErrno())
                .isEqualTo(Errno.EINVAL.number());
        assertThat(moved(2, Partitions.ROOT).getStayed()).containsExactly(Partitions.ROOT);
        assertThat(moved(1, home).getStayed()).isEmpty();
    }

    /** A mount that was cut off comes back while a large file of its is collected. */
    @Test
    void whatHasLostAPartOfItsContentIsGoneForWhoeverHasItOpen() {
        long file = made(home, "large", FILE);
        for (int i = 0; i < 5; i++) {
            List<Extent> extents = new ArrayList<>();
            for (int j = 0; j < 4_000; j++) {
                extents.add(new Extent((i * 4_000 + j) * 10L, 5).setData(new byte[5]));
            }
            assertThat(run(file, UpdateOp.write(new WriteOp(file, extents))).getErrno()).isZero();
        }
        ByteBuffer name = ByteBuffer.wrap("large".getBytes(UTF_8));
        assertThat(run(home, UpdateOp.unlink(new UnlinkOp(home, name, false))).getErrno()).isZero();
        ReadOp stat = ReadOp.getAttributes(new GetAttributesOp(file));
        rings.passMs(120_000);
        assertThat(rings.readAt(file, 0, stat).getErrno()).isZero();
        UpdateOp collect = UpdateOp.collectOrphans(new CollectOrphansOp(10));
        rings.internal(1, collect);
        assertThat(rings.state(1).orphans()).as("not all in one command").isEqualTo(1);
        RenewSessionOp renew = new RenewSessionOp(List.of(file));
        assertThat(run(home, UpdateOp.renewSession(renew)).getErrno()).isZero();
        assertThat(rings.readAt(file, 0, stat).getErrno()).isEqualTo(Errno.ESTALE.number());
        Extent more = new Extent(0, 5).setData(new byte[5]);
        assertThat(run(file, UpdateOp.write(new WriteOp(file, List.of(more)))).getErrno())
                .isEqualTo(Errno.ESTALE.number());
        rings.internal(1, collect);
        rings.internal(1, collect);
        assertThat(rings.state(1).orphans()).isZero();
    }

    /** Whoever passes them on reads them while others are delivered. */
    @Test
    void whatIsOwedIsNumberedRightAtEveryMoment() throws Exception {
        long tree = made(home, "tree", Mode.DIRECTORY | 0755);
        List<Long> inodes = new ArrayList<>(List.of(tree));
        for (int i = 0; i < 400; i++) {
            inodes.add(made(tree, "f" + i, FILE));
        }
        moved(2, inodes.stream().mapToLong(i -> i).toArray());
        for (int i = 0; i < 400; i++) {
            ByteBuffer name = ByteBuffer.wrap(("f" + i).getBytes(UTF_8));
            UpdateOp unlink = UpdateOp.unlink(new UnlinkOp(tree, name, false));
            rings.deliver(2, List.of(rings.stamped(rings.command(5, 0, 2, unlink))));
        }
        rings.passMs(120_000);
        rings.internal(2, UpdateOp.collectOrphans(new CollectOrphansOp(1_000)));
        PartitionState state = rings.state(2);
        PartitionState.Owed all = state.owed(10_000);
        assertThat(all.notices()).hasSizeGreaterThanOrEqualTo(400);
        AtomicBoolean stop = new AtomicBoolean();
        Callable<Long> reader =
                () -> {
                    long looks = 0;
                    while (!stop.get()) {
                        PartitionState.Owed some = state.owed(3);
                        int at = (int) (some.first() - all.first());
                        for (int i = 0; i < some.notices().size(); i++) {
                            assertThat(some.notices().get(i)).isEqualTo(all.notices().get(at + i));
                        }
                        looks++;
                    }
                    return looks;
                };
        try (ExecutorService pool = Executors.newFixedThreadPool(1)) {
            Future<Long> looks = pool.submit(reader);
            for (PartitionState.Owed next = state.owed(1);
                    !next.notices().isEmpty() && !looks.isDone();
                    next = state.owed(1)) {
                List<ByteBuffer> notices = List.of(ByteBuffer.wrap(next.notices().getFirst()));
                rings.internal(0, UpdateOp.notices(new NoticesOp(2, next.first(), notices)));
                rings.importInto(2);
            }
            stop.set(true);
            assertThat(looks.get()).isPositive();
        }
    }
}
