package org.globalfs.cli.storage;

import java.io.Closeable;
import java.io.IOException;
import org.globalfs.datastore.wire.RepairProgress;
import org.globalfs.datastore.wire.ScrubProgress;

/** Who does passes, and says how far it is. Of one thread at a time. */
interface PassTarget extends Closeable {

    /**
     * Who gave the last answer. Passes are counted by whoever does them: of two that answer one
     * after the other, the numbers have nothing to do with each other.
     */
    String answeredBy();

    ScrubProgress scrub() throws IOException;

    /**
     * @param bytesPerSecond 0: as configured
     */
    ScrubProgress beginScrub(long bytesPerSecond) throws IOException;

    RepairProgress repair() throws IOException;

    RepairProgress beginRepair() throws IOException;
}
