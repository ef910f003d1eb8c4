package org.globalfs.replica.grants;

/**
 * When an inode was last updated by a given session, and by anybody else. Inodes share slots, so an
 * answer may be too recent, never too old.
 */
final class RecentUpdates {

    private static final int SLOTS = 1 << 12;

    private final long[] last = new long[SLOTS];
    private final long[] lastSession = new long[SLOTS];
    private final long[] lastOfOthers = new long[SLOTS];

    void record(long ino, long session, long time) {
        int slot = slot(ino);
        if (lastSession[slot] != session) {
            lastOfOthers[slot] = last[slot];
            lastSession[slot] = session;
        }
        last[slot] = time;
    }

    /** Time of the last update by another session. */
    long byOthers(long ino, long session) {
        int slot = slot(ino);
        return lastSession[slot] == session ? lastOfOthers[slot] : last[slot];
    }

    /** Time of the last update by this session, if nobody's came after it. */
    long by(long ino, long session) {
        int slot = slot(ino);
        return lastSession[slot] == session ? last[slot] : 0;
    }

    private static int slot(long ino) {
        return (int) ((ino * 0x9E3779B97F4A7C15L) >>> 52);
    }
}
