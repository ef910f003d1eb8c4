package org.globalfs.replica.state;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;
import org.globalfs.protocol.Errno;
import org.globalfs.protocol.HybridClock;
import org.globalfs.protocol.wire.AdoptQuotaOp;
import org.globalfs.protocol.wire.AllocateOp;
import org.globalfs.protocol.wire.Attributes;
import org.globalfs.protocol.wire.CollectOrphansOp;
import org.globalfs.protocol.wire.CompactOp;
import org.globalfs.protocol.wire.ContentOp;
import org.globalfs.protocol.wire.CopyRangeOp;
import org.globalfs.protocol.wire.CreateOp;
import org.globalfs.protocol.wire.Credentials;
import org.globalfs.protocol.wire.DirectoryEntry;
import org.globalfs.protocol.wire.Extent;
import org.globalfs.protocol.wire.GetAttributesOp;
import org.globalfs.protocol.wire.GetXattrOp;
import org.globalfs.protocol.wire.LinkOp;
import org.globalfs.protocol.wire.ListXattrOp;
import org.globalfs.protocol.wire.LookupOp;
import org.globalfs.protocol.wire.OpenOp;
import org.globalfs.protocol.wire.QuotaOp;
import org.globalfs.protocol.wire.ReadDirectoryOp;
import org.globalfs.protocol.wire.ReadLinkOp;
import org.globalfs.protocol.wire.ReadOp;
import org.globalfs.protocol.wire.ReadReply;
import org.globalfs.protocol.wire.RemoveXattrOp;
import org.globalfs.protocol.wire.RenameOp;
import org.globalfs.protocol.wire.RenewSessionOp;
import org.globalfs.protocol.wire.SetAttributesOp;
import org.globalfs.protocol.wire.SetQuotaOp;
import org.globalfs.protocol.wire.SetXattrOp;
import org.globalfs.protocol.wire.StatFsOp;
import org.globalfs.protocol.wire.UnlinkOp;
import org.globalfs.protocol.wire.UpdateOp;
import org.globalfs.protocol.wire.UpdateReply;
import org.globalfs.protocol.wire.WriteOp;
import org.globalfs.replica.state.model.Mode;
import org.globalfs.replica.state.model.Partitions;

/** Executes the lines of a fixture on partitions: paths instead of inodes, errnos by name. */
final class Scenario {

    private static final long SESSION = 5;

    private final Rings rings;
    private final Map<String, Long> handles = new HashMap<>();
    private int uid;
    private int gid;
    private List<Integer> groups = List.of();
    private int origin;

    Scenario(Rings rings) {
        this.rings = rings;
    }

    /** Where a path leads; the last name may be absent. */
    private record Target(long parent, byte[] name, long ino) {}

    private Target find(String path) {
        if (path.startsWith("@")) {
            return new Target(
                    0, new byte[0], Objects.requireNonNull(handles.get(path.substring(1))));
        }
        long parent = Partitions.ROOT;
        long at = Partitions.ROOT;
        byte[] name = {};
        for (String part : path.substring(1).split("/")) {
            if (part.isEmpty()) {
                continue;
            }
            parent = at;
            name = part.replace("LONG", "x".repeat(256)).getBytes(UTF_8);
            Child child = at == 0 ? null : rings.state(Partitions.ofBirth(at)).child(at, name);
            at = child == null ? 0 : child.ino();
        }
        return new Target(parent, name, at);
    }

    String run(String line) {
        String[] words = line.split(" ");
        return switch (words[0]) {
            case "as" -> as(words);
            case "pass" -> pass(words);
            case "hold" -> hold(words);
            case "open" -> open(words);
            case "getfattr", "lsfattr", "getfacl" -> readXattr(words);
            case "tmpfile" -> temporary(words);
            case "stat", "cat", "ls", "readlink", "lookup", "statfs", "extents" -> read(words);
            case "renew", "collect" -> session(words);
            case "quota" -> quota(words);
            case "count" -> count(words);
            default -> update(words);
        };
    }

    /** as UID[:GID[,GROUP...]] [from ORIGIN] */
    private String as(String[] words) {
        String[] ids = words[1].split("[:,]");
        uid = Integer.parseInt(ids[0]);
        gid = ids.length > 1 ? Integer.parseInt(ids[1]) : uid;
        groups = new ArrayList<>();
        for (int i = 2; i < ids.length; i++) {
            groups.add(Integer.parseInt(ids[i]));
        }
        origin = words.length > 3 ? Integer.parseInt(words[3]) : origin;
        return "";
    }

    private String pass(String[] words) {
        rings.passMs(Long.parseLong(words[1]) * 1000);
        return "";
    }

    /** Remembers an inode under a handle, as an open file does. */
    private String hold(String[] words) {
        handles.put(words[2], find(words[1]).ino);
        return "";
    }

    /** collect PARTITION [orphaned more than SECONDS before the last command] */
    private String collect(String[] words) {
        int partition = Integer.parseInt(words[1]);
        CollectOrphansOp op = new CollectOrphansOp(100);
        if (words.length > 2) {
            long nowNs = HybridClock.ns(rings.state(partition).lastTimestamp());
            op.setBefore(nowNs - Long.parseLong(words[2]) * 1_000_000_000);
        }
        rings.internal(partition, UpdateOp.collectOrphans(op));
        return "orphans " + rings.state(partition).orphans();
    }

    private String session(String[] words) {
        if (words[0].equals("collect")) {
            return collect(words);
        }
        List<Long> open = new ArrayList<>();
        for (int i = 2; i < words.length; i++) {
            open.add(handles.get(words[i]));
        }
        RenewSessionOp op = new RenewSessionOp(open);
        return brief(
                rings.run(
                        Integer.parseInt(words[1]),
                        rings.command(SESSION + 1, 0, 0, UpdateOp.renewSession(op))));
    }

    private String update(String[] words) {
        Target target = find(words[1]);
        long home = target.parent;
        UpdateOp op =
                switch (words[0]) {
                    case "mkdir" -> create(target, Mode.DIRECTORY, words);
                    case "create" -> create(target, Mode.REGULAR, words);
                    case "openat" -> create(target, Mode.REGULAR, words);
                    case "fifo" -> create(target, Mode.FIFO, words);
                    case "socket" -> create(target, Mode.SOCKET, words);
                    case "chardev", "whiteout" -> create(target, Mode.CHARACTER_DEVICE, words);
                    case "blockdev" -> create(target, Mode.BLOCK_DEVICE, words);
                    case "symlink" -> symlink(target, words);
                    case "unlink", "rmdir" ->
                            UpdateOp.unlink(
                                    new UnlinkOp(
                                            target.parent,
                                            ByteBuffer.wrap(target.name),
                                            words[0].equals("rmdir")));
                    case "rename" -> rename(target, find(words[2]), words);
                    case "link" -> link(target, find(words[2]));
                    case "write", "append" -> write(target, words);
                    case "setfattr" -> setXattr(target, words);
                    case "setfacl" ->
                            UpdateOp.setXattr(
                                    new SetXattrOp(
                                            target.ino,
                                            aclName(words[2]),
                                            ByteBuffer.wrap(AclText.parse(words[3]))));
                    case "rmfattr" ->
                            UpdateOp.removeXattr(new RemoveXattrOp(target.ino, bytes(words[2])));
                    case "allocate" -> allocate(target, words);
                    case "copy" -> copy(target, find(words[3]), words);
                    case "compact" -> compact(target, words);
                    case "setquota" -> setQuota(target, words);
                    default -> attributes(target, words);
                };
        if (op.isSetWrite()
                || op.isSetSetAttributes()
                || op.isSetSetXattr()
                || op.isSetRemoveXattr()
                || op.isSetAllocate()
                || op.isSetSetQuota()
                || op.isSetCompact()) {
            home = target.ino;
        }
        if (op.isSetCopyRange()) {
            home = op.getCopyRange().getIno();
        }
        if (op.isSetLink()) {
            home = op.getLink().getNewParent();
        }
        var command = rings.command(SESSION, uid, origin, op);
        command.getCredentials().setGid(gid);
        command.getCredentials().setGroups(groups);
        return brief(rings.run(Partitions.ofBirth(home), command));
    }

    private static UpdateOp create(Target target, int type, String[] words) {
        int mode = type | Integer.parseInt(words[2], 8);
        CreateOp op = new CreateOp(target.parent, ByteBuffer.wrap(target.name), mode);
        List<String> flags = List.of(words).subList(3, words.length);
        op.setExclusive(!words[0].equals("openat"));
        op.setTruncate(flags.contains("truncate"));
        for (String flag : flags) {
            if (flag.startsWith("umask=")) {
                op.setUmask(Integer.parseInt(flag.substring(6), 8));
            }
        }
        if (words[0].equals("chardev")) {
            op.setRdev(0x103);
        }
        return UpdateOp.create(op);
    }

    private static ByteBuffer bytes(String text) {
        return ByteBuffer.wrap(text.replace("LONG", "x".repeat(255)).getBytes(UTF_8));
    }

    private static ByteBuffer aclName(String which) {
        return bytes("system.posix_acl_" + which);
    }

    /** setfattr PATH NAME TEXT [create] [replace]; TEXT BIG*N: so many bytes */
    private static UpdateOp setXattr(Target target, String[] words) {
        byte[] value =
                words[3].startsWith("BIG*")
                        ? new byte[Integer.parseInt(words[3].substring(4))]
                        : words[3].getBytes(UTF_8);
        int flags = 0;
        for (int i = 4; i < words.length; i++) {
            flags |= words[i].equals("create") ? 1 : words[i].equals("replace") ? 2 : 8;
        }
        return UpdateOp.setXattr(
                new SetXattrOp(target.ino, bytes(words[2]), ByteBuffer.wrap(value))
                        .setFlags(flags));
    }

    private String readXattr(String[] words) {
        long ino = find(words[1]).ino;
        ReadOp op =
                switch (words[0]) {
                    case "getfattr" -> ReadOp.getXattr(new GetXattrOp(ino, bytes(words[2])));
                    case "getfacl" -> ReadOp.getXattr(new GetXattrOp(ino, aclName(words[2])));
                    default -> ReadOp.listXattr(new ListXattrOp(ino).setValues(true));
                };
        ReadReply reply = read(Partitions.ofBirth(ino), op);
        if (reply.getErrno() != 0) {
            return Errno.of(reply.getErrno()).name();
        }
        return switch (words[0]) {
            case "getfacl" -> AclText.format(reply.getValue());
            case "getfattr" ->
                    reply.getValue().length > 100
                            ? reply.getValue().length + " bytes"
                            : new String(reply.getValue(), UTF_8);
            default ->
                    reply.getXattrs().stream()
                            .map(x -> new String(x.getName(), UTF_8) + (x.isSetValue() ? "=" : ""))
                            .map(x -> x.replace("x".repeat(255), "LONG"))
                            .collect(Collectors.joining(" "));
        };
    }

    /** tmpfile DIRECTORY MODE HANDLE [exclusive] */
    private String temporary(String[] words) {
        long directory = find(words[1]).ino;
        CreateOp op =
                new CreateOp(
                                directory,
                                ByteBuffer.wrap(new byte[0]),
                                Mode.REGULAR | Integer.parseInt(words[2], 8))
                        .setTemporary(true)
                        .setExclusive(words.length > 4);
        UpdateReply reply =
                rings.run(
                        Partitions.ofBirth(directory),
                        rings.command(SESSION, uid, origin, UpdateOp.create(op)));
        if (reply.getErrno() == 0) {
            handles.put(words[3], reply.getAttributes().getIno());
        }
        return brief(reply);
    }

    /** allocate PATH OFFSET LENGTH FLAGS */
    private static UpdateOp allocate(Target target, String[] words) {
        return UpdateOp.allocate(
                new AllocateOp(
                        target.ino,
                        Long.parseLong(words[2]),
                        Long.parseLong(words[3]),
                        Integer.parseInt(words[4])));
    }

    /** copy SOURCE OFFSET TARGET OFFSET LENGTH */
    private static UpdateOp copy(Target source, Target target, String[] words) {
        return UpdateOp.copyRange(
                new CopyRangeOp(
                        target.ino,
                        Long.parseLong(words[4]),
                        source.ino,
                        Long.parseLong(words[2]),
                        Long.parseLong(words[5])));
    }

    /** compact PATH VERSION OFFSET TEXT */
    private static UpdateOp compact(Target target, String[] words) {
        byte[] data = words[4].getBytes(UTF_8);
        Extent extent = new Extent(Long.parseLong(words[3]), data.length);
        extent.setData(data);
        return UpdateOp.compact(
                new CompactOp(target.ino, Long.parseLong(words[2]), List.of(extent)));
    }

    /** setquota PATH BYTES INODES; -: stays */
    private static UpdateOp setQuota(Target target, String[] words) {
        SetQuotaOp op = new SetQuotaOp(target.ino);
        if (!words[2].equals("-")) {
            op.setBytes(Long.parseLong(words[2]));
        }
        if (!words[3].equals("-")) {
            op.setInodes(Long.parseLong(words[3]));
        }
        return UpdateOp.setQuota(op);
    }

    /** count PARTITION LIMIT */
    private String count(String[] words) {
        int partition = Integer.parseInt(words[1]);
        AdoptQuotaOp op = new AdoptQuotaOp(Integer.parseInt(words[2]));
        rings.internal(partition, UpdateOp.adoptQuota(op));
        return rings.state(partition).isCounting() ? "counting" : "counted";
    }

    /** quota PATH, or quota list PARTITION */
    private String quota(String[] words) {
        boolean all = words[1].equals("list");
        long ino = all ? 0 : find(words[1]).ino;
        ReadReply reply =
                all
                        ? read(Integer.parseInt(words[2]), ReadOp.quota(new QuotaOp()))
                        : read(Partitions.ofBirth(ino), ReadOp.quota(new QuotaOp().setIno(ino)));
        if (reply.getErrno() != 0) {
            return Errno.of(reply.getErrno()).name();
        }
        return reply.getQuotas().stream()
                .map(q ->
                        q.getUsedBytes()
                                + "/"
                                + q.getBytes()
                                + " bytes "
                                + q.getUsedInodes()
                                + "/"
                                + q.getInodes()
                                + " inodes"
                                + (q.isCounting() ? " counting" : ""))
                .collect(Collectors.joining("\n"));
    }

    private static UpdateOp symlink(Target target, String[] words) {
        CreateOp op =
                new CreateOp(target.parent, ByteBuffer.wrap(target.name), Mode.SYMLINK | 0777);
        op.setTarget(words[2].replace("LONG", "x".repeat(4096)).getBytes(UTF_8));
        return UpdateOp.create(op);
    }

    private static UpdateOp rename(Target from, Target to, String[] words) {
        int flags = 0;
        for (int i = 3; i < words.length; i++) {
            flags |=
                    words[i].equals("noreplace")
                            ? 1
                            : words[i].equals("exchange") ? 2 : words[i].equals("whiteout") ? 4 : 8;
        }
        return UpdateOp.rename(
                new RenameOp(
                        from.parent,
                        ByteBuffer.wrap(from.name),
                        to.parent,
                        ByteBuffer.wrap(to.name),
                        flags));
    }

    private static UpdateOp link(Target file, Target to) {
        return UpdateOp.link(new LinkOp(file.ino, to.parent, ByteBuffer.wrap(to.name)));
    }

    /** write PATH OFFSET TEXT, append PATH TEXT */
    private static UpdateOp write(Target target, String[] words) {
        boolean append = words[0].equals("append");
        byte[] data = words[append ? 2 : 3].getBytes(UTF_8);
        Extent extent = new Extent(append ? 0 : Long.parseLong(words[2]), data.length);
        extent.setData(data);
        return UpdateOp.write(new WriteOp(target.ino, List.of(extent)).setAppend(append));
    }

    private static UpdateOp attributes(Target target, String[] words) {
        SetAttributesOp op = new SetAttributesOp(target.ino);
        switch (words[0]) {
            case "chmod" -> op.setMode(Integer.parseInt(words[2], 8));
            case "chown" -> {
                if (!words[2].equals("-")) {
                    op.setUid(Integer.parseInt(words[2]));
                }
                if (!words[3].equals("-")) {
                    op.setGid(Integer.parseInt(words[3]));
                }
            }
            case "truncate" -> op.setSize(Long.parseLong(words[2]));
            case "ftruncate" -> op.setSize(Long.parseLong(words[2])).setHandle(true);
            case "touch" -> op.setAtimeNow(true).setMtimeNow(true);
            case "touch-read" -> op.setAtimeNow(true);
            case "touch-written" -> op.setMtimeNow(true);
            case "utimes" ->
                    op.setAtimeNs(Long.parseLong(words[2])).setMtimeNs(Long.parseLong(words[3]));
            default -> throw new IllegalArgumentException(words[0]);
        }
        return UpdateOp.setAttributes(op);
    }

    private static String brief(UpdateReply reply) {
        return reply.getErrno() == 0
                ? reply.isExisted() ? "ok existed" : "ok"
                : Errno.of(reply.getErrno()).name();
    }

    private ReadReply read(int partition, ReadOp op) {
        return rings.read(partition, new Credentials(uid, gid).setGroups(groups), op);
    }

    /** open PATH MASK */
    private String open(String[] words) {
        long ino = find(words[1]).ino;
        ReadReply reply =
                read(
                        Partitions.ofBirth(ino),
                        ReadOp.open(new OpenOp(ino, Integer.parseInt(words[2]))));
        return reply.getErrno() == 0 ? "ok" : Errno.of(reply.getErrno()).name();
    }

    private String read(String[] words) {
        Target target = find(words.length > 1 ? words[1] : "/");
        int partition = Partitions.ofBirth(target.ino);
        long ino = target.ino;
        ReadReply reply =
                switch (words[0]) {
                    case "stat" -> read(partition, ReadOp.getAttributes(new GetAttributesOp(ino)));
                    case "cat", "extents" ->
                            read(partition, ReadOp.content(new ContentOp(ino, 0, Long.MAX_VALUE)));
                    case "ls" ->
                            read(partition, ReadOp.readDirectory(new ReadDirectoryOp(ino, 0, 100)));
                    case "readlink" -> read(partition, ReadOp.readLink(new ReadLinkOp(ino)));
                    case "statfs" ->
                            read(Integer.parseInt(words[2]), ReadOp.statFs(new StatFsOp()));
                    default ->
                            read(
                                    Partitions.ofBirth(target.parent),
                                    ReadOp.lookup(
                                            new LookupOp(
                                                    target.parent, ByteBuffer.wrap(target.name))));
                };
        if (reply.getErrno() != 0) {
            return Errno.of(reply.getErrno()).name();
        }
        return switch (words[0]) {
            case "stat" -> describe(reply.getAttributes());
            case "cat" -> text(reply);
            case "extents" ->
                    reply.getExtents().stream()
                            .map(e ->
                                    e.getOffset()
                                            + "+"
                                            + e.getLength()
                                            + (e.isUnwritten() ? "u" : ""))
                            .collect(Collectors.joining(" "));
            case "ls" ->
                    reply.getEntries().stream()
                            .map(Scenario::describe)
                            .collect(Collectors.joining("\n"));
            case "readlink" -> new String(reply.getTarget(), UTF_8);
            case "statfs" ->
                    reply.getStatistics().getInodes()
                            + " inodes, "
                            + reply.getStatistics().getBytes()
                            + " bytes";
            default ->
                    "ino partition "
                            + Partitions.ofBirth(reply.getIno())
                            + (reply.isSetAttributes() ? " with attributes" : "");
        };
    }

    private static String describe(DirectoryEntry entry) {
        return "%d %s %o partition %d"
                .formatted(
                        entry.getCookie(),
                        new String(entry.getName(), UTF_8),
                        entry.getType(),
                        Partitions.ofBirth(entry.getIno()));
    }

    private static String describe(Attributes a) {
        return "%o nlink %d uid %d gid %d size %d allocated %d version %d"
                .formatted(
                        a.getMode(),
                        a.getNlink(),
                        a.getUid(),
                        a.getGid(),
                        a.getSize(),
                        a.getAllocated(),
                        a.getVersion());
    }

    private static String text(ReadReply reply) {
        StringBuilder text = new StringBuilder(".".repeat((int) reply.getAttributes().getSize()));
        for (Extent extent : reply.getExtents()) {
            if (!extent.isSetData()) {
                continue;
            }
            int at = (int) extent.getOffset();
            text.replace(at, at + (int) extent.getLength(), new String(extent.getData(), UTF_8));
        }
        return text.toString();
    }
}
