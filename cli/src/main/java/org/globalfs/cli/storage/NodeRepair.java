package org.globalfs.cli.storage;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.globalfs.datastore.wire.PassState;
import org.globalfs.datastore.wire.RepairProgress;
import org.jspecify.annotations.Nullable;

/** A node's walk over its chunks in which those that lack are made anew, and others moved. */
final class NodeRepair extends NodePass {
    private RepairProgress said = RepairProgress.none(PassState.NONE);

    /** A pass with this number, or a later one, began after it was asked for; 0: not asked yet. */
    private long awaited;

    NodeRepair(String id, PassPlaces places, long patienceMs) {
        super(id, places, patienceMs);
    }

    @Override
    @Nullable String ask(PassTarget open) throws IOException {
        RepairProgress now = hasBegun() ? open.repair() : open.beginRepair();
        boolean idle = now.state() == PassState.NONE || now.state() == PassState.ENDED;
        if (hasBegun() && (isAnothers(open) || idle && now.pass() < awaited)) {
            now = open.beginRepair(); // or the node was restarted, and does not know
            awaited = 0;
        }
        if (now.state() == PassState.OFF) {
            return "does not repair: its repairBandwidth is 0";
        }
        if (!hasBegun()) {
            begunBy(open);
            awaited = now.pass() + 1;
        }
        said = now;
        return null;
    }

    @Override
    boolean hasBegun() {
        return awaited > 0;
    }

    private boolean isItsTurn() {
        return said.pass() >= awaited && said.state() != PassState.WAITING;
    }

    @Override
    boolean hasEnded() {
        return hasBegun() && isItsTurn() && said.state() == PassState.ENDED;
    }

    @Override
    double done() {
        return isItsTurn() ? ProgressText.part(said.looked(), said.total()) : 0;
    }

    @Override
    String text() {
        if (!isItsTurn()) {
            return said.state() == PassState.RUNNING
                    ? "pass " + said.pass() + " began before, and ends first: " + looked()
                    : "about to begin";
        }
        StringBuilder text = new StringBuilder("pass " + said.pass() + ": ");
        if (hasEnded()) {
            text.append(ProgressText.count(said.looked(), "chunk"))
                    .append(" looked at in ")
                    .append(ProgressText.time(said.elapsedMs()));
        } else {
            text.append(looked());
        }
        text.append(", ").append(ProgressText.count(said.moved())).append(" moved");
        text.append(", ").append(ProgressText.count(said.rebuilt())).append(" made anew");
        if (said.toMove() + said.toRebuild() > 0) {
            text.append(", left: ").append(ProgressText.count(said.toMove())).append(" to move");
            text.append(" and ").append(ProgressText.count(said.toRebuild())).append(" to make");
        }
        return text.toString();
    }

    private String looked() {
        return ProgressText.count(said.looked())
                + " of "
                + ProgressText.count(said.total(), "chunk")
                + " looked at"
                + ProgressText.timeLeft(said.elapsedMs(), said.looked(), said.total());
    }

    @Override
    @Nullable String left() {
        List<String> left = new ArrayList<>();
        note(left, said.toMove(), "could not move ", "chunk", "");
        note(left, said.toRebuild(), "could not make ", "chunk", " anew");
        note(left, said.unmade(), "knows ", "block", " of which too few chunks are there");
        note(left, said.unclear(), "did not hear enough of ", "block", " from " + others());
        return left.isEmpty() ? null : String.join(", ", left);
    }

    private static void note(
            List<String> left, long count, String before, String thing, String after) {
        if (count > 0) {
            left.add(before + ProgressText.count(count, thing) + after);
        }
    }

    /** Nodes whose chunks it leaves alone for now. */
    List<RepairProgress.Away> away() {
        return said.away();
    }

    @Override
    List<String> problems() {
        return said.problems();
    }

    @Override
    String beginning() {
        return "pass " + awaited + " is about to begin";
    }
}
