package org.globalfs.cli.storage;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import org.globalfs.cli.status.Columns;
import org.globalfs.datastore.client.CacheNodes;
import org.globalfs.datastore.wire.CacheStatistics;
import org.globalfs.datastore.wire.StorageConnection;
import org.globalfs.protocol.discovery.Discovery;
import org.globalfs.protocol.discovery.Member;
import org.globalfs.protocol.discovery.Role;

/** What the caches that run say of themselves. */
public final class CacheTable {
    private static final int ANSWER_MS = 5_000;

    private CacheTable() {}

    /** A line each, below a heading; empty: none is announced. */
    public static Optional<String> of(String cluster, Discovery discovery) {
        List<Member> caches = discovery.members(Role.CACHE);
        return caches.isEmpty() ? Optional.empty() : Optional.of(of(cluster, caches));
    }

    private static String of(String cluster, List<Member> caches) {
        List<List<String>> rows = new ArrayList<>();
        rows.add(
                List.of(
                        "CACHE", "REGION", "DC", "STATE", "CHUNKS", "USED", "READS", "HITS",
                        "WHOLE", "SERVED", "FETCHED", "DAMAGED"));
        for (Member cache :
                caches.stream()
                        .sorted(Comparator.comparing(Member::region).thenComparing(Member::id))
                        .toList()) {
            List<String> row = new ArrayList<>();
            row.addAll(List.of(cache.id(), cache.region(), cache.datacenter()));
            try (StorageConnection connection =
                    new StorageConnection(
                            cache.address(), cluster, CacheNodes.name(cache.id()), ANSWER_MS)) {
                row.addAll(cells(connection.cacheStatistics()));
            } catch (IOException e) {
                row.addAll(List.of("SILENT", "", "", "", "", "", "", "", ""));
            }
            rows.add(row);
        }
        return Columns.of(rows).stripTrailing();
    }

    private static List<String> cells(CacheStatistics said) {
        return List.of(
                "up",
                Long.toString(said.chunks()),
                Columns.bytes(said.usedBytes()) + " of " + Columns.bytes(said.capacityBytes()),
                Long.toString(said.requests()),
                share(said.partHits(), said.requests()),
                share(said.wholeHits(), said.requests()),
                Columns.bytes(said.servedBytes()),
                Columns.bytes(said.fetchedBytes()),
                Long.toString(said.damaged()));
    }

    private static String share(long part, long all) {
        return all == 0 ? "" : String.format(Locale.ROOT, "%.0f %%", 100.0 * part / all);
    }
}
