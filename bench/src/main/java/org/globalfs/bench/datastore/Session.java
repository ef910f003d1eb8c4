package org.globalfs.bench.datastore;

import java.nio.file.Path;
import java.util.List;

/**
 * How everything is measured.
 *
 * @param seconds of each part of a round
 * @param rebuiltBytes content that is written before a node dies
 * @param quick nothing is kept
 */
record Session(
        Path folder, String isal, double seconds, int rounds, long rebuiltBytes, boolean quick) {

    /** A part of the table. */
    interface Measurement {
        String name();

        List<Line> run(Session session);
    }
}
