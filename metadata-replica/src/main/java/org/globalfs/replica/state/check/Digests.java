package org.globalfs.replica.state.check;

import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;

/**
 * What a partition knows of inodes that live elsewhere than where they were born, and of blocks
 * that regions lent each other, in sums that can be compared with what the others know.
 *
 * @param homes of inodes, by the partition that they live in
 * @param births of the same, by the partition that they were born in
 * @param lent of loans, by borrower
 * @param borrowed of loans, by lender
 */
public record Digests(
        Map<Integer, Long> homes,
        Map<Integer, Long> births,
        Map<Integer, Long> lent,
        Map<Integer, Long> borrowed) {

    private static final String SUMS = " (sums differ by %x)";
    private static final Pattern TOLD_SUMS = Pattern.compile(" \\(sums differ by [0-9a-f]+\\)$");

    Digests() {
        this(new TreeMap<>(), new TreeMap<>(), new TreeMap<>(), new TreeMap<>());
    }

    void inode(long ino, int birth, int home) {
        long digest = mixed(ino * 31 + home);
        homes.merge(home, digest, Long::sum);
        births.merge(birth, digest, Long::sum);
    }

    /** Spreads numbers over all 64 bits (a finalizer as SplitMix64 has). */
    static long mixed(long number) {
        long x = (number ^ number >>> 30) * 0xbf58476d1ce4e5b9L;
        x = (x ^ x >>> 27) * 0x94d049bb133111ebL;
        return x ^ x >>> 31;
    }

    /**
     * What does not match, a line each; nothing unless something was just on its way. A line has
     * the difference, so that it is the same again only while the same is on its way.
     */
    public static Set<String> faults(Map<Integer, Digests> all) {
        Set<String> faults = new TreeSet<>();
        Digests global = all.get(0);
        all.forEach((partition, own) -> {
            if (partition == 0 || global == null) {
                return;
            }
            long homes = difference(own.homes, partition, global.homes, partition);
            if (homes != 0) {
                faults.add(
                        ("partition %d has other inodes of others' than partition 0 says" + SUMS)
                                .formatted(partition, homes));
            }
            long births = difference(own.births, partition, global.births, partition);
            if (births != 0) {
                faults.add(
                        ("partition %d takes inodes that were born there to live elsewhere than partition 0 says"
                                        + SUMS)
                                .formatted(partition, births));
            }
            all.forEach((other, theirs) -> {
                long lent = difference(own.lent, other, theirs.borrowed, partition);
                if (lent != 0) {
                    faults.add(
                            ("partition %d has lent partition %d other blocks than that one has"
                                            + SUMS)
                                    .formatted(partition, other, lent));
                }
            });
        });
        return faults;
    }

    /**
     * What differs, of a line of {@link #faults}, without by how much: the same however much is on
     * its way. Other lines are left as they are.
     */
    public static String subject(String fault) {
        return TOLD_SUMS.matcher(fault).replaceFirst("");
    }

    private static long difference(
            Map<Integer, Long> one, int key, Map<Integer, Long> other, int otherKey) {
        return one.getOrDefault(key, 0L) - other.getOrDefault(otherKey, 0L);
    }
}
