package org.globalfs.bench.multicast;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.globalfs.bench.BenchFailure;
import org.globalfs.bench.lab.Figure;
import org.globalfs.bench.lab.Wan;

/** A lab of {@code scripts/wan-lab} of this run's own: a region a member. */
final class WanLab implements Place, AutoCloseable {
    private static final Pattern DELAY = Pattern.compile("(\\S+)>(\\S+) delay=([0-9.]+)ms");
    private static final int FIRST_PORT = 7000;

    private final Wan wan;
    private int clusters;

    /** Makes the lab; {@link #close} removes it. */
    WanLab(Path home, Path config) {
        wan = new Wan(home, config);
        if (wan.regions().size() != MEMBERS) {
            close();
            throw new BenchFailure(config + " must have " + MEMBERS + " regions");
        }
    }

    String name(int member) {
        return region(member).name();
    }

    private Wan.Region region(int member) {
        return wan.regions().get(member - 1);
    }

    /** What is set, there and back. */
    double rttMs(int from, int to) {
        double ms = 0;
        Matcher delays = DELAY.matcher(wan.stat());
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
        return region(member).prefix();
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
        double _ = wan.latenessMs();
    }

    @Override
    public String judged(Figure figure) {
        return judged(List.of(figure)).getFirst();
    }

    /** Figures that were measured in turn. */
    List<String> judged(List<Figure> figures) {
        double lateMs = wan.latenessMs();
        String late = String.format(Locale.ROOT, "%s %.2f ms late", wan.router(), lateMs);
        return figures.stream()
                .map(figure -> lateMs > Wan.LATEST_MS ? "void: " + late : figure + ", " + late)
                .toList();
    }

    @Override
    public void close() {
        wan.close();
    }
}
