package org.globalfs.replica.state.operations;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.globalfs.protocol.Errno;
import org.globalfs.protocol.wire.Command;
import org.globalfs.protocol.wire.LinkOp;
import org.globalfs.protocol.wire.RenameOp;
import org.globalfs.protocol.wire.UnlinkOp;
import org.globalfs.replica.state.model.Effect;
import org.globalfs.replica.state.model.Mode;
import org.jspecify.annotations.Nullable;

/**
 * The end of a coordinated operation on which all partitions voted yes: applies the rules that need
 * facts of more than one partition.
 *
 * @param refused why it aborts; null when it commits
 * @param effects what each partition has to change
 */
record Decision(@Nullable Errno refused, List<Effect> effects) {

    private static Decision refuse(Errno errno) {
        return new Decision(errno, List.of());
    }

    static Decision of(Command command, Facts facts, Homes homes) {
        return switch (command.getOp().getSetField()) {
            case UNLINK -> unlink(command.getOp().getUnlink(), facts, homes);
            case RENAME -> rename(command.getOp().getRename(), facts, homes);
            case LINK -> link(command.getOp().getLink(), facts, homes);
            default -> refuse(Errno.EINVAL);
        };
    }

    private static Decision unlink(UnlinkOp op, Facts facts, Homes homes) {
        Facts.Named source = Objects.requireNonNull(facts.source());
        Facts.OfInode inode = facts.of(source.ino());
        if (inode == null) {
            return refuse(Errno.ESTALE);
        }
        if (source.mustOwn() && !inode.owned()) {
            return refuse(Errno.EPERM);
        }
        Errno wrong = Remove.wrongKind(op.isDirectory(), inode.type());
        if (wrong != null) {
            return refuse(wrong);
        }
        if (op.isDirectory() && !inode.empty()) {
            return refuse(Errno.ENOTEMPTY);
        }
        return new Decision(
                null,
                List.of(
                        new Effect.RemoveEntry(
                                homes.of(op.getParent()), op.getParent(), op.getName()),
                        new Effect.DropLink(homes.of(source.ino()), source.ino())));
    }

    private static Decision link(LinkOp op, Facts facts, Homes homes) {
        Facts.OfInode inode = facts.of(op.getIno());
        if (inode == null) {
            return refuse(Errno.ESTALE);
        }
        return new Decision(
                null,
                List.of(
                        put(homes, op.getNewParent(), op.getNewName(), op.getIno(), inode.type()),
                        new Effect.AddLink(homes.of(op.getIno()), op.getIno())));
    }

    private static Effect put(Homes homes, long parent, byte[] name, long ino, int type) {
        return new Effect.PutEntry(homes.of(parent), parent, name, ino, type);
    }

    /** Who applies it may have the inode only, and cannot tell whether its directory changes. */
    private static Effect renamed(Homes homes, long ino, long from, long to) {
        return new Effect.Renamed(homes.of(ino), ino, from == to ? 0 : to);
    }

    private static Decision rename(RenameOp op, Facts facts, Homes homes) {
        Facts.Named source = Objects.requireNonNull(facts.source());
        Facts.Named target = facts.target();
        boolean exchange = (op.getFlags() & Rename.EXCHANGE) != 0;
        if (target != null && target.ino() == source.ino()) {
            return new Decision(null, List.of());
        }
        Errno refused = refused(op, facts, source, target, exchange);
        if (refused != null) {
            return refuse(refused);
        }
        List<Effect> effects = new ArrayList<>();
        if (exchange) {
            Facts.Named other = Objects.requireNonNull(target);
            effects.add(put(homes, op.getParent(), op.getName(), other.ino(), other.type()));
            effects.add(renamed(homes, other.ino(), op.getNewParent(), op.getParent()));
        } else {
            effects.add(
                    new Effect.RemoveEntry(homes.of(op.getParent()), op.getParent(), op.getName()));
            if (target != null) {
                effects.add(new Effect.DropLink(homes.of(target.ino()), target.ino()));
            }
        }
        effects.add(put(homes, op.getNewParent(), op.getNewName(), source.ino(), source.type()));
        effects.add(renamed(homes, source.ino(), op.getParent(), op.getNewParent()));
        return new Decision(null, effects);
    }

    private static @Nullable Errno refused(
            RenameOp op,
            Facts facts,
            Facts.Named source,
            Facts.@Nullable Named target,
            boolean exchange) {
        if (source.mustOwn() && !owned(facts, source)
                || target != null && target.mustOwn() && !owned(facts, target)) {
            return Errno.EPERM;
        }
        if (target != null && !exchange) {
            Errno kind = notReplaceable(facts, source, target);
            if (kind != null) {
                return kind;
            }
        }
        boolean otherParent = op.getParent() != op.getNewParent();
        boolean mayMove =
                mayMove(facts, source)
                        && (!exchange || mayMove(facts, Objects.requireNonNull(target)));
        return otherParent && !mayMove ? Errno.EACCES : null;
    }

    private static boolean owned(Facts facts, Facts.Named named) {
        Facts.OfInode inode = facts.of(named.ino());
        return inode != null && inode.owned();
    }

    private static boolean mayMove(Facts facts, Facts.Named named) {
        Facts.OfInode inode = facts.of(named.ino());
        return named.type() != Mode.DIRECTORY || inode != null && inode.writable();
    }

    private static @Nullable Errno notReplaceable(
            Facts facts, Facts.Named source, Facts.Named target) {
        boolean targetIsDirectory = target.type() == Mode.DIRECTORY;
        if (source.type() != Mode.DIRECTORY) {
            return targetIsDirectory ? Errno.EISDIR : null;
        }
        if (!targetIsDirectory) {
            return Errno.ENOTDIR;
        }
        Facts.OfInode inode = facts.of(target.ino());
        return inode != null && inode.empty() ? null : Errno.ENOTEMPTY;
    }
}
