package org.globalfs.cli.fsck;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.globalfs.cli.Failure;
import org.globalfs.protocol.config.Topology;
import org.globalfs.protocol.wire.CheckReply;
import org.globalfs.protocol.wire.Crossing;
import org.globalfs.protocol.wire.Links;
import org.globalfs.replica.state.check.CheckReport;
import org.globalfs.replica.state.check.Crossings;
import org.globalfs.replica.state.check.Digests;
import org.jspecify.annotations.Nullable;

/**
 * Asks a replica of each partition to check its records, and compares what partitions say of each
 * other. A name in one partition and its inode in another change at different moments while the
 * tree is in use, so what does not match is looked at again: only what stays the same over {@link
 * #ROUNDS} rounds is a fault, and what never matched and changed each time cannot be told. Then the
 * content that files have is looked for in the datastore.
 */
public final class Fsck {
    private static final int ROUNDS = 4;
    private static final long PAUSE_MS = 1_500;

    private final Topology topology;
    private final boolean content;
    private final Consumer<String> out;
    private long faults;

    /**
     * @param content whether the datastore is asked, too, for what files have
     * @param out told what is found, a line each
     */
    public Fsck(Topology topology, boolean content, Consumer<String> out) {
        this.topology = topology;
        this.content = content;
        this.out = out;
    }

    /** Whether nothing is wrong, as far as can be told now. */
    public boolean clean() throws Failure, InterruptedException {
        int moving = compare();
        long unclear = 0;
        if (content) {
            ContentCheck.Result found = new ContentCheck(topology, out).run();
            faults += found.lost();
            unclear = found.unclear();
        }
        if (faults > 0) {
            out.accept(faults + " faults");
        } else if (unclear > 0) {
            out.accept(
                    "no faults found, but %,d blocks could not be looked for: try again when all answers"
                            .formatted(unclear));
        } else if (moving > 0) {
            out.accept(
                    "no faults found, but %d comparisons could not be made: try again later"
                            .formatted(moving));
        } else {
            out.accept("clean");
        }
        return faults + unclear + moving == 0;
    }

    /**
     * Tells what differs between partitions in the same way in all rounds.
     *
     * @return how much differed each time in another way: a fault may hide behind what moves
     */
    private int compare() throws Failure, InterruptedException {
        Set<String> suspects = round(true);
        Set<String> subjects = subjects(suspects);
        for (int round = 1; round < ROUNDS && !subjects.isEmpty(); round++) {
            TimeUnit.MILLISECONDS.sleep(PAUSE_MS);
            Set<String> again = round(false);
            suspects.retainAll(again);
            subjects.retainAll(subjects(again));
        }
        suspects.forEach(this::fault);
        subjects.removeAll(subjects(suspects));
        subjects.forEach(subject ->
                out.accept(
                        "  "
                                + subject
                                + ": could not be compared, something moves: try again later"));
        return subjects.size();
    }

    private static Set<String> subjects(Set<String> suspects) {
        return suspects.stream()
                .map(Digests::subject)
                .collect(Collectors.toCollection(TreeSet::new));
    }

    private static String describe(long ino, int missing) {
        return missing > 0
                ? String.format("inode %x has %d links more than names", ino, missing)
                : String.format(
                        "inode %x, which other partitions have names of, has %d links too few, or is not there",
                        ino, -missing);
    }

    private void fault(String what) {
        faults++;
        out.accept("  " + what);
    }

    /** What partitions say of each other, put together. */
    private static final class Comparison {
        /** Links less names of inodes. */
        final Map<Long, Integer> difference = new TreeMap<>();

        final List<CheckReport.Crossing> hanging = new ArrayList<>();
        final List<CheckReport.Crossing> held = new ArrayList<>();
        final Set<String> wrong = new TreeSet<>();
        final Map<Integer, Digests> digests = new TreeMap<>();
        private long globalBelow;

        void add(CheckReply reply) {
            for (Links links : reply.getUnexplained()) {
                difference.merge(links.getIno(), links.getNames(), Integer::sum);
            }
            for (Links links : reply.getForeign()) {
                difference.merge(links.getIno(), -links.getNames(), Integer::sum);
            }
            add(reply.isSetHanging() ? reply.getHanging() : List.of(), hanging);
            add(reply.isSetHeld() ? reply.getHeld() : List.of(), held);
            int partition = reply.getPosition().getPartition();
            digests.put(
                    partition,
                    new Digests(
                            orNone(reply.getHomes()),
                            orNone(reply.getBirths()),
                            orNone(reply.getLent()),
                            orNone(reply.getBorrowed())));
            if (partition == Topology.GLOBAL) {
                globalBelow = reply.getGlobalBelow();
            } else if (reply.getInodes() > 0 && reply.getGlobalBelow() != globalBelow) {
                wrong.add(
                        String.format(
                                "partition %d takes %d directories of partition 0 to lie in regional ones, but there are %d",
                                partition, reply.getGlobalBelow(), globalBelow));
            }
        }

        private static Map<Integer, Long> orNone(@Nullable Map<Integer, Long> told) {
            return told == null ? Map.of() : told;
        }

        private static void add(List<Crossing> from, List<CheckReport.Crossing> to) {
            from.forEach(each ->
                    to.add(
                            new CheckReport.Crossing(
                                    each.getIno(), each.getParent(), each.getTop())));
        }

        Set<String> faults() {
            difference.forEach((ino, missing) -> {
                if (missing != 0) {
                    wrong.add(describe(ino, missing));
                }
            });
            wrong.addAll(Crossings.faults(hanging, held));
            wrong.addAll(Digests.faults(digests));
            return wrong;
        }
    }

    /** What does not match over all partitions; partition 0 comes first. */
    private Set<String> round(boolean tell) throws Failure, InterruptedException {
        Comparison comparison = new Comparison();
        Replicas replicas = Replicas.find(topology);
        add(replicas.check(Topology.GLOBAL, "global"), "global", comparison, tell);
        for (Topology.Region region : topology.regions()) {
            String name = region.name();
            add(replicas.check(region.partition(), name), name, comparison, tell);
        }
        return comparison.faults();
    }

    private void add(CheckReply reply, String name, Comparison comparison, boolean tell) {
        comparison.add(reply);
        if (!tell) {
            return;
        }
        out.accept(
                "partition %d %s at %d: %,d inodes, %,d names, %,d extents, %,d blocks: %s"
                        .formatted(
                                reply.getPosition().getPartition(),
                                name,
                                reply.getPosition().getInstance(),
                                reply.getInodes(),
                                reply.getNames(),
                                reply.getExtents(),
                                reply.getBlocks(),
                                reply.getFaults() == 0 ? "agree" : reply.getFaults() + " faults"));
        reply.getFindings().forEach(finding -> out.accept("  " + finding));
        long more = reply.getFaults() - reply.getFindings().size();
        if (more > 0) {
            out.accept("  … and " + more + " more");
        }
        faults += reply.getFaults();
    }
}
