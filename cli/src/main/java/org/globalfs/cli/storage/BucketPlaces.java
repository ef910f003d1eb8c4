package org.globalfs.cli.storage;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.globalfs.cli.ExitCode;
import org.globalfs.cli.Failure;
import org.globalfs.datastore.wire.PassState;
import org.globalfs.datastore.wire.RepairProgress;
import org.globalfs.datastore.wire.ScrubProgress;
import org.globalfs.protocol.config.Topology;
import org.globalfs.protocol.rpc.MetadataCalls;
import org.globalfs.protocol.rpc.RpcClient;
import org.globalfs.protocol.rpc.RpcException;
import org.globalfs.protocol.rpc.RpcServer;
import org.globalfs.protocol.wire.PassProgress;
import org.globalfs.protocol.wire.UpkeepPass;
import org.globalfs.protocol.wire.UpkeepReply;
import org.globalfs.protocol.wire.UpkeepRequest;
import org.jspecify.annotations.Nullable;

/**
 * What partitions have in buckets: content of all regions, and of each; its coordinator is asked.
 */
public final class BucketPlaces implements PassPlaces {
    private static final int ANSWER_MS = 15_000;
    private static final int CONNECT_MS = 4_000;

    private final Topology topology;

    /**
     * @param topology every replica that is known
     */
    public BucketPlaces(Topology topology) {
        this.topology = topology;
    }

    @Override
    public List<Place> all() {
        List<Place> all = new ArrayList<>();
        all.add(new Place(Topology.GLOBAL_NAME, true, true));
        topology.regions().forEach(region -> all.add(new Place(region.name(), true, true)));
        return all;
    }

    @Override
    public Place place(String id) throws Failure {
        return all().stream()
                .filter(place -> place.id().equals(id))
                .findFirst()
                .orElseThrow(() ->
                        new Failure(
                                ExitCode.USAGE,
                                "content is in buckets, and no region '"
                                        + id
                                        + "' has any: "
                                        + String.join(
                                                ", ", all().stream().map(Place::id).toList())));
    }

    private int partition(String id) {
        return topology.region(id).map(Topology.Region::partition).orElse(Topology.GLOBAL);
    }

    @Override
    public PassTarget open(String id) throws IOException {
        Target target = new Target(partition(id));
        var _ = target.ask(null, 0);
        return target;
    }

    /** What the coordinator of a partition's ring says. */
    UpkeepReply ask(String id) throws IOException {
        try (Target target = new Target(partition(id))) {
            return target.ask(null, 0);
        }
    }

    /** Asks who leads, as long as the same one does. */
    private final class Target implements PassTarget {
        private final int partition;
        private RpcClient client;
        private boolean found;
        private int answeredBy;

        Target(int partition) {
            this.partition = partition;
            this.client = client(sites().getFirst());
        }

        private List<Topology.ReplicaSite> sites() {
            return topology.region(partition)
                    .map(Topology.Region::replicas)
                    .orElse(topology.replicas());
        }

        private static RpcClient client(Topology.ReplicaSite site) {
            return new RpcClient(
                    site.rpc().host(),
                    site.rpc().port(),
                    CONNECT_MS,
                    RpcServer.DEFAULT_MAX_FRAME_BYTES);
        }

        /**
         * @param starts null: none
         */
        UpkeepReply ask(@Nullable UpkeepPass starts, long bytesPerSecond) throws IOException {
            UpkeepRequest request = new UpkeepRequest(partition);
            if (starts != null) {
                request.setStarts(starts).setBytesPerSecond(bytesPerSecond);
            }
            String trouble = "none of its replicas is the coordinator";
            if (found) {
                try {
                    UpkeepReply reply = client.call(MetadataCalls.UPKEEP, request, ANSWER_MS);
                    if (reply.isLeads()) {
                        return reply;
                    }
                } catch (RpcException e) {
                    trouble = String.valueOf(e.getMessage());
                }
                found = false;
            }
            for (Topology.ReplicaSite site : sites()) {
                client.close();
                client = client(site);
                try {
                    UpkeepReply reply = client.call(MetadataCalls.UPKEEP, request, ANSWER_MS);
                    if (reply.isLeads()) {
                        found = true;
                        answeredBy = site.id();
                        return reply;
                    }
                } catch (RpcException e) {
                    trouble = "replica " + site.id() + ": " + e.getMessage();
                }
            }
            throw new IOException(trouble);
        }

        @Override
        public String answeredBy() {
            return "replica " + answeredBy;
        }

        @Override
        public ScrubProgress scrub() throws IOException {
            return scrub(ask(null, 0).getScrub());
        }

        @Override
        public ScrubProgress beginScrub(long bytesPerSecond) throws IOException {
            return scrub(ask(UpkeepPass.SCRUB, bytesPerSecond).getScrub());
        }

        @Override
        public RepairProgress repair() throws IOException {
            return repair(ask(null, 0).getRepair());
        }

        @Override
        public RepairProgress beginRepair() throws IOException {
            return repair(ask(UpkeepPass.REPAIR, 0).getRepair());
        }

        private static ScrubProgress scrub(PassProgress said) throws IOException {
            return new ScrubProgress(
                    said.getNumber(),
                    PassState.of(said.getState()),
                    said.getElapsedMs(),
                    said.getTotal(),
                    said.getDone(),
                    said.getBytesPerSecond(),
                    said.getDamaged(),
                    said.getMade(),
                    said.getLeft(),
                    said.getUnreadable(),
                    said.getProblems());
        }

        private static RepairProgress repair(PassProgress said) throws IOException {
            return new RepairProgress(
                    said.getNumber(),
                    PassState.of(said.getState()),
                    said.getElapsedMs(),
                    said.getTotal(),
                    said.getDone(),
                    0,
                    said.getMade(),
                    0,
                    said.getLeft(),
                    said.getUnclear(),
                    said.getLost(),
                    List.of(),
                    said.getProblems());
        }

        @Override
        public void close() {
            client.close();
        }
    }

    @Override
    public Words words() {
        return new Words(
                "no replica runs",
                "the buckets",
                "see the coordinator's log, and 'globalfs datastore status' for buckets that do not"
                        + " answer, then scrub again",
                "does a bucket not answer, or is it full? See 'globalfs datastore status'; what can"
                        + " be done later is tried again by itself");
    }
}
