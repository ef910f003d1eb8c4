package org.globalfs.jepsen;

import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Each session posts in one folder, then comments on that in the other; others read the newest
 * comment, then what it is about. A post's key is even, its comment's the next.
 */
final class Comments implements Workload {
    private static final long MANY = 100_000;
    private final String posts;
    private final String comments;

    private static final long NOBODY = -1;
    private final Map<Long, AtomicLong> written = new ConcurrentHashMap<>();
    private final Set<Long> commenting = ConcurrentHashMap.newKeySet();
    private final Map<Long, Long> following = new ConcurrentHashMap<>();
    private volatile long latest = NOBODY;

    Comments(String posts, String comments) {
        this.posts = posts;
        this.comments = comments;
    }

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
        return List.of(Workloads.mkdir(posts), Workloads.mkdir(comments));
    }

    @Override
    public List<Map<String, Object>> preparations(long process) {
        return List.of(
                Workloads.mkdir(folder(post(process))), Workloads.mkdir(folder(post(process) + 1)));
    }

    private long post(long process) {
        return 2 * process;
    }

    private String folder(long key) {
        return (key % 2 == 0 ? posts : comments) + "/" + key;
    }

    @Override
    public Step next(long process, Random random) {
        if (commenting.remove(process)) {
            return written(post(process) + 1);
        }
        Long author = following.remove(process);
        if (author != null) {
            return Workloads.reading(folder(post(author)), post(author));
        }
        long commented = latest;
        if (commented == NOBODY || random.nextInt(4) == 0) {
            return written(post(process));
        }
        return Workloads.reading(folder(post(commented) + 1), post(commented) + 1);
    }

    private Step written(long key) {
        long n = written.computeIfAbsent(key, k -> new AtomicLong()).incrementAndGet();
        return Workloads.writing(folder(key), key, n);
    }

    @Override
    public void done(long process, Step step, Outcome outcome) {
        if (!outcome.is("ok") || !(step.value() instanceof List<?> pair)) {
            return;
        }
        long key = (Long) pair.getFirst();
        boolean comment = key % 2 != 0;
        if (step.f().equals("write")) {
            if (comment) {
                latest = process;
            } else {
                commenting.add(process);
            }
        } else if (comment && outcome.value() != null) {
            following.put(process, key / 2);
        }
    }
}
