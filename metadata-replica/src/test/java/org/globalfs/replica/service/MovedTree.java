package org.globalfs.replica.service;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.globalfs.protocol.wire.BlockRef;
import org.globalfs.protocol.wire.BlocksDeletedOp;
import org.globalfs.protocol.wire.CollectOrphansOp;
import org.globalfs.protocol.wire.ContentOp;
import org.globalfs.protocol.wire.CreateOp;
import org.globalfs.protocol.wire.DirectoryEntry;
import org.globalfs.protocol.wire.Extent;
import org.globalfs.protocol.wire.GetAttributesOp;
import org.globalfs.protocol.wire.LinkOp;
import org.globalfs.protocol.wire.MoveOp;
import org.globalfs.protocol.wire.ReadDirectoryOp;
import org.globalfs.protocol.wire.ReadOp;
import org.globalfs.protocol.wire.RenameOp;
import org.globalfs.protocol.wire.SetAttributesOp;
import org.globalfs.protocol.wire.UnlinkOp;
import org.globalfs.protocol.wire.UpdateOp;
import org.globalfs.protocol.wire.UpdateReply;
import org.globalfs.protocol.wire.WriteOp;
import org.globalfs.replica.state.model.Mode;
import org.globalfs.replica.state.model.Partitions;

/** A small tree in {@link CutRegions}, made for one move, and what is done in it and around it. */
final class MovedTree {

    private static final int FILE = Mode.REGULAR | 0644;
    private static final int DIRECTORY = Mode.DIRECTORY | 0755;
    private static final int BLOCK_BYTES = 100_000;

    /** More than content follows with at a time. */
    private static final int LARGE_BLOCKS = 6;

    final long top;
    final long file;
    final List<BlockRef> blocks = new ArrayList<>();
    private final CutRegions all;
    private final String name;
    private final int home;
    private final List<Long> inodes;

    /** Of each region, a directory that stays, with a file that wants to go into the tree. */
    private final List<Long> works = new ArrayList<>();

    /**
     * @param home the partition that it lives in
     */
    MovedTree(CutRegions all, String name, int home) {
        this.all = all;
        this.name = name;
        this.home = home;
        int maker = home == 0 ? 1 : home;
        for (int region = 1; region <= CutRegions.COUNT; region++) {
            works.add(all.made(region, Partitions.ROOT, name + "-work" + region, DIRECTORY));
            all.made(region, works.getLast(), "goes", FILE);
        }
        top = all.made(maker, Partitions.ROOT, name, DIRECTORY);
        if (home == 0) {
            all.done(maker, 0, UpdateOp.move(new MoveOp(List.of(top), 0)));
        }
        file = all.made(maker, top, "file", FILE);
        written(maker, file, 0);
        long below = all.made(maker, top, "below", DIRECTORY);
        long large = all.made(maker, below, "large", FILE);
        for (int i = 0; i < LARGE_BLOCKS; i++) {
            written(maker, large, i);
        }
        long empty = all.made(maker, below, "empty", FILE);
        all.done(maker, all.home(top), UpdateOp.link(new LinkOp(empty, top, bytes("again"))));
        inodes = List.of(top, file, below, large, empty);
        all.settle();
        assertThat(homes()).containsOnly(home);
    }

    private static ByteBuffer bytes(String text) {
        return ByteBuffer.wrap(text.getBytes(UTF_8));
    }

    static UpdateReply succeeded(Errand errand) {
        UpdateReply reply = errand.outcome();
        assertThat(reply).as("answer to %s", errand).isNotNull();
        assertThat(reply.getErrno()).as("%s", errand).isZero();
        return reply;
    }

    private void written(int region, long ino, int block) {
        BlockRef ref = all.newBlock(home, BLOCK_BYTES);
        blocks.add(ref);
        Extent extent =
                new Extent((long) block * BLOCK_BYTES, BLOCK_BYTES).setBlock(ref).setBlockOffset(0);
        all.done(region, all.home(ino), UpdateOp.write(new WriteOp(ino, List.of(extent))));
    }

    /** The partitions that what was in it at first lives in. */
    List<Integer> homes() {
        return inodes.stream().map(all::home).distinct().toList();
    }

    Errand move(int asker, int to) {
        return all.send(asker, 0, UpdateOp.move(new MoveOp(List.of(top), to)));
    }

    /** Makes a file in the region's own directory. */
    Errand workAtHome(int region) {
        CreateOp op = new CreateOp(works.get(region - 1), bytes("made"), FILE);
        return all.send(region, region, UpdateOp.create(op));
    }

    /** Makes a directory that every region has. */
    Errand workInRoot(int region) {
        CreateOp op = new CreateOp(Partitions.ROOT, bytes(name + "-" + region), FILE);
        return all.send(region, 0, UpdateOp.create(op));
    }

    /** Makes a file in the tree, as who knows where it lived at first. */
    Errand workInTree(int region) {
        CreateOp op = new CreateOp(top, bytes("made" + region), FILE);
        return all.send(region, home, UpdateOp.create(op));
    }

    Errand change(int region, int mode) {
        UpdateOp op = UpdateOp.setAttributes(new SetAttributesOp(file).setMode(mode));
        return all.send(region, home, op);
    }

    /** Renames a file of the region's own directory into the tree. */
    Errand renameInto(int region) {
        RenameOp op =
                new RenameOp(works.get(region - 1), bytes("goes"), top, bytes("came" + region), 0);
        return all.send(region, region, UpdateOp.rename(op));
    }

    private List<DirectoryEntry> list(long directory) {
        ReadOp op = ReadOp.readDirectory(new ReadDirectoryOp(directory, 0, 4000));
        return all.readAt(directory, 0, op).getEntries();
    }

    List<String> names() {
        return list(top).stream().map(entry -> new String(entry.getName(), UTF_8)).toList();
    }

    int mode() {
        ReadOp op = ReadOp.getAttributes(new GetAttributesOp(file));
        return all.readAt(file, 0, op).getAttributes().getMode() & 07777;
    }

    /** In which regions' blocks the content is. */
    List<Integer> regionsOfContent() {
        List<Integer> found = new ArrayList<>();
        for (long ino : List.of(file, inodes.get(3))) {
            ReadOp op = ReadOp.content(new ContentOp(ino, 0, Long.MAX_VALUE));
            for (Extent extent : all.readAt(ino, 0, op).getExtents()) {
                found.add(extent.getBlock().getRegion());
            }
        }
        return found;
    }

    /** Removes all that was made. */
    void remove(int region) {
        for (long work : works) {
            empty(region, work);
        }
        empty(region, top);
        for (DirectoryEntry entry : list(Partitions.ROOT)) {
            unlink(region, Partitions.ROOT, entry);
        }
        for (int partition = 0; partition <= CutRegions.COUNT; partition++) {
            CollectOrphansOp collect = new CollectOrphansOp(4000).setBefore(Long.MAX_VALUE);
            all.internal(partition, UpdateOp.collectOrphans(collect));
        }
        all.settle();
        for (int partition = 0; partition <= CutRegions.COUNT; partition++) {
            List<BlockRef> doomed = all.state(partition).doomed(4000);
            all.internal(partition, UpdateOp.blocksDeleted(new BlocksDeletedOp(doomed)));
        }
        all.settle();
    }

    private void empty(int region, long directory) {
        for (DirectoryEntry entry : list(directory)) {
            if (entry.getType() == Mode.DIRECTORY) {
                empty(region, entry.getIno());
            }
            unlink(region, directory, entry);
        }
    }

    private void unlink(int region, long parent, DirectoryEntry entry) {
        boolean directory = entry.getType() == Mode.DIRECTORY;
        UnlinkOp op = new UnlinkOp(parent, ByteBuffer.wrap(entry.getName()), directory);
        all.done(region, all.home(parent), UpdateOp.unlink(op));
    }
}
