package org.globalfs.datastore.node;

import java.util.List;
import org.globalfs.datastore.wire.PassState;
import org.globalfs.datastore.wire.RepairProgress;
import org.globalfs.datastore.wire.ScrubProgress;
import org.globalfs.protocol.discovery.Epoch;

/** What a node can be asked to do for its chunks besides serving them. Thread-safe. */
interface Upkeep {

    /** Of a store alone. */
    Upkeep NONE =
            new Upkeep() {
                @Override
                public ScrubProgress scrub(boolean begins, long bytesPerSecond) {
                    return ScrubProgress.none(PassState.OFF);
                }

                @Override
                public RepairProgress repair(boolean begins) {
                    return RepairProgress.none(PassState.OFF);
                }
            };

    /**
     * @param begins false: only says how far it is
     * @param bytesPerSecond to read at most; 0: as configured
     */
    ScrubProgress scrub(boolean begins, long bytesPerSecond);

    /**
     * @param begins false: only says how far it is
     */
    RepairProgress repair(boolean begins);

    /** How damage is looked for. */
    default ScrubOptions scrubbing() {
        return ScrubOptions.NEVER;
    }

    /** The newest placement epoch that is known here. */
    default Epoch newestEpoch() {
        return new Epoch(0, List.of());
    }

    /**
     * Whether chunks that are kept for a node go there once it is back: else it is gone for good.
     */
    default boolean awaits(String node) {
        return true;
    }
}
