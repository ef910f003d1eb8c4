package org.globalfs.client.io;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.Semaphore;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.globalfs.client.meta.Answer;
import org.globalfs.client.meta.Patience;
import org.globalfs.datastore.client.BlockStore;
import org.globalfs.datastore.client.BlockStoreException;
import org.globalfs.protocol.Errno;
import org.globalfs.protocol.FailureNews;
import org.globalfs.protocol.OpenFiles;
import org.globalfs.protocol.RepeatedTask;
import org.globalfs.protocol.Threads;
import org.globalfs.protocol.wire.BlockRef;
import org.globalfs.protocol.wire.Extent;
import org.globalfs.protocol.wire.SetAttributesOp;
import org.globalfs.protocol.wire.UpdateOp;
import org.globalfs.protocol.wire.UpdateReply;
import org.globalfs.protocol.wire.WriteOp;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Turns what files have pending into blocks and commands, for all files of a client: the limits,
 * the threads and the clock of writing back.
 */
public final class WriteBack implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(WriteBack.class);

    private static final long TICK_MS = 200;

    private static final int MOST_FRAGMENTED = 4096;

    private static final int MOST_AGAIN = 4096;
    private static final int MOST_FAILURES = 8;
    private static final long AGAIN_MS = 2_000;

    private final Backing backing;
    private final BlockStore blocks;
    private final IoOptions options;

    /** Flushes: they mostly wait. */
    private final ExecutorService executor;

    /** Transfers of blocks; nothing that runs here waits for another transfer. */
    private final ThreadPoolExecutor transfers;

    private final ScheduledExecutorService timer =
            Executors.newSingleThreadScheduledExecutor(
                    Thread.ofPlatform().daemon().name("write-back").factory());
    private final BlockCache cache;
    private final WriteBudget budget;

    /** A few at a time are handed to the transfer threads, which leave room for fetches. */
    private final RegionTurns uploads;

    /** What else goes over the network, blocks that are fetched above all. */
    private final RegionTurns fetches;

    private final FailureNews shortages = new FailureNews();

    private final Set<FileContent> dirty = ConcurrentHashMap.newKeySet();

    private final FragmentedFiles fragmented = new FragmentedFiles(MOST_FRAGMENTED);

    /** Bounds what waits to be run again. */
    private final Semaphore again = new Semaphore(MOST_AGAIN);

    public WriteBack(Backing backing, BlockStore blocks, IoOptions options) {
        this(
                backing,
                blocks,
                options,
                Thread.ofPlatform().daemon().name("block-transfer-", 1).factory(),
                Thread.ofVirtual().factory());
    }

    /**
     * @param threads for transfers
     * @param flushing for flushes
     */
    WriteBack(
            Backing backing,
            BlockStore blocks,
            IoOptions options,
            ThreadFactory threads,
            ThreadFactory flushing) {
        this.executor = Executors.newThreadPerTaskExecutor(flushing);
        this.backing = backing;
        this.blocks = blocks;
        this.options = options;
        AtATime atATime = AtATime.of(Runtime.getRuntime().maxMemory(), blocks.putBytes());
        this.transfers =
                new ThreadPoolExecutor(
                        atATime.transfers(),
                        atATime.transfers(),
                        20,
                        TimeUnit.SECONDS,
                        new LinkedBlockingQueue<>(),
                        threads,
                        // Only once it is closed: who comes then does it himself.
                        (task, _) -> task.run());
        transfers.allowCoreThreadTimeOut(true);
        this.uploads = turns(atATime.uploads());
        this.fetches = turns(atATime.fetches());
        this.cache =
                new BlockCache(
                        blocks,
                        options.cacheBytes(),
                        WriteBack::transferBeyond,
                        region -> task -> fetches.execute(region, task));
        this.budget = new WriteBudget(options.bufferBytes(), this::flushSoon, this::flushAllSoon);
        ScheduledFuture<?> _ =
                timer.scheduleWithFixedDelay(
                        new RepeatedTask(LOG, "write-back timer", this::tick),
                        TICK_MS,
                        TICK_MS,
                        TimeUnit.MILLISECONDS);
    }

    private RegionTurns turns(int atATime) {
        return new RegionTurns(
                this::transfer, WriteBack::transferBeyond, atATime, AtATime.ofEachRegion(atATime));
    }

    /** The content of a file; one object a file and client, to be asked for when it is opened. */
    public FileContent file(long ino) {
        FileContent underWay = fragmented.contentUnderWay(ino);
        return underWay == null ? new FileContent(ino, this, backing) : underWay;
    }

    /**
     * Has the first bytes of a file here, or failed to; waits for it. Whoever reads them hears of
     * failures.
     */
    public void fetch(ContentMap map, long length) {
        List<CompletableFuture<ByteBuffer>> slices = new ArrayList<>();
        for (Piece piece : map.within(0, length)) {
            if (piece.source() instanceof Source.Block(BlockRef ref)) {
                slices.addAll(cache.fetch(ref, (int) piece.from(), (int) piece.length()));
            }
        }
        slices.forEach(slice -> slice.handle((_, _) -> null).join());
    }

    IoOptions options() {
        return options;
    }

    WriteBudget budget() {
        return budget;
    }

    public void counters(Map<String, Long> into) {
        cache.counters(into);
    }

    BlockCache cache() {
        return cache;
    }

    void run(Runnable task) {
        executor.execute(task);
    }

    /** For commits that were made. */
    FragmentedFiles fragmented() {
        return fragmented;
    }

    /**
     * Runs in the background, some seconds later and after each failure twice as many, what may
     * also be left.
     *
     * @return false: it is left, after eight failures, where too much waits, or as this is closed
     */
    boolean runAgain(Runnable task, int failures) {
        if (failures >= MOST_FAILURES || !again.tryAcquire()) {
            return false;
        }
        try {
            var _ =
                    timer.schedule(
                            () -> {
                                again.release();
                                executor.execute(task);
                            },
                            AGAIN_MS << failures,
                            TimeUnit.MILLISECONDS);
            return true;
        } catch (RejectedExecutionException e) {
            LOG.debug("closed: what failed is not done again", e);
            return false;
        }
    }

    /** Where the system gives no thread more, a virtual one does it: acknowledged content waits. */
    private void transfer(Runnable task) {
        try {
            transfers.execute(task);
        } catch (OutOfMemoryError e) {
            if (shortages.of(e, System.nanoTime())) {
                LOG.warn(
                        "no thread could be begun for the transfer of a block: others do it, more"
                                + " slowly. {}",
                        Threads.remedy());
            }
            executor.execute(task);
        }
    }

    /**
     * While all transfer threads may be held by what goes to regions that are silent. Whoever needs
     * its end waits for that: closing does not, as the region may be silent for long.
     */
    private static void transferBeyond(Runnable task) {
        var _ = Thread.startVirtualThread(task);
    }

    void dirty(FileContent file) {
        dirty.add(file);
    }

    void clean(FileContent file) {
        dirty.remove(file);
    }

    private void tick() {
        flushOld();
        cache.tidy();
    }

    private void flushOld() {
        long now = System.nanoTime();
        for (FileContent file : dirty) {
            if (file.pendingForNs(now) >= options.flushDelay().toNanos()) {
                file.flushSoon();
            }
        }
    }

    private void flushSoon(int partition) {
        for (FileContent file : dirty) {
            if (backing.home(file.ino()) == partition) {
                file.flushSoon();
            }
        }
    }

    private void flushAllSoon() {
        dirty.forEach(FileContent::flushSoon);
    }

    /** Commits everything that is pending now. Errors stay with their files. */
    public void flushAll() {
        List<CompletableFuture<Void>> flushes = new ArrayList<>();
        for (FileContent file : dirty) {
            flushes.add(CompletableFuture.runAsync(file::flush, executor));
        }
        flushes.forEach(CompletableFuture::join);
    }

    /** Stores a full buffer as a block, in the background. */
    void store(long ino, WriteBuffer buffer) {
        CompletableFuture<BlockRef> result = new CompletableFuture<>();
        buffer.freeze(result);
        upload(ino, buffer.content(), result);
    }

    /** In the background; {@code result} hears of all that goes wrong. */
    private void upload(long ino, ByteBuffer content, CompletableFuture<BlockRef> result) {
        try {
            uploads.execute(backing.home(ino), () -> store(ino, content, result));
        } catch (RuntimeException | Error e) {
            result.completeExceptionally(e);
            throw e;
        }
    }

    /**
     * Gives up only after an attempt that began when the time was over: the time of those before
     * may have passed while this process was stopped, or the machine asleep.
     */
    private void store(long ino, ByteBuffer content, CompletableFuture<BlockRef> result) {
        Patience patience = Patience.of(options.timeout());
        long pauseMs = 50;
        boolean last = false;
        while (true) {
            try {
                result.complete(put(ino, content));
                return;
            } catch (IOException e) {
                if (last || !passes(e)) {
                    result.completeExceptionally(e);
                    return;
                }
                last = patience.over();
                LOG.warn(
                        "storing a block of inode {} failed, again in {} ms: {}{}",
                        ino,
                        pauseMs,
                        e.getMessage(),
                        OpenFiles.areUsedUp(e) ? ". " + OpenFiles.remedy() : "");
                LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(pauseMs));
                pauseMs = Math.min(pauseMs * 2, 2_000);
            } catch (RuntimeException | Error e) {
                result.completeExceptionally(e);
                return;
            }
        }
    }

    /** A partition refers to no older blocks (ms): those that are stored from now on are not. */
    void newBlocksNotBefore(long timeMs) {
        blocks.newBlocksNotBefore(timeMs);
    }

    /**
     * Stores content as a block, and waits for it.
     *
     * @param deadlineNs then it is given up, and deleted again if it is stored all the same
     */
    BlockRef storeNow(long ino, ByteBuffer content, long deadlineNs) throws IOException {
        CompletableFuture<BlockRef> result = new CompletableFuture<>();
        // What is given up may wait for its turn for long, and must not take memory meanwhile.
        AtomicReference<@Nullable ByteBuffer> wanted = new AtomicReference<>(content);
        uploads.execute(
                backing.home(ino),
                () -> {
                    ByteBuffer stored = wanted.get();
                    try {
                        BlockRef ref = stored == null ? null : put(ino, stored);
                        if (ref != null && !result.complete(ref)) {
                            delete(List.of(ref));
                        }
                    } catch (IOException | RuntimeException | Error e) {
                        result.completeExceptionally(e);
                    }
                });
        try {
            return result.get(deadlineNs - System.nanoTime(), TimeUnit.NANOSECONDS);
        } catch (TimeoutException e) {
            wanted.set(null);
            IOException late = new IOException("storing a block takes long", e);
            if (result.completeExceptionally(late)) {
                throw late;
            }
            return await(result);
        } catch (ExecutionException e) {
            throw new IOException("storing a block failed: " + e.getMessage(), e.getCause());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted while storing a block", e);
        }
    }

    private BlockRef put(long ino, ByteBuffer content) throws IOException {
        BlockRef ref = blocks.put(backing.home(ino), content.duplicate());
        cache.keep(ref, content);
        return ref;
    }

    /** Whether the store may succeed later. */
    private static boolean passes(IOException e) {
        return !(e instanceof BlockStoreException known)
                || known.reason() == BlockStoreException.Reason.UNREACHABLE;
    }

    private static Errno errno(Exception e) {
        for (Throwable cause = e; cause != null; cause = cause.getCause()) {
            if (cause instanceof BlockStoreException known
                    && known.reason() == BlockStoreException.Reason.NO_SPACE) {
                return Errno.ENOSPC;
            }
        }
        return Errno.EIO;
    }

    /**
     * How committing went.
     *
     * @param errno of the data
     * @param refused errno of the attributes that went with the data, when only they failed
     * @param apart the data is lost, and its attributes were set without it, or refused
     * @param op the command; null when it did not get as far, or needed none
     * @param answer to the command; null as that is
     */
    record Committed(
            int errno,
            int refused,
            boolean apart,
            List<Extent> extents,
            @Nullable UpdateOp op,
            @Nullable Answer<UpdateReply> answer) {

        static Committed failed(Errno errno) {
            return new Committed(errno.number(), 0, false, List.of(), null, null);
        }

        /** The partition would not refer to blocks that old: they may have been swept. */
        boolean cameTooLate() {
            return errno == Errno.EAGAIN.number() && answer != null && answer.reply().isSetFence();
        }

        /** Of attributes that were to be set. */
        int attributesErrno() {
            return apart || refused != 0 ? refused : errno;
        }
    }

    /** What cuts off very many extents takes several commands. */
    private Answer<UpdateReply> update(long ino, Pending pending, UpdateOp op, Runnable progress) {
        pending.sent();
        while (true) {
            Answer<UpdateReply> answer =
                    backing.update(
                            ino,
                            pending.credentials(),
                            op,
                            Patience.of(options.timeout()),
                            pending::made);
            if (!answer.reply().isSetDone()) {
                return answer;
            }
            progress.run();
        }
    }

    /**
     * Stores and commits; blocks until the command is answered or given up.
     *
     * @param progress is told of each command that did a part
     */
    Committed commit(long ino, Pending pending, Runnable progress) {
        Committed done = commit(ino, pending, uploads(pending), false, progress);
        // Once is enough, unless the fence overtakes the blocks again, or the file moves again.
        Patience patience = Patience.of(options.timeout());
        while (done.cameTooLate() && System.nanoTime() - patience.deadlineNs() < 0) {
            long fenceMs = Objects.requireNonNull(done.answer).reply().getFence();
            LOG.info("inode {}: blocks waited too long for their commit, storing them again", ino);
            newBlocksNotBefore(fenceMs);
            done = commit(ino, pending, new ArrayList<>(), true, progress);
        }
        if (done.cameTooLate()) {
            LOG.error(
                    "inode {}: its blocks come too late time and again, its content is lost", ino);
            return Committed.failed(Errno.EIO);
        }
        return done;
    }

    /**
     * @param storing blocks on their way
     * @param again stores everything, as if those had never been
     */
    private Committed commit(
            long ino,
            Pending pending,
            List<CompletableFuture<BlockRef>> storing,
            boolean again,
            Runnable progress) {
        List<Extent> extents;
        try {
            extents = extents(ino, pending, storing, again);
        } catch (IOException | RuntimeException e) {
            if (!lacksRoom(errno(e))) {
                LOG.error("content of inode {} could not be stored", ino, e);
            }
            deleteUnused(storing, List.of());
            return lost(ino, pending, errno(e), progress);
        }
        UpdateOp op = op(ino, pending, extents);
        if (op == null) {
            deleteUnused(storing, List.of());
            return new Committed(0, 0, false, extents, null, null);
        }
        int refused = 0;
        Answer<UpdateReply> answer = update(ino, pending, op, progress);
        int errno = answer.reply().getErrno();
        boolean both = op.isSetWrite() && op.getWrite().isSetAttributes();
        if (both
                && answer.answered()
                && errno != 0
                && errno != Errno.EAGAIN.number()
                && !lacksRoom(Errno.of(errno))) {
            // Somebody changed the owner meanwhile, or the like: the data must not be lost with the
            // attributes. A truncation was certain to be permitted, and what it cut off is not
            // among the data any more.
            WriteOp alone = new WriteOp(op.getWrite());
            alone.unsetAttributes();
            SetAttributesOp size = sizeAlone(op.getWrite().getAttributes());
            if (size != null) {
                alone.setAttributes(size);
            }
            LOG.warn(
                    "inode {}: attributes set after a write are refused: {}", ino, Errno.of(errno));
            op = UpdateOp.write(alone);
            answer = update(ino, pending, op, progress);
            refused = errno;
            errno = answer.reply().getErrno();
        }
        if (answer.answered()) {
            // Without an answer the command may still take effect, and its blocks must be there
            // then.
            deleteUnused(storing, errno == 0 ? extents : List.of());
        }
        if (both && answer.answered() && lacksRoom(Errno.of(errno))) {
            return lost(ino, pending, Errno.of(errno), progress);
        }
        return new Committed(errno, refused, false, extents, op, answer);
    }

    /** Null: the size stays, or is all that was to be set. */
    private static @Nullable SetAttributesOp sizeAlone(SetAttributesOp attributes) {
        if (!attributes.isSetSize()) {
            return null;
        }
        SetAttributesOp size =
                new SetAttributesOp(attributes.getIno())
                        .setSize(attributes.getSize())
                        .setPartly(attributes.isPartly());
        if (attributes.isHandle()) {
            size.setHandle(true);
        }
        return size.equals(attributes) ? null : size;
    }

    private static boolean lacksRoom(Errno errno) {
        return errno == Errno.ENOSPC || errno == Errno.EDQUOT;
    }

    /** The data is lost; that is no reason for its attributes, which were acknowledged. */
    private Committed lost(long ino, Pending pending, Errno errno, Runnable progress) {
        SetAttributesOp attributes = pending.attributes();
        if (attributes == null) {
            return Committed.failed(errno);
        }
        UpdateOp op = UpdateOp.setAttributes(attributes);
        Answer<UpdateReply> answer = update(ino, pending, op, progress);
        return new Committed(
                errno.number(), answer.reply().getErrno(), true, List.of(), op, answer);
    }

    private static @Nullable UpdateOp op(long ino, Pending pending, List<Extent> extents) {
        if (extents.isEmpty()) {
            return pending.attributes() == null
                    ? null
                    : UpdateOp.setAttributes(pending.attributes());
        }
        WriteOp write = new WriteOp(ino, extents);
        if (pending.append()) {
            write.setAppend(true);
        }
        if (pending.attributes() != null) {
            write.setAttributes(pending.attributes());
        }
        return UpdateOp.write(write);
    }

    /** Of buffers that became, or are becoming, blocks of their own. */
    private static List<CompletableFuture<BlockRef>> uploads(Pending pending) {
        List<CompletableFuture<BlockRef>> uploads = new ArrayList<>();
        for (WriteBuffer stored : pending.stored()) {
            CompletableFuture<BlockRef> upload = stored.upload();
            if (upload != null) {
                uploads.add(upload);
            }
        }
        return uploads;
    }

    /**
     * Where the pending content is, once all of it is stored.
     *
     * @param storing blocks on their way; those made here join them at once
     * @param again stores all of it now
     */
    private List<Extent> extents(
            long ino, Pending pending, List<CompletableFuture<BlockRef>> storing, boolean again)
            throws IOException {
        List<Piece> loose = new ArrayList<>();
        long looseBytes = 0;
        for (Piece piece : pending.pieces().all()) {
            if (again || !buffer(piece).frozen()) {
                loose.add(piece);
                looseBytes += piece.length();
            }
        }
        List<Extent> result = new ArrayList<>();
        if (looseBytes <= options.inlineMaxBytes()) {
            for (Piece piece : loose) {
                byte[] bytes = buffer(piece).copy((int) piece.from(), (int) piece.length());
                result.add(new Extent(piece.offset(), piece.length()).setData(bytes));
            }
        } else {
            result.addAll(pack(ino, loose, storing));
        }
        for (Piece piece : pending.pieces().all()) {
            CompletableFuture<BlockRef> upload = buffer(piece).upload();
            if (upload != null && !again) {
                result.add(
                        new Extent(piece.offset(), piece.length())
                                .setBlock(await(upload))
                                .setBlockOffset((int) piece.from()));
            }
        }
        result.sort(java.util.Comparator.comparingLong(Extent::getOffset));
        return result;
    }

    /** Fills blocks with pieces, side by side whatever their places in the file. */
    private List<Extent> pack(
            long ino, List<Piece> loose, List<CompletableFuture<BlockRef>> storing)
            throws IOException {
        List<CompletableFuture<BlockRef>> packed = new ArrayList<>();
        List<List<Piece>> groups = new ArrayList<>();
        List<Piece> group = new ArrayList<>();
        long groupBytes = 0;
        for (Piece piece : loose) {
            if (groupBytes + piece.length() > WriteBuffer.MAX_BYTES) {
                groups.add(group);
                group = new ArrayList<>();
                groupBytes = 0;
            }
            group.add(piece);
            groupBytes += piece.length();
        }
        groups.add(group);
        for (List<Piece> pieces : groups) {
            CompletableFuture<BlockRef> future = new CompletableFuture<>();
            ByteBuffer content = joined(pieces);
            packed.add(future);
            storing.add(future);
            upload(ino, content, future);
        }
        List<Extent> result = new ArrayList<>();
        for (int i = 0; i < groups.size(); i++) {
            BlockRef ref = await(packed.get(i));
            int at = 0;
            for (Piece piece : groups.get(i)) {
                result.add(
                        new Extent(piece.offset(), piece.length())
                                .setBlock(ref)
                                .setBlockOffset(at));
                at += (int) piece.length();
            }
        }
        return result;
    }

    private static ByteBuffer joined(List<Piece> pieces) {
        if (pieces.size() == 1) {
            Piece only = pieces.getFirst();
            return buffer(only).view((int) only.from(), (int) only.length());
        }
        int total = 0;
        for (Piece piece : pieces) {
            total += (int) piece.length();
        }
        ByteBuffer result = ByteBuffer.allocate(total);
        for (Piece piece : pieces) {
            result.put(buffer(piece).view((int) piece.from(), (int) piece.length()));
        }
        return result.flip();
    }

    private static WriteBuffer buffer(Piece piece) {
        return ((Source.Written) piece.source()).buffer();
    }

    private static BlockRef await(@Nullable CompletableFuture<BlockRef> upload) throws IOException {
        if (upload == null) {
            throw new IOException("block was never stored");
        }
        try {
            return upload.get();
        } catch (ExecutionException e) {
            throw new IOException("storing a block failed: " + e.getMessage(), e.getCause());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted while storing a block", e);
        }
    }

    /** Also of blocks that are still on their way. */
    private void deleteUnused(List<CompletableFuture<BlockRef>> storing, List<Extent> used) {
        Set<BlockRef> kept = new HashSet<>();
        for (Extent extent : used) {
            if (extent.isSetBlock()) {
                kept.add(extent.getBlock());
            }
        }
        for (CompletableFuture<BlockRef> upload : storing) {
            CompletableFuture<Void> _ =
                    upload.thenAccept(block -> {
                        if (!kept.contains(block)) {
                            delete(List.of(block));
                        }
                    });
        }
    }

    void delete(List<BlockRef> unused) {
        if (unused.isEmpty()) {
            return;
        }
        fetches.execute(
                unused.getFirst().getRegion(),
                () -> {
                    try {
                        blocks.deleteAll(unused);
                    } catch (IOException e) {
                        LOG.info(
                                "{} unused blocks stay as garbage: {}",
                                unused.size(),
                                e.getMessage());
                    }
                });
    }

    /** Commits what is pending and ends the threads. */
    @Override
    public void close() {
        timer.shutdownNow();
        flushAll();
        // First, as what a transfer finds no thread for is the other's.
        transfers.shutdown();
        executor.close();
    }
}
