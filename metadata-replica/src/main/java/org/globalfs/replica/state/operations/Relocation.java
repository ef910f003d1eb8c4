package org.globalfs.replica.state.operations;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.globalfs.protocol.Errno;
import org.globalfs.protocol.wire.Command;
import org.globalfs.protocol.wire.MoveOp;
import org.globalfs.protocol.wire.UpdateReply;
import org.globalfs.replica.state.model.Dentry;
import org.globalfs.replica.state.model.Effect;
import org.globalfs.replica.state.model.Inode;
import org.globalfs.replica.state.model.Mode;
import org.globalfs.replica.state.model.Partitions;
import org.jspecify.annotations.Nullable;

/**
 * The move of inodes to another partition, as partition 0 decides it: what every partition has to
 * change, and the answer.
 *
 * <p>The votes carry the records themselves, so that the decision moves all of them at once: there
 * is no moment at which an inode lives in two partitions or in none, and nothing to be undone when
 * it is not taken. Partition 0 notes where everything lives that does not live where it was born;
 * so does the partition of birth, to which everybody comes who knows nothing better.
 *
 * @param firstBelow {@link Tree#globalBelow} will not be 0 any more: all partitions with
 *     directories have to agree
 */
record Relocation(List<Effect> effects, UpdateReply reply, boolean firstBelow) {

    /** Inodes that one command may name. */
    private static final int MOST_INODES = 65_536;

    static @Nullable Errno refused(Command command, MoveOp op) {
        if (command.getCredentials().getUid() != 0) {
            return Errno.EPERM;
        }
        if (op.getInodesSize() > MOST_INODES) {
            return Errno.E2BIG;
        }
        return op.getTo() < 0 ? Errno.EINVAL : null;
    }

    /** The partition whose turn it is; empty: everything is where it should be. */
    static OptionalInt source(Homes homes, MoveOp op) {
        return op.getInodes().stream()
                .mapToInt(homes::of)
                .filter(home -> home != op.getTo() && isWanted(op, home))
                .findFirst();
    }

    private static boolean isWanted(MoveOp op, int home) {
        return !op.isSetSource() || op.getSource() == home;
    }

    /** Nothing is to be done. */
    static UpdateReply nothing() {
        return Replies.done().setDone(0).setRest(List.of()).setStayed(List.of());
    }

    static Relocation of(Tree tree, int from, MoveOp op, byte[] bytes) {
        int to = op.getTo();
        Cargo cargo = Cargo.decode(bytes);
        List<Long> rest = new ArrayList<>(cargo.rest());
        for (long ino : op.getInodes()) {
            int home = tree.home(ino);
            if (home != from && home != to && isWanted(op, home)) {
                rest.add(ino);
            }
        }
        UpdateReply reply =
                Replies.done()
                        .setDone(cargo.items().size())
                        .setRest(rest)
                        .setStayed(cargo.stayed());
        if (cargo.items().isEmpty() && cargo.parts().isEmpty()) {
            return new Relocation(List.of(), reply, false);
        }
        cargo.inodes().stream().limit(op.getInodesSize()).forEach(ino -> reply.putToHomes(ino, to));
        long more = moreBelow(tree, from, to, cargo);
        return new Relocation(
                effects(tree, from, to, cargo, bytes, more),
                reply,
                tree.globalBelow() == 0 && more > 0);
    }

    private static List<Effect> effects(
            Tree tree, int from, int to, Cargo cargo, byte[] bytes, long moreBelow) {
        List<Long> inodes = cargo.inodes();
        List<Effect> effects = new ArrayList<>();
        if (from != 0 && to != 0 && !inodes.isEmpty()) {
            effects.add(new Effect.Forward(0, inodes, to));
        }
        if (!inodes.isEmpty()) {
            effects.add(new Effect.Depart(from, inodes, to));
        }
        for (Cargo.Part part : cargo.parts()) {
            if (!part.last()) {
                effects.add(new Effect.Copied(from, part.ino(), part.number()));
            }
        }
        effects.add(new Effect.Arrive(to, bytes));
        effects.addAll(globalBelow(tree, to, tree.globalBelow() + moreBelow));
        Map<Integer, List<Long>> bornElsewhere = new TreeMap<>();
        for (long ino : inodes) {
            int birth = Partitions.ofBirth(ino);
            if (birth != from && birth != to && birth != 0) {
                bornElsewhere.computeIfAbsent(birth, key -> new ArrayList<>()).add(ino);
            }
        }
        bornElsewhere.forEach((birth, some) -> effects.add(new Effect.Forward(birth, some, to)));
        return effects;
    }

    private static List<Effect> globalBelow(Tree tree, int to, long count) {
        Set<Integer> told = new TreeSet<>();
        if (count != tree.globalBelow()) {
            told.addAll(tree.others());
            told.add(0);
        }
        if (count > 0) {
            // It may get its first directories: nobody told that partition before.
            told.add(to);
        }
        List<Effect> effects = new ArrayList<>();
        told.forEach(partition -> effects.add(new Effect.GlobalBelow(partition, count)));
        return effects;
    }

    /**
     * By how much {@link Tree#globalBelow} grows. Directories that live in partition 0 before or
     * after count by their parents; those that stay, and lie in one that moves, as well; and those
     * that were born there by where they live.
     */
    private static long moreBelow(Tree tree, int from, int to, Cargo cargo) {
        if (from != 0 && to != 0) {
            return 0;
        }
        Set<Long> moving = new HashSet<>(cargo.inodes());
        long more = 0;
        for (Cargo.Item item : cargo.items()) {
            Inode inode = Inode.decode(item.ino(), item.inode());
            if (!inode.isDirectory()) {
                continue;
            }
            if (Partitions.ofBirth(item.ino()) == 0) {
                more += from == 0 ? 1 : -1;
            }
            boolean parentMoves = moving.contains(inode.parent);
            if (from == 0 && tree.home(inode.parent) != 0) {
                more--;
            }
            if (to == 0 && !parentMoves && tree.home(inode.parent) != 0) {
                more++;
            }
            for (Cargo.Named entry : item.entries()) {
                Dentry child = Dentry.decode(entry.value());
                boolean stays =
                        child.type() == Mode.DIRECTORY
                                && !moving.contains(child.ino())
                                && tree.home(child.ino()) == 0;
                if (stays) {
                    more += from == 0 ? 1 : -1;
                }
            }
        }
        return more;
    }
}
