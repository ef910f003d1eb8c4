package org.globalfs.jepsen.cluster;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

/**
 * A lab of {@code scripts/wan-lab} of this process's own: each region in a network namespace, and
 * each of its servers in one behind it, with an address of its own.
 */
public final class WanLab implements AutoCloseable {
    private static final Duration LIMIT = Duration.ofMinutes(1);

    /**
     * Round trips, in the order of the regions' pairs: short, so that a run does much in its time.
     */
    private static final List<Integer> RTT_MS = List.of(10, 30, 20);

    private static final int FIRST_HOST = 10;

    /** Routes of cuts, which come before all others. */
    private static final int CUT_TABLE = 77;

    private record Place(String address, String namespace) {}

    private final Path script;
    private final String name = "j" + Long.toString(ProcessHandle.current().pid(), 36);
    private final StringBuilder config = new StringBuilder();
    private final Map<String, Place> places = new LinkedHashMap<>();

    /** Servers, with their regions. */
    private final Map<String, String> servers;

    private final Map<String, Place> hosts = new LinkedHashMap<>();
    private final Map<String, Integer> rttMs = new LinkedHashMap<>();

    /**
     * Nothing is made before {@link #up}.
     *
     * @param home the source tree
     * @param servers each server's region
     */
    public WanLab(Path home, List<String> regions, Map<String, String> servers) {
        this.servers = servers;
        script = home.resolve("scripts/wan-lab/wan");
        regions.forEach(region -> config.append("region ").append(region).append('\n'));
        int pair = 0;
        for (int a = 0; a < regions.size(); a++) {
            for (int b = a + 1; b < regions.size(); b++) {
                String link = regions.get(a) + " " + regions.get(b);
                int ms = RTT_MS.get(pair++ % RTT_MS.size());
                rttMs.put(link, ms);
                config.append("rtt ").append(link).append(' ').append(ms).append('\n');
            }
        }
    }

    /** Why this machine cannot have one; empty: it can. */
    public static Optional<String> missing() {
        if (!"root".equals(System.getProperty("user.name"))) {
            return Optional.of("only root makes network namespaces");
        }
        if (!Files.exists(Path.of("/dev/net/tun"))) {
            return Optional.of("there is no /dev/net/tun");
        }
        return Command.missing("ip", "nsenter");
    }

    /** Makes the lab. */
    public void up() throws IOException {
        Path file = Files.createTempFile("globalfs-lab", ".conf");
        try {
            Files.writeString(file, config);
            for (String line : wan("up", file.toString()).lines().toList()) {
                String[] words = line.split(" ", -1);
                places.put(words[0], new Place(words[1], words[2]));
            }
        } finally {
            Files.delete(file);
        }
        for (String region : places.keySet()) {
            in(region, "echo 1 > /proc/sys/net/ipv4/ip_forward");
        }
        for (Map.Entry<String, String> server : servers.entrySet()) {
            makeHost(server.getKey(), server.getValue());
        }
    }

    /**
     * A namespace of the lab's, joined to its region's, that takes nothing from where it could not
     * answer to (rp_filter): so a route that leads nowhere cuts both directions.
     */
    private void makeHost(String server, String region) throws IOException {
        Place there = place(region);
        int number = hosts.size() + 1;
        String address = there.address.replaceFirst("1$", Integer.toString(FIRST_HOST + number));
        String device = "host" + number;
        Place host = new Place(address, there.namespace + "-" + number);
        hosts.put(server, host);
        ip("netns add " + host.namespace);
        ip("-n " + host.namespace + " link set lo up");
        ip(
                "-n %s link add %s type veth peer name eth0 netns %s"
                        .formatted(there.namespace, device, host.namespace));
        ip("-n " + there.namespace + " link set " + device + " up");
        ip("-n %s route add %s dev %s".formatted(there.namespace, address, device));
        ip("-n %s addr add %s dev eth0".formatted(host.namespace, address));
        ip("-n " + host.namespace + " link set eth0 up");
        ip("-n %s route add %s dev eth0".formatted(host.namespace, there.address));
        ip("-n %s route add default via %s".formatted(host.namespace, there.address));
        ip("-n %s rule add pref 10 lookup %d".formatted(host.namespace, CUT_TABLE));
        run(
                List.of(
                        "nsenter",
                        "--net=/run/netns/" + host.namespace,
                        "sh",
                        "-c",
                        "echo 1 > /proc/sys/net/ipv4/conf/all/rp_filter"));
    }

    private void in(String region, String script) throws IOException {
        List<String> command = new ArrayList<>(prefix(region));
        command.addAll(List.of("sh", "-c", script));
        run(command);
    }

    private static void ip(String arguments) throws IOException {
        List<String> command = new ArrayList<>(List.of("ip"));
        command.addAll(List.of(arguments.split(" ")));
        run(command);
    }

    private static void run(List<String> command) throws IOException {
        Command.run(LIMIT, Path.of("/"), Map.of(), command);
    }

    private String wan(String... arguments) throws IOException {
        List<String> command = new ArrayList<>(List.of(script.toString()));
        command.addAll(List.of(arguments));
        return Command.run(LIMIT, Path.of("/"), Map.of("WAN_LAB", name), command);
    }

    private Place place(String region) {
        return Objects.requireNonNull(places.get(region), region);
    }

    /** A region's, or a server's. */
    String address(String name) {
        Place host = hosts.get(name);
        return host == null ? place(name).address : host.address;
    }

    /**
     * What to start a program in a region's or a server's network with. Not {@code wan exec}: that
     * gives it mounts of its own too, and what a mount process mounts has to be seen by all.
     */
    List<String> prefix(String name) {
        Place host = hosts.get(name);
        Place place = host == null ? place(name) : host;
        return List.of("nsenter", "--net=/run/netns/" + place.namespace);
    }

    /** Nothing goes between the server and those others, servers or regions, any more. */
    public void cutOff(String server, List<String> others) throws IOException {
        route(server, "replace", others);
    }

    /** {@link #cutOff} ends. */
    public void rejoin(String server, List<String> others) throws IOException {
        route(server, "del", others);
    }

    private void route(String server, String change, List<String> others) throws IOException {
        Place host = Objects.requireNonNull(hosts.get(server), server);
        for (String other : others) {
            ip(
                    "-n %s route %s blackhole %s table %d"
                            .formatted(host.namespace, change, address(other), CUT_TABLE));
        }
    }

    /** Nothing sent from one region arrives in the other any more. */
    public void cut(String from, String to) throws IOException {
        wan("do", "cut1", from, to);
    }

    /** Every cut ends. */
    public void heal() throws IOException {
        wan("do", "heal");
    }

    /** Packets between two regions need so many times as long as usual. */
    public void slow(String one, String other, int times) throws IOException {
        int ms =
                rttMs.getOrDefault(one + " " + other, 0) + rttMs.getOrDefault(other + " " + one, 0);
        wan("do", "rtt", one, other, Integer.toString(ms * times));
    }

    /** So many of a hundred packets between two regions are lost. */
    public void lose(String one, String other, int percent) throws IOException {
        wan("do", "loss", one, other, Integer.toString(percent));
    }

    /** Ends what runs in the regions, and removes them. */
    @Override
    public void close() throws IOException {
        wan("down");
    }
}
