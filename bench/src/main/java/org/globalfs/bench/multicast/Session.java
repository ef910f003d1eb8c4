package org.globalfs.bench.multicast;

import java.nio.file.Path;
import java.util.List;

/**
 * How this run measures.
 *
 * @param folder for the members' logs
 * @param place where members run
 * @param peers whether Apache Ratis is measured beside
 * @param warmUpMs load before the first figure of each cluster
 * @param roundMs length of a round
 * @param rounds how many the medians are of
 */
record Session(Path folder, Place place, boolean peers, int warmUpMs, int roundMs, int rounds) {

    /** Something that can be chosen, measured and printed. */
    interface Measurement {
        String name();

        List<Row> run(Session session);

        /** Of the table that the rows belong to. */
        default String head() {
            return Row.head("GlobalFS", "Apache Ratis", "better");
        }
    }

    /** Too short for figures: whatever shows that measuring works is enough. */
    boolean smoke() {
        return warmUpMs < 2_000;
    }

    void progress(String what) {
        System.err.println("  " + what);
    }
}
