package org.globalfs.client.fuse;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import org.globalfs.client.vfs.Caller;
import org.globalfs.client.vfs.FileSystem;
import org.globalfs.protocol.Invariant;

/**
 * One worker's memory: the request that it works on and the answer that it makes. Used by its
 * worker only, and reused for each request.
 *
 * <p>A request is read to {@link #REQUEST}, so that the content of a write begins at {@link
 * #PAYLOAD}. Content and directory listings are answered out of the same pages, the header right
 * before them; all other answers are made in a small area behind.
 */
final class Exchange {
    static final int MAX_TRANSFER = 1 << 20;
    static final int PAYLOAD = 4096;
    static final int HEADER = FuseLayout.InHeader.SIZE_OF;
    static final int REQUEST = PAYLOAD - HEADER - FuseLayout.WriteIn.SIZE_OF;
    static final int BODY = REQUEST + HEADER;
    static final int REQUEST_CAPACITY = HEADER + FuseLayout.WriteIn.SIZE_OF + MAX_TRANSFER;

    private static final int OUT_HEADER = FuseLayout.OutHeader.SIZE_OF;
    private static final int SMALL = PAYLOAD + MAX_TRANSFER;
    private static final int SMALL_BYTES = 8192;
    private static final long NO_TIMEOUTS = Long.MAX_VALUE;

    /** Where the body of a small answer is made. */
    static final int OUT = SMALL + OUT_HEADER;

    /** How old times may be when the kernel begins to count them; its clock ticks are not less. */
    static final long TIMEOUTS_KEPT_NS = 10_000_000;

    /** A name whose meaning a request may have changed. */
    record TouchedName(long parent, byte[] name) {}

    private final MemorySegment memory;
    private final ByteBuffer bytes;
    private final List<TouchedName> touched = new ArrayList<>();

    private int length;
    private long unique;
    private long node;
    private int opcode;
    private Caller caller = new Caller(0, 0, 0, 0);

    private boolean answered;
    private boolean fromPayload;
    private int answerLength;
    private long timeoutsSinceNs;

    private long openedHandle;
    private boolean openedDirectory;
    private long openedInode;
    private long countedInode;
    private long changedInode;

    Exchange() {
        memory = Libc.pages(SMALL + SMALL_BYTES);
        bytes = memory.asByteBuffer().order(ByteOrder.nativeOrder());
    }

    long requestAddress() {
        return memory.address() + REQUEST;
    }

    // ---------------------------------------------------------------- request

    /** Takes in what was read; false: no request at all. */
    boolean decode(int readBytes, long nowNs, long timeoutNs) {
        if (readBytes < HEADER || bytes.getInt(REQUEST + FuseLayout.InHeader.LEN) != readBytes) {
            return false;
        }
        length = readBytes;
        opcode = bytes.getInt(REQUEST + FuseLayout.InHeader.OPCODE);
        unique = bytes.getLong(REQUEST + FuseLayout.InHeader.UNIQUE);
        node = bytes.getLong(REQUEST + FuseLayout.InHeader.NODEID);
        caller =
                new Caller(
                        bytes.getInt(REQUEST + FuseLayout.InHeader.UID),
                        bytes.getInt(REQUEST + FuseLayout.InHeader.GID),
                        bytes.getInt(REQUEST + FuseLayout.InHeader.PID),
                        nowNs + timeoutNs);
        answered = false;
        fromPayload = false;
        answerLength = 0;
        timeoutsSinceNs = NO_TIMEOUTS;
        openedHandle = FileSystem.NO_HANDLE;
        countedInode = 0;
        changedInode = 0;
        touched.clear();
        return true;
    }

    int opcode() {
        return opcode;
    }

    long unique() {
        return unique;
    }

    /** The inode that the request is about. */
    long node() {
        return node;
    }

    Caller caller() {
        return caller;
    }

    int int32(int offset) {
        return bytes.getInt(BODY + offset);
    }

    long int64(int offset) {
        return bytes.getLong(BODY + offset);
    }

    /** The NUL-terminated bytes at an offset of the body. */
    byte[] name(int offset) {
        int start = BODY + offset;
        int limit = REQUEST + length;
        int end = start;
        while (end < limit && bytes.get(end) != 0) {
            end++;
        }
        Invariant.check(end < limit, "a name in the request has no end");
        byte[] name = new byte[end - start];
        bytes.get(start, name);
        return name;
    }

    /** So many bytes at an offset of the body. */
    byte[] bytes(int offset, int size) {
        Invariant.check(
                size >= 0 && HEADER + offset + size <= length, "a value is shorter than it says");
        byte[] value = new byte[size];
        bytes.get(BODY + offset, value);
        return value;
    }

    /** The content of a write: a view of the request's memory. */
    ByteBuffer content(int size) {
        Invariant.check(
                size >= 0 && HEADER + FuseLayout.WriteIn.SIZE_OF + size <= length,
                "a write is shorter than it says");
        return bytes.slice(PAYLOAD, size);
    }

    // ---------------------------------------------------------------- answer

    /**
     * The worker's whole memory, in the machine's byte order: answers are put at {@link #OUT} or
     * {@link #PAYLOAD}.
     */
    ByteBuffer memory() {
        return bytes;
    }

    /** Zeroes the small answer's area and returns where it begins. */
    int clear(int size) {
        for (int at = OUT; at < OUT + size; at += 8) {
            bytes.putLong(at, 0);
        }
        return OUT;
    }

    /** Room for content to answer with. */
    ByteBuffer room(int size) {
        return bytes.slice(PAYLOAD, Math.min(size, MAX_TRANSFER));
    }

    void answerEmpty() {
        answered = true;
        fromPayload = false;
        answerLength = 0;
    }

    /** Answers with the first bytes at {@link #OUT}. */
    void answer(int size) {
        answered = true;
        fromPayload = false;
        answerLength = size;
    }

    /** Answers with the first bytes at {@link #PAYLOAD}. */
    void answerFromPayload(int size) {
        answered = true;
        fromPayload = true;
        answerLength = size;
    }

    void answerBytes(byte[] value) {
        Invariant.check(value.length <= SMALL_BYTES - OUT_HEADER, "too long an answer");
        bytes.put(OUT, value);
        answer(value.length);
    }

    /** False for the few requests that have no answer. */
    boolean answered() {
        return answered;
    }

    int answerLength() {
        return answerLength;
    }

    /** The answer gets times, of now, for which the kernel may remember something. */
    void timeouts(long nowNs) {
        if (timeoutsSinceNs == NO_TIMEOUTS) {
            timeoutsSinceNs = nowNs;
        }
    }

    /**
     * Whether the answer has times that were right too long ago: the kernel counts them from when
     * it gets the answer, and a process can stand still in between.
     */
    boolean hasOldTimeouts(long nowNs) {
        return timeoutsSinceNs != NO_TIMEOUTS && nowNs - timeoutsSinceNs > TIMEOUTS_KEPT_NS;
    }

    /** Lets the kernel remember nothing of the answer. */
    void forgetTimeouts() {
        Opcode answeredTo = Opcode.of(opcode);
        if (answeredTo == null) {
            return;
        }
        switch (answeredTo) {
            case LOOKUP, MKNOD, MKDIR, SYMLINK, LINK, CREATE ->
                    Attributes.forgetEntryTimeouts(bytes, OUT);
            case GETATTR, SETATTR -> Attributes.forgetAttributesTimeout(bytes, OUT);
            case STATX -> Attributes.forgetStatxTimeout(bytes, OUT);
            case READDIRPLUS ->
                    DirectoryOperations.forEachListed(
                            bytes, answerLength, at -> Attributes.forgetEntryTimeouts(bytes, at));
            default -> {}
        }
    }

    /**
     * Writes the answer's header; returns where the answer begins. {@code errno} is positive or 0.
     */
    long seal(int errno) {
        int body = errno == 0 ? answerLength : 0;
        int start = fromPayload && errno == 0 ? PAYLOAD - OUT_HEADER : SMALL;
        bytes.putInt(start + FuseLayout.OutHeader.LEN, OUT_HEADER + body);
        bytes.putInt(start + FuseLayout.OutHeader.ERROR, -errno);
        bytes.putLong(start + FuseLayout.OutHeader.UNIQUE, unique);
        return memory.address() + start;
    }

    int sealedLength(int errno) {
        return OUT_HEADER + (errno == 0 ? answerLength : 0);
    }

    // ---------------------------------------------------------------- what an answer that nobody
    // gets would leave behind

    /** The answer carries an open handle. */
    void opened(long inode, long handle, boolean directory) {
        openedInode = inode;
        openedHandle = handle;
        openedDirectory = directory;
    }

    /** The answer adds one to the inode's lookup count. */
    void counted(long inode) {
        countedInode = inode;
    }

    /** The request may change what a name means. */
    void touches(long parent, byte[] name) {
        touched.add(new TouchedName(parent, name));
    }

    /** The request may change the inode's attributes or content. */
    void changes(long inode) {
        changedInode = inode;
    }

    long openedHandle() {
        return openedHandle;
    }

    boolean openedDirectory() {
        return openedDirectory;
    }

    long openedInode() {
        return openedInode;
    }

    long countedInode() {
        return countedInode;
    }

    long changedInode() {
        return changedInode;
    }

    List<TouchedName> touched() {
        return touched;
    }
}
