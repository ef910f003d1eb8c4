package org.globalfs.replica.service;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.globalfs.protocol.Folders;
import org.globalfs.protocol.config.ConfigException;

/**
 * The acceptors that a replica's rings began with, kept in its folder: if each start took them from
 * the configuration, an edited one would change who decides, without the ring's agreement.
 */
final class FirstAcceptors {

    private static final String FILE = "rings";
    private static final String FORMAT = "globalfs rings 1";

    private FirstAcceptors() {}

    /**
     * What the folder says; at the first start, what is configured, to be {@link #keep kept}.
     *
     * @param changed a ring's membership has changed since, so the configuration may differ
     * @throws IOException the configuration says otherwise, or the file cannot be used
     */
    static Map<Integer, List<Integer>> of(
            Path folder, Map<Integer, List<Integer>> configured, boolean changed)
            throws IOException {
        Path file = folder.resolve(FILE);
        if (!areKept(folder)) {
            return configured;
        }
        Map<Integer, List<Integer>> kept = read(file);
        if (!changed && !kept.equals(configured)) {
            throw refused(
                    "the topology gives the rings other replicas ("
                            + describe(configured)
                            + ") than they began with ("
                            + describe(kept)
                            + "): restore it, mark new replicas with 'added: true', and change the"
                            + " rings with 'globalfs ring'");
        }
        return kept;
    }

    /** It is the configuration's: starting again is no use. */
    private static IOException refused(String why) {
        return new IOException(why, new ConfigException(why));
    }

    static boolean areKept(Path folder) {
        return Files.exists(folder.resolve(FILE));
    }

    static void keep(Path folder, Map<Integer, List<Integer>> first) throws IOException {
        Folders.write(folder.resolve(FILE), text(first));
    }

    private static String text(Map<Integer, List<Integer>> rings) {
        StringBuilder text = new StringBuilder(FORMAT).append('\n');
        rings.forEach((ring, ids) ->
                text.append(ring)
                        .append(' ')
                        .append(ids.stream().map(String::valueOf).collect(Collectors.joining(",")))
                        .append('\n'));
        return text.toString();
    }

    private static Map<Integer, List<Integer>> read(Path file) throws IOException {
        List<String> lines = Files.readAllLines(file, StandardCharsets.UTF_8);
        try {
            if (!lines.getFirst().equals(FORMAT)) {
                throw new IllegalArgumentException("unknown format");
            }
            Map<Integer, List<Integer>> rings = new TreeMap<>();
            for (String line : lines.subList(1, lines.size())) {
                String[] words = line.split(" ", 2);
                rings.put(
                        Integer.parseInt(words[0]),
                        Arrays.stream(words[1].split(",")).map(Integer::valueOf).toList());
            }
            return rings;
        } catch (RuntimeException e) {
            throw new IOException(
                    file
                            + " is damaged or of another version of GlobalFS: it lists the replicas that"
                            + " each ring began with; restore it from a copy, or from another replica"
                            + " of the region",
                    e);
        }
    }

    private static String describe(Map<Integer, List<Integer>> rings) {
        return rings.entrySet().stream()
                .map(e -> "ring " + e.getKey() + ": " + e.getValue())
                .collect(Collectors.joining(", "));
    }
}
