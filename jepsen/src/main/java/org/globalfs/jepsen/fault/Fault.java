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

    void begin() throws IOException;

    /** Returns once all is as it was before. */
    void end() throws IOException;
}
