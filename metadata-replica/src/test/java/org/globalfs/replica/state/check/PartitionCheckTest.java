package org.globalfs.replica.state.check;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.globalfs.protocol.wire.BlockRef;
import org.globalfs.replica.state.model.Blocks;
import org.globalfs.replica.state.model.Counters;
import org.globalfs.replica.state.model.Dentry;
import org.globalfs.replica.state.model.Inode;
import org.globalfs.replica.state.model.Keys;
import org.globalfs.replica.state.model.Mode;
import org.globalfs.replica.state.model.Partitions;
import org.globalfs.replica.state.model.Piece;
import org.globalfs.replica.state.model.Quota;
import org.globalfs.replica.state.model.Table;
import org.globalfs.replica.state.operations.Machine;
import org.globalfs.replica.state.operations.MemoryRecords;
import org.globalfs.replica.state.operations.Tree;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/** A small tree in which everything agrees; and each thing that may not, changed by hand. */
final class PartitionCheckTest {
    private static final long ELSEWHERE = Partitions.ino(3, 77);
    private static final BlockRef BLOCK = new BlockRef(5, 6, 8192, 0, (byte) 4, (byte) 2, 1);

    private final MemoryRecords records = new MemoryRecords();
    private final Counters counters = new Counters(0);
    private final Tree tree = new Tree(records, counters);
    private final long directory;
    private final long below;
    private final long file;
    private final long twice;
    private final long orphan;

    PartitionCheckTest() {
        Machine.initialize(records, counters);
        directory = make(Partitions.ROOT, "d", Mode.DIRECTORY);
        below = make(directory, "e", Mode.DIRECTORY);
        file = make(directory, "f", Mode.REGULAR);
        twice = make(directory, "g", Mode.REGULAR);
        tree.addLink(tree.existing(twice), 1);
        tree.addEntry(tree.existing(below), name("h"), twice, Mode.REGULAR, 1);
        tree.addEntry(tree.existing(directory), name("far"), ELSEWHERE, Mode.DIRECTORY, 1);
        orphan = make(directory, "o", Mode.REGULAR);
        remove("o");
        tree.dropLink(tree.existing(orphan), 1);
        content();
    }

    private static byte[] name(String text) {
        return text.getBytes(UTF_8);
    }

    private long make(long parent, String name, int type) {
        Inode inode = new Inode(tree.newIno());
        inode.mode = type | 0755;
        inode.nlink = type == Mode.DIRECTORY ? 2 : 1;
        inode.parent = parent;
        inode.nextCookie = Tree.FIRST_COOKIE;
        tree.add(inode);
        tree.addEntry(tree.existing(parent), name(name), inode.ino, type, 1);
        return inode.ino;
    }

    private void remove(String name) {
        remove(directory, name);
    }

    private void remove(long parent, String name) {
        Dentry dentry = Objects.requireNonNull(tree.dentry(parent, name(name)));
        tree.removeEntry(tree.existing(parent), name(name), dentry, 1);
    }

    private void content() {
        Inode inode = tree.existing(file);
        put(new Piece(0, 3, name("abc"), null, 0));
        put(new Piece(4096, 4096, null, BLOCK, 4096));
        inode.size = 8192;
        inode.extents = 2;
        inode.stored = 4099;
        tree.store(inode);
        counters.bytes = 4099;
        records.put(Table.BLOCK, Blocks.key(BLOCK), Blocks.encode(1, BLOCK));
        records.put(Table.XATTR, Keys.of(file, name("user.a")), new byte[] {1, 2});
    }

    private void put(Piece piece) {
        records.put(Table.EXTENT, Keys.of(file, piece.offset()), piece.encode());
    }

    private CheckReport check() {
        return PartitionCheck.run(records, counters);
    }

    @Test
    void agreesWithATreeThatIsWhole() {
        CheckReport report = check();
        assertThat(report.findings).isEmpty();
        assertThat(report.faults).isZero();
        assertThat(report.unexplained).isEmpty();
        assertThat(report.foreign).isEqualTo(new TreeMap<>(Map.of(ELSEWHERE, 1)));
        assertThat(report.inodes).isEqualTo(6);
        assertThat(report.names).isEqualTo(6);
        assertThat(report.extents).isEqualTo(2);
        assertThat(report.blocks).isEqualTo(1);
    }

    private void change(long ino, Consumer<Inode> change) {
        Inode inode = tree.existing(ino);
        change.accept(inode);
        tree.store(inode);
    }

    /** What to break, and what is said then. */
    private Map<String, Runnable> faults() {
        Map<String, Runnable> faults = new TreeMap<>();
        faults.put("leads to inode", () -> records.delete(Table.INODE, Keys.of(file)));
        faults.put("has 2 names, but should have 1", () -> change(twice, i -> i.nlink = 1));
        faults.put("has 4 entries, but counts 5", () -> change(directory, i -> i.entries = 5));
        faults.put("has 4 links, but counts 3", () -> change(directory, i -> i.nlink = 3));
        faults.put(
                "has no place in the order of readdir",
                () -> records.delete(Table.COOKIE, Keys.of(directory, Tree.FIRST_COOKIE + 1)));
        faults.put(
                "not on the list of orphans", () -> records.delete(Table.ORPHAN, Keys.of(orphan)));
        faults.put("has 1 links and is on the list", () -> change(orphan, i -> i.nlink = 1));
        faults.put("orphans, but 2 are counted", () -> counters.orphans++);
        faults.put("inodes, but 7 are counted", () -> counters.inodes++);
        faults.put("bytes in files, but 4100 are counted", () -> counters.bytes++);
        faults.put("believes to lie in", () -> change(below, i -> i.parent = Partitions.ROOT));
        faults.put("lies below itself", () -> change(directory, i -> i.parent = below));
        faults.put(
                "in regional ones or partitions, but 1 are counted", () -> counters.globalBelow++);
        faults.put(
                "extents overlap at 4096", () -> put(new Piece(0, 5000, new byte[5000], null, 0)));
        faults.put("content up to 8192 beyond", () -> change(file, i -> i.size = 8191));
        faults.put(
                "the extent at 4096 reaches beyond its block",
                () -> put(new Piece(4096, 4096, null, BLOCK, 4097)));
        faults.put(
                "extents up to 9000, beyond its size, but is not marked",
                () -> put(Piece.unwritten(8192, 9000)));
        faults.put("extents of 4099 bytes, but counts 3", () -> change(file, i -> i.extents = 3));
        faults.put("counts 1 extents, but has none", () -> change(twice, i -> i.extents = 1));
        faults.put(
                "1 more extents refer to it", () -> records.delete(Table.BLOCK, Blocks.key(BLOCK)));
        faults.put(
                "-1 more extents refer to it",
                () -> records.put(Table.BLOCK, Blocks.key(BLOCK), Blocks.encode(2, BLOCK)));
        faults.put(
                "in use and doomed",
                () -> records.put(Table.DOOMED, Blocks.key(BLOCK), Blocks.encode(0, BLOCK)));
        faults.put("doomed blocks, but 1 are counted", () -> counters.doomed++);
        faults.put(
                "an extended attribute belongs",
                () -> records.put(Table.XATTR, Keys.of(999, name("user.b")), new byte[] {1}));
        faults.put(
                "of another type",
                () ->
                        records.put(
                                Table.DENTRY,
                                Keys.of(directory, name("f")),
                                new Dentry(file, Mode.DIRECTORY, Tree.FIRST_COOKIE + 1).encode()));
        return faults;
    }

    @TestFactory
    Stream<DynamicTest> findsWhatDoesNotAgree() {
        return faults().keySet().stream()
                .map(said ->
                        DynamicTest.dynamicTest(
                                said,
                                () -> {
                                    PartitionCheckTest broken = new PartitionCheckTest();
                                    Objects.requireNonNull(broken.faults().get(said)).run();
                                    CheckReport report = broken.check();
                                    assertThat(report.findings)
                                            .anyMatch(finding -> finding.contains(said));
                                    assertThat(report.faults).isPositive();
                                }));
    }

    @Test
    void aDirectoryIsNotCountedOnlyAsLongAsTheWalkHasNotComeBy() {
        Quota quota = new Quota(0x99, directory);
        quota.limitInodes = 9;
        records.put(Table.QUOTA, Keys.of(quota.id), quota.encode());
        change(directory, i -> i.quota = quota.id);
        String fault = "counts in quota 0, but lies in a directory of 99";
        assertThat(check().findings).singleElement().asString().contains(fault);
        walked(quota.id, below, 0);
        walked(0x98, directory, 0);
        assertThat(check().findings).as("other walks").hasSize(1);
        walked(quota.id, directory, Tree.FIRST_COOKIE);
        assertThat(check().findings).as("it came by").hasSize(1);
        walked(quota.id, directory, Tree.FIRST_COOKIE - 1);
        assertThat(check().findings).isEmpty();
        Quota other = new Quota(0x97, below);
        other.cleared = true;
        other.parent = 0x96;
        records.put(Table.QUOTA, Keys.of(0x96), new Quota(0x96, file).encode());
        records.put(Table.QUOTA, Keys.of(other.id), other.encode());
        change(below, i -> i.quota = other.id);
        assertThat(check().findings)
                .as("the walk leaves what another tree counts")
                .anyMatch(finding -> finding.contains("counts in quota 96"));
    }

    private void walked(long quota, long directory, long cookie) {
        byte[] position = {1, (byte) cookie};
        records.put(Table.QUOTA, Keys.of(0, quota, directory), position);
    }

    @Test
    void saysWhatItKnowsOfDirectoriesBetweenPartitions() {
        tree.addEntry(tree.existing(below), name("deep"), ELSEWHERE + 1, Mode.DIRECTORY, 1);
        change(directory, i -> i.parent = ELSEWHERE);
        remove(Partitions.ROOT, "d");
        counters.globalBelow = 1;
        CheckReport report = check();
        assertThat(report.findings).isEmpty();
        assertThat(report.hanging)
                .containsExactly(new CheckReport.Crossing(directory, ELSEWHERE, 0));
        assertThat(report.held)
                .containsExactlyInAnyOrder(
                        new CheckReport.Crossing(ELSEWHERE, directory, directory),
                        new CheckReport.Crossing(ELSEWHERE + 1, below, directory));
        assertThat(report.globalBelow).isEqualTo(1);
    }

    @Test
    void saysWhichLinksNoNameHereAccountsFor() {
        change(file, i -> i.nlink = 3);
        remove("g");
        CheckReport report = check();
        assertThat(report.findings).isEmpty();
        assertThat(report.unexplained).isEqualTo(new TreeMap<>(Map.of(file, 2, twice, 1)));
    }
}
