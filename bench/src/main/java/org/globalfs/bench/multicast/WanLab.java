package org.globalfs.bench.multicast;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.globalfs.bench.BenchFailure;

/** A lab of {@code scripts/wan-lab} of this run's own: a region a member. */
final class WanLab implements Place, AutoCloseable {
    /** Packets that are later than this on some link void the figure. */
    private static final double LATEST_MS = 1;

    private static final Pattern DELAY = Pattern.compile("(\\S+)>(\\S+) delay=([0-9.]+)ms");
    private static final Pattern LATE = Pattern.compile("late_avg=([0-9.]+)us");
    private static final int FIRST_PORT = 7000;

    private record Region(String name, InetAddress address, String namespace) {}

    private final Path script;
    private final String lab = "b" + Long.toString(ProcessHandle.current().pid(), 36);
    private final List<Region> regions = new ArrayList<>();
    private final AtomicBoolean up = new AtomicBoolean(true);
    private final Thread downAtExit = new Thread(this::close, "wan-down");
    private int clusters;

    /** Makes the lab; {@link #close} removes it. */
    WanLab(Path home, Path config) {
        script = home.resolve("scripts/wan-lab/wan");
        if (!Files.isExecutable(script)) {
            throw new BenchFailure("no " + script + ": start this through ./globalfs bench");
        }
        for (String line : wan("up", config.toString()).lines().toList()) {
            String[] words = line.split(" ");
            regions.add(new Region(words[0], InetAddress.ofLiteral(words[1]), words[2]));
        }
        Runtime.getRuntime().addShutdownHook(downAtExit);
        if (regions.size() != MEMBERS) {
            close();
            throw new BenchFailure(config + " must have " + MEMBERS + " regions");
        }
    }

    private String wan(String... arguments) {
        List<String> command = new ArrayList<>(List.of(script.toString()));
        command.addAll(List.of(arguments));
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
            throw new BenchFailure("cannot run " + script, e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new BenchFailure("interrupted");
        }
    }

    String name(int member) {
        return region(member).name();
    }

    private Region region(int member) {
        return regions.get(member - 1);
    }

    /** What is set, there and back. */
    double rttMs(int from, int to) {
        double ms = 0;
        Matcher delays = DELAY.matcher(wan("do", "stat"));
        while (delays.find()) {
            boolean there = delays.group(1).equals(name(from)) && delays.group(2).equals(name(to));
            boolean back = delays.group(1).equals(name(to)) && delays.group(2).equals(name(from));
            if (there || back) {
                ms += Double.parseDouble(delays.group(3));
            }
        }
        return ms;
    }

    /** The round trip to the nearest other region: what a commit needs at least. */
    double nearestMs(int member) {
        return others(member).mapToDouble(other -> rttMs(member, other)).min().orElse(0);
    }

    /** The member with the least sum of round trips to the others. */
    int middle() {
        return IntStream.rangeClosed(1, MEMBERS)
                .boxed()
                .min(
                        Comparator.comparingDouble(member ->
                                others(member).mapToDouble(other -> rttMs(member, other)).sum()))
                .orElseThrow();
    }

    private static IntStream others(int member) {
        return IntStream.rangeClosed(1, MEMBERS).filter(other -> other != member);
    }

    InetAddress address(int member) {
        return region(member).address();
    }

    /** The region that is furthest from this one. */
    int furthest(int member) {
        return others(member)
                .boxed()
                .max(Comparator.comparingDouble(other -> rttMs(member, other)))
                .orElseThrow();
    }

    @Override
    public Map<Integer, InetSocketAddress> freshAddresses() {
        int port = FIRST_PORT + clusters++;
        Map<Integer, InetSocketAddress> addresses = new TreeMap<>();
        for (int member = 1; member <= MEMBERS; member++) {
            addresses.put(member, new InetSocketAddress(region(member).address(), port));
        }
        return addresses;
    }

    @Override
    public List<String> prefix(int member) {
        return List.of("ip", "netns", "exec", region(member).namespace());
    }

    @Override
    public int retryMs() {
        return 1000;
    }

    @Override
    public int ring() {
        return 0;
    }

    @Override
    public void watch() {
        double _ = latenessMs();
    }

    /** Of the latest link, on average since this was asked last. */
    private double latenessMs() {
        return LATE.matcher(wan("do", "stat"))
                .results()
                .mapToDouble(late -> Double.parseDouble(late.group(1)) / 1000)
                .max()
                .orElse(0);
    }

    @Override
    public String judged(Figure figure) {
        return judged(List.of(figure)).getFirst();
    }

    /** Figures that were measured in turn. */
    List<String> judged(List<Figure> figures) {
        double lateMs = latenessMs();
        String late = String.format(Locale.ROOT, "%s %.2f ms late", router(), lateMs);
        return figures.stream()
                .map(figure -> lateMs > LATEST_MS ? "void: " + late : figure + ", " + late)
                .toList();
    }

    /** What carries the lab's packets. */
    private String router() {
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
