package org.globalfs.client.vfs;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/** On whose behalf an operation runs, and until when somebody waits for it. */
public final class Caller {
    private static final int[] NO_GROUPS = {};

    private final int uid;
    private final int gid;
    private final int pid;
    private volatile long deadlineNs;
    private volatile int @Nullable [] groups;
    private volatile boolean cancelled;
    private volatile boolean interrupted;
    private volatile int umask;
    private @Nullable Runnable whenInterrupted;

    /**
     * {@code pid} is the calling thread's, 0 when it is not visible from here; {@code deadlineNs}
     * is in {@link System#nanoTime} terms.
     */
    public Caller(int uid, int gid, int pid, long deadlineNs) {
        this.uid = uid;
        this.gid = gid;
        this.pid = pid;
        this.deadlineNs = deadlineNs;
    }

    /** A caller that is no process of this machine, with its supplementary groups. */
    public static Caller of(int uid, int gid, int[] groups, long deadlineNs) {
        Caller caller = new Caller(uid, gid, 0, deadlineNs);
        caller.groups = groups.clone();
        return caller;
    }

    public int uid() {
        return uid;
    }

    public int gid() {
        return gid;
    }

    public int pid() {
        return pid;
    }

    /** Of a process that makes an inode, when nobody has applied it yet; else 0. */
    public int umask() {
        return umask;
    }

    public void umask(int value) {
        umask = value & 0777;
    }

    /** In {@link System#nanoTime} terms: after this the answer is of no use to anybody. */
    public long deadlineNs() {
        return deadlineNs;
    }

    /**
     * What was asked for is a part further: whoever waits has patience until then, if that is
     * later.
     */
    public synchronized void patientUntil(long laterNs) {
        if (laterNs - deadlineNs > 0) {
            deadlineNs = laterNs;
        }
    }

    /** For so long nothing could be done for it. */
    public synchronized void stoodStill(long ns) {
        deadlineNs += ns;
    }

    /** The process was killed, or has been answered with an error already. */
    public boolean cancelled() {
        return cancelled;
    }

    public void cancel() {
        cancelled = true;
        interrupt();
    }

    /** The process has a signal: it waits for nobody else, but for an answer. */
    public boolean interrupted() {
        return interrupted;
    }

    public void interrupt() {
        Runnable action;
        synchronized (this) {
            interrupted = true;
            action = whenInterrupted;
            whenInterrupted = null;
        }
        if (action != null) {
            action.run();
        }
    }

    /** What to do, once and without blocking, when the caller is interrupted; at once if it is. */
    public void whenInterrupted(Runnable action) {
        synchronized (this) {
            if (!interrupted) {
                whenInterrupted = action;
                return;
            }
        }
        action.run();
    }

    /**
     * Supplementary groups, read from {@code /proc/PID/status} at the first call; empty when that
     * process is gone or not visible. The array is shared: do not change it.
     *
     * <p>Never remembered from one request to the next: setgroups(2) changes them under the same
     * process, user and group. The kernel translates them, like the user and the group of the
     * request, to the user namespace of this process.
     */
    public int[] groups() {
        int[] known = groups;
        if (known == null) {
            known = pid == 0 ? NO_GROUPS : readGroups(pid);
            groups = known;
        }
        return known;
    }

    private static int[] readGroups(int pid) {
        String status;
        try {
            status =
                    new String(
                            Files.readAllBytes(Path.of("/proc/" + pid + "/status")),
                            StandardCharsets.ISO_8859_1);
        } catch (IOException gone) {
            return NO_GROUPS;
        }
        int start = status.indexOf("\nGroups:");
        if (start < 0) {
            return NO_GROUPS;
        }
        int end = status.indexOf('\n', start + 1);
        String line =
                status.substring(start + "\nGroups:".length(), end < 0 ? status.length() : end)
                        .trim();
        if (line.isEmpty()) {
            return NO_GROUPS;
        }
        String[] parts = line.split("\\s+", -1);
        int[] result = new int[parts.length];
        for (int i = 0; i < parts.length; i++) {
            result[i] = Integer.parseUnsignedInt(parts[i]);
        }
        return result;
    }

    @Override
    public String toString() {
        return "uid " + uid + " gid " + gid + " pid " + pid;
    }
}
