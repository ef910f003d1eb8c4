package org.globalfs.oracle;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;
import org.globalfs.protocol.Errno;
import org.globalfs.protocol.config.Topology;
import org.globalfs.protocol.placement.Placement;
import org.globalfs.protocol.placement.PlacementPolicy;
import org.globalfs.protocol.wire.GetAttributesOp;
import org.globalfs.protocol.wire.LocateReply;
import org.globalfs.protocol.wire.LocateRequest;
import org.globalfs.protocol.wire.LookupOp;
import org.globalfs.protocol.wire.ReadOp;
import org.globalfs.protocol.wire.ReadReply;
import org.jspecify.annotations.Nullable;

/**
 * Answers where a path or an inode is, and which partitions an update of it touches. Symbolic links
 * are not followed.
 */
final class Locator {

    private static final long ROOT = 1;
    private static final int BIRTH_SHIFT = 48;
    private static final int TYPE_MASK = 0170000;
    private static final int DIRECTORY = 0040000;
    private static final int MAX_DEPTH = 4096;

    /** Asked for by its number, an inode's directories are not known. */
    private static final int NOBODY = -1;

    private final Topology topology;
    private final TreeReader tree;
    private final NearestReplicas nearest;
    private final PlacementPolicy policy;

    /**
     * A node on the way down; {@code holder} is the partition of the directory that names it,
     * {@code home} the one that has it, or knows who does.
     */
    record Node(long ino, int holder, int home, boolean directory, String path) {}

    /** The nodes from the root on to where a path leads, or why it leads nowhere. */
    record Way(int errno, List<Node> nodes) {}

    Locator(Topology topology, TreeReader tree, NearestReplicas nearest, PlacementPolicy policy) {
        this.topology = topology;
        this.tree = tree;
        this.nearest = nearest;
        this.policy = policy;
    }

    LocateReply locate(LocateRequest request) {
        if (request.isSetPath() == request.isSetIno()) {
            return new LocateReply(Errno.EINVAL.number());
        }
        return request.isSetIno() ? byInode(request.getIno()) : byPath(request.bufferForPath());
    }

    private LocateReply byInode(long ino) {
        int partition = birth(ino);
        if (!known(partition)) {
            return new LocateReply(Errno.ENOENT.number());
        }
        return found(new Node(ino, NOBODY, partition, false, ino == ROOT ? "/" : ""));
    }

    private LocateReply byPath(ByteBuffer path) {
        Way way = way(path);
        return way.errno == 0 ? found(way.nodes.getLast()) : new LocateReply(way.errno);
    }

    /** Follows an absolute path. */
    Way way(ByteBuffer path) {
        List<byte[]> names = split(path);
        if (names == null) {
            return nowhere(Errno.EINVAL.number());
        }
        List<Node> nodes = new ArrayList<>();
        nodes.add(new Node(ROOT, Topology.GLOBAL, Topology.GLOBAL, true, "/"));
        for (byte[] name : names) {
            if (isDots(name, 2)) {
                if (nodes.size() > 1) {
                    nodes.removeLast();
                }
                continue;
            }
            Node here = nodes.getLast();
            if (!here.directory) {
                return nowhere(Errno.ENOTDIR.number());
            }
            LookupOp lookup = new LookupOp(here.ino, ByteBuffer.wrap(name));
            TreeReader.Read read = tree.read(here.home, ReadOp.lookup(lookup));
            if (read == null) {
                return nowhere(Errno.EAGAIN.number());
            }
            if (read.reply().getErrno() != 0) {
                return nowhere(read.reply().getErrno());
            }
            nodes.add(child(here, name, read));
        }
        return new Way(0, nodes);
    }

    private static Way nowhere(int errno) {
        return new Way(errno, List.of());
    }

    private static Node child(Node parent, byte[] name, TreeReader.Read read) {
        ReadReply reply = read.reply();
        int type =
                reply.isSetType() ? reply.getType() : reply.getAttributes().getMode() & TYPE_MASK;
        long ino = reply.isSetIno() ? reply.getIno() : reply.getAttributes().getIno();
        String path =
                (parent.ino == ROOT ? "/" : parent.path + "/")
                        + new String(name, StandardCharsets.UTF_8);
        int home =
                reply.isSetAttributes()
                        ? read.partition()
                        : reply.isSetHomes()
                                ? reply.getHomes().getOrDefault(ino, birth(ino))
                                : birth(ino);
        return new Node(ino, read.partition(), home, type == DIRECTORY, path);
    }

    private LocateReply found(Node node) {
        ReadOp attributes = ReadOp.getAttributes(new GetAttributesOp(node.ino));
        TreeReader.Read read = tree.read(node.home, attributes);
        if (read == null) {
            return new LocateReply(Errno.EAGAIN.number());
        }
        if (read.reply().getErrno() != 0) {
            return new LocateReply(read.reply().getErrno());
        }
        int partition = read.partition();
        TreeSet<Integer> touched = new TreeSet<>(List.of(partition));
        if (node.holder != NOBODY) {
            touched.add(node.holder);
        }
        LocateReply reply =
                new LocateReply(0)
                        .setIno(node.ino)
                        .setPartition(partition)
                        .setUpdates(new ArrayList<>(touched))
                        .setPlacement(rule(node, partition));
        List<Topology.ReplicaSite> replicas = nearest.of(partition);
        if (!replicas.isEmpty()) {
            reply.setReplica(replicas.getFirst().id());
        }
        return reply;
    }

    /** Why the node is where it is, and where new ones in it go. */
    private String rule(Node node, int partition) {
        if (node.ino == ROOT) {
            return "/: " + policy.of("/").word();
        }
        if (partition != birth(node.ino)) {
            return "moved";
        }
        boolean placed =
                node.directory && node.holder == Topology.GLOBAL && partition != Topology.GLOBAL;
        return placed ? "/: " + Placement.CREATOR.word() : Placement.INHERIT.word();
    }

    private boolean known(int partition) {
        return partition == Topology.GLOBAL || topology.region(partition).isPresent();
    }

    private static int birth(long ino) {
        return (int) (ino >>> BIRTH_SHIFT);
    }

    /** The names of an absolute path, without empty ones and dots; null when it is none. */
    private static @Nullable List<byte[]> split(ByteBuffer path) {
        byte[] bytes = new byte[path.remaining()];
        path.get(bytes);
        if (bytes.length == 0 || bytes[0] != '/') {
            return null;
        }
        List<byte[]> names = new ArrayList<>();
        int start = 1;
        for (int i = 1; i <= bytes.length; i++) {
            if (i == bytes.length || bytes[i] == '/') {
                byte[] name = java.util.Arrays.copyOfRange(bytes, start, i);
                start = i + 1;
                if (name.length > 0 && !isDots(name, 1)) {
                    names.add(name);
                }
            }
        }
        return names.size() <= MAX_DEPTH ? names : null;
    }

    private static boolean isDots(byte[] name, int count) {
        if (name.length != count) {
            return false;
        }
        for (byte letter : name) {
            if (letter != '.') {
                return false;
            }
        }
        return true;
    }
}
