package org.globalfs.protocol.discovery;

import java.io.IOException;

/** The placement epochs of the cluster; known ones are kept for ever. Thread-safe. */
public interface PlacementEpochs {
    /** The newest known epoch, from memory; number 0 without nodes when there is none yet. */
    Epoch newest();

    /** Fails when the epoch is not known here and cannot be fetched now. */
    Epoch epoch(int number) throws IOException;

    /**
     * Sees to it that the newest epoch lists exactly this site under its id, making the next epoch
     * if need be; returns that epoch.
     */
    Epoch join(StorageSite site) throws IOException;
}
