package org.globalfs.protocol.placement;

/**
 * How a directory's new subdirectories are placed. Everything else is placed where its parent is.
 */
public enum Placement {
    /** In the partition of the region of the client that makes them. */
    CREATOR,
    /** In the directory's own partition. */
    INHERIT;

    /**
     * The extended attribute of a directory of partition 0 that says and changes it: a word; or
     * {@code inherit,creator}: its new subdirectories stay, and place theirs with their creators.
     */
    public static final String ATTRIBUTE = "user.globalfs.placement";

    /** As written in policies. */
    public String word() {
        return name().toLowerCase(java.util.Locale.ROOT);
    }
}
