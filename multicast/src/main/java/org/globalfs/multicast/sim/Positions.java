package org.globalfs.multicast.sim;

import java.util.Arrays;

/** Ascending instance numbers. */
final class Positions {

    private long[] values;
    private int size;

    Positions() {
        this.values = new long[32];
    }

    Positions(Positions other) {
        this.values = Arrays.copyOf(other.values, Math.max(32, other.size));
        this.size = other.size;
    }

    void add(long value) {
        if (size > 0 && values[size - 1] >= value) {
            Checker.check(values[size - 1] == value, value + " comes after " + values[size - 1]);
            return;
        }
        if (size == values.length) {
            values = Arrays.copyOf(values, size * 2);
        }
        values[size++] = value;
    }

    /** The smallest above this one, or -1. */
    long after(long value) {
        int at = Arrays.binarySearch(values, 0, size, value + 1);
        int next = at >= 0 ? at : -at - 1;
        return next < size ? values[next] : -1;
    }
}
