package org.globalfs.cli.status;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/** The status for people: rings, then what stands in each region. */
public final class StatusTable {
    private final StringBuilder out = new StringBuilder();

    private StatusTable() {}

    public static String write(ClusterStatus status) {
        StatusTable table = new StatusTable();
        table.out.append("cluster ").append(status.cluster()).append("\n\n");
        table.rings(status);
        table.servers(status);
        table.mounts(status);
        return table.out.toString();
    }

    private void rings(ClusterStatus status) {
        Map<Integer, String> names = status.names();
        Map<Integer, String> replicaNames = new TreeMap<>();
        Map<Integer, List<ClusterStatus.Ring>> rings = new TreeMap<>();
        Map<Integer, Integer> members = new TreeMap<>();
        for (ClusterStatus.Region region : status.regions()) {
            for (ClusterStatus.Replica replica : region.replicas()) {
                boolean stranger =
                        !replica.rings().isEmpty()
                                && replica.rings().stream().noneMatch(ClusterStatus.Ring::member);
                if (stranger) {
                    continue;
                }
                replicaNames.put(replica.id(), region.name() + "-" + replica.datacenter());
                members.merge(0, 1, Integer::sum);
                members.merge(region.partition(), 1, Integer::sum);
                replica.rings()
                        .forEach(r ->
                                rings.computeIfAbsent(r.ring(), k -> new ArrayList<>()).add(r));
            }
        }
        List<List<String>> rows = new ArrayList<>();
        rows.add(List.of("RING", "COORDINATOR", "DECIDED", "APPLIED", "ANSWERING"));
        members.forEach((ring, count) -> {
            List<ClusterStatus.Ring> seen = rings.getOrDefault(ring, List.of());
            long decided = seen.stream().mapToLong(ClusterStatus.Ring::decided).max().orElse(-1);
            rows.add(
                    List.of(
                            ring + " " + names.getOrDefault(ring, "?"),
                            coordinator(seen, replicaNames),
                            seen.isEmpty() ? "-" : Long.toString(decided),
                            applied(seen),
                            seen.size() + " of " + count));
        });
        print(rows);
    }

    /** Who the answering replicas believe it is; more than one name while they disagree. */
    private static String coordinator(
            List<ClusterStatus.Ring> seen, Map<Integer, String> replicas) {
        Set<String> names = new TreeSet<>();
        for (ClusterStatus.Ring ring : seen) {
            if (ring.coordinator() >= 0) {
                names.add(
                        replicas.getOrDefault(ring.coordinator(), "replica " + ring.coordinator()));
            }
        }
        return names.isEmpty() ? "none" : String.join(" or ", names);
    }

    private static String applied(List<ClusterStatus.Ring> seen) {
        long min = seen.stream().mapToLong(ClusterStatus.Ring::applied).min().orElse(-1);
        long max = seen.stream().mapToLong(ClusterStatus.Ring::applied).max().orElse(-1);
        return seen.isEmpty() ? "-" : min == max ? Long.toString(max) : min + ".." + max;
    }

    private void servers(ClusterStatus status) {
        List<List<String>> rows = new ArrayList<>();
        rows.add(List.of("REGION", "DATACENTER", "ROLE", "ADDRESS", "STATE", "DETAIL"));
        for (ClusterStatus.Region region : status.regions()) {
            for (ClusterStatus.Replica replica : region.replicas()) {
                String detail =
                        replica.rings().stream()
                                .map(ring ->
                                        "ring "
                                                + ring.ring()
                                                + " at "
                                                + ring.applied()
                                                + (ring.member() ? "" : " not a member")
                                                + (ring.rejoining() ? " rejoining" : "")
                                                + ring.hash()
                                                        .map(h ->
                                                                " hash "
                                                                        + h.digest()
                                                                                .substring(0, 8))
                                                        .orElse(""))
                                .reduce((a, b) -> a + ", " + b)
                                .orElse("");
                rows.add(
                        List.of(
                                region.name(),
                                replica.datacenter(),
                                "replica " + replica.id(),
                                replica.address().toString(),
                                state(replica.alive()),
                                detail + room(replica)));
            }
            for (ClusterStatus.Storage node : region.storage()) {
                rows.add(
                        List.of(
                                region.name(),
                                node.datacenter(),
                                "storage " + node.id(),
                                node.address().toString(),
                                state(node.alive()),
                                node.alive()
                                        ? Columns.bytes(node.usedBytes())
                                                + " of "
                                                + Columns.bytes(node.capacityBytes())
                                        : ""));
            }
            region.oracle()
                    .ifPresent(oracle ->
                            rows.add(
                                    List.of(
                                            region.name(),
                                            "",
                                            "oracle",
                                            oracle.address().toString(),
                                            state(oracle.alive()),
                                            "")));
        }
        print(rows);
    }

    private static String room(ClusterStatus.Replica replica) {
        return replica.disk()
                .filter(ClusterStatus.Room::full)
                .map(disk ->
                        ", DISK FULL: "
                                + Columns.bytes(disk.freeBytes())
                                + " free, "
                                + Columns.bytes(disk.reservedBytes())
                                + " reserved")
                .orElse("");
    }

    private void mounts(ClusterStatus status) {
        List<List<String>> rows = new ArrayList<>();
        rows.add(List.of("REGION", "MOUNT", "STATE"));
        for (ClusterStatus.Region region : status.regions()) {
            for (ClusterStatus.Mount mount : region.mounts()) {
                rows.add(
                        List.of(
                                region.name(),
                                mount.mountpoint(),
                                mount.alive() ? "up" : mount.mounted() ? "SILENT" : "not mounted"));
            }
        }
        print(rows);
    }

    private static String state(boolean alive) {
        return alive ? "up" : "DOWN";
    }

    private void print(List<List<String>> rows) {
        out.append(Columns.of(rows)).append('\n');
    }
}
