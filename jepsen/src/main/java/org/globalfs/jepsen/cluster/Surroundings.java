package org.globalfs.jepsen.cluster;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * What a cluster is put on so that more than its processes can be broken; each as far as the
 * machine can have it.
 *
 * @param lab networks of the regions' own
 * @param disks file systems of the servers' own
 * @param clocks wall clocks of the servers' and mounts' own
 */
public record Surroundings(Optional<WanLab> lab, Optional<Disks> disks, Optional<Clocks> clocks)
        implements AutoCloseable {

    /** Something that faults need. */
    public enum Need {
        /** Processes only. */
        NOTHING,
        /** {@link #lab}. */
        NETWORK,
        /** {@link #disks}. */
        DISK,
        /** {@link #clocks}. */
        CLOCK
    }

    /** A loopback, and the machine's disk and clock. */
    public static Surroundings none() {
        return new Surroundings(Optional.empty(), Optional.empty(), Optional.empty());
    }

    /**
     * All that this machine can have. Nothing is made before {@link #up}.
     *
     * @param home the source tree
     * @param work an existing folder, where the program {@code poweroff} is
     * @param without is told what there will not be, and why
     */
    public static Surroundings of(Path home, Path work, Consumer<String> without) {
        Optional<String> noLab = WanLab.missing();
        noLab.ifPresent(why -> without.accept("no faults of the network: " + why));
        Optional<String> noDisks = Disks.missing();
        noDisks.ifPresent(why -> without.accept("no faults of disks: " + why));
        Optional<String> noClocks = Clocks.missing();
        noClocks.ifPresent(why -> without.accept("no faults of clocks: " + why));
        List<String> clocks = new ArrayList<>(TestedCluster.allServers());
        TestedCluster.REGIONS.forEach(r -> clocks.add(TestedCluster.mountProcess(r)));
        List<String> disks = new ArrayList<>(TestedCluster.allServers());
        TestedCluster.REGIONS.forEach(r -> disks.add(TestedCluster.cacheProcess(r)));
        return new Surroundings(
                noLab.isPresent()
                        ? Optional.empty()
                        : Optional.of(
                                new WanLab(
                                        home,
                                        TestedCluster.REGIONS,
                                        TestedCluster.regionsOfServers())),
                noDisks.isPresent()
                        ? Optional.empty()
                        : Optional.of(
                                new Disks(work.resolve("disks"), work.resolve("poweroff"), disks)),
                noClocks.isPresent()
                        ? Optional.empty()
                        : Optional.of(
                                new Clocks(
                                        home.resolve("jepsen/clock/clock.c"),
                                        work.resolve("clocks"),
                                        clocks)));
    }

    /** The same without a lab. */
    public Surroundings onLoopback() {
        return new Surroundings(Optional.empty(), disks, clocks);
    }

    public boolean has(Need need) {
        return switch (need) {
            case NOTHING -> true;
            case NETWORK -> lab.isPresent();
            case DISK -> disks.isPresent();
            case CLOCK -> clocks.isPresent();
        };
    }

    /** Makes what can be made before there is a cluster. */
    public void up() throws IOException {
        if (lab.isPresent()) {
            lab.get().up();
        }
        if (clocks.isPresent()) {
            clocks.get().make();
        }
    }

    /** Takes all away again; the cluster's processes have to be gone. */
    @Override
    public void close() throws IOException {
        List<AutoCloseable> all = new ArrayList<>();
        disks.ifPresent(all::add);
        lab.ifPresent(all::add);
        clocks.ifPresent(all::add);
        IOException failed = null;
        for (AutoCloseable each : all) {
            try {
                each.close();
            } catch (Exception e) {
                failed = new IOException("cannot clean up: " + e.getMessage(), e);
            }
        }
        if (failed != null) {
            throw failed;
        }
    }
}
