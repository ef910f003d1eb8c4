package org.globalfs.client.fuse;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import org.globalfs.client.vfs.Caller;
import org.globalfs.protocol.Errno;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** One line an operation, for whoever listens; and of slow ones for the log. Thread-safe. */
public final class OperationLog {
    private static final Logger log = LoggerFactory.getLogger(OperationLog.class);

    private final List<Consumer<String>> listeners = new CopyOnWriteArrayList<>();
    private final long slowNs;

    /** {@code slowNs}: an operation that takes longer is logged; 0: none is. */
    public OperationLog(long slowNs, boolean trace) {
        this.slowNs = slowNs;
        if (trace) {
            listeners.add(log::info);
        }
    }

    /**
     * Hands every operation's line to the listener from now on, on the thread that served it: the
     * listener must not wait.
     */
    public void add(Consumer<String> listener) {
        listeners.add(listener);
    }

    public void remove(Consumer<String> listener) {
        listeners.remove(listener);
    }

    /** The request in the exchange was served. */
    void ended(Exchange x, @Nullable Opcode opcode, int errno, long elapsedNs) {
        if (wanted(opcode, elapsedNs)) {
            String operation = opcode == null ? "opcode " + x.opcode() : opcode.name();
            tell(
                    opcode,
                    operation
                            + inode(x.node())
                            + names(x, opcode)
                            + by(x.caller(), errno)
                            + content(x, opcode, errno),
                    elapsedNs);
        }
    }

    /** The same of a request that has left its exchange. */
    void ended(Opcode opcode, long ino, Caller caller, int errno, long elapsedNs) {
        if (wanted(opcode, elapsedNs)) {
            tell(opcode, opcode + inode(ino) + by(caller, errno), elapsedNs);
        }
    }

    /**
     * The same of a request of a binding that knows paths.
     *
     * @param path null: the request came by an open file, of inode {@code ino}
     * @param bytes of content that were read or written; -1: the request moves none
     */
    public void ended(
            Opcode opcode,
            byte @Nullable [] path,
            long ino,
            Caller caller,
            int errno,
            long bytes,
            long elapsedNs) {
        if (!wanted(opcode, elapsedNs)) {
            return;
        }
        StringBuilder what = new StringBuilder(opcode.name());
        if (path == null) {
            what.append(inode(ino));
        } else {
            what.append(' ');
            printable(path, what);
        }
        what.append(by(caller, errno));
        if (bytes >= 0) {
            what.append(", ").append(bytes).append(" bytes");
        }
        tell(opcode, what.toString(), elapsedNs);
    }

    private boolean wanted(@Nullable Opcode opcode, long elapsedNs) {
        return slow(opcode, elapsedNs) || !listeners.isEmpty();
    }

    private boolean slow(@Nullable Opcode opcode, long elapsedNs) {
        return slowNs > 0 && elapsedNs >= slowNs && opcode != null && !opcode.waitsForOthers();
    }

    private void tell(@Nullable Opcode opcode, String what, long elapsedNs) {
        String line = what + ", " + elapsedNs / 1000 + " us";
        if (slow(opcode, elapsedNs)) {
            log.warn("slow: {}", line);
        }
        for (Consumer<String> listener : listeners) {
            listener.accept(line);
        }
    }

    private static String inode(long ino) {
        return " inode " + Long.toUnsignedString(ino);
    }

    private static String by(Caller caller, int errno) {
        return " uid "
                + Integer.toUnsignedString(caller.uid())
                + " pid "
                + caller.pid()
                + ": "
                + (errno == 0 ? "ok" : Errno.of(errno));
    }

    private static String names(Exchange x, @Nullable Opcode opcode) {
        StringBuilder names = new StringBuilder();
        if (opcode == Opcode.LOOKUP) {
            names.append('/');
            printable(x.name(0), names);
        }
        for (Exchange.TouchedName name : x.touched()) {
            names.append(' ').append(Long.toUnsignedString(name.parent())).append('/');
            printable(name.name(), names);
        }
        return names.toString();
    }

    private static String content(Exchange x, @Nullable Opcode opcode, int errno) {
        if (errno == 0 && opcode == Opcode.READ) {
            return ", " + x.answerLength() + " bytes";
        }
        return opcode == Opcode.WRITE ? ", " + x.int32(FuseLayout.WriteIn.SIZE) + " bytes" : "";
    }

    /** A name may hold any byte, also such as would break the line. */
    private static void printable(byte[] name, StringBuilder into) {
        for (byte letter : name) {
            if (letter > ' ' && letter < 0x7f && letter != '\\') {
                into.append((char) letter);
            } else {
                into.append("\\x").append(String.format("%02x", letter & 0xff));
            }
        }
    }
}
