package org.globalfs.replica.state.operations;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.globalfs.protocol.Errno;
import org.globalfs.protocol.wire.Command;
import org.globalfs.protocol.wire.MoveOp;
import org.globalfs.protocol.wire.UpdateReply;
import org.globalfs.replica.state.model.Effect;
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
 */
record Relocation(List<Effect> effects, UpdateReply reply) {

    /** Inodes that one command may name. */
    private static final int MOST_INODES = 65_536;

    static @Nullable Errno refused(Command command, MoveOp op) {
        if (command.getCredentials().getUid() != 0) {
            return Errno.EPERM;
        }
        if (op.getInodesSize() > MOST_INODES) {
            return Errno.E2BIG;
        }
        return op.getTo() <= 0 ? Errno.EINVAL : null;
    }

    /** The regional partition whose turn it is; 0: there is none. */
    static int source(Homes homes, MoveOp op) {
        for (long ino : op.getInodes()) {
            int home = homes.of(ino);
            if (home != 0 && home != op.getTo()) {
                return home;
            }
        }
        return 0;
    }

    /** Everything is where it should be, or in partition 0 and stays there. */
    static UpdateReply nothing(Homes homes, MoveOp op) {
        List<Long> stayed = new ArrayList<>(op.getInodes());
        stayed.removeIf(ino -> homes.of(ino) == op.getTo());
        return Replies.done().setDone(0).setRest(List.of()).setStayed(stayed);
    }

    static Relocation of(Tree tree, Set<Integer> participants, MoveOp op, Facts facts) {
        int to = op.getTo();
        int from = participants.stream().filter(p -> p != to).findFirst().orElseThrow();
        byte[] bytes = facts.cargo();
        Cargo cargo =
                bytes == null ? new Cargo(List.of(), List.of(), List.of()) : Cargo.decode(bytes);
        List<Long> rest = new ArrayList<>(cargo.rest());
        for (long ino : op.getInodes()) {
            int home = tree.home(ino);
            if (home != from && home != to) {
                rest.add(ino);
            }
        }
        UpdateReply reply =
                Replies.done()
                        .setDone(cargo.items().size())
                        .setRest(rest)
                        .setStayed(cargo.stayed());
        if (bytes == null || cargo.items().isEmpty()) {
            return new Relocation(List.of(), reply);
        }
        cargo.inodes().stream().limit(op.getInodesSize()).forEach(ino -> reply.putToHomes(ino, to));
        return new Relocation(effects(tree, from, to, cargo.inodes(), bytes), reply);
    }

    private static List<Effect> effects(
            Tree tree, int from, int to, List<Long> inodes, byte[] cargo) {
        List<Effect> effects = new ArrayList<>();
        effects.add(new Effect.Forward(0, inodes, to));
        effects.add(new Effect.Depart(from, inodes, to));
        effects.add(new Effect.Arrive(to, cargo));
        if (tree.globalBelow() > 0) {
            // It may get its first directories: nobody told that partition before.
            effects.add(new Effect.GlobalBelow(to, tree.globalBelow()));
        }
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
}
