package org.globalfs.protocol.placement;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.globalfs.protocol.wire.Attributes;
import org.globalfs.protocol.wire.GetAttributesOp;
import org.globalfs.protocol.wire.ReadOp;
import org.jspecify.annotations.Nullable;

/**
 * Counts the inodes of a tree by the partition that they live in. It is in use meanwhile, so what
 * moves or is renamed may be counted before or after that, or not at all. One thread, one tree.
 *
 * @param <E> how access to the tree fails
 */
public final class TreeCount<E extends Exception> {

    private final TreeMove.Access<E> access;
    private final Map<Integer, Long> counts = new TreeMap<>();
    private final Deque<Long> directories = new ArrayDeque<>();

    /** Directories, and what has more names than one. */
    private final Set<Long> met = new HashSet<>();

    public TreeCount(TreeMove.Access<E> access) {
        this.access = access;
    }

    /** Inodes below, and with, that one; a file with several names in the tree once. */
    public Map<Integer, Long> of(long root) throws E {
        ReadOp op = ReadOp.getAttributes(new GetAttributesOp(root));
        TreeMove.Answer top = access.read(root, op);
        count(root, TreeMove.isDirectory(top.reply().getAttributes()), top);
        while (!directories.isEmpty()) {
            TreeMove.list(
                    access,
                    directories.poll(),
                    (entry, home, attributes) ->
                            count(
                                    entry.getIno(),
                                    entry.getType() == TreeMove.DIRECTORY,
                                    home,
                                    attributes));
        }
        return counts;
    }

    private void count(long ino, boolean isDirectory, TreeMove.Answer answer) {
        count(ino, isDirectory, answer.partition(), answer.reply().getAttributes());
    }

    private void count(long ino, boolean isDirectory, int home, @Nullable Attributes attributes) {
        // What has one name is not met again, and there may be many millions of those.
        boolean again = isDirectory || attributes != null && attributes.getNlink() > 1;
        if (again && !met.add(ino)) {
            return;
        }
        counts.merge(home, 1L, Long::sum);
        if (isDirectory) {
            directories.add(ino);
        }
    }

    /** How much is kept of what was met. */
    int remembered() {
        return met.size();
    }
}
