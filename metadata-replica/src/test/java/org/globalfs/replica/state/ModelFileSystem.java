package org.globalfs.replica.state;

import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import org.globalfs.protocol.Errno;
import org.globalfs.replica.state.model.Mode;
import org.globalfs.replica.state.model.Partitions;
import org.jspecify.annotations.Nullable;

/**
 * A file system as naive as possible: objects, maps and byte arrays. Results are errnos, 0 for
 * success.
 */
final class ModelFileSystem {

    static final int NOREPLACE = 1;
    static final int EXCHANGE = 2;

    /** A file, directory or link. */
    static final class Node {
        long ino;
        int mode;
        int uid;
        int gid;
        int links;
        byte[] content = {};
        byte[] target = {};
        long mtime;
        long ctime;
        Map<String, Node> children = new LinkedHashMap<>();
        @Nullable Node parent;

        boolean isDirectory() {
            return Mode.isDirectory(mode);
        }

        int nlink() {
            if (!isDirectory()) {
                return links;
            }
            long directories = children.values().stream().filter(Node::isDirectory).count();
            return links == 0 ? 0 : 2 + (int) directories;
        }
    }

    final Node root = new Node();
    final Map<Long, Node> all = new HashMap<>();
    long now;

    ModelFileSystem() {
        root.ino = Partitions.ROOT;
        root.mode = Mode.DIRECTORY | 0755;
        root.links = 1;
        root.parent = root;
        all.put(root.ino, root);
    }

    Node node(long ino) {
        return Objects.requireNonNull(all.get(ino));
    }

    static boolean may(Node node, int uid, int mask) {
        if (uid == 0) {
            return (mask & 1) == 0 || node.isDirectory() || (node.mode & 0111) != 0;
        }
        int shift = node.uid == uid ? 6 : node.gid == uid ? 3 : 0;
        return (node.mode >> shift & mask) == mask;
    }

    private static int reach(Node directory, int uid) {
        if (!directory.isDirectory()) {
            return Errno.ENOTDIR.number();
        }
        return may(directory, uid, 1) ? 0 : Errno.EACCES.number();
    }

    private static boolean stuck(Node directory, Node child, int uid) {
        return (directory.mode & Mode.STICKY) != 0
                && uid != 0
                && directory.uid != uid
                && child.uid != uid;
    }

    private static int addable(Node directory, int uid) {
        if (directory.links == 0) {
            return Errno.ENOENT.number();
        }
        return may(directory, uid, 2) ? 0 : Errno.EACCES.number();
    }

    /** A fresh node, or an errno as a negative ino. */
    int create(Node directory, String name, int mode, int uid, boolean exclusive, Node fresh) {
        int error = reach(directory, uid);
        if (error != 0) {
            return error;
        }
        Node old = directory.children.get(name);
        if (old != null) {
            if (exclusive || !Mode.isRegular(mode)) {
                return Errno.EEXIST.number();
            }
            return old.isDirectory() ? Errno.EISDIR.number() : 0;
        }
        error = addable(directory, uid);
        if (error != 0) {
            return error;
        }
        fresh.mode = mode;
        fresh.uid = uid;
        fresh.gid = uid;
        if ((directory.mode & Mode.SET_GID) != 0) {
            fresh.gid = directory.gid;
            if (Mode.isDirectory(mode)) {
                fresh.mode |= Mode.SET_GID;
            } else if ((mode & 010) != 0 && uid != 0 && directory.gid != uid) {
                fresh.mode &= ~Mode.SET_GID;
            }
        }
        fresh.links = 1;
        fresh.mtime = now;
        fresh.ctime = now;
        fresh.parent = directory;
        directory.children.put(name, fresh);
        touch(directory);
        return 0;
    }

    private void touch(Node node) {
        node.mtime = now;
        node.ctime = now;
    }

    int unlink(Node directory, String name, int uid, boolean rmdir) {
        int error = reach(directory, uid);
        if (error != 0) {
            return error;
        }
        Node child = directory.children.get(name);
        if (child == null) {
            return Errno.ENOENT.number();
        }
        if (!may(directory, uid, 2)) {
            return Errno.EACCES.number();
        }
        if (stuck(directory, child, uid)) {
            return Errno.EPERM.number();
        }
        if (rmdir != child.isDirectory()) {
            return rmdir ? Errno.ENOTDIR.number() : Errno.EISDIR.number();
        }
        if (rmdir && !child.children.isEmpty()) {
            return Errno.ENOTEMPTY.number();
        }
        directory.children.remove(name);
        touch(directory);
        drop(child);
        return 0;
    }

    private void drop(Node child) {
        child.links--;
        child.ctime = now;
    }

    int link(Node node, Node directory, String name, int uid) {
        int error = reach(directory, uid);
        if (error != 0) {
            return error;
        }
        if (node.links == 0) {
            return Errno.ENOENT.number();
        }
        if (node.isDirectory()) {
            return Errno.EPERM.number();
        }
        if (directory.children.containsKey(name)) {
            return Errno.EEXIST.number();
        }
        error = addable(directory, uid);
        if (error != 0) {
            return error;
        }
        directory.children.put(name, node);
        node.links++;
        node.ctime = now;
        touch(directory);
        return 0;
    }

    private static boolean contains(Node outer, Node inner) {
        for (Node at = inner; ; at = Objects.requireNonNull(at.parent)) {
            if (at == outer) {
                return true;
            }
            if (at.parent == at || at.links == 0) {
                return false;
            }
        }
    }

    int rename(Node from, String name, Node to, String newName, int flags, int uid) {
        int error = reach(from, uid);
        if (error == 0) {
            error = reach(to, uid);
        }
        if (error != 0) {
            return error;
        }
        Node source = from.children.get(name);
        Node target = to.children.get(newName);
        boolean exchange = flags == EXCHANGE;
        if (source == null || target == null && exchange) {
            return Errno.ENOENT.number();
        }
        if (target != null && flags == NOREPLACE) {
            return Errno.EEXIST.number();
        }
        if (source.isDirectory() && from != to && contains(source, to)) {
            return Errno.EINVAL.number();
        }
        if (target != null && target.isDirectory() && from != to && contains(target, from)) {
            return exchange ? Errno.EINVAL.number() : Errno.ENOTEMPTY.number();
        }
        if (source == target) {
            return 0;
        }
        error = permitted(from, to, source, target, uid, exchange);
        if (error != 0) {
            return error;
        }
        if (exchange) {
            from.children.put(name, Objects.requireNonNull(target));
            moved(target, from);
        } else {
            from.children.remove(name);
            if (target != null) {
                drop(target);
            }
        }
        to.children.put(newName, source);
        moved(source, to);
        touch(from);
        touch(to);
        return 0;
    }

    private void moved(Node node, Node parent) {
        node.ctime = now;
        node.parent = parent;
    }

    private static int permitted(
            Node from, Node to, Node source, @Nullable Node target, int uid, boolean exchange) {
        if (!may(from, uid, 2)) {
            return Errno.EACCES.number();
        }
        int error = target == null ? addable(to, uid) : may(to, uid, 2) ? 0 : Errno.EACCES.number();
        if (error != 0) {
            return error;
        }
        if (stuck(from, source, uid) || target != null && stuck(to, target, uid)) {
            return Errno.EPERM.number();
        }
        if (target != null && !exchange) {
            if (source.isDirectory() != target.isDirectory()) {
                return source.isDirectory() ? Errno.ENOTDIR.number() : Errno.EISDIR.number();
            }
            if (!target.children.isEmpty()) {
                return Errno.ENOTEMPTY.number();
            }
        }
        boolean moves = from != to;
        boolean denied = moves && source.isDirectory() && !may(source, uid, 2);
        denied |=
                exchange
                        && moves
                        && Objects.requireNonNull(target).isDirectory()
                        && !may(target, uid, 2);
        return denied ? Errno.EACCES.number() : 0;
    }

    int truncate(Node node, long size, int uid) {
        if (node.isDirectory()) {
            return Errno.EISDIR.number();
        }
        if (!Mode.isRegular(node.mode)) {
            return Errno.EINVAL.number();
        }
        if (!may(node, uid, 2)) {
            return Errno.EACCES.number();
        }
        node.content = Arrays.copyOf(node.content, (int) size);
        clearSetId(node, uid);
        touch(node);
        return 0;
    }

    private static void clearSetId(Node node, int uid) {
        if (uid != 0) {
            node.mode = bare(node, uid);
        }
    }

    /** The mode without set-id bits; a locking file's set-gid bit stays for its group, and root. */
    private static int bare(Node node, int uid) {
        int mode = node.mode & ~04000;
        if ((mode & 010) == 010) {
            return mode & ~02000;
        }
        boolean trusted = uid == 0 || uid == node.gid;
        return trusted ? mode : mode & ~02000;
    }

    int write(Node node, long offset, byte[] data, int uid) {
        if (!Mode.isRegular(node.mode)) {
            return node.isDirectory() ? Errno.EISDIR.number() : Errno.EINVAL.number();
        }
        int end = (int) offset + data.length;
        if (end > node.content.length) {
            node.content = Arrays.copyOf(node.content, end);
        }
        System.arraycopy(data, 0, node.content, (int) offset, data.length);
        clearSetId(node, uid);
        touch(node);
        return 0;
    }

    int chmod(Node node, int mode, int uid) {
        if (uid != 0 && node.uid != uid) {
            return Errno.EPERM.number();
        }
        int kept = uid != 0 && node.gid != uid ? mode & ~Mode.SET_GID : mode;
        node.mode = Mode.type(node.mode) | kept;
        node.ctime = now;
        return 0;
    }

    int chown(Node node, int owner, int uid) {
        boolean toItself = node.uid == uid && owner == uid;
        if (uid != 0 && !toItself) {
            return Errno.EPERM.number();
        }
        if (!node.isDirectory()) {
            node.mode = bare(node, uid);
        }
        node.uid = owner;
        node.gid = owner;
        node.ctime = now;
        return 0;
    }

    /** chown(2) that names neither owner nor group. */
    int chownToNobody(Node node, int uid) {
        int left = node.isDirectory() ? node.mode : bare(node, uid);
        if (left != node.mode && uid != 0 && node.uid != uid) {
            return Errno.EPERM.number();
        }
        node.mode = left;
        node.ctime = now;
        return 0;
    }
}
