package org.globalfs.cli.fsck;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Consumer;
import org.globalfs.cli.ExitCode;
import org.globalfs.cli.Failure;
import org.globalfs.protocol.config.Topology;
import org.globalfs.protocol.rpc.MetadataCalls;
import org.globalfs.protocol.rpc.RpcClient;
import org.globalfs.protocol.rpc.RpcException;
import org.globalfs.protocol.rpc.RpcServer;
import org.globalfs.protocol.wire.BlockRef;
import org.globalfs.protocol.wire.ContentReply;
import org.globalfs.protocol.wire.ContentRequest;

/**
 * Has the coordinator of each partition's ring look for the blocks in the datastore that the
 * partition's files have, and names the files whose content is lost.
 */
final class ContentCheck {
    private static final int CONNECT_MS = 4_000;
    private static final int ANSWER_MS = 180_000;

    /** Asking for the files that have them takes a pass over all files. */
    private static final int MOST_NAMED = 1_000;

    private static final long PROGRESS_NS = 10_000_000_000L;

    private final Topology topology;
    private final Consumer<String> out;
    private final List<BlockRef> lost = new ArrayList<>();

    /** What came of all partitions. */
    record Result(long lost, long unclear) {}

    ContentCheck(Topology topology, Consumer<String> out) {
        this.topology = topology;
        this.out = out;
    }

    Result run() throws Failure {
        long allLost = 0;
        long unclear = 0;
        for (Part part : parts()) {
            Tally tally = look(part);
            allLost += tally.lost;
            unclear += tally.unclear;
        }
        if (!lost.isEmpty()) {
            name();
        }
        return new Result(allLost, unclear);
    }

    private record Part(int partition, String name, List<Topology.ReplicaSite> replicas) {}

    private List<Part> parts() {
        List<Part> parts = new ArrayList<>();
        parts.add(new Part(Topology.GLOBAL, Topology.GLOBAL_NAME, topology.replicas()));
        topology.regions()
                .forEach(each ->
                        parts.add(new Part(each.partition(), each.name(), each.replicas())));
        return parts;
    }

    private static final class Tally {
        long blocks;
        long reduced;
        long lost;
        long unclear;
        final Set<String> problems = new TreeSet<>();
    }

    private Tally look(Part part) throws Failure {
        Tally tally = new Tally();
        ContentRequest request = new ContentRequest(part.partition);
        long toldNs = System.nanoTime();
        try (Leader leader = new Leader(part)) {
            while (true) {
                ContentReply reply = leader.ask(request);
                tally.blocks += reply.getBlocks();
                tally.reduced += reply.getReduced();
                tally.unclear += reply.getUnclear();
                tally.lost += reply.getLost().size();
                tally.problems.addAll(reply.getProblems());
                reply.getLost().stream().limit(MOST_NAMED - lost.size()).forEach(lost::add);
                if (!reply.isSetLast()) {
                    break;
                }
                request.setAfter(reply.getLast());
                if (System.nanoTime() - toldNs > PROGRESS_NS) {
                    toldNs = System.nanoTime();
                    out.accept(
                            "partition %d %s: looked for %,d blocks"
                                    .formatted(part.partition, part.name, tally.blocks));
                }
            }
        }
        tell(part, tally);
        return tally;
    }

    private void tell(Part part, Tally tally) {
        List<String> parts = new ArrayList<>();
        if (tally.lost > 0) {
            parts.add("%,d are lost".formatted(tally.lost));
        }
        if (tally.unclear > 0) {
            parts.add("of %,d nobody can tell now".formatted(tally.unclear));
        }
        if (tally.reduced > 0) {
            parts.add("%,d have fewer chunks than they should".formatted(tally.reduced));
        }
        out.accept(
                "partition %d %s: looked for %,d blocks in the datastore: %s"
                        .formatted(
                                part.partition,
                                part.name,
                                tally.blocks,
                                parts.isEmpty() ? "all there" : String.join(", ", parts)));
        tally.problems.forEach(each -> out.accept("  does not answer, or not well: " + each));
    }

    /** Blocks can be shared by files of several partitions. */
    private void name() throws Failure {
        out.accept("files with lost content:");
        boolean any = false;
        for (Part part : parts()) {
            try (Leader leader = new Leader(part)) {
                ContentRequest request = new ContentRequest(part.partition).setOf(lost);
                for (String file : leader.ask(request).getFiles()) {
                    out.accept("  partition %d: %s".formatted(part.partition, file));
                    any = true;
                }
            }
        }
        if (!any) {
            out.accept("  none any more: they were deleted or rewritten meanwhile");
        }
    }

    /** The replica that leads a partition's ring, as long as the same one does. */
    private static final class Leader implements AutoCloseable {
        private final Part part;
        private RpcClient client;
        private boolean found;

        Leader(Part part) {
            this.part = part;
            this.client = client(part.replicas.getFirst());
        }

        private static RpcClient client(Topology.ReplicaSite site) {
            return new RpcClient(
                    site.rpc().host(),
                    site.rpc().port(),
                    CONNECT_MS,
                    RpcServer.DEFAULT_MAX_FRAME_BYTES);
        }

        ContentReply ask(ContentRequest request) throws Failure {
            String trouble = "none of its replicas leads";
            for (int i = found ? -1 : 0; i < part.replicas.size(); i++) {
                if (i >= 0) {
                    client.close();
                    client = client(part.replicas.get(i));
                }
                try {
                    ContentReply reply = client.call(MetadataCalls.CONTENT, request, ANSWER_MS);
                    if (reply.isLeads()) {
                        found = true;
                        return reply;
                    }
                } catch (RpcException e) {
                    trouble = String.valueOf(e.getMessage());
                }
            }
            throw new Failure(
                    ExitCode.FAILED,
                    "the content of partition "
                            + part.partition
                            + " "
                            + part.name
                            + " cannot be looked for: "
                            + trouble
                            + " (--no-content checks the rest)");
        }

        @Override
        public void close() {
            client.close();
        }
    }
}
