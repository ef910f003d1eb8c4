package org.globalfs.oracle;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
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

    private final Topology topology;
    private final TreeReader tree;
    private final NearestReplicas nearest;
    private final PlacementPolicy policy;

    /** A node on the way down; {@code holder} is the partition of the directory that names it. */
    private record Node(long ino, int holder, boolean directory, String path) {}

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
        int partition = partitionOf(ino);
        if (!known(partition)) {
            return new LocateReply(Errno.ENOENT.number());
        }
        ReadReply reply = tree.read(partition, ReadOp.getAttributes(new GetAttributesOp(ino)));
        if (reply == null) {
            return new LocateReply(Errno.EAGAIN.number());
        }
        if (reply.getErrno() != 0) {
            return new LocateReply(reply.getErrno());
        }
        return found(new Node(ino, partition, false, ino == ROOT ? "/" : ""));
    }

    private LocateReply byPath(ByteBuffer path) {
        List<byte[]> names = split(path);
        if (names == null) {
            return new LocateReply(Errno.EINVAL.number());
        }
        Deque<Node> way = new ArrayDeque<>();
        way.push(new Node(ROOT, Topology.GLOBAL, true, "/"));
        for (byte[] name : names) {
            if (isDots(name, 2)) {
                if (way.size() > 1) {
                    way.pop();
                }
                continue;
            }
            Node here = way.element();
            if (!here.directory) {
                return new LocateReply(Errno.ENOTDIR.number());
            }
            LookupOp lookup = new LookupOp(here.ino, ByteBuffer.wrap(name));
            ReadReply reply = tree.read(partitionOf(here.ino), ReadOp.lookup(lookup));
            if (reply == null) {
                return new LocateReply(Errno.EAGAIN.number());
            }
            if (reply.getErrno() != 0) {
                return new LocateReply(reply.getErrno());
            }
            way.push(child(here, name, reply));
        }
        return found(way.element());
    }

    private static Node child(Node parent, byte[] name, ReadReply reply) {
        int type =
                reply.isSetType() ? reply.getType() : reply.getAttributes().getMode() & TYPE_MASK;
        long ino = reply.isSetIno() ? reply.getIno() : reply.getAttributes().getIno();
        String path =
                (parent.ino == ROOT ? "/" : parent.path + "/")
                        + new String(name, StandardCharsets.UTF_8);
        return new Node(ino, partitionOf(parent.ino), type == DIRECTORY, path);
    }

    private LocateReply found(Node node) {
        int partition = partitionOf(node.ino);
        TreeSet<Integer> touched = new TreeSet<>(List.of(partition, node.holder));
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
        boolean placed =
                node.directory && node.holder == Topology.GLOBAL && partition != Topology.GLOBAL;
        return placed ? "/: " + Placement.CREATOR.word() : Placement.INHERIT.word();
    }

    private boolean known(int partition) {
        return partition == Topology.GLOBAL || topology.region(partition).isPresent();
    }

    /** Inodes do not move yet: an inode lives where it was born. */
    private static int partitionOf(long ino) {
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
