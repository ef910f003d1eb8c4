package org.globalfs.client.control;

import java.util.Map;
import org.globalfs.client.fuse.Mount;
import org.globalfs.client.fuse.OperationStatistics;
import org.globalfs.client.vfs.FileSystem;

/** What a mount did since it began, as JSON; docs/operations.md names the fields. */
record MountReport(Mount mount, FileSystem fileSystem, long startedNs) {

    String json() {
        OperationStatistics statistics = mount.statistics();
        StringBuilder out = new StringBuilder(2048);
        out.append("{\"seconds\":").append((System.nanoTime() - startedNs) / 1_000_000_000);
        out.append(",\"bytesRead\":").append(statistics.bytesRead());
        out.append(",\"bytesWritten\":").append(statistics.bytesWritten());
        out.append(",\"timeouts\":").append(statistics.timeouts());
        out.append(",\"interrupts\":").append(statistics.interrupts());
        out.append(",\"counters\":{");
        String comma = "";
        for (Map.Entry<String, Long> counter : fileSystem.counters().entrySet()) {
            out.append(comma).append('"').append(counter.getKey()).append("\":");
            out.append(counter.getValue());
            comma = ",";
        }
        out.append("},\"operations\":[");
        comma = "";
        for (OperationStatistics.Count count : statistics.counts()) {
            out.append(comma).append("{\"operation\":\"").append(count.operation());
            out.append("\",\"requests\":").append(count.requests());
            out.append(",\"errors\":").append(count.errors());
            out.append(",\"totalUs\":").append(count.totalNs() / 1000);
            out.append(",\"p50Us\":").append(count.p50Ns() / 1000);
            out.append(",\"p99Us\":").append(count.p99Ns() / 1000);
            out.append(",\"maxUs\":").append(count.longestNs() / 1000).append('}');
            comma = ",";
        }
        return out.append("]}\n").toString();
    }
}
