package org.globalfs.client.cache;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import com.github.benmanes.caffeine.cache.RemovalCause;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.IntConsumer;
import org.globalfs.client.io.ContentMap;
import org.globalfs.client.meta.SessionVector;
import org.globalfs.protocol.wire.Attributes;
import org.globalfs.protocol.wire.DirectoryEntry;
import org.jspecify.annotations.Nullable;

/**
 * Attributes, names (absent ones too) and content maps that are certain without asking.
 *
 * <p>A reply may overtake another, and a recall may overtake the reply that it concerns. Three
 * rules keep what is cached right: a request takes a {@link #stamp} before it is sent, and what its
 * reply says of an inode that was forgotten since is not cached; attributes and content of a lower
 * version never replace those of a higher one; a name is noted with the version of its directory,
 * and older news of the same name is dropped. Dropping an inode for lack of memory counts as
 * forgetting it.
 */
public final class MetadataCache {

    /** Nothing of the global partition is believed longer. */
    public static final long RECENT_NS = 1_000_000_000L;

    /** Longer than any update is under way. */
    private static final long UNCERTAIN_S = 150;

    private static final long CONTENDED_S = 5;

    /** The kernel counts from when an answer reaches it, in ticks of its clock, and rounds up. */
    private static final long KERNEL_MARGIN_NS = 20_000_000;

    /** Each is taken back when the global partition moves, while somebody waits. */
    private static final int GLOBAL_IN_KERNEL = 2_000;

    private final SessionVector vector;
    private final Leases leases = new Leases();
    private final Cache<Long, Node> nodes;
    private final ForgottenInodes forgotten = new ForgottenInodes();

    /**
     * Inodes that others want too: the kernel gets nothing of them for a while, taking it back is
     * dear.
     */
    private final Cache<Long, Boolean> contended =
            Caffeine.newBuilder()
                    .expireAfterWrite(CONTENDED_S, TimeUnit.SECONDS)
                    .executor(Runnable::run)
                    .build();

    /** Inodes that an update may change still whose answer nobody waits for any more. */
    private final Cache<Long, Boolean> uncertain =
            Caffeine.newBuilder()
                    .expireAfterWrite(UNCERTAIN_S, TimeUnit.SECONDS)
                    .executor(Runnable::run)
                    .build();

    /** Inodes of the global partition of which, or of whose names, the kernel may know. */
    private final Set<Long> globalInKernel = ConcurrentHashMap.newKeySet();

    private volatile @Nullable GlobalKernel globalKernel;

    private record GlobalKernel(BooleanSupplier mayTell, Consumer<Collection<Long>> dropped) {}

    private volatile Confirmed confirmed = new Confirmed(0, 0);
    private volatile IntConsumer granted = partition -> {};
    private final LongAdder hits = new LongAdder();
    private final LongAdder misses = new LongAdder();
    private volatile Dropped dropped = (ino, names, recalled) -> {};

    /** Hears of every inode that was forgotten: the kernel must not remember more. */
    @FunctionalInterface
    public interface Dropped {
        /**
         * Must only queue.
         *
         * @param kernelNames names in this directory that the kernel was told of
         * @param recalled somebody else is about to change the inode
         */
        void dropped(long ino, Iterable<byte[]> kernelNames, boolean recalled);
    }

    public MetadataCache(SessionVector vector, long maxWeightBytes) {
        this.vector = vector;
        this.nodes =
                Caffeine.newBuilder()
                        .maximumWeight(maxWeightBytes)
                        .weigher((Long ino, Node node) -> node.weight())
                        .executor(Runnable::run)
                        .evictionListener(
                                (@Nullable Long ino, @Nullable Node node, RemovalCause cause) -> {
                                    if (ino != null && node != null) {
                                        evicted(ino, node);
                                    }
                                })
                        .build();
    }

    public void onDropped(Dropped listener) {
        dropped = listener;
    }

    /** Hears of every reply that grants something in a partition. */
    public void onGranted(IntConsumer listener) {
        granted = listener;
    }

    /** Of how many inodes it is noted when they were forgotten. */
    int forgottenKept() {
        return forgotten.size();
    }

    private void evicted(long ino, Node node) {
        forgotten.forgotten(ino);
        dropped.dropped(ino, node.forgotten(), false);
    }

    /** To be taken before a request is sent. */
    public long stamp() {
        return forgotten.stamp();
    }

    /**
     * The right by which a reply's contents may be cached; null: none.
     *
     * @param instance position of the partition in the reply; -1: unknown
     */
    public @Nullable Validity validity(int partition, LeaseOffer offer, long instance) {
        if (partition == 0) {
            if (instance < vector.globalSeen() || instance <= 0) {
                return null;
            }
            confirm(instance, offer.sentNs() + RECENT_NS);
            return new Validity.Recent(instance);
        }
        if (offer.ms() <= 0) {
            return null;
        }
        long epoch = leases.extend(partition, offer);
        if (epoch < 0) {
            return null;
        }
        granted.accept(partition);
        return new Validity.Granted(partition, epoch);
    }

    /** The lease was extended by a reply without contents. */
    public void extendLease(int partition, LeaseOffer offer) {
        leases.extend(partition, offer);
    }

    /** Whether grants of this partition are being given. */
    public boolean leased(int partition) {
        return leases.running(partition);
    }

    /**
     * How long what is known by this right may still be believed without asking; 0: no longer. It
     * can grow, while a lease is being renewed.
     */
    public long leftNs(Validity validity) {
        return switch (validity) {
            case Validity.Granted(int partition, long epoch) -> leases.leftNs(partition, epoch);
            case Validity.Recent(long instance) ->
                    instance == vector.globalSeen() ? confirmed.leftNs(instance) : 0;
        };
    }

    /**
     * A replica of the global partition answered at this instance: all that was read at the same
     * one is as that replica would have answered it.
     */
    private synchronized void confirm(long instance, long untilNs) {
        Confirmed known = confirmed;
        if (instance > known.instance
                || instance == known.instance && untilNs - known.untilNs > 0) {
            confirmed = new Confirmed(instance, untilNs);
        }
    }

    /** Until when the global partition is taken to be at an instance. */
    private record Confirmed(long instance, long untilNs) {
        long leftNs(long asked) {
            return asked == instance ? Math.max(0, untilNs - System.nanoTime()) : 0;
        }
    }

    private @Nullable Node valid(long ino) {
        Node node = nodes.getIfPresent(ino);
        return node == null || leftNs(node.validity()) <= 0 ? null : node;
    }

    /**
     * How long the kernel may believe what is cached of this inode; 0: not at all. What is in its
     * hands is taken back on a recall.
     */
    public long kernelTimeoutNs(long ino) {
        Node node = nodes.getIfPresent(ino);
        if (node == null || contended(ino)) {
            return 0;
        }
        Validity validity = node.validity();
        boolean global = validity instanceof Validity.Recent;
        return global && !mayTellGlobal(ino) ? 0 : Math.max(0, leftNs(validity) - KERNEL_MARGIN_NS);
    }

    /** Whether somebody else wanted the inode to himself a moment ago. */
    public boolean contended(long ino) {
        return contended.getIfPresent(ino) != null;
    }

    /** Noted before it is looked at how long that is: {@link #globalMoved} must not miss it. */
    private boolean mayTellGlobal(long ino) {
        GlobalKernel kernel = globalKernel;
        if (kernel == null || !kernel.mayTell.getAsBoolean()) {
            return false;
        }
        if (globalInKernel.size() >= GLOBAL_IN_KERNEL) {
            return globalInKernel.contains(ino);
        }
        globalInKernel.add(ino);
        return true;
    }

    /**
     * Lets the kernel believe what is known of the global partition; the listener takes these
     * inodes' attributes, and all names, back from it before it returns. Without one it is told
     * nothing.
     *
     * @param mayTell whether it is told anything now
     */
    public void onGlobalDropped(BooleanSupplier mayTell, Consumer<Collection<Long>> listener) {
        globalKernel = new GlobalKernel(mayTell, listener);
    }

    /**
     * The session has seen a newer state of the global partition: what the kernel was told of the
     * older one is taken back at once.
     */
    public void globalMoved() {
        GlobalKernel kernel = globalKernel;
        List<Long> told = new ArrayList<>();
        globalInKernel.removeIf(told::add);
        if (kernel != null && !told.isEmpty()) {
            kernel.dropped.accept(told);
        }
    }

    public @Nullable Attributes attributes(long ino) {
        Node node = valid(ino);
        return counted(node == null ? null : node.attributes());
    }

    public @Nullable ContentMap content(long ino) {
        Node node = valid(ino);
        return counted(node == null ? null : node.content());
    }

    /** By what right attributes of this version, or of a later one, are known now; null: none. */
    public @Nullable Validity validity(long ino, long version) {
        Node node = valid(ino);
        return node == null ? null : node.validity(version);
    }

    /** By what right the content map of this version is known now; null: by none. */
    public @Nullable Validity contentValidity(long ino, long version) {
        Node node = valid(ino);
        return node == null ? null : node.contentValidity(version);
    }

    public @Nullable Name name(long parent, byte[] name) {
        Node node = valid(parent);
        return counted(node == null ? null : node.name(ByteBuffer.wrap(name)));
    }

    private <T> @Nullable T counted(@Nullable T found) {
        (found == null ? misses : hits).increment();
        return found;
    }

    /** How often what was asked for was here, and was not. */
    public void counters(Map<String, Long> into) {
        into.put("metadataCacheHits", hits.sum());
        into.put("metadataCacheMisses", misses.sum());
    }

    /** In place of a value: the inode has no such extended attribute. */
    public static final byte[] NO_XATTR = {};

    /** An extended attribute's value; {@link #NO_XATTR} itself when absent; null: not known. */
    public byte @Nullable [] xattr(long ino, byte[] name) {
        Node node = valid(ino);
        return node == null ? null : node.xattr(ByteBuffer.wrap(name));
    }

    /** {@code version}: the inode's when it had this value, or {@link #NO_XATTR}. */
    public void learnXattr(
            long ino,
            byte[] name,
            byte[] value,
            long version,
            @Nullable Validity validity,
            long stamp) {
        if (validity != null) {
            update(
                    ino,
                    validity,
                    stamp,
                    node -> node.xattr(ByteBuffer.wrap(name.clone()), value, version));
        }
    }

    /**
     * To be called before the kernel is told of a name that it may remember; false: it may not, as
     * the directory was forgotten in the meantime.
     */
    public boolean nameInKernel(long parent, byte[] name) {
        Node node = nodes.getIfPresent(parent);
        if (node == null) {
            return false;
        }
        int before = node.weight();
        if (!node.nameInKernel(ByteBuffer.wrap(name.clone()))) {
            return false;
        }
        if (node.weight() != before) {
            nodes.asMap().computeIfPresent(parent, (ino, same) -> same); // weighs it
        }
        return !node.isForgotten();
    }

    /**
     * What a reply says of an inode. After an update the caller must {@link #forget} the inode
     * where {@link #knows} then denies the new version.
     */
    public void learn(Attributes attributes, @Nullable Validity validity, long stamp) {
        long ino = attributes.getIno();
        if (validity == null) {
            outdate(attributes);
        } else {
            update(
                    ino,
                    validity,
                    stamp,
                    node -> {
                        node.attributes(attributes);
                        ContentMap content = node.content();
                        boolean recent = validity instanceof Validity.Recent;
                        if (recent
                                && content != null
                                && content.version() < attributes.getVersion()) {
                            node.replaceContent(null);
                        }
                    });
        }
    }

    /** Whether attributes of this version, or of a later one, are kept; they need not be valid. */
    public boolean knows(long ino, long version) {
        Node node = nodes.getIfPresent(ino);
        Attributes known = node == null ? null : node.attributes();
        return known != null && known.getVersion() >= version;
    }

    /** Attributes that may not be cached still tell that older ones are wrong. */
    private void outdate(Attributes attributes) {
        Node node = nodes.getIfPresent(attributes.getIno());
        if (node != null) {
            Attributes known = node.attributes();
            if (known == null || known.getVersion() < attributes.getVersion()) {
                forget(attributes.getIno());
            }
        }
    }

    public void learnContent(
            long ino, ContentMap content, @Nullable Validity validity, long stamp) {
        if (validity != null) {
            update(ino, validity, stamp, node -> node.content(content));
        }
    }

    /** {@code version}: the directory's when the name was so. */
    public void learnName(
            long parent,
            byte[] name,
            Name pointsTo,
            long version,
            @Nullable Validity validity,
            long stamp) {
        if (validity != null) {
            update(
                    parent,
                    validity,
                    stamp,
                    node -> node.name(ByteBuffer.wrap(name.clone()), pointsTo, version));
        }
    }

    /** All names of the directory are known: it is a fresh one. */
    public void learnComplete(long directory, @Nullable Validity validity, long stamp) {
        if (validity != null) {
            update(directory, validity, stamp, node -> node.complete(true));
        }
    }

    /**
     * All of a directory's entries, in the order of their cookies, as of a version of it; its
     * attributes of then must have been learned.
     */
    public void learnListing(
            long directory,
            List<DirectoryEntry> entries,
            long version,
            @Nullable Validity validity,
            long stamp) {
        if (validity != null) {
            List<DirectoryEntry> bare =
                    entries.stream()
                            .map(entry ->
                                    new DirectoryEntry(
                                            entry.getIno(),
                                            entry.bufferForName(),
                                            entry.getType(),
                                            entry.getCookie()))
                            .toList();
            update(
                    directory,
                    validity,
                    stamp,
                    node -> {
                        node.complete(true);
                        node.listing(bare, version);
                    });
        }
    }

    /** What {@link #learnListing} said and still holds, without attributes; null: not known. */
    public @Nullable List<DirectoryEntry> listing(long directory) {
        Node node = valid(directory);
        return counted(node == null ? null : node.listing());
    }

    private void update(long ino, Validity validity, long stamp, Consumer<Node> change) {
        nodes.asMap()
                .compute(
                        ino,
                        (key, known) -> {
                            if (forgotten.since(stamp, ino)
                                    || uncertain.getIfPresent(ino) != null) {
                                return known;
                            }
                            Node node = known;
                            if (node == null) {
                                node = new Node(validity);
                            } else if (!node.validity().joins(validity) && leftNs(validity) <= 0) {
                                // It ended before this came here: what has followed stays, and with
                                // it what the kernel was told by that.
                                return known;
                            } else {
                                node.knownBy(validity);
                            }
                            change.accept(node);
                            return node;
                        });
    }

    /**
     * Replaces the content map by what this client's own update made of it, if it was known; called
     * in the order of the file's updates. The answer may have been overtaken by others' updates,
     * and by a read of what they made: that stays, and where it is not known what came between,
     * nothing is.
     *
     * @param version the inode's after the update
     * @param steps by how much the update raised it
     * @param change makes the map of that version of the one before
     */
    public void changeContent(
            long ino, long version, int steps, Function<ContentMap, @Nullable ContentMap> change) {
        replaceContent(
                ino,
                known -> {
                    if (known.version() >= version) {
                        return known;
                    }
                    return known.version() == version - steps ? change.apply(known) : null;
                });
    }

    /** This client's own update changed the content map in a way that is not known. */
    public void forgetContent(long ino) {
        replaceContent(ino, known -> null);
    }

    private void replaceContent(long ino, Function<ContentMap, @Nullable ContentMap> change) {
        nodes.asMap()
                .computeIfPresent(
                        ino,
                        (key, node) -> {
                            ContentMap known = node.content();
                            if (known != null) {
                                node.replaceContent(change.apply(known));
                            }
                            return node;
                        });
    }

    /** Forgets all of the inode, also what replies under way will say of it. */
    public void forget(long ino) {
        Node gone = remove(ino);
        if (gone != null) {
            dropped.dropped(ino, gone.forgotten(), false);
        }
    }

    /**
     * An update of this client may still change the inode, and it will not hear of that: grants are
     * not taken back for a session's own updates. Nothing is kept of it until that is out of the
     * question.
     */
    public void uncertain(long ino) {
        uncertain.put(ino, true);
        forget(ino);
    }

    /** The coordinator takes its grant of the inode back. */
    public void recalled(long ino) {
        contended.put(ino, true);
        Node gone = remove(ino);
        dropped.dropped(ino, gone == null ? List.of() : gone.forgotten(), true);
    }

    private @Nullable Node remove(long ino) {
        AtomicReference<@Nullable Node> gone = new AtomicReference<>();
        nodes.asMap()
                .compute(
                        ino,
                        (key, node) -> {
                            forgotten.forgotten(ino);
                            gone.set(node);
                            return null;
                        });
        return gone.get();
    }

    /** Every grant of the partition is void. */
    public void endLease(int partition) {
        leases.end(partition);
    }
}
