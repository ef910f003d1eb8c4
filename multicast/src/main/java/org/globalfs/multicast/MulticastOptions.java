package org.globalfs.multicast;

import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.globalfs.protocol.Dissemination;

/**
 * What a process needs to take part in its rings.
 *
 * @param cluster name; peers and log folders of another cluster are refused
 * @param self this process's replica id
 * @param bind where to listen for peers; port 0 takes a free one (tests)
 * @param peers where the other replicas of these rings listen, by replica id; an entry for self is
 *     ignored. Unresolved addresses are looked up at each connection attempt
 * @param rings ring number to the replica ids of the acceptors that it began with, the same in all
 *     processes; this one may have to be added to them at run time
 * @param homeRing the region's ring, into which ring 0 is merged, or -1
 * @param folder where the log is; made when absent
 * @param durable false: acknowledge without waiting for the disk (benchmarks only)
 * @param segmentBytes size that log segments grow to
 * @param retainedBytes how much of the newest log outlives checkpoints, for peers that lag
 * @param merge how learners of several rings put them into one order; the same in all processes
 * @param dissemination how values spread, by ring; star where nothing is said
 */
public record MulticastOptions(
        String cluster,
        int self,
        InetSocketAddress bind,
        Map<Integer, InetSocketAddress> peers,
        Map<Integer, List<Integer>> rings,
        int homeRing,
        Path folder,
        boolean durable,
        int segmentBytes,
        long retainedBytes,
        MergeStrategy merge,
        Map<Integer, Dissemination> dissemination) {

    public MulticastOptions {
        peers = Map.copyOf(peers);
        rings = Map.copyOf(rings);
        dissemination = Map.copyOf(dissemination);
    }

    /** How a ring's values spread. */
    public Dissemination dissemination(int ring) {
        return dissemination.getOrDefault(ring, Dissemination.STAR);
    }

    /** With {@link MergeStrategy#HOME_RING}. */
    public MulticastOptions(
            String cluster,
            int self,
            InetSocketAddress bind,
            Map<Integer, InetSocketAddress> peers,
            Map<Integer, List<Integer>> rings,
            int homeRing,
            Path folder,
            boolean durable,
            int segmentBytes,
            long retainedBytes) {
        this(
                cluster,
                self,
                bind,
                peers,
                rings,
                homeRing,
                folder,
                durable,
                segmentBytes,
                retainedBytes,
                MergeStrategy.HOME_RING,
                Map.of());
    }

    /** The same, merged differently. */
    public MulticastOptions mergedBy(MergeStrategy strategy) {
        return new MulticastOptions(
                cluster,
                self,
                bind,
                peers,
                rings,
                homeRing,
                folder,
                durable,
                segmentBytes,
                retainedBytes,
                strategy,
                dissemination);
    }

    /** The same with values spread so, by ring. */
    public MulticastOptions spreading(Map<Integer, Dissemination> other) {
        return new MulticastOptions(
                cluster,
                self,
                bind,
                peers,
                rings,
                homeRing,
                folder,
                durable,
                segmentBytes,
                retainedBytes,
                merge,
                other);
    }
}
