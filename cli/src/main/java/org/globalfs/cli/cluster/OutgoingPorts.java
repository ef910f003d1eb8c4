package org.globalfs.cli.cluster;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The ports that the kernel gives to outgoing connections: a stranger's may hold one just as the
 * server that is to listen on it starts.
 *
 * @param first of them
 * @param last of them
 * @param reserved those in between that it gives to nobody
 */
record OutgoingPorts(int first, int last, List<Range> reserved) {
    private static final Logger LOG = LoggerFactory.getLogger(OutgoingPorts.class);
    private static final Path SETTINGS = Path.of("/proc/sys/net/ipv4");
    private static final String DIGITS = "\\d{1,5}";

    /** Both ends included. */
    record Range(int first, int last) {
        private boolean contains(int port) {
            return first <= port && port <= last;
        }
    }

    /** This machine's; none where the kernel does not say. */
    static OutgoingPorts ofThisMachine() {
        try {
            return parse(setting("ip_local_port_range"), setting("ip_local_reserved_ports"));
        } catch (IOException e) {
            LOG.debug("it is not known which ports outgoing connections get: {}", e.toString());
            return new OutgoingPorts(1, 0, List.of());
        }
    }

    /** In one read: the kernel gives what fits the first one, and then says that this was all. */
    private static String setting(String name) throws IOException {
        try (BufferedReader reader = Files.newBufferedReader(SETTINGS.resolve(name))) {
            String line = reader.readLine();
            return line == null ? "" : line;
        }
    }

    /**
     * @param range such as {@code 32768 60999}
     * @param reserved such as {@code 8080,40000-40047}
     */
    static OutgoingPorts parse(String range, String reserved) {
        String[] ends = range.strip().split("\\s+");
        if (ends.length != 2 || !ends[0].matches(DIGITS) || !ends[1].matches(DIGITS)) {
            return new OutgoingPorts(1, 0, List.of());
        }
        List<Range> ranges = new ArrayList<>();
        for (String each : reserved.strip().split(",")) {
            if (each.matches(DIGITS + "(-" + DIGITS + ")?")) {
                String[] both = each.split("-");
                ranges.add(
                        new Range(
                                Integer.parseInt(both[0]),
                                Integer.parseInt(both[both.length - 1])));
            }
        }
        return new OutgoingPorts(Integer.parseInt(ends[0]), Integer.parseInt(ends[1]), ranges);
    }

    /** The first of so many consecutive ports that an outgoing connection may get. */
    OptionalInt among(int from, int count) {
        for (int port = Math.max(from, first); port < from + count && port <= last; port++) {
            int candidate = port;
            if (reserved.stream().noneMatch(range -> range.contains(candidate))) {
                return OptionalInt.of(port);
            }
        }
        return OptionalInt.empty();
    }
}
