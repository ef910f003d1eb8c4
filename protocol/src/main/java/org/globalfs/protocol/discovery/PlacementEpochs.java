package org.globalfs.protocol.discovery;

import java.io.IOException;
import java.util.function.UnaryOperator;

/** The placement epochs of the cluster; known ones are kept for ever. Thread-safe. */
public interface PlacementEpochs {
    /** The newest known epoch, from memory; number 0 without nodes when there is none yet. */
    Epoch newest();

    /** Fails when the epoch is not known here and cannot be fetched now. */
    Epoch epoch(int number) throws IOException;

    /** One that another process knows, and has told of; does nothing if it is known here. */
    void learn(Epoch epoch);

    /**
     * Makes what the change makes of the newest epoch the next one, unless that is the same; the
     * change may be asked several times.
     *
     * @return the newest epoch then
     */
    Epoch change(UnaryOperator<Epoch> change) throws IOException;

    /**
     * Sees to it that the newest epoch lists exactly this site under its id, or keeps it out,
     * making the next epoch if need be; returns that epoch.
     */
    default Epoch join(StorageSite site) throws IOException {
        return change(epoch -> epoch.with(site));
    }
}
