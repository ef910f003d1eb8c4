package org.globalfs.bench.agar;

import java.util.Arrays;

/**
 * What some reads came to, as the clients and the cache counted it.
 *
 * @param reads that ended
 * @param sumMs of what they took
 * @param asked requests that reached the cache
 * @param hits those of which it had some chunk
 * @param wholeHits those that needed nothing else
 * @param fetchedBytes that the cache got from storage nodes meanwhile
 * @param servedBytes that it sent to clients
 * @param missed requests and chunks that it had no time for
 */
record Reading(
        long reads,
        double sumMs,
        long asked,
        long hits,
        long wholeHits,
        long fetchedBytes,
        long servedBytes,
        long missed) {

    double averageMs() {
        return sumMs / reads;
    }

    /** Share of the reads that found some chunk in the cache. */
    double hitShare() {
        return (double) hits / reads;
    }

    /** This one and another together. */
    Reading plus(Reading other) {
        return new Reading(
                reads + other.reads,
                sumMs + other.sumMs,
                asked + other.asked,
                hits + other.hits,
                wholeHits + other.wholeHits,
                fetchedBytes + other.fetchedBytes,
                servedBytes + other.servedBytes,
                missed + other.missed);
    }

    /** One line; {@link #parse} reads it. */
    String line() {
        return reads
                + " "
                + sumMs
                + " "
                + asked
                + " "
                + hits
                + " "
                + wholeHits
                + " "
                + fetchedBytes
                + " "
                + servedBytes
                + " "
                + missed;
    }

    static Reading parse(String line) {
        String[] words = line.split(" ");
        if (words.length != 8) {
            throw new IllegalArgumentException("no reading: " + Arrays.toString(words));
        }
        return new Reading(
                Long.parseLong(words[0]),
                Double.parseDouble(words[1]),
                Long.parseLong(words[2]),
                Long.parseLong(words[3]),
                Long.parseLong(words[4]),
                Long.parseLong(words[5]),
                Long.parseLong(words[6]),
                Long.parseLong(words[7]));
    }
}
