package org.globalfs.jepsen.cluster;

import java.io.IOException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.globalfs.protocol.FreePorts;

/**
 * A server with nothing but a metadata replica, which the cluster did not begin with.
 *
 * @param name its process's
 * @param id of its replica, which no other ever had
 * @param insteadOf the replica whose place it can take
 * @param yaml its configuration
 */
public record AddedServer(String name, int id, int insteadOf, String yaml) {
    /** Above those that the cluster took, and below those of outgoing connections. */
    private static final int FIRST_PORT = 31_100;

    private static final int END_PORT = 32_700;

    private static final Pattern REPLICA = Pattern.compile("(?m)^  replica:\\n    id: (\\d+)$");
    private static final Pattern BIND = Pattern.compile("(?m)^bind: (\\S+)$");

    /** Like another server, in a datacenter of its own. */
    static AddedServer like(String server, String region, String yaml, int id) throws IOException {
        String name = region + "-" + id;
        String host = first(BIND, yaml);
        String site =
                """
                      - id: %1$d
                        datacenter: dc-%1$d
                        ring: %2$s:%3$d
                        rpc: %2$s:%4$d
                        added: true
                """
                        .formatted(id, host, freePort(), freePort());
        int roles = yaml.indexOf("roles:\n");
        int topology = yaml.indexOf("topology:\n");
        int here = yaml.indexOf("  - region: " + region + "\n", topology);
        int next = yaml.indexOf("  - region: ", here + 1);
        String places = yaml.substring(topology, next < 0 ? yaml.length() : next);
        String text =
                yaml.substring(0, roles)
                                .replace(server, name)
                                .replaceAll("(?m)^datacenter: .*$", "datacenter: dc-" + id)
                        + "roles:\n  replica:\n    id: "
                        + id
                        + "\n"
                        + places
                        + (places.endsWith("\n") ? "" : "\n")
                        + site
                        + (next < 0 ? "" : yaml.substring(next));
        return new AddedServer(name, id, Integer.parseInt(first(REPLICA, yaml)), text);
    }

    private static String first(Pattern pattern, String yaml) throws IOException {
        Matcher matcher = pattern.matcher(yaml);
        if (!matcher.find()) {
            throw new IOException("no " + pattern + " in " + yaml);
        }
        return matcher.group(1);
    }

    /** Tried on loopback; in a region's own network nobody else takes ports of this range. */
    private static int freePort() throws IOException {
        return FreePorts.one(FIRST_PORT, END_PORT);
    }
}
