package org.globalfs.jepsen.cluster;

import java.io.IOException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A server's second storage node as a process of its own, so that nodes of several datacenters can
 * die while all replicas live. What it stores stays on the server's disk.
 *
 * @param server what is left of the server's configuration
 * @param storage that of the new process
 */
record StorageProcess(String server, String storage) {
    /** The first node, and the second, as {@code globalfs} configures them. */
    private static final Pattern NODES =
            Pattern.compile(
                    "(?m)(^  storage:\\n    - id: \\S+\\n(?:      .*\\n)+)(    - id: (\\S+)\\n(?:      .*\\n)+)");

    /** The name of the process. */
    static String of(String server) {
        return server + "-storage";
    }

    /**
     * @param name the server's
     * @param yaml its configuration
     * @throws IOException when it has not two storage nodes
     */
    static StorageProcess split(String name, String yaml) throws IOException {
        Matcher nodes = NODES.matcher(yaml);
        if (!nodes.find()) {
            throw new IOException("no two storage nodes in " + yaml);
        }
        String data = "../data/" + name;
        String head =
                yaml.substring(0, yaml.indexOf("roles:\n"))
                        .replaceFirst("(?m)^name: .*$", "name: " + of(name))
                        .replaceFirst("(?m)^data: .*$", "data: " + data + "/storage/" + of(name));
        String storage =
                head
                        + "roles:\n  storage:\n"
                        + nodes.group(2)
                        + "      data: %s/storage/%s\n".formatted(data, nodes.group(3))
                        + yaml.substring(yaml.indexOf("topology:\n"));
        String left = yaml.substring(0, nodes.start(2)) + yaml.substring(nodes.end(2));
        return new StorageProcess(left, storage);
    }
}
