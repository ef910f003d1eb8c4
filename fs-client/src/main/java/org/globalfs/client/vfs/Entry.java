package org.globalfs.client.vfs;

import org.jspecify.annotations.Nullable;

/**
 * What a name leads to, and for how long the kernel may answer for the name and for the attributes
 * without asking. Without {@code stat}: nothing, the name is free.
 */
public record Entry(@Nullable Stat stat, long entryTimeoutNs, long attributesTimeoutNs) {

    /** The name does not exist; the kernel may remember that for so long. */
    public static Entry absent(long entryTimeoutNs) {
        return new Entry(null, entryTimeoutNs, 0);
    }
}
