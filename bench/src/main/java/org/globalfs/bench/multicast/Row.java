package org.globalfs.bench.multicast;

import java.util.Locale;
import org.globalfs.bench.lab.Figure;
import org.jspecify.annotations.Nullable;

/**
 * One line of the printed table.
 *
 * @param ours GlobalFS's figure, or in words what there is instead
 * @param peer the compared system's, if it was measured
 * @param ratio how many times better ours is
 */
record Row(String what, String ours, @Nullable String peer, @Nullable Double ratio) {

    static Row alone(String what, String ours) {
        return new Row(what, ours, null, null);
    }

    /** More is better. */
    static Row higher(String what, Figure ours, @Nullable Figure peer) {
        return compared(what, ours, peer, true);
    }

    /** Less is better. */
    static Row lower(String what, Figure ours, @Nullable Figure peer) {
        return compared(what, ours, peer, false);
    }

    private static Row compared(
            String what, Figure ours, @Nullable Figure peer, boolean moreIsBetter) {
        if (peer == null) {
            return alone(what, ours.toString());
        }
        double ratio = moreIsBetter ? ours.median() / peer.median() : peer.median() / ours.median();
        return new Row(what, ours.toString(), peer.toString(), ratio);
    }

    /** Of a table that compares these two. */
    static String head(String ours, String peer, String ratio) {
        return "| measurement | %s | %s | %s |%n|---|---|---|---|".formatted(ours, peer, ratio);
    }

    String markdown() {
        return "| "
                + what
                + " | "
                + ours
                + " | "
                + (peer == null ? "–" : peer)
                + " | "
                + (ratio == null ? "–" : String.format(Locale.ROOT, "%.1f ×", ratio))
                + " |";
    }
}
