package org.globalfs.replica.state;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import org.globalfs.protocol.Errno;
import org.globalfs.protocol.wire.AdoptQuotaOp;
import org.globalfs.protocol.wire.AllocateOp;
import org.globalfs.protocol.wire.Command;
import org.globalfs.protocol.wire.CreateOp;
import org.globalfs.protocol.wire.FileLock;
import org.globalfs.protocol.wire.GetAttributesOp;
import org.globalfs.protocol.wire.LinkOp;
import org.globalfs.protocol.wire.LockKind;
import org.globalfs.protocol.wire.LockOp;
import org.globalfs.protocol.wire.LockType;
import org.globalfs.protocol.wire.MoveOp;
import org.globalfs.protocol.wire.Quota;
import org.globalfs.protocol.wire.QuotaOp;
import org.globalfs.protocol.wire.ReadDirectoryOp;
import org.globalfs.protocol.wire.ReadOp;
import org.globalfs.protocol.wire.RenameOp;
import org.globalfs.protocol.wire.RenewSessionOp;
import org.globalfs.protocol.wire.SetQuotaOp;
import org.globalfs.protocol.wire.SetXattrOp;
import org.globalfs.protocol.wire.Status;
import org.globalfs.protocol.wire.UnlinkOp;
import org.globalfs.protocol.wire.UpdateOp;
import org.globalfs.protocol.wire.UpdateReply;
import org.globalfs.replica.state.model.Mode;
import org.globalfs.replica.state.model.Partitions;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What happens to a tree with a quota that names or inodes go into or out of across partitions. */
final class QuotasAcrossTest {

    private static final int FILE = Mode.REGULAR | 0644;
    private static final int DIRECTORY = Mode.DIRECTORY | 0755;

    @TempDir Path folder;

    private Rings rings;

    /** Of partition 0, with a quota of two inodes that counts itself. */
    private long global;

    /** Of partition 1. */
    private long region;

    @BeforeEach
    void begin() {
        rings = new Rings(folder, 2);
        region = made(Partitions.ROOT, "region", DIRECTORY);
        place("inherit");
        global = made(Partitions.ROOT, "global", DIRECTORY);
        place("creator");
        limit(global, 2);
    }

    @AfterEach
    void end() {
        for (int partition = 0; partition <= 2; partition++) {
            rings.settle();
            assertThat(rings.state(partition).check().report().findings).isEmpty();
        }
        rings.close();
    }

    private UpdateReply run(long ino, UpdateOp op) {
        return rings.run(rings.home(ino), rings.command(1, 0, 1, op));
    }

    private static ByteBuffer bytes(String text) {
        return ByteBuffer.wrap(text.getBytes(UTF_8));
    }

    private static UpdateOp create(long parent, String name, int mode) {
        return UpdateOp.create(new CreateOp(parent, bytes(name), mode));
    }

    private static UpdateOp rename(long from, String name, long to) {
        return UpdateOp.rename(new RenameOp(from, bytes(name), to, bytes(name), 0));
    }

    private long made(long parent, String name, int mode) {
        UpdateReply reply = run(parent, create(parent, name, mode));
        assertThat(reply.getErrno()).isZero();
        return reply.getAttributes().getIno();
    }

    private void place(String where) {
        SetXattrOp op =
                new SetXattrOp(Partitions.ROOT, bytes("user.globalfs.placement"), bytes(where));
        assertThat(run(Partitions.ROOT, UpdateOp.setXattr(op)).getErrno()).isZero();
    }

    private void limit(long directory, int inodes) {
        SetQuotaOp op = new SetQuotaOp(directory).setInodes(inodes);
        assertThat(run(directory, UpdateOp.setQuota(op)).getErrno()).isZero();
    }

    private Quota quota(long directory) {
        ReadOp op = ReadOp.quota(new QuotaOp().setIno(directory));
        return rings.readAt(directory, 0, op).getQuotas().getFirst();
    }

    /** Ordered in ring 0, and prepared in partition 1, which does not vote yet. */
    private Command prepared(long from, UpdateOp op) {
        Command command = rings.command(2, 0, 1, op);
        int home = rings.home(from);
        if (home != 0) {
            rings.deliver(home, List.of(rings.stamped(command)));
            UpdateReply reply = rings.takeReply(command);
            assertThat(reply.getStatus()).isEqualTo(Status.ESCALATE);
            command = Escalation.of(command, reply).command();
        }
        rings.deliver(0, List.of(rings.stamped(command)));
        if (home == 0) {
            UpdateReply reply = rings.takeReply(command);
            if (reply != null) {
                assertThat(reply.getStatus()).isEqualTo(Status.ESCALATE);
                command = Escalation.of(command, reply).command();
                rings.deliver(0, List.of(rings.stamped(command)));
            }
        }
        assertThat(rings.state(0).pendingTransactions()).hasSize(1);
        rings.importInto(1);
        return command;
    }

    private Status tried(int partition, UpdateOp op) {
        Command command = rings.command(3, 0, 1, op);
        rings.deliver(partition, List.of(rings.stamped(command)));
        return rings.takeReply(command).getStatus();
    }

    @Test
    void roomThatIsGoneAtTheDecisionIsNotUsedTwice() {
        made(global, "f", FILE);
        assertThat(run(global, rename(global, "f", region)).getErrno()).isZero();
        assertThat(quota(global).getUsedInodes()).isEqualTo(1);
        Command back = prepared(region, rename(region, "f", global));
        assertThat(tried(0, create(global, "other", FILE))).isEqualTo(Status.DONE);
        rings.settle();
        assertThat(rings.takeReply(back).getErrno()).isEqualTo(Errno.EDQUOT.number());
        assertThat(quota(global).getUsedInodes()).isEqualTo(2);
        UpdateOp again = UpdateOp.create(new CreateOp(region, bytes("f"), FILE).setExclusive(true));
        assertThat(run(region, again).getErrno()).as("it stayed").isEqualTo(Errno.EEXIST.number());
    }

    @Test
    void aFileThatIsAboutToLeaveGetsNoOtherName() {
        long file = made(global, "f", FILE);
        Command away = prepared(global, rename(global, "f", region));
        UpdateOp link = UpdateOp.link(new LinkOp(file, global, bytes("second")));
        assertThat(tried(0, link)).isEqualTo(Status.RETRY);
        rings.settle();
        assertThat(rings.takeReply(away).getErrno()).isZero();
        assertThat(quota(global).getUsedInodes()).isEqualTo(1);
    }

    @Test
    void aFileThatIsAboutToGetANameElsewhereGoesIntoNoQuota() {
        long tree = made(region, "tree", DIRECTORY);
        limit(tree, 5);
        long file = made(region, "f", FILE);
        UpdateOp link = UpdateOp.link(new LinkOp(file, Partitions.ROOT, bytes("second")));
        Command linked = prepared(Partitions.ROOT, link);
        assertThat(tried(1, rename(region, "f", tree))).isEqualTo(Status.RETRY);
        RenameOp sameTree = new RenameOp(region, bytes("f"), region, bytes("g"), 0);
        assertThat(tried(1, UpdateOp.rename(sameTree))).isEqualTo(Status.DONE);
        rings.settle();
        assertThat(rings.takeReply(linked).getErrno()).isZero();
        assertThat(run(region, rename(region, "g", tree)).getErrno())
                .as("with all its names, or not at all")
                .isEqualTo(Errno.EXDEV.number());
        assertThat(quota(tree).getUsedInodes()).isEqualTo(1);
    }

    @Test
    void aDirectoryThatIsAboutToLeaveStaysEmpty() {
        long directory = made(global, "d", DIRECTORY);
        Command away = prepared(global, rename(global, "d", region));
        assertThat(tried(0, create(directory, "f", FILE))).isEqualTo(Status.RETRY);
        assertThat(tried(0, UpdateOp.setQuota(new SetQuotaOp(directory).setInodes(5))))
                .isEqualTo(Status.RETRY);
        rings.settle();
        assertThat(rings.takeReply(away).getErrno()).isZero();
        assertThat(quota(global).getUsedInodes()).isEqualTo(1);
        made(directory, "f", FILE);
        assertThat(quota(global).getUsedInodes()).isEqualTo(1);
    }

    @Test
    void aTreeWithAQuotaOfItsOwnTakesItsUsageAlong() {
        limit(global, 5);
        long directory = made(global, "d", DIRECTORY);
        limit(directory, 3);
        made(directory, "f", FILE);
        assertThat(run(global, rename(global, "d", region)).getErrno()).isZero();
        limit(global, 2);
        made(directory, "g", FILE);
        Quota own = quota(directory);
        assertThat(own.getUsedInodes()).isEqualTo(3);
        assertThat(own.getParent()).isZero();
        assertThat(run(region, rename(region, "d", global)).getErrno())
                .isEqualTo(Errno.EDQUOT.number());
        limit(global, 4);
        assertThat(run(region, rename(region, "d", global)).getErrno()).isZero();
        assertThat(rings.read(0, 0, ReadOp.quota(new QuotaOp().setIno(directory))).getQuotas())
                .extracting(Quota::getUsedInodes)
                .containsExactly(3L, 4L);
    }

    @Test
    void aRenameWithinADirectoryIsNoQuestionOfRoom() {
        limit(global, 0);
        made(global, "f", FILE);
        made(region, "g", FILE);
        assertThat(run(region, rename(region, "g", global)).getErrno()).isZero();
        limit(global, 1);
        RenameOp over = new RenameOp(global, bytes("f"), global, bytes("g"), 0);
        assertThat(run(global, UpdateOp.rename(over)).getErrno()).isZero();
        assertThat(quota(global).getUsedInodes()).as("not counted yet").isEqualTo(1);
        rings.internal(0, UpdateOp.adoptQuota(new AdoptQuotaOp(100)));
        assertThat(quota(global).getUsedInodes()).isEqualTo(2);
    }

    /** The file has another name, by which a quota of another partition counts it. */
    @Test
    void aRenameWithinADirectoryTakesNothingOutOfAQuotaElsewhere() {
        limit(global, 0);
        long tree = made(region, "tree", DIRECTORY);
        long file = made(tree, "f", FILE);
        UpdateOp link = UpdateOp.link(new LinkOp(file, global, bytes("a")));
        assertThat(run(global, link).getErrno()).isZero();
        made(region, "b", FILE);
        assertThat(run(region, rename(region, "b", global)).getErrno()).isZero();
        limit(tree, 5);
        count(1);
        assertThat(quota(tree).getUsedInodes()).isEqualTo(2);
        RenameOp over = new RenameOp(global, bytes("a"), global, bytes("b"), 0);
        assertThat(run(global, UpdateOp.rename(over)).getErrno()).isZero();
        assertThat(quota(tree).getUsedInodes()).isEqualTo(2);
    }

    @Test
    void whatArrivesInAFullTreeIsCountedBeyondItsLimit() {
        long file = made(region, "f", FILE);
        long directory = made(region, "d", DIRECTORY);
        made(directory, "g", FILE);
        assertThat(run(region, rename(region, "f", global)).getErrno()).isZero();
        assertThat(run(region, rename(region, "d", global)).getErrno()).isZero();
        assertThat(quota(global).getUsedInodes()).as("nothing of it").isEqualTo(1);
        MoveOp op = new MoveOp(List.of(file, directory), 0);
        assertThat(run(Partitions.ROOT, UpdateOp.move(op)).getDone()).isEqualTo(3);
        assertThat(quota(global).isCounting()).isTrue();
        rings.internal(0, UpdateOp.adoptQuota(new AdoptQuotaOp(100)));
        assertThat(quota(global).isCounting()).isFalse();
        assertThat(quota(global).getUsedInodes()).isEqualTo(4);
        assertThat(run(global, create(global, "more", FILE)).getErrno())
                .isEqualTo(Errno.EDQUOT.number());
    }

    private UpdateReply moved(int to, int limit, long... inodes) {
        List<Long> list = Arrays.stream(inodes).boxed().toList();
        MoveOp op = new MoveOp(list, to).setLimit(limit);
        UpdateReply reply = run(Partitions.ROOT, UpdateOp.move(op));
        assertThat(reply.getErrno()).isZero();
        return reply;
    }

    private void count(int partition) {
        rings.internal(partition, UpdateOp.adoptQuota(new AdoptQuotaOp(1000)));
        assertThat(rings.state(partition).isCounting()).isFalse();
    }

    /** A directory of partition 1 with a quota that is used up: four inodes. */
    private long full() {
        long tree = made(region, "tree", DIRECTORY);
        limit(tree, 4);
        long below = made(tree, "below", DIRECTORY);
        made(tree, "f", FILE);
        made(below, "g", FILE);
        return tree;
    }

    private List<Quota> quotas(int partition) {
        return rings.read(partition, 0, ReadOp.quota(new QuotaOp())).getQuotas();
    }

    private void isFull(long directory) {
        assertThat(quota(directory).isCounting()).isFalse();
        assertThat(quota(directory).getInodes()).isEqualTo(4);
        assertThat(quota(directory).getUsedInodes()).isEqualTo(4);
        assertThat(run(directory, create(directory, "more", FILE)).getErrno())
                .isEqualTo(Errno.EDQUOT.number());
    }

    @Test
    void aQuotaMovesWithItsDirectory() {
        long tree = full();
        isFull(tree);
        for (int to : new int[] {2, 0, 1, 0, 2, 1}) {
            int from = rings.home(tree);
            assertThat(moved(to, 100, tree).getDone()).isEqualTo(4);
            assertThat(quotas(from))
                    .extracting(Quota::getIno)
                    .as("what is left in %s", from)
                    .doesNotContain(tree);
            assertThat(quota(tree).isCounting()).isTrue();
            assertThat(quota(tree).getUsedInodes()).as("directories").isEqualTo(2);
            count(to);
            isFull(tree);
        }
        UnlinkOp unlink = new UnlinkOp(tree, bytes("f"), false);
        assertThat(run(tree, UpdateOp.unlink(unlink)).getErrno()).isZero();
        made(tree, "another", FILE);
        isFull(tree);
    }

    @Test
    void bothLimitsMoveAndHoldAtOnce() {
        long tree = made(region, "tree", DIRECTORY);
        SetQuotaOp op = new SetQuotaOp(tree).setBytes(12_288).setInodes(3);
        assertThat(run(tree, UpdateOp.setQuota(op)).getErrno()).isZero();
        moved(2, 100, tree);
        assertThat(quota(tree).isCounting()).as("it is empty").isFalse();
        assertThat(quota(tree).getBytes()).isEqualTo(12_288);
        long file = made(tree, "f", FILE);
        made(tree, "g", FILE);
        assertThat(run(tree, create(tree, "h", FILE)).getErrno()).isEqualTo(Errno.EDQUOT.number());
        assertThat(run(file, UpdateOp.allocate(new AllocateOp(file, 0, 12_288, 0))).getErrno())
                .isZero();
        assertThat(run(file, UpdateOp.allocate(new AllocateOp(file, 12_288, 1, 0))).getErrno())
                .isEqualTo(Errno.EDQUOT.number());
        moved(0, 100, tree);
        count(0);
        assertThat(quota(tree).getUsedBytes()).isEqualTo(12_288);
    }

    @Test
    void aQuotaIsWholeAgainOnceAllCommandsOfAMoveAreDone() {
        long tree = full();
        List<Long> rest = List.of(tree);
        int commands = 0;
        while (!rest.isEmpty()) {
            rest = moved(2, 1, rest.stream().mapToLong(Long::longValue).toArray()).getRest();
            commands++;
            assertThat(quotas(1)).as("ended with its directory").isEmpty();
            rings.internal(2, UpdateOp.adoptQuota(new AdoptQuotaOp(1000)));
        }
        assertThat(commands).isEqualTo(4);
        count(2);
        isFull(tree);
    }

    @Test
    void whatIsLeftOfATreeWhoseQuotaMovedCountsNowhere() {
        long tree = full();
        List<Long> rest = moved(2, 1, tree).getRest();
        count(2);
        assertThat(quota(tree).getUsedInodes()).isEqualTo(1);
        long below = rest.stream().filter(ino -> isDirectory(ino)).findFirst().orElseThrow();
        assertThat(counting(below)).isEmpty();
        for (int i = 0; i < 5; i++) {
            made(below, "more" + i, FILE);
        }
        moved(2, 100, rest.stream().mapToLong(Long::longValue).toArray());
        count(2);
        assertThat(quota(tree).getUsedInodes()).as("beyond its limit").isEqualTo(9);
    }

    private boolean isDirectory(long ino) {
        ReadOp op = ReadOp.getAttributes(new GetAttributesOp(ino));
        return Mode.isDirectory(rings.readAt(ino, 0, op).getAttributes().getMode());
    }

    private List<Quota> counting(long ino) {
        return rings.readAt(ino, 0, ReadOp.quota(new QuotaOp().setIno(ino))).getQuotas();
    }

    @Test
    void aTreeComesBackToWhatHadToStay() {
        long tree = full();
        limit(tree, 5);
        long locked = made(tree, "locked", FILE);
        assertThat(run(tree, UpdateOp.renewSession(new RenewSessionOp(List.of()))).getErrno())
                .isZero();
        FileLock lock = new FileLock(1, 1, LockKind.POSIX, LockType.WRITE, 0, 9);
        UpdateOp taken = UpdateOp.lock(new LockOp(locked).setLock(lock));
        assertThat(run(locked, taken).getErrno()).isZero();
        assertThat(moved(2, 100, tree).getStayed()).containsExactly(locked);
        count(2);
        assertThat(counting(locked)).isEmpty();
        assertThat(quota(tree).getUsedInodes()).isEqualTo(4);
        moved(1, 100, tree);
        count(1);
        assertThat(counting(locked)).hasSize(1);
        assertThat(quota(tree).getUsedInodes()).isEqualTo(5);
        assertThat(run(tree, create(tree, "more", FILE)).getErrno())
                .isEqualTo(Errno.EDQUOT.number());
    }

    @Test
    void whatAQuotaCountsStaysWithItsDirectory() {
        long tree = full();
        long below = childOf(tree, "below");
        long file = childOf(below, "g");
        UpdateReply reply = moved(2, 100, below, file);
        assertThat(reply.getDone()).isZero();
        assertThat(reply.getStayed()).containsExactly(below, file);
        limit(below, 3);
        assertThat(moved(2, 100, below).getStayed())
                .as("the outer one, too")
                .containsExactly(below);
        isFull(tree);
        clear(tree);
        assertThat(moved(2, 100, below).getDone()).isEqualTo(2);
        count(2);
        assertThat(quota(below).getUsedInodes()).isEqualTo(2);
    }

    @Test
    void whatAQuotaHasStillToCountStaysWithItsDirectory() {
        long tree = full();
        clear(tree);
        long below = childOf(tree, "below");
        long deeper = made(below, "deeper", DIRECTORY);
        limit(deeper, 2);
        limit(tree, 9);
        assertThat(quota(tree).isCounting()).isTrue();
        assertThat(moved(2, 100, deeper).getStayed()).containsExactly(deeper);
        count(1);
        assertThat(moved(2, 100, deeper).getStayed()).containsExactly(deeper);
        assertThat(moved(2, 100, tree).getDone()).isEqualTo(5);
        count(2);
        assertThat(counting(deeper)).extracting(Quota::getUsedInodes).containsExactly(1L, 5L);
    }

    @Test
    void quotasInEachOtherMoveTogether() {
        long tree = full();
        limit(tree, 20);
        long below = childOf(tree, "below");
        limit(below, 3);
        count(1);
        for (int to : new int[] {2, 0, 1}) {
            assertThat(moved(to, 100, tree).getDone()).isEqualTo(4);
            assertThat(counting(childOf(below, "g"))).as("still to be counted").isEmpty();
            count(to);
            assertThat(counting(childOf(below, "g")))
                    .extracting(Quota::getIno, Quota::getInodes, Quota::getUsedInodes)
                    .containsExactly(tuple(below, 3L, 2L), tuple(tree, 20L, 4L));
        }
        // The outer one first, and the inner one on its own.
        List<Long> rest = moved(2, 1, tree).getRest();
        count(1);
        assertThat(counting(below)).extracting(Quota::getIno).containsExactly(below);
        moved(2, 100, rest.stream().mapToLong(Long::longValue).toArray());
        count(2);
        assertThat(counting(below)).extracting(Quota::getUsedInodes).containsExactly(2L, 4L);
    }

    @Test
    void aTreeThatComesBelowAQuotaStaysBelowIt() {
        long tree = full();
        limit(Partitions.ROOT, 100);
        assertThat(run(region, rename(region, "tree", Partitions.ROOT)).getErrno()).isZero();
        count(0);
        long before = quota(Partitions.ROOT).getUsedInodes();
        moved(0, 100, tree);
        count(0);
        assertThat(quota(Partitions.ROOT).getUsedInodes()).isEqualTo(before + 4);
        isFull(tree);
        assertThat(moved(1, 100, tree).getStayed()).containsExactly(tree);
        clear(Partitions.ROOT);
        assertThat(moved(1, 100, tree).getDone()).isEqualTo(4);
        count(1);
        isFull(tree);
    }

    @Test
    void aTreeIsNoWholeWhileAQuotaInItCounts() {
        long outer = made(region, "outer", DIRECTORY);
        limit(outer, 50);
        long tree = made(outer, "tree", DIRECTORY);
        long below = made(tree, "below", DIRECTORY);
        long deep = made(below, "deep", DIRECTORY);
        made(deep, "f", FILE);
        limit(tree, 20);
        limit(below, 10);
        rings.internal(1, UpdateOp.adoptQuota(new AdoptQuotaOp(2)));
        assertThat(quota(tree).isCounting()).as("all but what is in the inner one").isFalse();
        assertThat(quota(below).isCounting()).isTrue();
        assertThat(run(outer, rename(outer, "tree", region)).getErrno())
                .isEqualTo(Errno.EXDEV.number());
        count(1);
        assertThat(run(outer, rename(outer, "tree", region)).getErrno()).isZero();
        assertThat(quota(outer).getUsedInodes()).isEqualTo(1);
        assertThat(quota(tree).getUsedInodes()).isEqualTo(4);
    }

    @Test
    void whatGetsANameThatWasCountedIsCountedAllTheSame() {
        clear(global);
        long first = made(global, "first", DIRECTORY);
        long last = made(global, "last", DIRECTORY);
        made(last, "f", FILE);
        limit(global, 50);
        rings.internal(0, UpdateOp.adoptQuota(new AdoptQuotaOp(1)));
        assertThat(counting(first)).hasSize(1);
        assertThat(counting(last)).isEmpty();
        RenameOp over = new RenameOp(global, bytes("last"), global, bytes("first"), 0);
        assertThat(run(global, UpdateOp.rename(over)).getErrno()).isZero();
        count(0);
        assertThat(quota(global).getUsedInodes()).isEqualTo(3);
    }

    @Test
    void aMoveThatIsUnderWayLeavesQuotasAlone() {
        long tree = full();
        Command away = rings.command(2, 0, 2, UpdateOp.move(new MoveOp(List.of(tree), 2)));
        rings.deliver(0, List.of(rings.stamped(away)));
        rings.importInto(1);
        assertThat(tried(1, UpdateOp.setQuota(new SetQuotaOp(tree).setInodes(9))))
                .isEqualTo(Status.RETRY);
        assertThat(tried(1, UpdateOp.setQuota(new SetQuotaOp(region).setInodes(100))))
                .isEqualTo(Status.DONE);
        rings.internal(1, UpdateOp.adoptQuota(new AdoptQuotaOp(1000)));
        assertThat(quota(region).isCounting()).as("what is about to leave").isTrue();
        assertThat(quota(tree).getUsedInodes()).isEqualTo(4);
        rings.settle();
        assertThat(rings.takeReply(away).getDone()).isEqualTo(4);
        count(1);
        count(2);
        assertThat(quota(region).getUsedInodes()).as("itself").isEqualTo(1);
        isFull(tree);
    }

    @Test
    void aReplicaThatReplaysHasTheSameQuotas() {
        long tree = full();
        moved(2, 2, tree);
        count(2);
        moved(2, 100, childOf(tree, "below"), childOf(tree, "f"));
        moved(0, 3, tree);
        for (int partition = 0; partition <= 2; partition++) {
            byte[] before = rings.state(partition).hash().digest();
            rings.crash(partition);
            assertThat(rings.state(partition).hash().digest()).isEqualTo(before);
        }
    }

    private long childOf(long directory, String name) {
        ReadOp op = ReadOp.readDirectory(new ReadDirectoryOp(directory, 0, 100));
        return rings.readAt(directory, 0, op).getEntries().stream()
                .filter(entry -> new String(entry.getName(), UTF_8).equals(name))
                .findFirst()
                .orElseThrow()
                .getIno();
    }

    private void clear(long directory) {
        SetQuotaOp op = new SetQuotaOp(directory).setBytes(0).setInodes(0);
        assertThat(run(directory, UpdateOp.setQuota(op)).getErrno()).isZero();
    }
}
