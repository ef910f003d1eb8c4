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

/** A lab of {@code scripts/wan-lab} of this process's own: each region in a network namespace. */
public final class WanLab implements AutoCloseable {
    private static final Duration LIMIT = Duration.ofMinutes(1);

    /**
     * Round trips, in the order of the regions' pairs: short, so that a run does much in its time.
     */
    private static final List<Integer> RTT_MS = List.of(10, 30, 20);

    private record Place(String address, String namespace) {}

    private final Path script;
    private final String name = "j" + Long.toString(ProcessHandle.current().pid(), 36);
    private final StringBuilder config = new StringBuilder();
    private final Map<String, Place> places = new LinkedHashMap<>();
    private final Map<String, Integer> rttMs = new LinkedHashMap<>();

    /**
     * Nothing is made before {@link #up}.
     *
     * @param home the source tree
     */
    public WanLab(Path home, List<String> regions) {
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
    }

    private String wan(String... arguments) throws IOException {
        List<String> command = new ArrayList<>(List.of(script.toString()));
        command.addAll(List.of(arguments));
        return Command.run(LIMIT, Path.of("/"), Map.of("WAN_LAB", name), command);
    }

    private Place place(String region) {
        return Objects.requireNonNull(places.get(region), region);
    }

    String address(String region) {
        return place(region).address;
    }

    /**
     * What to start a program in a region's network with. Not {@code wan exec}: that gives it
     * mounts of its own too, and what a mount process mounts has to be seen by all.
     */
    List<String> prefix(String region) {
        return List.of("nsenter", "--net=/run/netns/" + place(region).namespace);
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
