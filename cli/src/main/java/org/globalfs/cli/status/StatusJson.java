package org.globalfs.cli.status;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The status as JSON; its keys are part of the program's interface (docs/operations.md). */
public final class StatusJson {
    private StatusJson() {}

    public static String write(ClusterStatus status) {
        List<Object> regions = new ArrayList<>();
        for (ClusterStatus.Region region : status.regions()) {
            Map<String, Object> map = new LinkedHashMap<>();
            map.put("name", region.name());
            map.put("partition", region.partition());
            map.put("replicas", region.replicas().stream().map(StatusJson::replica).toList());
            map.put("storage", region.storage().stream().map(StatusJson::storage).toList());
            region.oracle()
                    .ifPresent(oracle ->
                            map.put(
                                    "oracle",
                                    object(
                                            "alive", oracle.alive(),
                                            "address", oracle.address().toString())));
            map.put(
                    "mounts",
                    region.mounts().stream()
                            .map(m ->
                                    object(
                                            "id",
                                            m.id(),
                                            "mountpoint",
                                            m.mountpoint(),
                                            "mounted",
                                            m.mounted(),
                                            "alive",
                                            m.alive()))
                            .toList());
            regions.add(map);
        }
        return Json.write(object("cluster", status.cluster(), "regions", regions));
    }

    private static Object replica(ClusterStatus.Replica replica) {
        Map<String, Object> map =
                object(
                        "id", replica.id(),
                        "datacenter", replica.datacenter(),
                        "address", replica.address().toString(),
                        "alive", replica.alive(),
                        "rings", replica.rings().stream().map(StatusJson::ring).toList());
        replica.disk()
                .ifPresent(disk -> {
                    map.put("freeBytes", disk.freeBytes());
                    map.put("reservedBytes", disk.reservedBytes());
                    map.put("full", disk.full());
                });
        return map;
    }

    private static Object ring(ClusterStatus.Ring ring) {
        Map<String, Object> map =
                object(
                        "ring", ring.ring(),
                        "generation", ring.generation(),
                        "member", ring.member(),
                        "coordinator", ring.coordinator(),
                        "decided", ring.decided(),
                        "applied", ring.applied(),
                        "imported", ring.imported(),
                        "checkpointed", ring.checkpointed(),
                        "rejoining", ring.rejoining());
        ring.hash()
                .ifPresent(hash -> {
                    map.put("hash", hash.digest());
                    map.put("hashPosition", hash.position());
                });
        return map;
    }

    private static Object storage(ClusterStatus.Storage node) {
        return object(
                "id", node.id(),
                "datacenter", node.datacenter(),
                "address", node.address().toString(),
                "alive", node.alive(),
                "usedBytes", node.usedBytes(),
                "capacityBytes", node.capacityBytes());
    }

    private static Map<String, Object> object(Object... keysAndValues) {
        Map<String, Object> map = new LinkedHashMap<>();
        for (int i = 0; i < keysAndValues.length; i += 2) {
            map.put(keysAndValues[i].toString(), keysAndValues[i + 1]);
        }
        return map;
    }
}
