package org.globalfs.client.vfs;

import org.jspecify.annotations.Nullable;

/** Takes directory entries until its buffer is full. */
public interface DirectorySink {

    /**
     * Whether attributes are wanted with the entries (readdirplus): worth the trouble only when
     * they come for free.
     */
    boolean wantsEntries();

    /**
     * Takes one entry; {@code false}: full, this one was not taken and the read is over.
     *
     * @param type the type bits of the mode
     * @param cookie where a later read continues after this entry
     * @param entry when wanted and known; counts as a lookup if it was taken
     */
    boolean add(byte[] name, long ino, int type, long cookie, @Nullable Entry entry);
}
