package org.globalfs.jepsen;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongUnaryOperator;
import org.jspecify.annotations.Nullable;

/** The workloads. Each instance has folders of its own below those that it is given. */
final class Workloads {
    private static final long LINEAR_OPERATIONS = 190;
    private static final long MANY = 100_000;

    /** Of one history: disks have to hold those of an hour. */
    private static final long LARGE_FILES = 8;

    /** To one write of those: some last until the end of half a minute. */
    private static final int LARGE_READS = 5;

    private Workloads() {}

    static Map<String, Object> request(String f, Object... fields) {
        Map<String, Object> request = new LinkedHashMap<>();
        request.put("f", f);
        for (int i = 0; i < fields.length; i += 2) {
            request.put((String) fields[i], fields[i + 1]);
        }
        return request;
    }

    static Map<String, Object> mkdir(String folder) {
        return request("mkdir", "dir", folder);
    }

    /** Numbers written over each other by rename, and read. */
    static Workload renamedRegister(String folder) {
        return new InOneFolder("register", LINEAR_OPERATIONS, folder) {
            @Override
            public Step next(long process, Random random) {
                return random.nextBoolean()
                        ? Step.read("read", null, request("reg.read", "dir", folder))
                        : updateOf("write", "reg.write", numbers.incrementAndGet());
            }
        };
    }

    /** Numbers exchanged by link, which succeed each other as versions. */
    static Workload linkedRegister(String folder) {
        return new InOneFolder("register", LINEAR_OPERATIONS, folder) {
            private volatile long seen;

            @Override
            public Step next(long process, Random random) {
                long value = numbers.incrementAndGet();
                return switch (value == 1 ? 0 : random.nextInt(10)) {
                    case 0 -> updateOf("write", "ver.write", value);
                    case 1, 2, 3, 4, 5 -> {
                        long old = seen;
                        yield Step.update(
                                "cas",
                                List.of(old, value),
                                request("ver.cas", "dir", folder, "old", old, "value", value));
                    }
                    default -> Step.read("read", null, request("ver.read", "dir", folder));
                };
            }

            @Override
            public void done(long process, Step step, Outcome outcome) {
                if (outcome.is("ok")) {
                    Object now = step.f().equals("read") ? outcome.value() : last(step.value());
                    seen = now instanceof Number number ? number.longValue() : 0;
                }
            }

            private @Nullable Object last(@Nullable Object value) {
                return value instanceof List<?> pair ? pair.getLast() : value;
            }
        };
    }

    /** Records appended to one file. */
    static Workload appends(String folder) {
        return new InOneFolder("append", LINEAR_OPERATIONS, folder) {
            @Override
            public Step next(long process, Random random) {
                return random.nextInt(10) < 6
                        ? updateOf("append", "log.append", numbers.incrementAndGet())
                        : Step.read("read", null, request("log.read", "dir", folder));
            }
        };
    }

    /**
     * Three names in each of two folders, which may be in different partitions; and a file in the
     * first that keeps its name, which is linked from.
     *
     * @param links false: no two names are of one file, and none is renamed to itself. The kernel
     *     does nothing, and says that it did, when it takes both names for those of one file; where
     *     reads are causal it may err
     */
    static Workload names(String one, String other, boolean links) {
        List<String> paths = new ArrayList<>();
        for (String name : List.of("a", "b", "c")) {
            paths.add(one + "/" + name);
            paths.add(other + "/" + name);
        }
        String source = one + "/source";
        return new Workload() {
            @Override
            public List<Step> first() {
                return List.of(of("create", "path", source));
            }

            @Override
            public String checker() {
                return "namespace";
            }

            @Override
            public long mostOperations() {
                return LINEAR_OPERATIONS;
            }

            @Override
            public List<Map<String, Object>> preparations() {
                return List.of(mkdir(one), mkdir(other));
            }

            @Override
            public Step next(long process, Random random) {
                String path = paths.get(random.nextInt(paths.size()));
                List<String> others =
                        links
                                ? paths
                                : paths.stream().filter(other -> !other.equals(path)).toList();
                String to = others.get(random.nextInt(others.size()));
                return switch (random.nextInt(12)) {
                    case 0, 1 -> of("create", "path", path);
                    case 2, 3 -> of("unlink", "path", path);
                    case 4, 5, 6 -> of("rename", "path", path, "to", to);
                    case 7, 8 ->
                            links ? of("link", "path", source, "to", to) : of("create", "path", to);
                    case 9 -> of("exists", "path", path);
                    case 10 -> seen("stat", "path", source);
                    default -> seen("readdir", "path", random.nextBoolean() ? one : other);
                };
            }

            private Step of(String f, Object... fields) {
                return Step.update(f, value(fields), request("ns." + f, fields));
            }

            private Step seen(String f, Object... fields) {
                return Step.read(f, value(fields), request("ns." + f, fields));
            }

            private Map<String, Object> value(Object... fields) {
                Map<String, Object> value = request("", fields);
                value.remove("f");
                return value;
            }
        };
    }

    /** One lock, with a token handed on under it. */
    static Workload locks(String folder, String kind) {
        return new InOneFolder("lock", LINEAR_OPERATIONS, folder) {
            private final Map<Long, Boolean> held = new ConcurrentHashMap<>();

            @Override
            public Step next(long process, Random random) {
                boolean release = held.containsKey(process);
                String f = release ? "release" : "acquire";
                Map<String, Object> request = request("lock." + f, "dir", folder, "kind", kind);
                return release ? Step.update(f, null, request) : Step.read(f, null, request);
            }

            @Override
            public void done(long process, Step step, Outcome outcome) {
                held.remove(process);
                if (step.f().equals("acquire") && outcome.is("ok")) {
                    held.put(process, true);
                }
            }
        };
    }

    /** Files made durable one by one, looked for at the end. */
    static Workload fsyncSet(String folder) {
        return new InOneFolder("fsync-set", MANY, folder) {
            @Override
            public Step next(long process, Random random) {
                return updateOf("add", "set.add", numbers.incrementAndGet());
            }

            @Override
            public List<Step> last() {
                return List.of(Step.read("read", null, request("set.read", "dir", folder)));
            }
        };
    }

    /** A file that grows. */
    static Workload counter(String folder) {
        return new InOneFolder("counter", MANY, folder) {
            @Override
            public Step next(long process, Random random) {
                return random.nextInt(4) > 0
                        ? updateOf("add", "counter.add", 1 + random.nextInt(3))
                        : reading();
            }

            private Step reading() {
                return Step.read("read", null, request("counter.read", "dir", folder));
            }

            @Override
            public List<Step> last() {
                return List.of(reading());
            }
        };
    }

    /** Each session writes a file of its own and reads everybody's, spread over the folders. */
    static Workload sessions(List<String> folders) {
        return new Workload() {
            private final List<Long> keys = new CopyOnWriteArrayList<>();
            private final Map<Long, AtomicLong> written = new ConcurrentHashMap<>();

            @Override
            public String checker() {
                return "sessions";
            }

            @Override
            public long mostOperations() {
                return MANY;
            }

            @Override
            public List<Map<String, Object>> preparations() {
                return folders.stream().map(Workloads::mkdir).toList();
            }

            @Override
            public List<Map<String, Object>> preparations(long process) {
                return List.of(mkdir(folder(process)));
            }

            private String folder(long key) {
                return folders.get((int) (key % folders.size())) + "/" + key;
            }

            @Override
            public Step next(long process, Random random) {
                if (written.putIfAbsent(process, new AtomicLong()) == null) {
                    keys.add(process);
                }
                if (random.nextInt(3) == 0) {
                    long n = written.get(process).incrementAndGet();
                    return writing(folder(process), process, n);
                }
                long key = keys.get(random.nextInt(keys.size()));
                return reading(folder(key), key);
            }
        };
    }

    /** The next version of a key, in the key's folder. */
    static Step writing(String folder, long key, long n) {
        return Step.update(
                "write", List.of(key, n), request("reg.write", "dir", folder, "value", n));
    }

    static Step reading(String folder, long key) {
        List<Object> asked = new ArrayList<>();
        asked.add(key);
        asked.add(null);
        return new Step(
                "read",
                asked,
                request("reg.read", "dir", folder),
                answer -> {
                    List<Object> pair = new ArrayList<>(asked);
                    pair.set(1, answer);
                    return pair;
                });
    }

    /** Files of some hundred kilobytes, read back whole. */
    static Workload content(String folder) {
        return new Contents(
                "content",
                folder,
                "content.write",
                MANY,
                1,
                file -> 1_000 + file * 7_919 % 600_000,
                "read",
                "content.read");
    }

    /** A few files of 8 to 40 MB, written in pieces with fsync after each. */
    static Workload large(String folder) {
        return new Contents(
                "content",
                folder,
                "large.write",
                LARGE_FILES,
                LARGE_READS,
                Workloads::largeBytes,
                "read",
                "content.read");
    }

    /**
     * The same where reads are causal: files get their names once they are whole, and are read in
     * the end by who has heard of all that was acknowledged.
     */
    static Workload globalLarge(String folder) {
        return new Contents(
                "causal-content",
                folder,
                "whole.write",
                LARGE_FILES,
                LARGE_READS,
                Workloads::largeBytes,
                "settled",
                "whole.settled");
    }

    private static long largeBytes(long file) {
        return 8_000_000 + file * 7_919_003 % 32_000_000;
    }

    /** Files that are written once, with sums of their bytes. */
    private static final class Contents extends InOneFolder {
        private final String folder;
        private final String write;
        private final long mostFiles;
        private final int readsToOneWrite;
        private final LongUnaryOperator size;
        private final String lastF;
        private final String lastAsked;

        /**
         * @param write what agents are asked for a file
         * @param readsToOneWrite about; few files are not all to be there before a fault is
         * @param lastF what the history calls it when a file is read in the end
         * @param lastAsked what agents are asked for then
         */
        Contents(
                String checker,
                String folder,
                String write,
                long mostFiles,
                int readsToOneWrite,
                LongUnaryOperator size,
                String lastF,
                String lastAsked) {
            super(checker, MANY, folder);
            this.folder = folder;
            this.write = write;
            this.mostFiles = mostFiles;
            this.readsToOneWrite = readsToOneWrite;
            this.size = size;
            this.lastF = lastF;
            this.lastAsked = lastAsked;
        }

        @Override
        public Step next(long process, Random random) {
            long made = numbers.get();
            if (made > 0 && (made >= mostFiles || random.nextInt(readsToOneWrite + 1) > 0)) {
                return reading("read", "content.read", 1 + random.nextLong(made));
            }
            long file = numbers.incrementAndGet();
            long bytes = size.applyAsLong(file);
            return Step.update(
                            "write",
                            value(file, Content.sum(file, bytes)),
                            request(write, "dir", folder, "value", file, "bytes", bytes))
                    .awaited();
        }

        private static Map<String, Object> value(long file, Object sum) {
            Map<String, Object> value = new LinkedHashMap<>();
            value.put("file", file);
            value.put("sum", sum);
            return value;
        }

        private Step reading(String f, String asked, long file) {
            return new Step(
                            f,
                            Map.of("file", file),
                            request(asked, "dir", folder, "value", file),
                            answer -> value(file, String.valueOf(answer)))
                    .patiently();
        }

        @Override
        public List<Step> last() {
            List<Step> all = new ArrayList<>();
            for (long file = 1; file <= numbers.get(); file++) {
                all.add(reading(lastF, lastAsked, file));
            }
            return all;
        }
    }

    /** What most have in common. */
    private abstract static class InOneFolder implements Workload {
        final AtomicLong numbers = new AtomicLong();
        private final String checker;
        private final long mostOperations;
        private final String folder;

        InOneFolder(String checker, long mostOperations, String folder) {
            this.checker = checker;
            this.mostOperations = mostOperations;
            this.folder = folder;
        }

        @Override
        public String checker() {
            return checker;
        }

        @Override
        public long mostOperations() {
            return mostOperations;
        }

        @Override
        public List<Map<String, Object>> preparations() {
            return List.of(mkdir(folder));
        }

        Step updateOf(String f, String asked, long value) {
            return Step.update(f, value, request(asked, "dir", folder, "value", value));
        }
    }
}
