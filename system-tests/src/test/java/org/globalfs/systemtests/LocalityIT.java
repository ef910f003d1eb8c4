package org.globalfs.systemtests;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/** What is done in a region's own trees involves nobody outside the region. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@InSharedCluster
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
     * Segments with data that the cluster's processes have sent each other, a line for each side of
     * each connection: its two ends, the two processes, whether they are of one region, how many.
     */
    private static final String SENT =
            """
            import glob, os, re, subprocess
            region, name = {}, {}
            for path in glob.glob('run/*.pid'):
                found = re.match('(?:mount-)?(us-west|us-east|eu-west)', os.path.basename(path))
                if found:
                    pid = int(open(path).read())
                    region[pid], name[pid] = found[1], os.path.basename(path)[:-4]
            lines = subprocess.run(['ss', '-tinpHO', 'state', 'established'], capture_output=True, text=True, check=True).stdout.splitlines()
            owner, sent = {}, []
            for line in lines:
                ends = re.match(r'\\d+\\s+\\d+\\s+(\\S+)\\s+(\\S+)', line)
                pid, segments = re.search(r'pid=(\\d+)', line), re.search(r'data_segs_out:(\\d+)', line)
                if ends and pid and int(pid[1]) in region:
                    here, there = (each.replace('[::ffff:', '').replace(']', '') for each in ends.groups())
                    owner[here] = int(pid[1])
                    sent.append((here, there, segments[1] if segments else '0'))
            for here, there, segments in sent:
                if there in owner:
                    a, b = owner[here], owner[there]
                    print(here + '>' + there, name[a] + '>' + name[b], region[a] == region[b], segments)
            """;

    /** One side of a connection, and how many segments with data it has sent until now. */
    private record Sender(String processes, boolean within, long segments) {}

    /** What was sent until now, and ring 0's and the regional rings' newest instances. */
    private record Counts(long ns, Map<String, Sender> senders, long global, List<Long> regional) {

        /**
         * What was sent after `earlier`, by pairs of processes, within regions or across. A
         * connection that was closed in between is left out: its count went with it.
         */
        Map<String, Long> since(Counts earlier, boolean within) {
            Map<String, Long> sent = new HashMap<>();
            senders.forEach((ends, now) -> {
                Sender before = earlier.senders.get(ends);
                boolean same = before != null && before.segments <= now.segments;
                if (now.within == within) {
                    long more = now.segments - (same ? before.segments : 0);
                    sent.merge(now.processes, more, Long::sum);
                }
            });
            return sent;
        }
    }

    private static Counts counts(LocalCluster cluster) {
        List<String> command = List.of("python3", "-c", SENT);
        Map<String, Sender> senders = new HashMap<>();
        for (String line :
                Shell.run(LIMIT, cluster.data(), command).orFail().strip().split("\n", -1)) {
            String[] words = line.split(" ", -1);
            boolean within = words[2].equals("True");
            senders.put(words[0], new Sender(words[1], within, Long.parseLong(words[3])));
        }
        var status = cluster.status();
        List<Long> regional = new ArrayList<>();
        for (int ring = 1; ring <= LocalCluster.REGIONS.size(); ring++) {
            regional.add(newest(cluster.ringValues(status, ring, "decided")));
        }
        return new Counts(
                System.nanoTime(),
                senders,
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

    /**
     * What the work of one round has added to what went on before it anyway.
     *
     * @param busiest the pairs of processes of different regions that sent most
     */
    private record Added(
            double across, double within, double global, List<Long> regional, String busiest) {}

    /** What was sent from `idle` to `end` beyond what goes on anyway, as from `start` to `idle`. */
    private static double more(Counts start, Counts idle, Counts end, boolean within) {
        return sum(end.since(idle, within))
                - longer(start, idle, end) * sum(idle.since(start, within));
    }

    private static long sum(Map<String, Long> sent) {
        return sent.values().stream().mapToLong(Long::longValue).sum();
    }

    /** Heartbeats, statistics and the like go on meanwhile as they did before. */
    private static double longer(Counts start, Counts idle, Counts end) {
        return (double) (end.ns - idle.ns) / (idle.ns - start.ns);
    }

    private static String busiest(Map<String, Long> sent) {
        return sent.entrySet().stream()
                .sorted(Map.Entry.<String, Long>comparingByValue().reversed())
                .limit(5)
                .toList()
                .toString();
    }

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

        List<Long> regional = new ArrayList<>();
        for (int region = 0; region < LocalCluster.REGIONS.size(); region++) {
            regional.add(end.regional.get(region) - idle.regional.get(region));
        }
        Added added =
                new Added(
                        more(start, idle, end, false),
                        more(start, idle, end, true),
                        end.global
                                - idle.global
                                - longer(start, idle, end) * (idle.global - start.global),
                        regional,
                        busiest(end.since(idle, false)));
        System.out.printf(
                "%d operations: %.0f segments more within regions, %.0f across, %.0f instances of ring 0; across, idle ones too: %s%n",
                OPERATIONS, added.within, added.across, added.global, added.busiest);
        return added;
    }

    /** By their inodes' numbers. */
    private static List<Long> birthplaces(LocalCluster cluster) {
        return LocalCluster.REGIONS.stream()
                .map(region ->
                        Shell.bash(LIMIT, cluster.mount(region), "stat -c %i locality-" + region)
                                .orFail())
                .map(ino -> Long.parseLong(ino.strip()) >> 48)
                .toList();
    }

    @Test
    void workInThreeRegionsSendsNothingFromOneToAnother(LocalCluster cluster) {
        LocalCluster.REGIONS.forEach(region -> work(cluster, region, 2));
        // Others' tests have used the cluster: what they have deleted goes meanwhile, and what they
        // have moved is followed by its content. Only the work itself sends as much every time.
        Added added = added(cluster);
        for (int again = 0; again < 5 && Math.abs(added.across) >= MOST_ACROSS; again++) {
            added = added(cluster);
        }
        assertThat(added.regional).allMatch(instances -> instances > ROUNDS);
        assertThat(added.global).isLessThan(10);
        assertThat(added.within).isGreaterThan(OPERATIONS);
        assertThat(added.across)
                .as("%s; folders made in partitions %s", added.busiest, birthplaces(cluster))
                .isLessThan(MOST_ACROSS);
    }
}
