package org.globalfs.client.vfs;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.globalfs.client.cache.KernelPages;
import org.globalfs.client.cache.MetadataCache;
import org.globalfs.client.io.Backing;
import org.globalfs.client.io.ContentException;
import org.globalfs.client.io.ContentMap;
import org.globalfs.client.meta.Answer;
import org.globalfs.client.meta.MetadataClient;
import org.globalfs.client.meta.Patience;
import org.globalfs.protocol.Errno;
import org.globalfs.protocol.wire.Attributes;
import org.globalfs.protocol.wire.ContentOp;
import org.globalfs.protocol.wire.Credentials;
import org.globalfs.protocol.wire.Extent;
import org.globalfs.protocol.wire.ReadOp;
import org.globalfs.protocol.wire.ReadReply;
import org.globalfs.protocol.wire.UpdateOp;
import org.globalfs.protocol.wire.UpdateReply;
import org.jspecify.annotations.Nullable;

/** Content maps by grant or by asking, and commits of content with what they do to the caches. */
final class FileBacking implements Backing {

    private static final Credentials SYSTEM = new Credentials(0, 0);
    private static final int FETCH_ROUNDS = 1_000;

    private final Requests requests;
    private final MetadataClient client;
    private final MetadataCache cache;
    private final KernelPages pages;
    private final PageGrants grants;
    private volatile @Nullable KernelCache kernel;

    FileBacking(Requests requests, KernelPages pages, PageGrants grants) {
        this.requests = requests;
        this.client = requests.client();
        this.cache = requests.cache();
        this.pages = pages;
        this.grants = grants;
    }

    void mounted(KernelCache kernelCache) {
        kernel = kernelCache;
    }

    @Override
    public @Nullable ContentMap known(long ino) {
        return cache.content(ino);
    }

    @Override
    public ContentMap fetch(long ino, long offset, long length, Patience patience)
            throws ContentException {
        long end = offset + Math.min(length, Long.MAX_VALUE - offset);
        ContentMap whole = null;
        List<Extent> extents = new ArrayList<>();
        long from = offset;
        // The map of a long file comes in parts, which must be of one version.
        for (int round = 0; round < FETCH_ROUNDS; round++) {
            ReadOp op = ReadOp.content(new ContentOp(ino, from, end - from));
            // Permissions were checked when the file was opened.
            Requests.Read read = requests.tryRead(SYSTEM, requests.home(ino), op, patience);
            ReadReply reply = read.reply();
            if (reply.getErrno() != 0) {
                throw new ContentException(Errno.of(reply.getErrno()), "content of inode " + ino);
            }
            long version = reply.getAttributes().getVersion();
            long size = reply.getAttributes().getSize();
            if (whole != null && whole.version() != version) {
                extents.clear();
                boolean restarts = from != offset;
                whole = null;
                from = offset;
                if (restarts) {
                    continue;
                }
            }
            if (reply.isSetExtents()) {
                extents.addAll(reply.getExtents());
            }
            long knownTo = reply.isSetContentEnd() ? reply.getContentEnd() : end;
            whole = ContentMap.of(version, size, offset, knownTo, extents);
            if (whole.covers(offset, end)) {
                cache.learnContent(ino, whole, read.validity(), read.stamp());
                return whole;
            }
            from = knownTo;
        }
        throw new ContentException(Errno.EIO, "content of inode " + ino + " keeps changing");
    }

    @Override
    public ContentMap page(long ino, long offset, Patience patience) throws ContentException {
        ReadOp op = ReadOp.content(new ContentOp(ino, offset, Long.MAX_VALUE - offset));
        Requests.Read read = requests.tryRead(SYSTEM, requests.home(ino), op, patience);
        ReadReply reply = read.reply();
        if (reply.getErrno() != 0) {
            throw new ContentException(Errno.of(reply.getErrno()), "content of inode " + ino);
        }
        ContentMap map =
                ContentMap.of(
                        reply.getAttributes().getVersion(),
                        reply.getAttributes().getSize(),
                        offset,
                        reply.isSetContentEnd() ? reply.getContentEnd() : Long.MAX_VALUE,
                        reply.isSetExtents() ? reply.getExtents() : List.of());
        cache.learnContent(ino, map, read.validity(), read.stamp());
        return map;
    }

    @Override
    public void rearranged(long ino) {
        cache.forgetContent(ino);
    }

    @Override
    public int home(long ino) {
        return requests.home(ino);
    }

    @Override
    public Answer<UpdateReply> update(
            long ino,
            Credentials credentials,
            UpdateOp op,
            Patience patience,
            Consumer<Attributes> made) {
        try (var _ = requests.taking()) {
            long stamp = cache.stamp();
            Answer<UpdateReply> answer =
                    client.update(requests.home(ino), credentials, op, patience);
            if (answer.reply().isSetAttributes()) {
                made.accept(answer.reply().getAttributes());
            }
            boolean append = op.isSetWrite() && op.getWrite().isAppend();
            if (append && answer.reply().isSetAttributes()) {
                // Before anybody finds the new size in the cache, and tells the kernel.
                grants.outdated(ino, answer.reply().getAttributes().getVersion());
            }
            requests.learn(answer, stamp, ino);
            if (!answer.answered()) {
                pages.forget(ino);
            } else if (!append && answer.reply().isSetAttributes()) {
                long version = answer.reply().getAttributes().getVersion();
                pages.changed(ino, version, versionSteps(op));
                grants.known(ino, version);
            }
            return answer;
        }
    }

    private static int versionSteps(UpdateOp op) {
        return op.isSetWrite() && op.getWrite().isSetAttributes() ? 2 : 1;
    }

    @Override
    public void changed(long ino, UpdateOp op, List<Extent> extents, Answer<UpdateReply> answer) {
        UpdateReply reply = answer.reply();
        if (!reply.isSetAttributes()) {
            cache.forget(ino);
            return;
        }
        long version = reply.getAttributes().getVersion();
        long size = reply.getAttributes().getSize();
        cache.changeContent(
                ino, version, versionSteps(op), known -> known.changed(version, size, extents));
    }

    @Override
    public void lost(long ino) {
        cache.forget(ino);
        pages.forget(ino);
        KernelCache mounted = kernel;
        if (mounted != null) {
            mounted.invalidateInode(ino, 0, 0);
        }
    }
}
