package org.globalfs.cli.storage;

import java.util.Locale;

/** How far something is, in words and as a bar. */
final class ProgressText {
    private static final int BAR = 20;
    private static final long SECOND_MS = 1_000;

    /** Before that, how fast it is says little. */
    private static final long FIRST_GUESS_MS = 500;

    private ProgressText() {}

    /**
     * @param done of 1
     */
    static String bar(double done) {
        int full = (int) (BAR * Math.clamp(done, 0, 1));
        return "[" + "#".repeat(full) + "-".repeat(BAR - full) + "]";
    }

    /** 100 % only once it is through. */
    static String percent(double done) {
        return String.format(Locale.ROOT, "%3d %%", (int) (100 * Math.clamp(done, 0, 1)));
    }

    static double part(long done, long total) {
        return total <= 0 ? 0 : (double) done / total;
    }

    /** A number with its digits in threes. */
    static String count(long number) {
        return String.format(Locale.ROOT, "%,d", number);
    }

    /** As many of something. */
    static String count(long number, String thing) {
        return count(number) + ' ' + thing + (number == 1 ? "" : "s");
    }

    /** When it goes on as fast as until now; empty: nobody knows. */
    static String timeLeft(long elapsedMs, long done, long total) {
        if (done <= 0 || elapsedMs < FIRST_GUESS_MS || done >= total) {
            return "";
        }
        double leftMs = (double) elapsedMs * (total - done) / done;
        return ", about " + time(Math.max(SECOND_MS, (long) leftMs)) + " left";
    }

    static String time(long ms) {
        long seconds = Math.round((double) ms / SECOND_MS);
        if (seconds < 60) {
            return seconds + " s";
        }
        long minutes = seconds / 60;
        return minutes < 60
                ? String.format(Locale.ROOT, "%d min %02d s", minutes, seconds % 60)
                : String.format(Locale.ROOT, "%d h %02d min", minutes / 60, minutes % 60);
    }
}
