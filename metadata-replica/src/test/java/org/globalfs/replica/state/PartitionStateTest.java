package org.globalfs.replica.state;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.globalfs.protocol.Errno;
import org.globalfs.protocol.wire.AllocateOp;
import org.globalfs.protocol.wire.Attributes;
import org.globalfs.protocol.wire.Command;
import org.globalfs.protocol.wire.CreateOp;
import org.globalfs.protocol.wire.Extent;
import org.globalfs.protocol.wire.LookupOp;
import org.globalfs.protocol.wire.QuotaOp;
import org.globalfs.protocol.wire.ReadDirectoryOp;
import org.globalfs.protocol.wire.ReadOp;
import org.globalfs.protocol.wire.ReadReply;
import org.globalfs.protocol.wire.RemoveXattrOp;
import org.globalfs.protocol.wire.RenameOp;
import org.globalfs.protocol.wire.SetAttributesOp;
import org.globalfs.protocol.wire.SetQuotaOp;
import org.globalfs.protocol.wire.SetXattrOp;
import org.globalfs.protocol.wire.UnlinkOp;
import org.globalfs.protocol.wire.UpdateOp;
import org.globalfs.protocol.wire.UpdateReply;
import org.globalfs.protocol.wire.WriteOp;
import org.globalfs.replica.state.model.Mode;
import org.globalfs.replica.state.model.Partitions;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class PartitionStateTest {

    @TempDir Path folder;

    private Rings rings;

    @BeforeEach
    void open() {
        rings = new Rings(folder, 2);
    }

    @AfterEach
    void close() {
        rings.close();
    }

    private static byte[] name(String text) {
        return text.getBytes(UTF_8);
    }

    private static ByteBuffer wrap(String text) {
        return ByteBuffer.wrap(name(text));
    }

    private UpdateReply make(int partition, long parent, String name, int mode) {
        CreateOp op = new CreateOp(parent, wrap(name), mode);
        return rings.run(partition, rings.command(7, 0, 1, UpdateOp.create(op)));
    }

    private long directory(String name) {
        return make(0, Partitions.ROOT, name, Mode.DIRECTORY | 0755).getAttributes().getIno();
    }

    @Test
    void directoriesOfTheRootLiveInTheirCreatorsRegion() {
        long ino = directory("usr");
        assertThat(Partitions.ofBirth(ino)).isEqualTo(1);
        UpdateReply file = make(1, ino, "file", 0644);
        assertThat(file.getErrno()).isZero();
        assertThat(file.getParent().getNlink()).isEqualTo(2);
        LookupOp lookup = new LookupOp(ino, wrap("file"));
        ReadReply found = rings.read(1, 0, ReadOp.lookup(lookup));
        assertThat(found.getIno()).isEqualTo(file.getAttributes().getIno());
        assertThat(make(1, ino, "file", 0644).getErrno()).isEqualTo(Errno.EEXIST.number());
        ReadReply root = rings.read(0, 0, ReadOp.readDirectory(new ReadDirectoryOp(1, 0, 10)));
        assertThat(root.getEntries()).hasSize(1);
        assertThat(root.isLast()).isTrue();
    }

    @Test
    void aCommandTakesEffectOnce() {
        CreateOp op = new CreateOp(1, wrap("a"), 0644);
        Command command = rings.command(9, 0, 0, UpdateOp.create(op));
        UpdateReply first = rings.run(0, command);
        UpdateReply second = rings.run(0, command);
        assertThat(second).isEqualTo(first);
        assertThat(first.getErrno()).isZero();
        rings.crash(0);
        assertThat(rings.run(0, command)).isEqualTo(first);
    }

    @Test
    void rmdirAndRenameAcrossPartitions() {
        long usr = directory("usr");
        long file = make(1, usr, "f", 0644).getAttributes().getIno();
        RenameOp out = new RenameOp(usr, wrap("f"), 1, wrap("g"), 0);
        UpdateReply moved = rings.run(1, rings.command(7, 0, 1, UpdateOp.rename(out)));
        assertThat(moved.getErrno()).isZero();
        assertThat(rings.state(0).child(1, name("g"))).isEqualTo(new Child(file, Mode.REGULAR));
        assertThat(rings.state(1).child(usr, name("f"))).isNull();
        UnlinkOp rmdir = new UnlinkOp(1, wrap("usr"), true);
        assertThat(rings.run(0, rings.command(7, 0, 1, UpdateOp.unlink(rmdir))).getErrno())
                .isZero();
        assertThat(rings.state(1).orphans()).isEqualTo(1);
        assertThat(rings.state(0).pendingTransactions()).isEqualTo(List.of());
        assertThat(rings.state(1).pendingVotes()).isEmpty();
        StateHash before = rings.state(1).hash();
        rings.crash(1);
        assertThat(rings.state(1).hash().digest()).isEqualTo(before.digest());
    }

    /** Mounts rely on one version for each update; programs see that nothing changed. */
    @Test
    void removingAnAbsentListLeavesTheCtime() {
        Attributes before = make(0, Partitions.ROOT, "f", 0644).getAttributes();
        UpdateOp op =
                UpdateOp.removeXattr(
                        new RemoveXattrOp(before.getIno(), wrap("system.posix_acl_access")));
        UpdateReply reply = rings.run(0, rings.command(7, 0, 1, op));
        assertThat(reply.getErrno()).isZero();
        assertThat(reply.getAttributes())
                .isEqualTo(new Attributes(before).setVersion(before.getVersion() + 1));
    }

    private UpdateReply run(UpdateOp op) {
        UpdateReply reply = rings.run(0, rings.command(7, 0, 1, op));
        assertThat(reply.getErrno()).isZero();
        return reply;
    }

    /**
     * A command that did it all would hold up the partition, and take more memory than there is.
     */
    @Test
    void cutsOffManyExtentsAFewAtATimeWhenAskedTo() {
        long ino = make(0, Partitions.ROOT, "f", 0644).getAttributes().getIno();
        List<Extent> extents = new ArrayList<>();
        for (int i = 0; i < 10_000; i++) {
            extents.add(new Extent(2L * i, 1).setData(new byte[] {1}));
        }
        Attributes before = run(UpdateOp.write(new WriteOp(ino, extents))).getAttributes();
        SetAttributesOp cut = new SetAttributesOp(ino).setSize(7).setMode(0600).setPartly(true);
        WriteOp write = new WriteOp(ino, List.of(new Extent(1, 1).setData(new byte[] {2})));
        UpdateOp op = UpdateOp.write(write.setAttributes(cut));

        Attributes first = run(op).getAttributes();
        assertThat(first.getSize()).isEqualTo(19_999 - 2 * 4096);
        assertThat(first.getMode()).isEqualTo(before.getMode());
        assertThat(first.getVersion()).isEqualTo(before.getVersion() + 2);
        assertThat(first.getMtimeNs()).isGreaterThan(before.getMtimeNs());
        assertThat(run(op).getDone()).isEqualTo(19_999 - 4 * 4096);
        UpdateReply last = run(op);
        assertThat(last.isSetDone()).isFalse();
        assertThat(last.getAttributes().getSize()).isEqualTo(7);
        assertThat(last.getAttributes().getAllocated()).isEqualTo(512);
        assertThat(last.getAttributes().getMode()).isEqualTo(Mode.REGULAR | 0600);
        assertThat(rings.state(0).check().report().findings).isEmpty();

        UpdateOp atOnce = UpdateOp.setAttributes(new SetAttributesOp(ino).setSize(1));
        run(UpdateOp.write(new WriteOp(ino, extents)));
        assertThat(run(atOnce).getAttributes().getSize()).isEqualTo(1);
    }

    /** As one whose inode is elsewhere: whoever asked opens it, and cuts it off in steps. */
    @Test
    void aCreateThatTruncatesLeavesAFileOfManyExtentsToItsOpen() {
        long ino = make(0, Partitions.ROOT, "f", 0644).getAttributes().getIno();
        List<Extent> extents = new ArrayList<>();
        for (int i = 0; i <= 4096; i++) {
            extents.add(new Extent(2L * i, 1).setData(new byte[] {1}));
        }
        run(UpdateOp.write(new WriteOp(ino, extents)));
        CreateOp create = new CreateOp(Partitions.ROOT, wrap("f"), 0644);
        UpdateOp op = UpdateOp.create(create.setExclusive(false).setTruncate(true));
        assertThat(rings.run(0, rings.command(7, 0, 1, op)).getErrno())
                .isEqualTo(Errno.ESTALE.number());
        run(UpdateOp.setAttributes(new SetAttributesOp(ino).setSize(8192)));
        assertThat(run(op).getAttributes().getSize()).isZero();
    }

    private static byte[] largeAcl() {
        int users = 507;
        ByteBuffer acl = ByteBuffer.allocate(4 + 8 * (users + 4)).order(ByteOrder.LITTLE_ENDIAN);
        acl.putInt(2).putShort((short) 1).putShort((short) 6).putInt(-1);
        for (int user = 0; user < users; user++) {
            acl.putShort((short) 2).putShort((short) 4).putInt(1000 + user);
        }
        for (int tag : new int[] {4, 16, 32}) {
            acl.putShort((short) tag).putShort((short) 4).putInt(-1);
        }
        return acl.array();
    }

    /** An answer that is too long to be sent would never get there. */
    @Test
    void aPageOfEntriesCountsTheirAccessControlLists() {
        int files = 800;
        ByteBuffer acl = ByteBuffer.wrap(largeAcl());
        for (int i = 0; i < files; i++) {
            long ino = make(0, Partitions.ROOT, "f" + i, 0644).getAttributes().getIno();
            run(UpdateOp.setXattr(new SetXattrOp(ino, wrap("system.posix_acl_access"), acl)));
        }
        long cookie = 0;
        int seen = 0;
        ReadReply page;
        do {
            ReadDirectoryOp op = new ReadDirectoryOp(1, cookie, 4096).setAttributes(true);
            page = rings.read(0, 0, ReadOp.readDirectory(op));
            assertThat(page.getEntriesSize()).isBetween(1, 300);
            seen += page.getEntriesSize();
            cookie = page.getEntries().getLast().getCookie();
        } while (!page.isLast());
        assertThat(seen).isEqualTo(files);
    }

    /** Behind 0 there are quotas only; before it are the entries that are still to be counted. */
    @Test
    void quotasAreListedFromAnyNumberOn() {
        long tree = directory("tree");
        make(1, tree, "file", 0644);
        UpdateOp limit = UpdateOp.setQuota(new SetQuotaOp(tree).setInodes(100));
        assertThat(rings.run(1, rings.command(7, 0, 1, limit)).getErrno()).isZero();
        assertThat(rings.state(1).isCounting()).isTrue();
        for (long after : new long[] {0, -1, Long.MIN_VALUE}) {
            ReadReply reply = rings.read(1, 0, ReadOp.quota(new QuotaOp().setAfter(after)));
            assertThat(reply.getQuotas()).hasSize(1);
        }
    }

    /** Nothing stands behind space that is only allocated, so sums of it could overflow. */
    @Test
    void allocatesNoMoreThanCanBeCounted() {
        long tree =
                make(0, Partitions.ROOT, "tree", Mode.DIRECTORY | 0755).getAttributes().getIno();
        UpdateOp limit = UpdateOp.setQuota(new SetQuotaOp(tree).setInodes(100));
        assertThat(rings.run(1, rings.command(7, 0, 1, limit)).getErrno()).isZero();
        List<Integer> errnos = new ArrayList<>();
        for (int i = 0; i < 9; i++) {
            long ino = make(1, tree, "f" + i, 0644).getAttributes().getIno();
            UpdateOp op = UpdateOp.allocate(new AllocateOp(ino, 0, 1L << 60, 1));
            errnos.add(rings.run(1, rings.command(7, 0, 1, op)).getErrno());
        }
        int full = Errno.ENOSPC.number();
        assertThat(errnos).containsExactly(0, 0, 0, 0, full, full, full, full, full);
        assertThat(rings.state(1).check().report().findings).isEmpty();
    }
}
