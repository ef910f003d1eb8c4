package org.globalfs.protocol.discovery;

import java.io.IOException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.globalfs.protocol.HostPort;
import org.jspecify.annotations.Nullable;
import org.snakeyaml.engine.v2.api.Dump;
import org.snakeyaml.engine.v2.api.DumpSettings;
import org.snakeyaml.engine.v2.api.Load;
import org.snakeyaml.engine.v2.api.LoadSettings;
import org.snakeyaml.engine.v2.exceptions.YamlEngineException;

/**
 * The texts kept in ZooKeeper: YAML, so that people can read them there. Keys that a newer version
 * adds are ignored; a newer format is refused.
 */
final class Records {
    private static final int FORMAT = 1;

    private Records() {}

    static String encode(Member member) {
        Map<String, Object> map = new TreeMap<>();
        map.put("format", FORMAT);
        map.put("id", member.id());
        map.put("region", member.region());
        map.put("partition", member.partition());
        map.put("datacenter", member.datacenter());
        map.put("address", member.address().toString());
        map.put("attributes", new TreeMap<>(member.attributes()));
        return dump(map);
    }

    static Member member(Role role, String text) throws IOException {
        Map<?, ?> map = load(text);
        Map<String, String> attributes = new TreeMap<>();
        if (map.get("attributes") instanceof Map<?, ?> given) {
            given.forEach(
                    (key, value) -> attributes.put(String.valueOf(key), String.valueOf(value)));
        }
        return new Member(
                role,
                string(map, "id"),
                string(map, "region"),
                integer(map, "partition"),
                string(map, "datacenter"),
                address(map),
                attributes);
    }

    static String encode(Epoch epoch) {
        List<Object> sites = new ArrayList<>();
        for (StorageSite site : epoch.nodes()) {
            Map<String, Object> map = new TreeMap<>();
            map.put("id", site.id());
            map.put("region", site.region());
            map.put("partition", site.partition());
            map.put("datacenter", site.datacenter());
            map.put("address", site.address().toString());
            map.put("weight", site.weight());
            sites.add(map);
        }
        Map<String, Object> map = new TreeMap<>();
        map.put("format", FORMAT);
        map.put("nodes", sites);
        if (!epoch.drained().isEmpty()) {
            map.put("drained", epoch.drained().stream().sorted().toList());
        }
        map.put("regional", epoch.regional().toString());
        map.put("global", epoch.global().toString());
        return dump(map);
    }

    static Epoch epoch(int number, String text) throws IOException {
        Map<?, ?> map = load(text);
        if (!(map.get("nodes") instanceof List<?> nodes)) {
            throw new IOException("placement epoch " + number + " lists no nodes");
        }
        List<StorageSite> sites = new ArrayList<>();
        for (Object node : nodes) {
            if (!(node instanceof Map<?, ?> site)
                    || !(site.get("weight") instanceof Number weight)) {
                throw new IOException("placement epoch " + number + " has a malformed node");
            }
            sites.add(
                    new StorageSite(
                            string(site, "id"),
                            string(site, "region"),
                            integer(site, "partition"),
                            string(site, "datacenter"),
                            address(site),
                            weight.doubleValue()));
        }
        Set<String> drained = new HashSet<>();
        if (map.get("drained") instanceof List<?> ids) {
            ids.forEach(id -> drained.add(String.valueOf(id)));
        }
        return new Epoch(
                number,
                sites,
                drained,
                code(map, "regional", Epoch.REGIONAL),
                code(map, "global", Epoch.GLOBAL));
    }

    private static BlockCode code(Map<?, ?> map, String key, BlockCode fallback)
            throws IOException {
        if (!(map.get(key) instanceof String text)) {
            return fallback;
        }
        try {
            return BlockCode.parse(text);
        } catch (IllegalArgumentException e) {
            throw new IOException("placement epoch with " + key + " " + e.getMessage(), e);
        }
    }

    static String encode(RecordedStore store) {
        List<Object> buckets = new ArrayList<>();
        for (RecordedStore.Bucket bucket : store.buckets()) {
            Map<String, Object> map = new TreeMap<>();
            map.put("region", bucket.region());
            map.put("partition", bucket.partition());
            map.put("bucket", bucket.name());
            buckets.add(map);
        }
        Map<String, Object> map = new TreeMap<>();
        map.put("format", FORMAT);
        map.put("store", store.kind().word());
        map.put("buckets", buckets);
        return dump(map);
    }

    static RecordedStore store(String text) throws IOException {
        Map<?, ?> map = load(text);
        String word = string(map, "store");
        StoreKind kind = null;
        for (StoreKind each : StoreKind.values()) {
            kind = each.word().equals(word) ? each : kind;
        }
        if (kind == null) {
            throw new IOException(
                    "the cluster keeps its blocks in '"
                            + word
                            + "', which this program does not know: upgrade it");
        }
        List<RecordedStore.Bucket> buckets = new ArrayList<>();
        if (map.get("buckets") instanceof List<?> list) {
            for (Object each : list) {
                if (!(each instanceof Map<?, ?> bucket)) {
                    throw new IOException("malformed record in ZooKeeper: " + text);
                }
                buckets.add(
                        new RecordedStore.Bucket(
                                string(bucket, "region"),
                                integer(bucket, "partition"),
                                string(bucket, "bucket")));
            }
        }
        return new RecordedStore(kind, buckets);
    }

    private static String dump(Map<String, Object> map) {
        return new Dump(DumpSettings.builder().build()).dumpToString(map);
    }

    private static Map<?, ?> load(String text) throws IOException {
        Object loaded;
        try {
            loaded = new Load(LoadSettings.builder().build()).loadFromString(text);
        } catch (YamlEngineException e) {
            throw new IOException("malformed record in ZooKeeper: " + e.getMessage(), e);
        }
        if (!(loaded instanceof Map<?, ?> map)) {
            throw new IOException("malformed record in ZooKeeper: " + text);
        }
        int format = integer(map, "format");
        if (format > FORMAT) {
            throw new IOException(
                    "a record in ZooKeeper has format "
                            + format
                            + "; this program knows up to "
                            + FORMAT
                            + ": upgrade it");
        }
        return map;
    }

    private static String string(Map<?, ?> map, String key) throws IOException {
        return present(map.get(key), key).toString();
    }

    private static int integer(Map<?, ?> map, String key) throws IOException {
        if (present(map.get(key), key) instanceof Integer number) {
            return number;
        }
        throw new IOException("malformed record in ZooKeeper: " + key + " is not a number");
    }

    private static HostPort address(Map<?, ?> map) throws IOException {
        try {
            return HostPort.parse(string(map, "address"));
        } catch (IllegalArgumentException e) {
            throw new IOException("malformed record in ZooKeeper: " + e.getMessage(), e);
        }
    }

    private static Object present(@Nullable Object value, String key) throws IOException {
        if (value == null) {
            throw new IOException("malformed record in ZooKeeper: " + key + " is missing");
        }
        return value;
    }
}
