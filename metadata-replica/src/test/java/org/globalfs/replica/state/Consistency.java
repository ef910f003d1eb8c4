package org.globalfs.replica.state;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.globalfs.protocol.wire.Attributes;
import org.globalfs.protocol.wire.DirectoryEntry;
import org.globalfs.protocol.wire.GetAttributesOp;
import org.globalfs.protocol.wire.LookupOp;
import org.globalfs.protocol.wire.ReadDirectoryOp;
import org.globalfs.protocol.wire.ReadOp;
import org.globalfs.protocol.wire.ReadReply;
import org.globalfs.replica.state.check.CheckReport;
import org.globalfs.replica.state.check.Crossings;
import org.globalfs.replica.state.check.Digests;
import org.globalfs.replica.state.model.Mode;
import org.globalfs.replica.state.model.Partitions;

/** What fsck would check over all partitions, when nothing is under way. */
public final class Consistency {

    private final PartitionStates states;
    private final int regions;
    private final Map<Long, Integer> names = new HashMap<>();
    private final Map<Long, Attributes> files = new HashMap<>();
    private final Map<Integer, Long> reached = new TreeMap<>();

    private Consistency(PartitionStates states, int regions) {
        this.states = states;
        this.regions = regions;
    }

    /**
     * Every name leads to an inode of its type, every count is right, every inode has a name or is
     * an orphan.
     */
    public static void check(PartitionStates states, int regions) {
        Consistency consistency = new Consistency(states, regions);
        consistency.directory(Partitions.ROOT, Partitions.ROOT);
        consistency.totals();
        consistency.records();
    }

    private void records() {
        Map<Long, Integer> foreign = new TreeMap<>();
        Map<Long, Integer> unexplained = new TreeMap<>();
        List<CheckReport.Crossing> hanging = new ArrayList<>();
        List<CheckReport.Crossing> held = new ArrayList<>();
        long globalBelow = states.state(0).check().report().globalBelow;
        for (int partition = 0; partition <= regions; partition++) {
            CheckReport report = states.state(partition).check().report();
            assertThat(report.findings).as("partition %s", partition).isEmpty();
            report.foreign.forEach((ino, links) -> foreign.merge(ino, links, Integer::sum));
            unexplained.putAll(report.unexplained);
            hanging.addAll(report.hanging);
            held.addAll(report.held);
            if (report.inodes > 0) {
                assertThat(report.globalBelow)
                        .as("directories of partition 0 below, in partition %s", partition)
                        .isEqualTo(globalBelow);
            }
        }
        assertThat(Crossings.faults(hanging, held)).isEmpty();
        Map<Integer, Digests> digests = new TreeMap<>();
        for (int partition = 0; partition <= regions; partition++) {
            digests.put(partition, states.state(partition).check().report().digests);
        }
        assertThat(Digests.faults(digests)).isEmpty();
        assertThat(unexplained).isEqualTo(foreign);
    }

    private ReadReply read(long ino, ReadOp op) {
        return states.readAt(ino, 0, op);
    }

    private Attributes attributes(long ino) {
        ReadReply reply = read(ino, ReadOp.getAttributes(new GetAttributesOp(ino)));
        assertThat(reply.getErrno()).as("inode %x", ino).isZero();
        return reply.getAttributes();
    }

    private void directory(long ino, long parent) {
        assertThat(names.merge(ino, 1, Integer::sum)).as("names of directory %x", ino).isEqualTo(1);
        reached.merge(states.home(ino), 1L, Long::sum);
        ReadReply up =
                read(ino, ReadOp.lookup(new LookupOp(ino, ByteBuffer.wrap("..".getBytes(UTF_8)))));
        assertThat(up.getIno()).as("parent of %x", ino).isEqualTo(parent);
        int directories = 0;
        for (DirectoryEntry entry : entries(ino)) {
            Child child = states.state(states.home(ino)).child(ino, entry.getName());
            assertThat(child).isEqualTo(new Child(entry.getIno(), entry.getType()));
            Attributes attributes = attributes(entry.getIno());
            assertThat(Mode.type(attributes.getMode())).isEqualTo(entry.getType());
            if (entry.getType() == Mode.DIRECTORY) {
                directories++;
                directory(entry.getIno(), ino);
            } else if (names.merge(entry.getIno(), 1, Integer::sum) == 1) {
                files.put(entry.getIno(), attributes);
                reached.merge(states.home(entry.getIno()), 1L, Long::sum);
            }
        }
        assertThat(attributes(ino).getNlink())
                .as("nlink of directory %x", ino)
                .isEqualTo(2 + directories);
    }

    private List<DirectoryEntry> entries(long ino) {
        List<DirectoryEntry> entries = new ArrayList<>();
        ReadReply page = new ReadReply();
        for (long cookie = 0; !page.isLast(); ) {
            page = read(ino, ReadOp.readDirectory(new ReadDirectoryOp(ino, cookie, 4000)));
            entries.addAll(page.getEntries());
            cookie = entries.isEmpty() ? 0 : entries.getLast().getCookie();
        }
        return entries;
    }

    private void totals() {
        files.forEach((ino, attributes) ->
                assertThat(attributes.getNlink()).as("nlink of %x", ino).isEqualTo(names.get(ino)));
        for (int partition = 0; partition <= regions; partition++) {
            PartitionState state = states.state(partition);
            assertThat(state.statistics().getInodes())
                    .as("inodes of partition %s", partition)
                    .isEqualTo(reached.getOrDefault(partition, 0L) + state.orphans());
            assertThat(state.pendingVotes()).isEmpty();
            assertThat(state.pendingTransactions()).isEmpty();
        }
    }
}
