package org.globalfs.cli.storage;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.globalfs.cli.status.Columns;
import org.globalfs.datastore.wire.PassState;
import org.globalfs.datastore.wire.ScrubProgress;
import org.jspecify.annotations.Nullable;

/** A node's reading of all its chunks. */
final class NodeScrub extends NodePass {
    private final long bytesPerSecond;
    private ScrubProgress said = ScrubProgress.none(PassState.NONE);
    private boolean joined;

    /**
     * @param bytesPerSecond 0: what the node is configured with
     */
    NodeScrub(String id, PassPlaces places, long patienceMs, long bytesPerSecond) {
        super(id, places, patienceMs);
        this.bytesPerSecond = bytesPerSecond;
    }

    @Override
    @Nullable String ask(PassTarget open) throws IOException {
        ScrubProgress now = open.scrub();
        if (!hasBegun() || isAnothers(open) || now.pass() < said.pass()) {
            joined = now.state() == PassState.RUNNING;
            now = open.beginScrub(bytesPerSecond); // the first time, or the node was restarted
            begunBy(open);
        } else if (now.state() == PassState.WAITING) {
            now = open.beginScrub(bytesPerSecond); // it did not get through
        }
        if (now.state() == PassState.OFF) {
            return "does not scrub: its repairBandwidth is 0";
        }
        said = now;
        return null;
    }

    @Override
    boolean hasBegun() {
        return said.pass() > 0;
    }

    @Override
    boolean hasEnded() {
        return said.state() == PassState.ENDED;
    }

    @Override
    double done() {
        return ProgressText.part(said.readBytes(), said.totalBytes());
    }

    @Override
    String text() {
        StringBuilder text = new StringBuilder();
        if (hasEnded()) {
            text.append(Columns.bytes(said.readBytes()))
                    .append(" read in ")
                    .append(ProgressText.time(said.elapsedMs()));
        } else {
            text.append(Columns.bytes(said.readBytes()))
                    .append(" of ")
                    .append(Columns.bytes(said.totalBytes()));
        }
        if (said.elapsedMs() > 0 && said.readBytes() > 0) {
            double perSecond = said.readBytes() * 1e3 / said.elapsedMs();
            text.append(", ").append(Columns.bytes((long) perSecond)).append("/s");
        }
        if (!hasEnded()) {
            text.append(
                    said.readBytes() >= said.totalBytes()
                            ? ", mending"
                            : ProgressText.timeLeft(
                                    said.elapsedMs(), said.readBytes(), said.totalBytes()));
        }
        text.append(", ").append(ProgressText.count(said.damaged())).append(" damaged");
        text.append(", ").append(ProgressText.count(said.mended())).append(" mended");
        if (said.unreadable() > 0) {
            text.append(", ").append(ProgressText.count(said.unreadable())).append(" unreadable");
        }
        return text.toString();
    }

    @Override
    @Nullable String left() {
        List<String> left = new ArrayList<>();
        if (said.left() > 0) {
            left.add("has " + ProgressText.count(said.left(), "damaged chunk") + " left");
        }
        if (said.unreadable() > 0) {
            left.add("cannot read " + ProgressText.count(said.unreadable(), "chunk"));
        }
        return left.isEmpty() ? null : String.join(" and ", left);
    }

    @Override
    List<String> problems() {
        return said.problems();
    }

    @Override
    String beginning() {
        return joined
                ? "a pass runs already, and was joined: " + text()
                : "reads all its chunks, at most "
                        + Columns.bytes(said.bytesPerSecond())
                        + " a second";
    }
}
