package org.globalfs.cli.status;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.globalfs.protocol.HostPort;

/** What a cluster's processes answered, at about one moment. */
public record ClusterStatus(String cluster, List<Region> regions) {

    /** A region and what stands in it. */
    public record Region(
            String name,
            int partition,
            List<Replica> replicas,
            List<Storage> storage,
            Optional<Oracle> oracle,
            List<Mount> mounts) {}

    /** A metadata replica; without rings and disk when it did not answer. */
    public record Replica(
            int id,
            String datacenter,
            HostPort address,
            boolean alive,
            List<Ring> rings,
            Optional<Room> disk) {}

    /**
     * What a replica's disk has free.
     *
     * @param full updates that need room are refused
     */
    public record Room(long freeBytes, long reservedBytes, boolean full) {}

    /**
     * A replica's position in a ring.
     *
     * @param generation how often the ring's membership has changed, as far as it knows
     * @param member whether it is one of the ring's members
     * @param rejoining it lost its log and takes no part yet
     */
    public record Ring(
            int ring,
            int generation,
            boolean member,
            int coordinator,
            long decided,
            long applied,
            long imported,
            long checkpointed,
            boolean rejoining,
            Optional<Hash> hash) {
        Ring withHash(Hash found) {
            return new Ring(
                    ring,
                    generation,
                    member,
                    coordinator,
                    decided,
                    applied,
                    imported,
                    checkpointed,
                    rejoining,
                    Optional.of(found));
        }
    }

    /** A digest of a partition's state, and the instance up to which it holds. */
    public record Hash(String digest, long position) {}

    /** A storage node. */
    public record Storage(
            String id,
            String datacenter,
            HostPort address,
            boolean alive,
            long usedBytes,
            long capacityBytes) {}

    /** A region's oracle. */
    public record Oracle(HostPort address, boolean alive) {}

    /** A mount that this machine, or discovery, knows of. */
    public record Mount(String id, String mountpoint, boolean mounted, boolean alive) {}

    /** The names of regions by partition. */
    Map<Integer, String> names() {
        Map<Integer, String> names = new TreeMap<>();
        names.put(0, "global");
        regions.forEach(region -> names.put(region.partition, region.name));
        return names;
    }
}
