package org.globalfs.cli.storage;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import org.globalfs.cli.status.Columns;
import org.globalfs.datastore.wire.PassState;
import org.globalfs.protocol.config.Topology;
import org.globalfs.protocol.discovery.RecordedStore;
import org.globalfs.protocol.wire.BucketState;
import org.globalfs.protocol.wire.PassProgress;
import org.globalfs.protocol.wire.UpkeepReply;

/** What a cluster has in its buckets, and who looks after that. */
public final class BucketTable {

    /** What all partitions say of one bucket. */
    private static final class Sum {
        long objects;
        long bytes;
        boolean known;
        String away = "";
    }

    private BucketTable() {}

    /** A line a bucket, and below them one for each partition's content. */
    public static String of(RecordedStore store, Topology topology) {
        BucketPlaces places = new BucketPlaces(topology);
        Map<String, Sum> sums = new TreeMap<>();
        List<List<String>> care = new ArrayList<>();
        care.add(
                List.of(
                        "CONTENT OF",
                        "REPLICA",
                        "COMPARED",
                        "TO REBUILD",
                        "LOST",
                        "UNCLEAR",
                        "SCRUBBED"));
        for (PassPlaces.Place place : places.all()) {
            List<String> row = new ArrayList<>(List.of(place.id()));
            try {
                UpkeepReply said = places.ask(place.id());
                row.addAll(cells(said));
                said.getBuckets().forEach(bucket -> add(sums, bucket, said.isSetComparedMs()));
            } catch (IOException e) {
                row.addAll(List.of("SILENT", "", "", "", "", ""));
            }
            care.add(row);
        }
        return buckets(store, sums) + "\n\n" + Columns.of(care).stripTrailing();
    }

    private static void add(Map<String, Sum> sums, BucketState bucket, boolean compared) {
        Sum sum = sums.computeIfAbsent(bucket.getRegion(), region -> new Sum());
        sum.objects += bucket.getObjects();
        sum.bytes += bucket.getBytes();
        sum.known |= compared;
        sum.away = sum.away.isEmpty() ? bucket.getAway() : sum.away;
    }

    private static String buckets(RecordedStore store, Map<String, Sum> sums) {
        List<List<String>> rows = new ArrayList<>();
        rows.add(List.of("BUCKET", "REGION", "STATE", "CHUNKS", "DATA"));
        List<String> reasons = new ArrayList<>();
        for (RecordedStore.Bucket bucket : store.buckets()) {
            Sum sum = sums.getOrDefault(bucket.region(), new Sum());
            String state =
                    !sums.containsKey(bucket.region()) ? "" : sum.away.isEmpty() ? "up" : "SILENT";
            rows.add(
                    List.of(
                            bucket.name(),
                            bucket.region(),
                            state,
                            sum.known ? Long.toString(sum.objects) : "",
                            sum.known ? Columns.bytes(sum.bytes) : ""));
            if (!sum.away.isEmpty()) {
                reasons.add("\n" + sum.away);
            }
        }
        return Columns.of(rows).stripTrailing() + String.join("", reasons);
    }

    private static List<String> cells(UpkeepReply said) throws IOException {
        PassProgress repair = said.getRepair();
        PassState state = PassState.of(repair.getState());
        String compared =
                switch (state) {
                    case OFF -> "off";
                    case RUNNING -> "now";
                    case NONE, WAITING, ENDED ->
                            said.isSetComparedMs()
                                    ? ProgressText.time(said.getComparedMs()) + " ago"
                                    : "not yet";
                };
        return List.of(
                Integer.toString(said.getCoordinator()),
                compared,
                Long.toString(repair.getLeft()),
                Long.toString(repair.getLost()),
                Long.toString(repair.getUnclear()),
                String.format(Locale.ROOT, "%d %%", (int) (100 * said.getScrubbed())));
    }
}
