package org.globalfs.replica.state.model;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.globalfs.protocol.wire.BlockRef;
import org.globalfs.protocol.wire.LockKind;
import org.globalfs.protocol.wire.LockType;
import org.junit.jupiter.api.Test;

/**
 * Stored values as docs/formats/metadata-state.md says, byte for byte. REWRITE_FIXTURES writes the
 * golden file anew.
 */
final class FormatTest {

    private static final Path GOLDEN = Path.of("src/test/resources/formats/metadata-state.txt");
    private static final BlockRef BLOCK =
            new BlockRef(0x0102030405060708L, -2, 4 << 20, 3, (byte) 4, (byte) 2, 300);

    private static Inode inode(int mode) {
        Inode inode = new Inode(Partitions.ino(1, 5));
        inode.mode = mode;
        inode.nlink = 2;
        inode.uid = 1000;
        inode.gid = -2;
        inode.rdev = 0x801;
        inode.atimeNs = 1_700_000_000_000_000_001L;
        inode.mtimeNs = 1_700_000_000_000_000_002L;
        inode.ctimeNs = 1_700_000_000_000_000_003L;
        inode.btimeNs = -1;
        inode.version = 300;
        inode.flags = Inode.PLACEMENT_CREATOR;
        inode.parent = Partitions.ROOT;
        inode.entries = 7;
        inode.nextCookie = 200;
        inode.target = "a/b".getBytes(UTF_8);
        inode.size = Mode.type(mode) == Mode.SYMLINK ? 3 : 1L << 40;
        inode.stored = 5000;
        inode.extents = 2;
        return inode;
    }

    private static Counters counters() {
        Counters counters = new Counters(0);
        counters.applied = 1000;
        counters.importedThrough = 900;
        counters.globalSeen = 950;
        counters.timestamp = 0x0123456789ABCDEFL;
        counters.nextInode = 77;
        counters.inodes = 76;
        counters.bytes = 1L << 33;
        counters.orphans = 2;
        counters.doomed = 3;
        counters.given.put(1, 4L);
        counters.given.put(2, 5L);
        counters.trimmed.put(2, 6L);
        return counters;
    }

    private static Counters countersWithSessionsTime() {
        Counters counters = counters();
        counters.sessionsNs = 1_700_000_000_000_000_000L;
        return counters;
    }

    private static List<Verdict> verdicts() {
        byte[] name = "n".getBytes(UTF_8);
        return List.of(
                new Verdict.Prepare(10, 11, 12, 13, new byte[] {1, 2, 3}),
                new Verdict.Commit(
                        20,
                        21,
                        List.of(
                                new Effect.RemoveEntry(1, 22, name),
                                new Effect.PutEntry(2, 23, name, 24, Mode.DIRECTORY),
                                new Effect.DropLink(1, 25),
                                new Effect.AddLink(1, 26),
                                new Effect.Renamed(2, 27, 28),
                                new Effect.CreateDirectory(
                                        1,
                                        29,
                                        Mode.DIRECTORY | 0755,
                                        1000,
                                        -2,
                                        30,
                                        31,
                                        new byte[0],
                                        new byte[0]))),
                new Verdict.Abort(40, 41));
    }

    private static List<Verdict> verdictWithAcls() {
        Effect made =
                new Effect.CreateDirectory(
                        1,
                        29,
                        Mode.DIRECTORY | 0755,
                        1000,
                        -2,
                        30,
                        31,
                        new byte[] {1, 2},
                        new byte[] {3});
        return List.of(new Verdict.Commit(20, 0, List.of(made)));
    }

    private static List<Verdict> verdictsOfMove() {
        return List.of(
                new Verdict.Prepare(
                        10, 11, 12, 13, new byte[] {1, 2, 3}, true, List.of(14L, 1L << 49)),
                new Verdict.Prepare(10, 11, 12, 13, new byte[] {1, 2, 3}, true, List.of()),
                new Verdict.Commit(20, 21, List.of(new Effect.GlobalBelow(3, 300))));
    }

    private static Counters countersWithGlobalBelow() {
        Counters counters = counters();
        counters.globalBelow = 300;
        return counters;
    }

    private static Inode extended() {
        Inode inode = inode(Mode.DIRECTORY | 0755);
        inode.accessAcl = new byte[] {4, 5};
        inode.defaultAcl = new byte[] {6};
        inode.xattrNames = 200;
        inode.xattrValues = 70_000;
        inode.flags |= Inode.CAPABILITY;
        return inode;
    }

    private static Inode inQuota() {
        Inode inode = inode(Mode.REGULAR | 0644);
        inode.quota = Partitions.ino(1, 6);
        return inode;
    }

    private static Quota quota() {
        Quota quota = new Quota(Partitions.ino(1, 6), Partitions.ino(1, 5));
        quota.parent = Partitions.ino(1, 3);
        quota.cleared = true;
        quota.limitBytes = 10L << 30;
        quota.limitInodes = 100_000;
        quota.usedBytes = 5120;
        quota.usedInodes = 300;
        quota.children = 2;
        return quota;
    }

    private static LockRecord lock() {
        return new LockRecord(
                LockRecord.State.WAITING,
                LockKind.FLOCK,
                LockType.WRITE,
                0x1122334455667788L,
                -5,
                4711,
                0,
                Long.MAX_VALUE,
                9);
    }

    private static Map<String, byte[]> values() {
        Map<String, byte[]> values = new LinkedHashMap<>();
        values.put("inode-directory", inode(Mode.DIRECTORY | 0755).encode());
        values.put("inode-file", inode(Mode.REGULAR | 06755).encode());
        values.put("inode-symlink", inode(Mode.SYMLINK | 0777).encode());
        values.put("inode-device", inode(Mode.BLOCK_DEVICE | 0600).encode());
        Dentry dentry = new Dentry(Partitions.ino(2, 9), Mode.SOCKET, 300);
        values.put("dentry", dentry.encode());
        values.put("cookie", dentry.encodeByCookie("name".getBytes(UTF_8)));
        values.put("extent-embedded", new Piece(0, 3, new byte[] {7, 8, 9}, null, 0).encode());
        values.put("extent-block", new Piece(0, 70_000, null, BLOCK, 128).encode());
        values.put("extent-unwritten", Piece.unwritten(5, 70_005).encode());
        values.put("block", Blocks.encode(2, BLOCK));
        values.put("state", counters().encode());
        values.put("verdict", VerdictCodec.encode(verdicts()));
        values.put("inode-extended", extended().encode());
        values.put("verdict-acls", VerdictCodec.encode(verdictWithAcls()));
        values.put("lock", lock().encode());
        values.put("state-below", countersWithGlobalBelow().encode());
        values.put("state-sessions", countersWithSessionsTime().encode());
        values.put("verdict-move", VerdictCodec.encode(verdictsOfMove()));
        values.put("inode-quota", inQuota().encode());
        values.put("quota", quota().encode());
        values.put("key-dentry", Keys.of(Partitions.ino(1, 5), "name".getBytes(UTF_8)));
        return values;
    }

    private static Map<String, byte[]> golden() throws IOException {
        Map<String, byte[]> golden = new LinkedHashMap<>();
        for (String line : Files.readAllLines(GOLDEN)) {
            String[] words = line.split(" ");
            golden.put(words[0], HexFormat.of().parseHex(words[1]));
        }
        return golden;
    }

    @Test
    void valuesAreWrittenAsTheyAlwaysWere() throws IOException {
        if (System.getenv("REWRITE_FIXTURES") != null) {
            StringBuilder lines = new StringBuilder();
            values().forEach((name, value) ->
                    lines.append(name)
                            .append(' ')
                            .append(HexFormat.of().formatHex(value))
                            .append('\n'));
            Files.createDirectories(GOLDEN.getParent());
            Files.writeString(GOLDEN, lines.toString());
        }
        Map<String, byte[]> golden = golden();
        assertThat(golden.keySet()).isEqualTo(values().keySet());
        values().forEach((name, value) -> assertThat(value).as(name).isEqualTo(golden.get(name)));
    }

    @Test
    void valuesAreReadBack() throws IOException {
        Map<String, byte[]> golden = golden();
        for (String type : List.of("directory", "file", "symlink", "device", "extended", "quota")) {
            byte[] value = Objects.requireNonNull(golden.get("inode-" + type));
            Inode inode = Inode.decode(Partitions.ino(1, 5), value);
            assertThat(inode.encode()).isEqualTo(value);
            assertThat(inode.gid).isEqualTo(-2);
            assertThat(inode.btimeNs).isEqualTo(-1);
        }
        byte[] dentry = Objects.requireNonNull(golden.get("dentry"));
        assertThat(Dentry.decode(dentry))
                .isEqualTo(new Dentry(Partitions.ino(2, 9), Mode.SOCKET, 300));
        byte[] cookie = Objects.requireNonNull(golden.get("cookie"));
        assertThat(Dentry.decodeByCookie(300, cookie).name()).isEqualTo("name".getBytes(UTF_8));
        Piece piece = Piece.decode(0, Objects.requireNonNull(golden.get("extent-block")));
        assertThat(piece).isEqualTo(new Piece(0, 70_000, null, BLOCK, 128));
        byte[] unwritten = Objects.requireNonNull(golden.get("extent-unwritten"));
        assertThat(Piece.decode(5, unwritten)).isEqualTo(Piece.unwritten(5, 70_005));
        byte[] block = Objects.requireNonNull(golden.get("block"));
        assertThat(Blocks.decode(block)).isEqualTo(BLOCK);
        assertThat(Blocks.references(block)).isEqualTo(2);
        for (String kind : List.of("state", "state-below", "state-sessions")) {
            byte[] state = Objects.requireNonNull(golden.get(kind));
            assertThat(Counters.decode(state).encode()).isEqualTo(state);
            assertThat(Counters.decode(state).copy().encode()).isEqualTo(state);
        }
        byte[] quota = Objects.requireNonNull(golden.get("quota"));
        assertThat(Quota.decode(Partitions.ino(1, 6), quota).encode()).isEqualTo(quota);
        byte[] lock = Objects.requireNonNull(golden.get("lock"));
        assertThat(LockRecord.decode(lock)).isEqualTo(lock());
        for (String kind : List.of("verdict", "verdict-acls", "verdict-move")) {
            byte[] verdict = Objects.requireNonNull(golden.get(kind));
            assertThat(VerdictCodec.encode(VerdictCodec.decode(verdict))).isEqualTo(verdict);
        }
    }

    @Test
    void aNewerFormatIsRefused() {
        byte[] value = inode(Mode.REGULAR).encode();
        value[0] = 4;
        assertThatThrownBy(() -> Inode.decode(5, value))
                .isInstanceOf(CorruptRecordException.class)
                .hasMessageContaining("inode 5 has format version 4");
        byte[] cut = Arrays.copyOf(inode(Mode.REGULAR).encode(), 20);
        assertThatThrownBy(() -> Inode.decode(5, cut)).isInstanceOf(CorruptRecordException.class);
    }
}
