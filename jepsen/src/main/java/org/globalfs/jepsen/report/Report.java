package org.globalfs.jepsen.report;

import java.io.IOException;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/** Histories and their verdicts as one HTML page, and as a table for a terminal. */
public final class Report {
    private static final String STYLE =
            """
            body { font: 14px sans-serif; max-width: 1100px; margin: 2em auto; color: #222; background: #fff }
            table { border-collapse: collapse; margin: 1em 0 } td, th { padding: 2px 10px; text-align: right }
            td:first-child, th:first-child { text-align: left } tr { border-bottom: 1px solid #ddd }
            .bad { color: #b00; font-weight: bold } pre { white-space: pre-wrap } svg { width: 100% }
            svg text { font-size: 11px; fill: #444 } polyline { fill: none; stroke-width: 1.5 }
            .p50 { stroke: #06c } .p99 { stroke: #e60 } .grid { stroke: #ccc } .info { stroke: #b00 }
            .rate { fill: #999 } .kind { padding: 1px 6px; margin-right: 4px }
            """;

    private final Map<String, Workload> workloads = new LinkedHashMap<>();
    private final Availability availability = new Availability();

    /** A workload's histories with their verdicts. */
    private static final class Workload {
        private final List<Verdict> verdicts = new ArrayList<>();
        private final List<RecordedHistory> histories = new ArrayList<>();

        long count(String outcome) {
            return histories.stream()
                    .flatMap(history -> history.operations().stream())
                    .filter(operation -> operation.outcome().equals(outcome))
                    .count();
        }

        long faults() {
            return histories.stream()
                    .flatMap(history -> history.faults().stream())
                    .filter(fault -> !fault.already())
                    .count();
        }

        String word() {
            return verdicts.stream()
                    .filter(verdict -> !verdict.valid())
                    .map(Verdict::word)
                    .distinct()
                    .collect(
                            Collectors.collectingAndThen(
                                    Collectors.joining(", "),
                                    words -> words.isEmpty() ? "valid" : words));
        }
    }

    /**
     * What says nothing of what stood still: large files take seconds by themselves, and who
     * exchanges versions from afar tries for as long as nearer ones are faster.
     */
    private static final Set<String> SLOW = Set.of("large", "exchange");

    private Report(List<Verdict> verdicts) throws IOException {
        for (Verdict verdict : verdicts) {
            Workload workload = workloads.computeIfAbsent(verdict.name(), n -> new Workload());
            RecordedHistory history = RecordedHistory.read(verdict.history());
            workload.verdicts.add(verdict);
            workload.histories.add(history);
            if (!SLOW.contains(verdict.name())) {
                availability.add(history);
            }
        }
    }

    /** The page. Drawings of invalid histories are looked for beside them. */
    public static String html(List<Verdict> verdicts) throws IOException {
        return new Report(verdicts).page();
    }

    /** A line a workload, and one a kind of fault. */
    public static String text(List<Verdict> verdicts) throws IOException {
        return new Report(verdicts).table();
    }

    private String table() {
        StringBuilder text = new StringBuilder();
        text.append(
                line(
                        "%-14s %-9s %9s %8s %8s %8s %7s",
                        "workload", "verdict", "histories", "ok", "fail", "info", "faults"));
        workloads.forEach((name, w) ->
                text.append(
                        line(
                                "%-14s %-9s %9d %8d %8d %8d %7d",
                                name,
                                w.word(),
                                w.histories.size(),
                                w.count("ok"),
                                w.count("fail"),
                                w.count("info"),
                                w.faults())));
        if (!availability.kinds().isEmpty()) {
            text.append(
                    line(
                            "%n%-16s %5s %9s %9s %9s %12s",
                            "fault", "times", "seconds", "updates", "p99 ms", "stall s"));
        }
        availability
                .kinds()
                .forEach((kind, during) ->
                        text.append(
                                line(
                                        "%-16s %5d %9.1f %9d %9.0f %12.2f",
                                        kind,
                                        during.times(),
                                        during.seconds(),
                                        during.updates(),
                                        during.p99Ms(),
                                        during.stallSeconds())));
        return text.toString();
    }

    private static String line(String format, Object... values) {
        return String.format(Locale.ROOT, format + "%n", values);
    }

    private String page() {
        StringBuilder page = new StringBuilder();
        page.append("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">")
                .append("<title>Recorded runs of GlobalFS</title><style>")
                .append(STYLE)
                .append("</style></head><body>\n<h1>Recorded runs of GlobalFS</h1>\n");
        summary(page);
        faults(page);
        page.append("<p>Below: latency of the operations that were answered, ")
                .append("<span style=\"color:#06c\">median</span> and ")
                .append(
                        "<span style=\"color:#e60\">99th percentile</span> of each second, and how many ")
                .append("were (grey); ")
                .append("<span class=\"bad\">red</span>: one whose outcome is unknown begins. ")
                .append("A workload's histories are drawn one after the other. Faults: ");
        for (String kind : new TreeSet<>(availability.kinds().keySet())) {
            page.append(
                    "<span class=\"kind\" style=\"background:%s\">%s</span>"
                            .formatted(Chart.color(kind), kind));
        }
        page.append("</p>\n");
        workloads.forEach((name, workload) -> section(page, name, workload));
        return page.append("</body></html>\n").toString();
    }

    private void summary(StringBuilder page) {
        page.append("<table><tr><th>workload</th><th>verdict</th><th>histories</th><th>ok</th>")
                .append("<th>fail</th><th>info</th><th>faults</th></tr>\n");
        workloads.forEach((name, w) ->
                page.append(
                        line(
                                "<tr><td><a href=\"#%s\">%s</a></td><td%s>%s</td><td>%d</td><td>%d</td><td>%d</td><td>%d</td><td>%d</td></tr>",
                                name,
                                name,
                                w.word().equals("valid") ? "" : " class=\"bad\"",
                                w.word(),
                                w.histories.size(),
                                w.count("ok"),
                                w.count("fail"),
                                w.count("info"),
                                w.faults())));
        page.append("</table>\n");
    }

    private void faults(StringBuilder page) {
        page.append("<h2>Faults</h2>\n<p>Updates of clients that had all they needed meanwhile: ")
                .append("a mount that ran, and a majority of each partition in reach. ")
                .append("<i>Stall</i> is the longest time in which a region's clients waited for ")
                .append("updates and none was answered.</p>\n")
                .append("<table><tr><th>fault</th><th>times</th><th>seconds</th><th>updates</th>")
                .append("<th>p99 ms</th><th>stall s</th></tr>\n");
        availability
                .kinds()
                .forEach((kind, during) ->
                        page.append(
                                line(
                                        "<tr><td>%s</td><td>%d</td><td>%.1f</td><td>%d</td><td>%.0f</td><td>%.2f</td></tr>",
                                        kind,
                                        during.times(),
                                        during.seconds(),
                                        during.updates(),
                                        during.p99Ms(),
                                        during.stallSeconds())));
        page.append("</table>\n");
    }

    private static void section(StringBuilder page, String name, Workload workload) {
        page.append("<h2 id=\"%s\">%s</h2>\n".formatted(name, name));
        for (Verdict verdict : workload.verdicts) {
            if (!verdict.valid()) {
                String drawing = verdict.history().getFileName() + ".html";
                page.append("<p class=\"bad\">")
                        .append(verdict.word())
                        .append(": ")
                        .append(verdict.history().getFileName());
                if (Files.exists(verdict.history().resolveSibling(drawing))) {
                    page.append(" (<a href=\"%s\">drawn</a>)".formatted(drawing));
                }
                page.append("</p><pre>").append(escaped(verdict.text())).append("</pre>\n");
            }
        }
        page.append(Chart.svg(workload.histories));
    }

    private static String escaped(String text) {
        return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;");
    }
}
