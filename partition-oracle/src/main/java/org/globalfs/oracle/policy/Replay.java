package org.globalfs.oracle.policy;

import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.ToLongFunction;
import org.globalfs.protocol.config.Topology;
import org.globalfs.protocol.placement.MovePolicy;
import org.globalfs.protocol.placement.MoveRule;
import org.globalfs.protocol.wire.DirectoryUse;

/**
 * What a policy would have moved: accesses of another time are decided upon as the regions' oracles
 * would, with all reports heard and moves done at once. Not thread-safe.
 */
public final class Replay {

    private static final int MOST_DIRECTORIES = 50_000;
    private static final long ROOT = 1;

    /** From one decision to the next. */
    private static final long STEP_MS = 1_000;

    private final MovePolicy policy;
    private final Map<String, Long> inodes = new LinkedHashMap<>();
    private final Map<Long, Place> places = new HashMap<>();
    private final Map<Integer, String> regions = new TreeMap<>();
    private final ToLongFunction<String> bytes;
    private final Map<MoveRule, Budget> inodeBudgets = new HashMap<>();
    private final Map<MoveRule, Budget> byteBudgets = new HashMap<>();
    private final List<Move> moves = new ArrayList<>();
    private final UseRates rates;
    private long nowMs;
    private boolean begun;
    private long operations;
    private long local;
    private long localWithout;

    /** A directory, where it lives, and where it would without moves. */
    private static final class Place {
        final long ino;
        final String path;
        final long parent;
        final int first;
        int home;

        Place(long ino, String path, long parent, int home) {
            this.ino = ino;
            this.path = path;
            this.parent = parent;
            this.first = home;
            this.home = home;
        }
    }

    /**
     * A tree that moves.
     *
     * @param timeMs of the trace
     * @param own operations of the region that it moves to, {@code others} of all others
     * @param directories how many of them move, {@code bytes} with so much content
     */
    public record Move(
            long timeMs,
            String path,
            String from,
            String to,
            double own,
            double others,
            int directories,
            long bytes) {}

    /**
     * What came of it.
     *
     * @param operations all
     * @param local those by users of the region that the directory lived in at that time, and reads
     *     of those that were every region's
     * @param localWithout those that would have been if nothing had moved
     */
    public record Summary(List<Move> moves, long operations, long local, long localWithout) {
        public Summary {
            moves = List.copyOf(moves);
        }
    }

    /** Nothing has happened yet; the root is every region's. Nothing is known of content. */
    public Replay(MovePolicy policy) {
        this(policy, path -> 0);
    }

    /**
     * @param bytes the content of the files in a directory, those below it not counted
     */
    public Replay(MovePolicy policy, ToLongFunction<String> bytes) {
        this.policy = policy;
        this.bytes = bytes;
        this.rates = new UseRates(MOST_DIRECTORIES, Rules.of(policy.root()), 0);
        inodes.put("/", ROOT);
        places.put(ROOT, new Place(ROOT, "/", ROOT, 0));
    }

    /** A directory that is not there yet lives in that region from the beginning. */
    public void lives(String path, String region) {
        boolean global = region.equals(Topology.GLOBAL_NAME);
        place(path, global ? Topology.GLOBAL : partition(region));
    }

    /**
     * Users of a region did this in a directory. One that is not known lives where the one above it
     * does; below the root, with its first user.
     *
     * @param timeMs not before the call before; the first one's is the beginning
     */
    public void use(long timeMs, String region, String path, long reads, long writes) {
        if (!begun) {
            begun = true;
            nowMs = timeMs;
        }
        while (nowMs + STEP_MS <= timeMs) {
            nowMs += STEP_MS;
            decide();
        }
        int partition = partition(region);
        Place place = place(path, partition);
        operations += reads + writes;
        local += local(place.home, partition, reads, writes);
        localWithout += local(place.first, partition, reads, writes);
        List<DirectoryUse> uses = new ArrayList<>();
        uses.add(new DirectoryUse(place.ino, place.parent, place.home, reads, writes));
        for (Place at = place; at.ino != ROOT; ) {
            at = known(at.parent);
            uses.add(new DirectoryUse(at.ino, at.parent, at.home, 0, 0));
        }
        Collections.reverse(uses);
        rates.report(partition, uses, nowMs);
    }

    /** The trace is at its end. */
    public Summary end() {
        nowMs += STEP_MS;
        decide();
        return soFar();
    }

    /** What has come of it until now. */
    public Summary soFar() {
        return new Summary(moves, operations, local, localWithout);
    }

    /** Every region has what partition 0 holds, but changes it together with the others. */
    private static long local(int home, int user, long reads, long writes) {
        return home == user ? reads + writes : home == Topology.GLOBAL ? reads : 0;
    }

    private Place known(long ino) {
        Place place = places.get(ino);
        if (place == null) {
            throw new IllegalStateException("directory " + ino + " has no place");
        }
        return place;
    }

    private int partition(String region) {
        for (Map.Entry<Integer, String> known : regions.entrySet()) {
            if (known.getValue().equals(region)) {
                return known.getKey();
            }
        }
        regions.put(regions.size() + 1, region);
        return regions.size();
    }

    /**
     * @param user whose it is if it is in the root and new
     */
    private Place place(String path, int user) {
        Long ino = inodes.get(path);
        if (ino != null) {
            return known(ino);
        }
        int slash = path.lastIndexOf('/');
        Place above = place(slash == 0 ? "/" : path.substring(0, slash), user);
        int home = above.ino == ROOT ? user : above.home;
        Place place = new Place(ROOT + inodes.size(), path, above.ino, home);
        inodes.put(path, place.ino);
        places.put(place.ino, place);
        if (policy.rules().stream().anyMatch(rule -> rule.path().equals(path))) {
            rates.rules(rules());
        }
        return place;
    }

    private Rules rules() {
        Map<Long, MoveRule> byDirectory = new HashMap<>();
        Set<Long> above = new HashSet<>();
        for (MoveRule rule : policy.rules()) {
            Long ino = inodes.get(rule.path());
            if (ino != null && ino != ROOT) {
                byDirectory.put(ino, rule);
                for (long at = ino; at != ROOT; ) {
                    at = known(at).parent;
                    above.add(at);
                }
            }
        }
        return new Rules(byDirectory, above, policy.root());
    }

    private void decide() {
        regions.forEach((partition, region) -> {
            List<Choice> choices = new Chooser(region, partition).choose(rates, _ -> false, nowMs);
            for (Choice choice : choices) {
                Budget inodesLeft =
                        inodeBudgets.computeIfAbsent(
                                choice.rule(), rule -> new Budget(rule.inodesAnHour(), nowMs));
                Budget bytesLeft =
                        byteBudgets.computeIfAbsent(
                                choice.rule(), rule -> new Budget(rule.bytesAnHour(), nowMs));
                if (inodesLeft.left(nowMs) > 0 && bytesLeft.left(nowMs) > 0) {
                    Move move = move(choice);
                    inodesLeft.spend(move.directories);
                    bytesLeft.spend(move.bytes);
                }
            }
        });
    }

    private Move move(Choice choice) {
        Place place = known(choice.ino());
        int from = place.home;
        Rules rules = rules();
        List<Place> along = new ArrayList<>(places.values());
        along.removeIf(other -> !isBelow(other, place, from, rules));
        along.forEach(other -> other.home = choice.to());
        rates.moved(place.ino, choice.to(), nowMs);
        Move move =
                new Move(
                        nowMs,
                        place.path,
                        name(from),
                        name(choice.to()),
                        choice.own(),
                        choice.others(),
                        along.size(),
                        along.stream().mapToLong(other -> bytes.applyAsLong(other.path)).sum());
        moves.add(move);
        return move;
    }

    private String name(int partition) {
        return regions.getOrDefault(partition, Topology.GLOBAL_NAME);
    }

    /**
     * Whether it is moved along with the tree: directories with homes or rules of their own are
     * not.
     */
    private boolean isBelow(Place place, Place top, int from, Rules rules) {
        for (Place at = place; at.ino != ROOT; at = known(at.parent)) {
            if (at.ino == top.ino) {
                return true;
            }
            if (at.home != from || rules.byDirectory().containsKey(at.ino)) {
                return false;
            }
        }
        return false;
    }
}
