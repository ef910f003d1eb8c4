package org.globalfs.bench.datastore;

import org.globalfs.bench.BenchFailure;

/** So many bytes in so much time, as processes tell each other. */
record Transfer(long bytes, long ns) {
    private static final double MEGA = 1e6;

    static Transfer parse(String line) {
        String[] words = line.split(" ");
        if (words.length != 2) {
            throw new BenchFailure("not a transfer: " + line);
        }
        return new Transfer(Long.parseLong(words[0]), Long.parseLong(words[1]));
    }

    String line() {
        return bytes + " " + ns;
    }

    double megabytesPerSecond() {
        return bytes / MEGA / (ns / 1e9);
    }
}
