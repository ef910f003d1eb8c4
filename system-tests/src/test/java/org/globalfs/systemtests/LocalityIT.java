package org.globalfs.systemtests;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.extension.ExtendWith;

/** What is done in a region's own trees involves nobody outside the region. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@ExtendWith(SharedCluster.class)
final class LocalityIT {
    private static final Duration LIMIT = Duration.ofMinutes(3);
    private static final int ROUNDS = 150;
    private static final int OPERATIONS_A_ROUND = 12;
    private static final long OPERATIONS = 3L * ROUNDS * OPERATIONS_A_ROUND;
    private static final double MOST_ACROSS = 0.1 * OPERATIONS;

    private static final String WORK =
            """
            import os, sys
            os.chdir(sys.argv[1])
            for i in range(int(sys.argv[2])):
                os.mkdir('d')
                fd = os.open('d/f', os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o644)
                os.write(fd, b'x' * (100 if i % 10 else 100000))
                os.fsync(fd)
                os.close(fd)
                os.rename('d/f', 'g')
                os.link('g', 'd/h')
                os.symlink('g', 'd/s')
                os.setxattr('g', 'user.a', b'1')
                os.chmod('g', 0o600)
                assert len(open('d/h').read()) >= 100 and len(os.listdir('d')) == 2
                os.unlink('d/s'); os.unlink('d/h'); os.unlink('g')
                os.rmdir('d')
            """;

    /**
     * Segments with data that the cluster's processes have sent each other: to other regions', and
     * to those of their own.
     */
    private static final String SENT =
            """
            import glob, os, re, subprocess
            region = {}
            for path in glob.glob('run/*.pid'):
                name = re.match('(?:mount-)?(us-west|us-east|eu-west)', os.path.basename(path))
                if name:
                    region[int(open(path).read())] = name[1]
            lines = subprocess.run(['ss', '-tinpHO', 'state', 'established'], capture_output=True, text=True, check=True).stdout.splitlines()
            owner, sent = {}, []
            for line in lines:
                ends = re.match(r'\\d+\\s+\\d+\\s+(\\S+)\\s+(\\S+)', line)
                pid, segments = re.search(r'pid=(\\d+)', line), re.search(r'data_segs_out:(\\d+)', line)
                if ends and pid and int(pid[1]) in region:
                    owner[ends[1].replace('[::ffff:', '').replace(']', '')] = region[int(pid[1])]
                    sent.append((ends[1].replace('[::ffff:', '').replace(']', ''), ends[2].replace('[::ffff:', '').replace(']', ''), int(segments[1]) if segments else 0))
            across = sum(n for here, there, n in sent if there in owner and owner[here] != owner[there])
            within = sum(n for here, there, n in sent if there in owner and owner[here] == owner[there])
            print(across, within)
            """;

    /** What was sent until now, and ring 0's and the regional rings' newest instances. */
    private record Counts(long ns, long across, long within, long global, List<Long> regional) {}

    private static Counts counts(LocalCluster cluster) {
        List<String> command = List.of("python3", "-c", SENT);
        String[] sent = Shell.run(LIMIT, cluster.data(), command).orFail().strip().split(" ", -1);
        var status = cluster.status();
        List<Long> regional = new ArrayList<>();
        for (int ring = 1; ring <= LocalCluster.REGIONS.size(); ring++) {
            regional.add(newest(cluster.ringValues(status, ring, "decided")));
        }
        return new Counts(
                System.nanoTime(),
                Long.parseLong(sent[0]),
                Long.parseLong(sent[1]),
                newest(cluster.ringValues(status, 0, "decided")),
                regional);
    }

    private static long newest(List<Object> values) {
        return values.stream().mapToLong(each -> ((Number) each).longValue()).max().orElseThrow();
    }

    private static void work(LocalCluster cluster, String region, int rounds) {
        Path folder = cluster.mount(region).resolve("locality-" + region);
        Shell.bash(LIMIT, cluster.data(), "mkdir -p '" + folder + "'").orFail();
        List<String> command =
                List.of("python3", "-c", WORK, folder.toString(), Integer.toString(rounds));
        Shell.run(LIMIT, cluster.data(), command).orFail();
    }

    /** What the work of one round has added to what went on before it anyway. */
    private record Added(double across, double within, double global, List<Long> regional) {}

    private static Added added(LocalCluster cluster) {
        Counts start = counts(cluster);
        Shell.bash(LIMIT, cluster.data(), "sleep 5").orFail();
        Counts idle = counts(cluster);

        List<CompletableFuture<Void>> users = new ArrayList<>();
        for (String region : LocalCluster.REGIONS) {
            users.add(
                    Shell.meanwhile(() -> {
                        work(cluster, region, ROUNDS);
                        return null;
                    }));
        }
        users.forEach(CompletableFuture::join);
        Counts end = counts(cluster);

        // Heartbeats, statistics and the like go on meanwhile as they did before.
        double longer = (double) (end.ns - idle.ns) / (idle.ns - start.ns);
        List<Long> regional = new ArrayList<>();
        for (int region = 0; region < LocalCluster.REGIONS.size(); region++) {
            regional.add(end.regional.get(region) - idle.regional.get(region));
        }
        Added added =
                new Added(
                        end.across - idle.across - longer * (idle.across - start.across),
                        end.within - idle.within - longer * (idle.within - start.within),
                        end.global - idle.global - longer * (idle.global - start.global),
                        regional);
        System.out.printf(
                "%d operations: %.0f segments more within regions, %.0f across, %.0f instances of ring 0%n",
                OPERATIONS, added.within, added.across, added.global);
        return added;
    }

    @Test
    void workInThreeRegionsSendsNothingFromOneToAnother(LocalCluster cluster) {
        LocalCluster.REGIONS.forEach(region -> work(cluster, region, 2));
        // Others' tests have used the cluster: what they have deleted goes meanwhile, and what they
        // have moved is followed by its content. Only the work itself sends as much every time.
        Added added = added(cluster);
        for (int again = 0; again < 3 && Math.abs(added.across) >= MOST_ACROSS; again++) {
            added = added(cluster);
        }
        assertThat(added.regional).allMatch(instances -> instances > ROUNDS);
        assertThat(added.global).isLessThan(10);
        assertThat(added.within).isGreaterThan(OPERATIONS);
        assertThat(added.across).isLessThan(MOST_ACROSS);
    }
}
