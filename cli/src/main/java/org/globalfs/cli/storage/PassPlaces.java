package org.globalfs.cli.storage;

import java.io.IOException;
import java.util.List;
import org.globalfs.cli.Failure;

/**
 * Whatever holds content and can go through it: storage nodes, or what partitions have in buckets.
 */
public interface PassPlaces {

    /**
     * One of them.
     *
     * @param up it can be asked
     * @param missed it should be up
     */
    record Place(String id, boolean up, boolean missed) {}

    /**
     * How to speak of them.
     *
     * @param none said when none can be asked
     * @param others where one hears of what it does not hold itself
     * @param scrubAdvice what to do when a scrub leaves something
     * @param repairAdvice the same of a repair
     */
    record Words(String none, String others, String scrubAdvice, String repairAdvice) {}

    List<Place> all();

    Place place(String id) throws Failure;

    /**
     * Finds it, wherever it is now.
     *
     * @throws IOException it cannot be asked now
     */
    PassTarget open(String id) throws IOException;

    Words words();
}
