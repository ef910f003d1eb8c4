package org.globalfs.replica.state.operations;

import java.util.List;
import java.util.Objects;
import org.globalfs.protocol.Errno;
import org.globalfs.protocol.Invariant;
import org.globalfs.replica.state.model.Dentry;
import org.globalfs.replica.state.model.Effect;
import org.globalfs.replica.state.model.Inode;
import org.globalfs.replica.state.model.Mode;
import org.jspecify.annotations.Nullable;

/** Applies what a multi-partition operation was decided to change here. */
final class Effects {

    private final Tree tree;
    private final Migration migration;

    Effects(Tree tree, Migration migration) {
        this.tree = tree;
        this.migration = migration;
    }

    void apply(List<Effect> effects, long nowNs) {
        for (Effect effect : effects) {
            if (effect.partition() == tree.partition()) {
                apply(effect, effects, nowNs);
            }
        }
    }

    /** Why quotas of this partition have no room any more for what a decision lets into them. */
    @Nullable Errno refused(List<Effect> effects) {
        for (Effect effect : effects) {
            if (effect instanceof Effect.Renamed e && changesDirectory(e, effects)) {
                Inode inode = tree.existing(e.ino());
                Errno full = tree.quotas().refusesAcross(inode, here(e.parent()), false, true);
                if (full != null) {
                    return full;
                }
            }
        }
        return null;
    }

    /**
     * Within a directory a name is removed, or repointed, and another put: so renames of old are
     * told apart, which all named a directory.
     */
    private boolean changesDirectory(Effect.Renamed renamed, List<Effect> effects) {
        return renamed.partition() == tree.partition()
                && renamed.parent() != 0
                && effects.stream().filter(e -> isInDirectory(e, renamed.parent())).count() < 2;
    }

    private static boolean isInDirectory(Effect effect, long directory) {
        return effect instanceof Effect.PutEntry put && put.parent() == directory
                || effect instanceof Effect.RemoveEntry remove && remove.parent() == directory;
    }

    private @Nullable Inode here(long ino) {
        return tree.isHere(ino) ? tree.existing(ino) : null;
    }

    private void apply(Effect effect, List<Effect> all, long nowNs) {
        switch (effect) {
            case Effect.RemoveEntry e -> {
                Dentry dentry = tree.dentry(e.parent(), e.name());
                Invariant.check(
                        dentry != null, "entry of directory %x to remove is missing", e.parent());
                tree.removeEntry(
                        tree.existing(e.parent()), e.name(), Objects.requireNonNull(dentry), nowNs);
            }
            case Effect.PutEntry e -> putEntry(e, tree.dentry(e.parent(), e.name()), nowNs);
            case Effect.DropLink e -> tree.dropLink(tree.existing(e.ino()), nowNs);
            case Effect.AddLink e -> tree.addLink(tree.existing(e.ino()), nowNs);
            case Effect.Renamed e -> {
                Inode inode = tree.existing(e.ino());
                if (changesDirectory(e, all)) {
                    tree.quotas().move(inode, here(e.parent()));
                }
                if (inode.isDirectory() && e.parent() != 0) {
                    inode.parent = e.parent();
                }
                inode.changed(nowNs);
                tree.store(inode);
            }
            case Effect.GlobalBelow e -> tree.setGlobalBelow(e.count());
            case Effect.CreateDirectory e -> tree.add(directory(e));
            case Effect.Depart e -> migration.depart(e);
            case Effect.Arrive e -> migration.arrive(e.cargo());
            case Effect.Forward e -> migration.forward(e.inodes(), e.to());
            case Effect.Forget e -> migration.unforward(e.ino());
            case Effect.TakeBack e -> migration.takeBack(e);
            case Effect.Delivered e -> migration.delivered(e.through());
            case Effect.Copied e -> tree.copies().copied(e.ino(), e.part());
            case Effect.Discard e -> tree.staging().discard(e.ino(), e.copy());
        }
    }

    private void putEntry(Effect.PutEntry effect, @Nullable Dentry old, long nowNs) {
        Inode parent = tree.existing(effect.parent());
        if (old == null) {
            tree.addEntry(parent, effect.name(), effect.ino(), effect.type(), nowNs);
        } else {
            tree.repoint(parent, effect.name(), old, effect.ino(), effect.type(), nowNs);
        }
    }

    private static Inode directory(Effect.CreateDirectory effect) {
        Inode inode = new Inode(effect.ino());
        inode.mode = effect.mode();
        inode.uid = effect.uid();
        inode.gid = effect.gid();
        inode.nlink = 2;
        inode.version = 1;
        inode.parent = effect.parent();
        inode.accessAcl = effect.accessAcl();
        inode.defaultAcl = effect.defaultAcl();
        inode.nextCookie = Tree.FIRST_COOKIE;
        inode.atimeNs = effect.timeNs();
        inode.mtimeNs = effect.timeNs();
        inode.ctimeNs = effect.timeNs();
        inode.btimeNs = effect.timeNs();
        Invariant.check(Mode.isDirectory(inode.mode), "inode %x is not a directory", inode.ino);
        return inode;
    }
}
