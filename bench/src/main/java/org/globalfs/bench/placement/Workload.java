package org.globalfs.bench.placement;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

/**
 * Three regions work on projects, trees of some directories each. Most projects have users in one
 * region at a time, who do nine tenths of what is done in them: two fifths keep theirs, half hand
 * over to another region every 5 to 25 minutes. A tenth is used by two regions alike. How much is
 * done differs between projects by up to 16 times. The same seed gives the same accesses.
 */
final class Workload {

    static final List<String> REGIONS = List.of("us-west", "us-east", "eu-west");

    private static final int PROJECTS = 60;
    private static final int DIRECTORIES_MIN = 4;
    private static final int DIRECTORIES_MAX = 20;
    private static final int PHASE_MIN_S = 300;
    private static final int PHASE_MAX_S = 1_500;
    private static final double OWN = 0.9;
    private static final double WRITES = 0.2;
    private static final int RATE_MIN = 2;
    private static final double RATE_DOUBLINGS = 4;
    private static final int BURSTS_MAX = 3;
    private static final long BYTES_MIN = 100_000;
    private static final double BYTES_DOUBLINGS = 9;

    private final List<Access> accesses = new ArrayList<>();
    private final Map<String, Long> bytes = new HashMap<>();
    private final Random random;

    /** Whose users work on a project. */
    private enum Kind {
        SETTLED,
        WANDERING,
        SHARED
    }

    private final class Project {
        final List<String> directories = new ArrayList<>();
        final Kind kind;
        final double rate = RATE_MIN * Math.pow(2, random.nextDouble(RATE_DOUBLINGS));
        int users = random.nextInt(REGIONS.size());
        int phaseEnd;

        Project(int number) {
            kind = number % 10 == 0 ? Kind.SHARED : number % 10 < 5 ? Kind.SETTLED : Kind.WANDERING;
            int count = random.nextInt(DIRECTORIES_MIN, DIRECTORIES_MAX + 1);
            for (int i = 0; i < count; i++) {
                String path = "/project" + number + (i == 0 ? "" : "/directory" + i);
                directories.add(path);
                double size = BYTES_MIN * Math.pow(2, random.nextDouble(BYTES_DOUBLINGS));
                bytes.put(path, (long) size);
            }
            // Not all of them hand over at the beginning.
            phaseEnd = random.nextInt(PHASE_MAX_S);
        }

        void work(int second) {
            if (kind == Kind.WANDERING && second >= phaseEnd) {
                users = another(users);
                phaseEnd = second + random.nextInt(PHASE_MIN_S, PHASE_MAX_S + 1);
            }
            int bursts = random.nextInt(1, BURSTS_MAX + 1);
            for (int i = 0; i < bursts; i++) {
                int operations = (int) Math.round(rate * 2 * random.nextDouble() / bursts);
                int writes = 0;
                for (int j = 0; j < operations; j++) {
                    writes += random.nextDouble() < WRITES ? 1 : 0;
                }
                String directory = directories.get(random.nextInt(directories.size()));
                int region = region();
                if (operations > 0) {
                    accesses.add(
                            new Access(second, region, directory, operations - writes, writes));
                }
            }
        }

        private int region() {
            double own = kind == Kind.SHARED ? 0.5 : OWN;
            if (random.nextDouble() < own) {
                return users;
            }
            return kind == Kind.SHARED ? (users + 1) % REGIONS.size() : another(users);
        }
    }

    Workload(long seed, int seconds) {
        random = new Random(seed);
        List<Project> projects = new ArrayList<>();
        for (int i = 0; i < PROJECTS; i++) {
            projects.add(new Project(i));
        }
        for (int second = 0; second < seconds; second++) {
            for (Project project : projects) {
                project.work(second);
            }
        }
    }

    private int another(int region) {
        return (region + random.nextInt(1, REGIONS.size())) % REGIONS.size();
    }

    /** In the order of time. */
    List<Access> accesses() {
        return accesses;
    }

    /** The content of a directory's files. */
    long bytes(String directory) {
        return bytes.getOrDefault(directory, 0L);
    }
}
