package org.globalfs.jepsen;

import org.jspecify.annotations.Nullable;

/** Notes in the current history what is being done to the cluster. Thread-safe. */
public final class Nemesis {
    private volatile @Nullable Recording recording;

    void recordIn(@Nullable Recording current) {
        recording = current;
    }

    /** {@code what} is about to be done, or has been. */
    public void note(String f, String what) {
        Recording current = recording;
        if (current != null) {
            current.nemesis(f, what);
        }
    }
}
