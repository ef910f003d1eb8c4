package org.globalfs.datastore.node;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;

/** A disk that reports a failed sync as the kernel does: once, to whoever syncs next. */
final class FailingDisk implements FaultPoints {
    private int syncsUntilFailure = -1;
    private boolean fullAtCut;
    private boolean failsAtRecord;

    /** One sync fails, after so many that succeed. */
    synchronized void failAfter(int syncs) {
        syncsUntilFailure = syncs;
    }

    /** Whether it did what {@link #failAfter} was called for. */
    synchronized boolean hasFailed() {
        return syncsUntilFailure < 0;
    }

    /** The next header that says where a segment ends finds no room. */
    synchronized void fillBeforeSealing() {
        fullAtCut = true;
    }

    /** The next record cannot be written. */
    synchronized void failAtRecord() {
        failsAtRecord = true;
    }

    @Override
    public synchronized void syncing(Path path) throws IOException {
        if (syncsUntilFailure >= 0 && syncsUntilFailure-- == 0) {
            throw new IOException("Input/output error");
        }
    }

    @Override
    public synchronized void reached(Step step, Path path) {
        if (step == Step.RECORD_BEGUN && failsAtRecord) {
            String message = "Input/output error";
            throw new UncheckedIOException(message, new IOException(message));
        }
        if (step == Step.SEGMENT_CUT && fullAtCut) {
            fullAtCut = false;
            String message = "No space left on device";
            throw new UncheckedIOException(message, new IOException(message));
        }
    }
}
