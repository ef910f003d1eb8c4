package org.globalfs.oracle.policy;

import java.util.Map;
import java.util.TreeMap;
import org.globalfs.protocol.placement.MoveRule;
import org.jspecify.annotations.Nullable;

/** What is known of one directory, without those below it. */
final class Directory {

    final long ino;
    long parent;
    int partition;

    /** Since when it has lived there. */
    long settledMs;

    /** Of itself alone, by the users' partition, as of {@code fadedMs}. */
    final Map<Integer, Use> use = new TreeMap<>();

    /** Of those, operations on files that live elsewhere. */
    final Map<Integer, Double> astray = new TreeMap<>();

    /** What the directory itself says; null: nothing. */
    @Nullable MoveRule own;

    private long fadedMs;
    MoveRule rule;

    Directory(long ino, long parent, int partition, long settledMs, long nowMs, MoveRule rule) {
        this.ino = ino;
        this.parent = parent;
        this.partition = partition;
        this.settledMs = settledMs;
        this.fadedMs = nowMs;
        this.rule = rule;
    }

    void fade(long nowMs) {
        if (nowMs <= fadedMs) {
            return;
        }
        double factor = Math.exp(-(double) (nowMs - fadedMs) / rule.windowMs());
        fadedMs = nowMs;
        use.replaceAll((region, before) -> before.times(factor));
        use.values().removeIf(left -> left.operations() < UseRates.NOTHING);
        astray.replaceAll((region, before) -> before * factor);
        astray.values().removeIf(left -> left < UseRates.NOTHING);
    }

    void add(int region, Use more) {
        use.merge(region, more, Use::plus);
    }

    double operations() {
        double sum = 0;
        for (Use one : use.values()) {
            sum += one.operations();
        }
        return sum;
    }
}
