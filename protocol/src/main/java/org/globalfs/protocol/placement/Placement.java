package org.globalfs.protocol.placement;

/**
 * How a directory's new subdirectories are placed. Everything else is placed where its parent is.
 */
public enum Placement {
    /** In the partition of the region of the client that makes them. */
    CREATOR,
    /** In the directory's own partition. */
    INHERIT;

    /** As written in policies. */
    public String word() {
        return name().toLowerCase(java.util.Locale.ROOT);
    }
}
