package org.globalfs.systemtests;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestMethodOrder;

/**
 * Real software is unpacked, configured, built and run on one tree from three regions, also while
 * processes die.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
@InSharedCluster
final class BuildIT {
    private static final Duration LONG = Duration.ofMinutes(6);
    private static final String CONFIGURE_AND_MAKE =
            "configure -q >configure.log 2>&1 && make -s MAKEINFO=true >make.log 2>&1";
    private static final String RUN =
            "[ \"$(echo '2^100 + 1' | bc/bc)\" = 1267650600228229401496703205377 ]";
    private LocalCluster cluster;
    private Path tarball;

    @BeforeAll
    void start(LocalCluster shared) throws IOException {
        tarball = BcSources.tarball();
        cluster = shared;
    }

    /** Extract, configure, build and run in us-west. */
    @Test
    @Order(1)
    void buildsInOneRegion() {
        Path work = cluster.mount("us-west");
        bash(work, "mkdir usw && tar xzf '" + tarball + "' -C usw");
        bash(
                work,
                "cd usw/bc-* && ./"
                        + CONFIGURE_AND_MAKE
                        + " || { tail -n 30 configure.log; tail -n 30 make.log; exit 1; }; "
                        + RUN);
    }

    /** The same bytes, modes and links are seen from another region as a local disk would hold. */
    @Test
    @Order(2)
    void isReadWholeFromAnotherRegion() throws IOException {
        Path local = Files.createTempDirectory("globalfs-local-");
        try {
            bash(
                    cluster.mount("us-west"),
                    "mkdir pristine && tar xzf '" + tarball + "' -C pristine");
            cluster.awaitSeen("pristine");
            bash(local, "tar xzf '" + tarball + "'");
            String difference =
                    bash(
                            local,
                            "diff -r --no-dereference . '"
                                    + cluster.mount("eu-west")
                                    + "/pristine' && echo same");
            assertThat(difference.strip()).isEqualTo("same");
            String list =
                    "find . -printf '%P %m %n %s %y %T@ %l\\n' | grep -v '^ ' | grep -v ' d ' | sort";
            assertThat(bash(cluster.mount("eu-west").resolve("pristine"), list + "; true"))
                    .isEqualTo(bash(local, list + "; true"));
        } finally {
            Shell.bash(LONG, Path.of("/"), "rm -rf '" + local + "'");
        }
    }

    /** us-east builds out of us-west's tree into a folder of its own. */
    @Test
    @Order(3)
    void buildsInAnotherRegionOutOfTheSameTree() {
        bash(
                cluster.mount("us-east"),
                "mkdir use && cd use && ../pristine/bc-*/"
                        + CONFIGURE_AND_MAKE
                        + " || { tail -n 30 configure.log; tail -n 30 make.log; exit 1; }; "
                        + RUN);
    }

    /**
     * Nothing of a build notices that a replica, then a coordinator, then a whole datacenter is
     * killed.
     */
    @Test
    @Order(4)
    void buildSurvivesKills() {
        Path work = cluster.mount("us-west");
        bash(work, "mkdir faults && tar xzf '" + tarball + "' -C faults");
        String coordinator = cluster.coordinatorProcess("us-west");
        String follower = coordinator.equals("us-west-b") ? "us-west-c" : "us-west-b";
        CompletableFuture<Shell.Outcome> build =
                Shell.meanwhile(() ->
                        Shell.bash(
                                LONG,
                                work,
                                "cd faults/bc-* && for i in 1 2; do ./"
                                        + CONFIGURE_AND_MAKE
                                        + " || { tail -n 30 configure.log; tail -n 30 make.log; exit 1; }; "
                                        + RUN
                                        + "; echo $i > round; [ $i = 2 ] || make -s distclean >>make.log 2>&1; done"));
        // a process here is a datacenter: its replica and both storage nodes die together
        cluster.kill(follower);
        awaitFile(build, "faults/bc-*/config.status");
        cluster.restart(follower);
        awaitCaughtUp(follower);
        coordinator = cluster.coordinatorProcess("us-west");
        cluster.kill(coordinator);
        awaitFile(build, "faults/bc-*/round");
        cluster.restart(coordinator);
        awaitCaughtUp(coordinator);
        coordinator = cluster.coordinatorProcess("us-west");
        cluster.kill(coordinator);
        Shell.Outcome outcome = build.join();
        assertThat(outcome.exitCode()).as(Shell.tail(outcome.output(), 3000)).isZero();
        cluster.restart(coordinator);
        awaitCaughtUp(coordinator);
        cluster.awaitEqualHashes(Duration.ofMinutes(2));
        bash(cluster.mount("eu-west"), "cd faults/bc-* && " + RUN);
    }

    private void awaitFile(CompletableFuture<Shell.Outcome> build, String glob) {
        LocalCluster.await(
                LONG,
                () ->
                        build.isDone()
                                || Shell.bash(
                                                Duration.ofSeconds(30),
                                                cluster.mount("us-west"),
                                                "ls " + glob)
                                        .ok(),
                () -> glob + " never appeared");
    }

    private void awaitCaughtUp(String process) {
        LocalCluster.await(
                Duration.ofMinutes(1),
                () -> cluster.ringValues(cluster.status(), 1, "applied").size() == 3,
                () -> process + " did not come back: " + cluster.status());
    }

    private static String bash(Path folder, String script) {
        return Shell.bash(LONG, folder, script).orFail();
    }
}
