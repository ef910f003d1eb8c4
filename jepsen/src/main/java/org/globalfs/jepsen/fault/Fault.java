package org.globalfs.jepsen.fault;

import java.io.IOException;

/** Something that is wrong with a cluster from its beginning to its end. Used by one thread. */
public interface Fault {

    /** The kind, as histories and the option {@code --nemesis} call it. */
    String name();

    /**
     * Finds out what it will happen to, where that depends on the cluster's state; before all else.
     */
    default void aim() throws IOException {}

    /** What it happens to. */
    String target();

    /**
     * Whether clients of a region's mount have all that updates of a partition need meanwhile: a
     * mount that runs, and a majority in reach. That all have it is usual.
     *
     * @param partition a region, or {@code global}
     */
    default boolean spares(String client, String partition) {
        return true;
    }

    /**
     * Whether clients of a region's mount have to be able to read all content of a partition
     * meanwhile: they have what updates need, and enough chunks of each block are in reach for
     * certain. That is known of few faults.
     *
     * @param partition a region, or {@code global}
     */
    default boolean readable(String client, String partition) {
        return false;
    }

    /**
     * Whether clients of a region's mount have to be able to write content of a partition
     * meanwhile: they have what updates need, and so many storage nodes are up and have room that
     * blocks can be stored. What refuses writes by right, or keeps who writes from nodes, says no.
     *
     * @param partition a region, or {@code global}
     */
    default boolean writable(String client, String partition) {
        return false;
    }

    void begin() throws IOException;

    /** Returns once all is as it was before. */
    void end() throws IOException;
}
