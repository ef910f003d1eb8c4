package org.globalfs.cli.status;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.globalfs.cli.cluster.ClusterFolder;
import org.globalfs.cli.cluster.Mounts;
import org.globalfs.client.control.ControlClient;
import org.globalfs.protocol.HostPort;
import org.globalfs.protocol.config.ConfigException;
import org.globalfs.protocol.config.Roles.StorageRole;
import org.globalfs.protocol.config.ServerConfig;
import org.globalfs.protocol.config.Topology;
import org.globalfs.protocol.discovery.Discovery;
import org.globalfs.protocol.discovery.Member;
import org.globalfs.protocol.discovery.PlacementEpochs;
import org.globalfs.protocol.discovery.Role;
import org.globalfs.protocol.discovery.StorageSite;

/** What should be there: from a local cluster's configurations, or from discovery. */
public record Expected(
        Topology topology,
        List<Node> storage,
        Map<String, HostPort> oracles,
        Map<String, List<ClusterStatus.Mount>> mounts) {

    private static final Duration ANSWER = Duration.ofSeconds(1);

    /** A storage node to ask. */
    record Node(String id, String region, String datacenter, HostPort address) {}

    /** From the folder alone, so that it works whatever is down. */
    public static Expected of(ClusterFolder folder) throws ConfigException, IOException {
        Topology topology = new Topology(folder.cluster(), List.of());
        List<Node> storage = new ArrayList<>();
        Map<String, HostPort> oracles = new TreeMap<>();
        for (String name : folder.servers()) {
            ServerConfig config = ServerConfig.read(folder.config(name));
            if (!config.roles().needsTopology()) {
                continue;
            }
            topology = config.topology();
            config.roles()
                    .oracle()
                    .ifPresent(role ->
                            oracles.put(
                                    config.region(),
                                    new HostPort(config.advertise(), role.port())));
            for (StorageRole role : config.roles().storage()) {
                HostPort address = new HostPort(config.advertise(), role.port());
                storage.add(new Node(role.id(), config.region(), config.datacenter(), address));
            }
        }
        return new Expected(topology, storage, oracles, mounts(folder));
    }

    /** A mount's process may be stopped or stuck, and only its answer shows that it is not. */
    private static Map<String, List<ClusterStatus.Mount>> mounts(ClusterFolder folder)
            throws IOException {
        List<CompletableFuture<Boolean>> answers = new ArrayList<>();
        Map<String, List<ClusterStatus.Mount>> mounts = new TreeMap<>();
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            for (String region : folder.regions()) {
                Path point = folder.mountpoint(region);
                answers.add(
                        CompletableFuture.supplyAsync(
                                () -> ControlClient.answers(point, ANSWER), threads));
            }
        }
        for (int i = 0; i < answers.size(); i++) {
            String region = folder.regions().get(i);
            String id = "mount-" + region;
            Path point = folder.mountpoint(region);
            boolean mounted = Mounts.isMounted(point);
            boolean alive =
                    mounted && folder.run(id).process().isPresent() && answers.get(i).join();
            mounts.put(
                    region, List.of(new ClusterStatus.Mount(id, point.toString(), mounted, alive)));
        }
        return mounts;
    }

    /** From one server's configuration, and discovery for what that does not list. */
    public static Expected of(ServerConfig config, Discovery discovery, PlacementEpochs epochs) {
        List<Node> storage = new ArrayList<>();
        for (StorageSite site : epochs.newest().nodes()) {
            storage.add(new Node(site.id(), site.region(), site.datacenter(), site.address()));
        }
        Map<String, HostPort> oracles = new TreeMap<>();
        for (Member member : discovery.members(Role.ORACLE)) {
            oracles.put(member.region(), member.address());
        }
        Map<String, List<ClusterStatus.Mount>> mounts = new TreeMap<>();
        for (Member member : discovery.members(Role.MOUNT)) {
            String where = member.attributes().getOrDefault("mountpoint", "");
            mounts.computeIfAbsent(member.region(), r -> new ArrayList<>())
                    .add(
                            new ClusterStatus.Mount(
                                    member.id(),
                                    member.address().host() + ":" + where,
                                    true,
                                    true));
        }
        return new Expected(
                config.topology().including(discovery.members(Role.REPLICA)),
                storage,
                oracles,
                mounts);
    }
}
