package org.globalfs.bench.agar;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.globalfs.bench.BenchFailure;
import org.globalfs.bench.BenchMain;
import org.globalfs.bench.lab.MemberProcess;
import org.globalfs.bench.lab.Wan;
import org.globalfs.bench.lab.Workplace;

/** The paper's regions as a WAN lab: storage nodes, clients, and a cache that comes and goes. */
final class LiveCluster implements AutoCloseable {
    /**
     * Without pacing, which would spread a chunk over more time than its round trip, on lines that
     * were idle more than on others.
     */
    private static final String CONGESTION_CONTROL = "reno";

    private static final Duration START = Duration.ofMinutes(3);
    private static final Duration CHANGE = Duration.ofMinutes(2);
    private static final Duration READS = Duration.ofHours(3);

    /** Blocks that are read only to get ready. */
    private static final int OTHERS = 30;

    /** Within this, clients have measured how far regions are, one after the other. */
    private static final int FIRST_READS_MS = 10_000;

    /** Reads that compile the way through the cache. */
    private static final int OTHER_READS = 60;

    private final Path home;
    private final Path folder;
    private final double scale;
    private final Wan wan;
    private final List<LiveServer> servers = new ArrayList<>();
    private final MemberProcess clients;
    private int caches;

    /**
     * Starts all but the cache, writes the blocks, and only then sets the delays.
     *
     * @param scale of the paper's latencies and its period
     */
    LiveCluster(Path home, Path folder, double scale) {
        this.home = home;
        this.folder = folder;
        this.scale = scale;
        wan = new Wan(home, lab());
        try {
            List<Wan.Region> regions = wan.regions();
            regions.forEach(
                    region -> wan.set(region, "ipv4/tcp_congestion_control", CONGESTION_CONTROL));
            for (int region = 0; region < Setting.REGIONS.size(); region++) {
                String name = LiveConfig.name(region);
                String yaml = LiveConfig.storage(region, regions, folder.resolve(name));
                servers.add(new LiveServer(home, regions.get(region), folder, name, yaml));
            }
            clients = startClients();
        } catch (RuntimeException e) {
            stopServers();
            wan.close();
            throw e;
        }
        try {
            clients.awaitReady(START);
            clients.ask("write " + (Setting.OBJECTS + OTHERS), START);
            setDelays();
        } catch (RuntimeException e) {
            close();
            throw e;
        }
    }

    private Path lab() {
        try {
            return Files.writeString(folder.resolve("lab.conf"), LiveConfig.lab());
        } catch (IOException e) {
            throw new BenchFailure("cannot write to " + folder, e);
        }
    }

    private MemberProcess startClients() {
        List<String> command = new ArrayList<>(wan.regions().getLast().prefix());
        command.addAll(LiveServer.java());
        command.addAll(
                List.of(
                        "-cp",
                        System.getProperty("java.class.path"),
                        BenchMain.class.getName(),
                        LiveClientsCommand.NAME,
                        "--zookeeper",
                        LiveConfig.zookeeper(wan.regions()),
                        "--cluster",
                        LiveConfig.CLUSTER,
                        "--region",
                        LiveConfig.name(0)));
        return new MemberProcess("clients", command, folder.resolve("clients.log"));
    }

    private void setDelays() {
        List<Wan.Region> regions = wan.regions();
        for (int region = 0; region < Setting.REGIONS.size(); region++) {
            wan.rttMs(regions.getLast(), regions.get(region), Setting.frankfurtMs(region) * scale);
        }
    }

    /** What a policy comes to: new clients, an empty cache, reads before those that count. */
    LiveTable.Row measure(
            LivePolicy policy, double megabytes, long seed, int warmUpReads, int reads) {
        String _ = clients.ask("open", CHANGE);
        String _ = clients.ask("others-for " + FIRST_READS_MS, READS);
        if (policy.kind() == null) {
            return read(policy, 0, seed, warmUpReads, reads);
        }
        String name = "cache-" + ++caches;
        Path data = folder.resolve(name);
        long periodMs = Math.max(1, Math.round(Setting.PERIOD_MS * scale));
        String yaml =
                LiveConfig.cache(
                        Objects.requireNonNull(policy.kind()),
                        policy.chunks(),
                        megabytes,
                        periodMs,
                        wan.regions(),
                        data);
        LiveTable.Row row;
        try (LiveServer _ = new LiveServer(home, wan.regions().getLast(), folder, name, yaml)) {
            String _ = clients.ask("caches 1", CHANGE);
            String _ = clients.ask("others " + OTHER_READS, READS);
            row = read(policy, megabytes, seed, warmUpReads, reads);
        }
        String _ = clients.ask("caches 0", CHANGE);
        Workplace.remove(data);
        return row;
    }

    private LiveTable.Row read(
            LivePolicy policy, double megabytes, long seed, int warmUpReads, int reads) {
        String _ = clients.ask("read %d 0 %d".formatted(seed, warmUpReads), READS);
        Set<Wan.Region> used = Set.of(wan.regions().getLast());
        double _ = wan.latenessMs(used);
        String counted =
                clients.ask(
                        "read %d %d %d".formatted(seed, warmUpReads, warmUpReads + reads), READS);
        return new LiveTable.Row(megabytes, policy, Reading.parse(counted), wan.latenessMs(used));
    }

    /** What carries the lab's packets. */
    String router() {
        return wan.router();
    }

    private void stopServers() {
        servers.reversed().forEach(LiveServer::close);
    }

    @Override
    public void close() {
        clients.close();
        stopServers();
        wan.close();
    }
}
