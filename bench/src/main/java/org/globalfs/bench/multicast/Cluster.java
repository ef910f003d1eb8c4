package org.globalfs.bench.multicast;

import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.globalfs.bench.BenchFailure;
import org.globalfs.bench.BenchMain;
import org.globalfs.bench.lab.JavaCommand;
import org.globalfs.bench.lab.MemberProcess;
import org.globalfs.bench.lab.Pause;
import org.globalfs.bench.lab.Workplace;
import org.globalfs.bench.multicast.member.MemberOptions;

/** The members of one contender, each a process with a folder of its own. */
final class Cluster implements AutoCloseable {
    private static final Duration START = Duration.ofSeconds(60);
    private static final int POLL_MS = 20;
    private static final int NONE = -1;

    private final Contender contender;
    private final Shape shape;
    private final Place place;
    private final Path folder;
    private final Map<Integer, InetSocketAddress> addresses;
    private final Map<Integer, MemberProcess> running = new TreeMap<>();
    private final List<Integer> starting = new ArrayList<>();

    /**
     * What the members are.
     *
     * @param rings how many they share
     * @param keepsLog whether deliveries are kept, to be checked
     */
    record Shape(boolean durable, int rings, boolean keepsLog) {
        static final Shape DURABLE = new Shape(true, 1, false);
    }

    private Cluster(Contender contender, Shape shape, Place place, Path folder) {
        this.contender = contender;
        this.shape = shape;
        this.place = place;
        this.folder = folder;
        this.addresses = place.freshAddresses();
    }

    /** A running cluster with a coordinator. */
    static Cluster start(Contender contender, Shape shape, Place place, Path parent) {
        Cluster cluster = new Cluster(contender, shape, place, newFolder(parent, contender));
        try {
            for (int member = 1; member <= place.members(); member++) {
                cluster.startMember(member);
            }
            cluster.awaitReady();
            cluster.awaitCoordinator();
            return cluster;
        } catch (RuntimeException e) {
            cluster.close();
            throw e;
        }
    }

    /**
     * A running cluster that this member coordinates; where chance decides otherwise, all start
     * again.
     */
    static Cluster startLedBy(
            int wanted, Contender contender, Shape shape, Place place, Path parent) {
        for (int attempt = 0; attempt < 10; attempt++) {
            Cluster cluster = startWithFirst(1, wanted, contender, shape, place, parent);
            if (cluster.awaitCoordinator() == wanted) {
                return cluster;
            }
            cluster.close();
        }
        throw new BenchFailure("member " + wanted + " never became coordinator");
    }

    /**
     * A running cluster whose {@code count} members from {@code first} on started before the
     * others: so that it is likely one of them whose patience ends when a majority is there.
     */
    static Cluster startWithFirst(
            int count, int first, Contender contender, Shape shape, Place place, Path parent) {
        Cluster cluster = new Cluster(contender, shape, place, newFolder(parent, contender));
        try {
            for (int member = first; member < first + count; member++) {
                cluster.startMember(member);
            }
            cluster.awaitReady();
            Pause.ofMs(1500);
            for (int member = 1; member <= place.members(); member++) {
                if (!cluster.running.containsKey(member)) {
                    cluster.startMember(member);
                }
            }
            cluster.awaitReady();
            cluster.awaitCoordinator();
            return cluster;
        } catch (RuntimeException e) {
            cluster.close();
            throw e;
        }
    }

    private static Path newFolder(Path parent, Contender contender) {
        return Workplace.newFolder(parent, contender.system() + "-");
    }

    private void startMember(int member) {
        List<String> command = new ArrayList<>(place.prefix(member));
        command.addAll(JavaCommand.with(contender.jvmFlags()));
        command.add("-cp");
        command.add(System.getProperty("java.class.path"));
        command.add(BenchMain.class.getName());
        command.addAll(
                new MemberOptions(
                                contender.system(),
                                member,
                                addresses,
                                folder.resolve("member-" + member),
                                contender.dissemination(),
                                shape.durable(),
                                place.ring(),
                                shape.rings(),
                                shape.keepsLog())
                        .arguments());
        String name = contender.title() + " member " + member;
        running.put(
                member,
                new MemberProcess(name, command, folder.resolve("member-" + member + ".log")));
        starting.add(member);
    }

    private void awaitReady() {
        for (int member : starting) {
            member(member).awaitReady(START);
        }
        starting.clear();
    }

    /**
     * Waits until all who run name the same coordinator, one that runs. Further members than the
     * usual ones have another ring.
     */
    int awaitCoordinator() {
        long deadline = System.nanoTime() + START.toNanos();
        while (System.nanoTime() < deadline) {
            Set<Integer> named =
                    running.entrySet().stream()
                            .filter(member -> member.getKey() <= Place.MEMBERS)
                            .map(member -> named(member.getValue()))
                            .collect(Collectors.toSet());
            int first = named.iterator().next();
            if (named.size() == 1 && first != NONE && running.containsKey(first)) {
                return first;
            }
            Pause.ofMs(POLL_MS);
        }
        throw new BenchFailure("no coordinator was elected in " + START.toSeconds() + " s");
    }

    private static int named(MemberProcess member) {
        return Integer.parseInt(member.ask("coordinator"));
    }

    /** Waits until this member names a coordinator of its ring. */
    int awaitCoordinatorOf(int member) {
        long deadline = System.nanoTime() + START.toNanos();
        while (System.nanoTime() < deadline) {
            int named = named(member(member));
            if (named != NONE) {
                return named;
            }
            Pause.ofMs(POLL_MS);
        }
        throw new BenchFailure("member " + member + " knows no coordinator");
    }

    MemberProcess member(int member) {
        MemberProcess process = running.get(member);
        if (process == null) {
            throw new BenchFailure("member " + member + " does not run");
        }
        return process;
    }

    Map<Integer, MemberProcess> members() {
        return Map.copyOf(running);
    }

    MemberProcess kill(int member) {
        MemberProcess process = member(member);
        process.kill();
        running.remove(member);
        return process;
    }

    void restart(int member) {
        startMember(member);
        awaitReady();
    }

    Path folder() {
        return folder;
    }

    @Override
    public void close() {
        running.values().forEach(MemberProcess::close);
        running.clear();
        Workplace.remove(folder);
    }
}
