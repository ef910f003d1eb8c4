package org.globalfs.bench.lab;

import java.io.IOException;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.globalfs.bench.BenchFailure;

/** A lab of {@code scripts/wan-lab} of this run's own. */
public final class Wan implements AutoCloseable {
    /** Packets that are later than this on some link void a figure. */
    public static final double LATEST_MS = 1;

    private static final Pattern LATE =
            Pattern.compile("(?m)^(\\S+)>(\\S+) .*late_avg=([0-9.]+)us");

    /**
     * Of the lab.
     *
     * @param namespace the network namespace that its programs run in
     */
    public record Region(String name, InetAddress address, String namespace) {
        /** What a command line begins with whose program is to run there. */
        public List<String> prefix() {
            return List.of("ip", "netns", "exec", namespace);
        }
    }

    private final Path script;
    private final String lab = "b" + Long.toString(ProcessHandle.current().pid(), 36);
    private final List<Region> regions = new ArrayList<>();
    private final AtomicBoolean up = new AtomicBoolean(true);
    private final Thread downAtExit = new Thread(this::close, "wan-down");

    /** Makes the lab; {@link #close} removes it, and ends what runs in it. */
    public Wan(Path home, Path config) {
        script = home.resolve("scripts/wan-lab/wan");
        if (!Files.isExecutable(script)) {
            throw new BenchFailure("no " + script + ": start this through ./globalfs bench");
        }
        for (String line : wan("up", config.toString()).lines().toList()) {
            String[] words = line.split(" ");
            regions.add(new Region(words[0], InetAddress.ofLiteral(words[1]), words[2]));
        }
        Runtime.getRuntime().addShutdownHook(downAtExit);
    }

    private String wan(String... arguments) {
        List<String> command = new ArrayList<>(List.of(script.toString()));
        command.addAll(List.of(arguments));
        return run(command);
    }

    private String run(List<String> command) {
        ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
        builder.environment().put("WAN_LAB", lab);
        try {
            Process process = builder.start();
            String output =
                    new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            if (process.waitFor() != 0) {
                throw new BenchFailure("WAN lab: " + output.strip());
            }
            return output;
        } catch (IOException e) {
            throw new BenchFailure("cannot run " + command.getFirst(), e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new BenchFailure("interrupted");
        }
    }

    /** In the configuration's order. */
    public List<Region> regions() {
        return List.copyOf(regions);
    }

    /** What is set on the links, and how late their packets were since this was asked last. */
    public String stat() {
        return wan("do", "stat");
    }

    /** Sets the delay between two regions, there and back. */
    public void rttMs(Region a, Region b, double ms) {
        String _ = wan("do", "rtt", a.name, b.name, Double.toString(ms));
    }

    /**
     * Sets one of the kernel's network settings of a region.
     *
     * @param name its path below {@code /proc/sys/net}
     */
    public void set(Region region, String name, String value) {
        List<String> command = new ArrayList<>(region.prefix());
        String write = "echo \"$2\" > \"/proc/sys/net/$1\"";
        command.addAll(List.of("sh", "-c", write, "sh", name, value));
        String _ = run(command);
    }

    /** Of the latest link, on average since this was asked last. */
    public double latenessMs() {
        return latenessMs(Set.copyOf(regions));
    }

    /** As {@link #latenessMs()}, of the links from and to these regions only. */
    public double latenessMs(Set<Region> used) {
        Set<String> names = used.stream().map(Region::name).collect(Collectors.toSet());
        return LATE.matcher(stat())
                .results()
                .filter(link -> names.contains(link.group(1)) || names.contains(link.group(2)))
                .mapToDouble(link -> Double.parseDouble(link.group(3)) / 1000)
                .max()
                .orElse(0);
    }

    /** What carries the lab's packets. */
    public String router() {
        return wan("do", "router").strip().equals("netem") ? "netem" : "router";
    }

    @Override
    public void close() {
        if (up.compareAndSet(true, false)) {
            String _ = wan("down");
            if (!Thread.currentThread().equals(downAtExit)) {
                Runtime.getRuntime().removeShutdownHook(downAtExit);
            }
        }
    }
}
