package org.globalfs.jepsen.fault;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import org.globalfs.jepsen.cluster.Surroundings;
import org.globalfs.jepsen.cluster.Surroundings.Need;
import org.globalfs.jepsen.cluster.TestedCluster;
import org.globalfs.jepsen.cluster.WanLab;

/** The kinds of faults, and how long each lasts. */
public enum FaultKind {
    /** One server is killed. */
    KILL_SERVER(300, 2_000),
    /** Two of a region's three servers are killed. */
    KILL_MAJORITY(300, 2_000),
    /** All servers of a region are killed. */
    KILL_REGION(300, 2_000),
    /**
     * One server of each region is killed: as many storage nodes as blocks of any kind can miss.
     */
    KILL_NODES(1_000, 4_000),
    /**
     * Two storage nodes of different datacenters of a region are killed, and no replica: as many as
     * its blocks can miss.
     */
    KILL_TWO(1_000, 6_000),
    /** One server is killed and started again, time and again. */
    RESTART_LOOP(2_000, 8_000),
    /** Every process is killed at once: servers, ZooKeeper, mounts. */
    KILL_ALL(300, 1_000),
    /** A mount's process is killed, and the tree mounted again. */
    KILL_MOUNT(300, 1_000),
    /** ZooKeeper is killed. */
    KILL_ZOOKEEPER(2_000, 12_000),
    /** A region's cache is killed. */
    KILL_CACHE(300, 4_000),
    /** A region's cache stands still. */
    PAUSE_CACHE(1_200, 4_000),
    /** One server stands still for longer than a lease. */
    PAUSE_SERVER(1_200, 4_000),
    /** The server that coordinates a region's partition, or the global one, is killed. */
    KILL_COORDINATOR(300, 2_000),
    /** The server that coordinates a region's partition, or the global one, stands still. */
    PAUSE_COORDINATOR(1_200, 4_000),
    /** Two of a region's three servers stand still. */
    PAUSE_MAJORITY(1_200, 4_000),
    /** A mount's process stands still for longer than what it was granted. */
    PAUSE_MOUNT(1_200, 4_000),
    /** Nothing goes into a region, or out of it. */
    ISOLATE(2_000, 8_000),
    /** Nothing goes from one region to another; the other way it does. */
    CUT_ONE_WAY(2_000, 8_000),
    /** Two regions do not reach each other; the third reaches both. */
    BRIDGE(2_000, 8_000),
    /** Each region hears one of the others, and is heard by the other. */
    CUT_RING(2_000, 6_000),
    /** Nothing goes into one datacenter, or out of it. */
    ISOLATE_DATACENTER(2_000, 8_000),
    /** One server reaches no other any more, clients still do. */
    CUT_SERVER(2_000, 8_000),
    /** A link has ten times its delay. */
    SLOW_LINK(2_000, 8_000),
    /** A link loses every tenth packet. */
    LOSSY_LINK(2_000, 8_000),
    /** One server's power is cut: what it had not synced is lost. */
    CUT_POWER(300, 2_000),
    /** The power of all servers is cut at once. */
    CUT_ALL_POWER(300, 1_000),
    /** Nothing is free any more on one server's disk. */
    FILL_DISK(2_000, 8_000),
    /** The disks of a region's servers have less free than their replicas keep in reserve. */
    FILL_REGION(2_000, 8_000),
    /** Nothing is free any more on the disk of a region's cache. */
    FILL_CACHE(2_000, 8_000),
    /** One server's disk stands still most of the time. */
    SLOW_DISK(2_000, 6_000),
    /** The wall clock of a server, a region's servers or a mount jumps by up to ten minutes. */
    CLOCK_JUMP(1_000, 6_000),
    /** A server's or a mount's wall clock jumps by some seconds and back, many times a second. */
    CLOCK_STROBE(1_000, 6_000),
    /** Bytes of one server's log are not what it wrote. */
    DAMAGE_LOG(500, 3_000),
    /** The same of its metadata's RocksDB. */
    DAMAGE_STATE(500, 3_000),
    /** The same of a few of its chunks. */
    DAMAGE_CHUNKS(500, 3_000),
    /** A few of the files in which one server has its chunks are cut short. */
    TRUNCATE_CHUNKS(500, 3_000),
    /** Bytes are changed of what says where one server's chunks are. */
    DAMAGE_INDEX(500, 3_000),
    /** The same of a region's cache. */
    DAMAGE_CACHE(500, 3_000),
    /** A new server takes the place of a region's replica, and gives it back. */
    CHANGE_MEMBERS(1_000, 4_000);

    /** The partition that all regions replicate. */
    public static final String GLOBAL = "global";

    private static final int SLOWER_TIMES = 10;
    private static final int LOSS_PERCENT = 10;

    private final int leastMs;
    private final int mostMs;

    FaultKind(int leastMs, int mostMs) {
        this.leastMs = leastMs;
        this.mostMs = mostMs;
    }

    /** As the option {@code --nemesis} has it, such as {@code kill-server}. */
    public String label() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    /** The kind of that label. */
    public static FaultKind of(String label) {
        return Arrays.stream(values())
                .filter(kind -> kind.label().equals(label))
                .findFirst()
                .orElseThrow(() ->
                        new IllegalArgumentException(
                                "no fault '"
                                        + label
                                        + "'; there are "
                                        + all().stream().map(FaultKind::label).toList()));
    }

    public static List<FaultKind> all() {
        return List.of(values());
    }

    /** Whether it ends with the start of processes, or may have to. */
    public boolean startsProcesses() {
        return switch (this) {
            case KILL_SERVER,
                    KILL_MAJORITY,
                    KILL_REGION,
                    KILL_NODES,
                    KILL_TWO,
                    RESTART_LOOP,
                    KILL_ALL,
                    KILL_MOUNT,
                    KILL_ZOOKEEPER,
                    KILL_CACHE,
                    KILL_COORDINATOR,
                    CUT_POWER,
                    CUT_ALL_POWER,
                    FILL_DISK,
                    FILL_CACHE,
                    DAMAGE_LOG,
                    DAMAGE_STATE,
                    DAMAGE_CHUNKS,
                    TRUNCATE_CHUNKS,
                    DAMAGE_INDEX,
                    DAMAGE_CACHE,
                    CHANGE_MEMBERS ->
                    true;
            default -> false;
        };
    }

    /** What a cluster has to be put on. */
    public Need needs() {
        return switch (this) {
            case ISOLATE, CUT_ONE_WAY, BRIDGE, CUT_RING, SLOW_LINK, LOSSY_LINK -> Need.NETWORK;
            case ISOLATE_DATACENTER, CUT_SERVER -> Need.NETWORK;
            case CUT_POWER, CUT_ALL_POWER, FILL_DISK, FILL_REGION, FILL_CACHE, SLOW_DISK ->
                    Need.DISK;
            case CLOCK_JUMP, CLOCK_STROBE -> Need.CLOCK;
            default -> Need.NOTHING;
        };
    }

    /** Those that clusters put there can have. */
    public static List<FaultKind> possible(Surroundings around) {
        return all().stream().filter(kind -> around.has(kind.needs())).toList();
    }

    /** How long one lasts, without the time that mending takes. */
    public int holdMs(Random random) {
        return random.nextInt(leastMs, mostMs + 1);
    }

    /** Whether content is to be whole before it: what it takes away is as much as may be lost. */
    public boolean wantsWholeContent() {
        return switch (this) {
            case KILL_NODES, KILL_TWO, KILL_REGION, RESTART_LOOP, DAMAGE_CHUNKS, TRUNCATE_CHUNKS ->
                    true;
            default -> false;
        };
    }

    /** Whether it takes no chunk out of reach: at most it makes nodes or caches late. */
    private boolean leavesChunks() {
        return switch (this) {
            case KILL_CACHE, PAUSE_CACHE, FILL_CACHE, DAMAGE_CACHE, SLOW_DISK -> true;
            default -> false;
        };
    }

    /**
     * Whether who has all that updates need also has storage nodes enough to write to. Left out are
     * faults of the network and of clocks, disks of a whole region that refuse what needs room, and
     * changes of members.
     */
    private boolean leavesNodesToWriteTo() {
        return leavesChunks()
                || switch (this) {
                    case KILL_SERVER,
                            KILL_MAJORITY,
                            KILL_REGION,
                            KILL_NODES,
                            KILL_TWO,
                            RESTART_LOOP,
                            KILL_MOUNT,
                            KILL_ZOOKEEPER,
                            KILL_COORDINATOR,
                            PAUSE_SERVER,
                            PAUSE_MAJORITY,
                            PAUSE_COORDINATOR,
                            PAUSE_MOUNT,
                            CUT_POWER,
                            DAMAGE_LOG,
                            DAMAGE_STATE,
                            DAMAGE_CHUNKS,
                            TRUNCATE_CHUNKS,
                            DAMAGE_INDEX ->
                            true;
                    default -> false;
                };
    }

    /** One of this kind, where chance wants it. */
    public Fault on(TestedCluster cluster, Random random) {
        Fault fault = made(cluster, random);
        if (leavesNodesToWriteTo()) {
            fault = new EnoughStorage(fault, leavesChunks());
        }
        return wantsWholeContent() ? new OnWholeContent(fault, cluster::awaitContent) : fault;
    }

    private Fault made(TestedCluster cluster, Random random) {
        List<String> regions = new ArrayList<>(TestedCluster.REGIONS);
        Collections.shuffle(regions, random);
        String region = regions.getFirst();
        List<String> servers = new ArrayList<>(TestedCluster.servers(region));
        Collections.shuffle(servers, random);
        List<String> mount = List.of(TestedCluster.mountProcess(region));
        List<String> caches = regions.stream().map(TestedCluster::cacheProcess).toList();
        return switch (this) {
            case KILL_SERVER -> killed(cluster, servers.subList(0, 1));
            case KILL_MAJORITY -> killed(cluster, servers.subList(0, 2));
            case KILL_REGION -> killed(cluster, servers);
            case KILL_NODES -> killed(cluster, oneOfEach(regions, random));
            case KILL_TWO -> killed(cluster, twoOf(TestedCluster.storageProcesses(), random));
            case RESTART_LOOP -> RestartLoop.of(label(), cluster, servers.getFirst(), random);
            case KILL_ALL -> killed(cluster, TestedCluster.everything());
            case KILL_MOUNT -> killed(cluster, mount);
            case KILL_ZOOKEEPER -> killed(cluster, List.of(TestedCluster.ZOOKEEPER));
            case KILL_CACHE -> killed(cluster, caches.subList(0, 1));
            case PAUSE_CACHE -> paused(cluster, caches.subList(0, 1));
            case PAUSE_SERVER -> paused(cluster, servers.subList(0, 1));
            case PAUSE_MAJORITY -> paused(cluster, servers.subList(0, 2));
            case KILL_COORDINATOR, PAUSE_COORDINATOR ->
                    ofCoordinator(cluster, random.nextBoolean() ? region : GLOBAL, servers);
            case PAUSE_MOUNT -> paused(cluster, mount);
            case CUT_POWER -> powerless(cluster, servers.subList(0, 1));
            case CUT_ALL_POWER -> powerless(cluster, TestedCluster.allServers());
            case FILL_DISK -> filled(cluster, servers.subList(0, 1));
            case FILL_REGION -> filled(cluster, servers);
            case FILL_CACHE -> filled(cluster, caches.subList(0, 1));
            case SLOW_DISK -> SlowDisk.of(label(), cluster, servers.getFirst());
            case CLOCK_JUMP -> ClockJump.of(label(), cluster, servers, mount.getFirst(), random);
            case CLOCK_STROBE -> {
                String process = (random.nextBoolean() ? servers : mount).getFirst();
                yield ClockStrobe.of(label(), cluster, process, random);
            }
            case DAMAGE_LOG -> damaged(cluster, ServerFiles.LOG, servers, random);
            case DAMAGE_STATE -> damaged(cluster, ServerFiles.STATE, servers, random);
            case DAMAGE_CHUNKS -> damaged(cluster, ServerFiles.CHUNKS, servers, random);
            case TRUNCATE_CHUNKS ->
                    TruncatedChunks.of(label(), cluster, after(servers, random), random);
            case DAMAGE_INDEX -> damaged(cluster, ServerFiles.INDEX, servers, random);
            case DAMAGE_CACHE -> Damage.of(label(), cluster, ServerFiles.CACHE, caches, random);
            case CHANGE_MEMBERS -> new MemberChange(label(), cluster, servers.getFirst());
            case ISOLATE_DATACENTER -> ServerCut.ofAll(label(), cluster, servers.getFirst());
            case CUT_SERVER -> ServerCut.ofServers(label(), cluster, servers.getFirst());
            default -> inNetwork(cluster.around().lab().orElseThrow(), regions);
        };
    }

    private Fault killed(TestedCluster cluster, List<String> processes) {
        return new ProcessFault(label(), cluster, List.copyOf(processes), true);
    }

    private Fault paused(TestedCluster cluster, List<String> processes) {
        return new ProcessFault(label(), cluster, List.copyOf(processes), false);
    }

    private Fault filled(TestedCluster cluster, List<String> processes) {
        return new FullDisk(label(), cluster, List.copyOf(processes));
    }

    private Fault ofCoordinator(TestedCluster cluster, String partition, List<String> servers) {
        boolean killed = this == KILL_COORDINATOR;
        return new CoordinatorFault(
                cluster,
                partition,
                servers.getFirst(),
                server -> new ProcessFault(label(), cluster, List.of(server), killed));
    }

    private Fault powerless(TestedCluster cluster, List<String> processes) {
        return new PowerCut(label(), cluster, List.copyOf(processes));
    }

    private Fault damaged(
            TestedCluster cluster, ServerFiles files, List<String> servers, Random random) {
        Random own = new Random(random.nextLong());
        return Damage.of(label(), cluster, files, after(servers, own), own);
    }

    /** All servers, these first. */
    private static List<String> after(List<String> servers, Random random) {
        List<String> others = new ArrayList<>(TestedCluster.allServers());
        others.removeAll(servers);
        Collections.shuffle(others, random);
        List<String> all = new ArrayList<>(servers);
        all.addAll(others);
        return all;
    }

    private static List<String> twoOf(List<String> processes, Random random) {
        List<String> some = new ArrayList<>(processes);
        Collections.shuffle(some, random);
        return some.subList(0, 2);
    }

    private static List<String> oneOfEach(List<String> regions, Random random) {
        return regions.stream()
                .map(TestedCluster::servers)
                .map(servers -> servers.get(random.nextInt(servers.size())))
                .toList();
    }

    private Fault inNetwork(WanLab lab, List<String> regions) {
        String a = regions.get(0);
        String b = regions.get(1);
        String c = regions.get(2);
        return switch (this) {
            case ISOLATE -> netsplit(lab, a, b, b, a, a, c, c, a);
            case CUT_ONE_WAY -> netsplit(lab, a, b);
            case BRIDGE -> netsplit(lab, a, b, b, a);
            case CUT_RING -> netsplit(lab, a, b, b, c, c, a);
            case SLOW_LINK -> new BadLink(label(), lab, a, b, SLOWER_TIMES, 0);
            case LOSSY_LINK -> new BadLink(label(), lab, a, b, 1, LOSS_PERCENT);
            default -> throw new IllegalStateException(label() + " is none of the network");
        };
    }

    private Fault netsplit(WanLab lab, String... fromTo) {
        List<Netsplit.Cut> cuts = new ArrayList<>();
        for (int i = 0; i < fromTo.length; i += 2) {
            cuts.add(new Netsplit.Cut(fromTo[i], fromTo[i + 1]));
        }
        return new Netsplit(label(), lab, cuts);
    }
}
