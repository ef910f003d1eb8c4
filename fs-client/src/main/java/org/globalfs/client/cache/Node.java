package org.globalfs.client.cache;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.globalfs.client.io.ContentMap;
import org.globalfs.protocol.wire.Attributes;
import org.globalfs.protocol.wire.DirectoryEntry;
import org.jspecify.annotations.Nullable;

/** What is cached of one inode, all of it by the same right. Guarded by its own monitor. */
final class Node {

    private static final int BASE_WEIGHT = 400;
    private static final int NAME_WEIGHT = 120;

    /**
     * Names of which the kernel may know that they are absent. Anybody can have it look up any
     * number, and each is kept until the directory changes.
     */
    private static final int MOST_ABSENT = 4096;

    /** Where a name pointed, and the directory's version that said so. */
    private record NameAt(Name name, long version, boolean inKernel) {}

    private Validity validity;
    private @Nullable Attributes attributes;
    private @Nullable ContentMap content;
    private Map<ByteBuffer, NameAt> names = Map.of();

    /** Of those, the ones of version 0: only because the kernel knows of their absence. */
    private int absent;

    /** Extended attributes as of one version of the inode. */
    private Map<ByteBuffer, byte[]> xattrs = Map.of();

    private long xattrsVersion;

    /** All entries, without attributes, as of one version of the directory. */
    private @Nullable List<DirectoryEntry> listing;

    private long listingVersion;

    /** Names that are not in {@code names} do not exist. */
    private boolean complete;

    private boolean forgotten;

    Node(Validity validity) {
        this.validity = validity;
    }

    synchronized Validity validity() {
        return validity;
    }

    /** By what right attributes of this version or a later one are known; null: they are not. */
    synchronized @Nullable Validity validity(long version) {
        return attributes != null && attributes.getVersion() >= version ? validity : null;
    }

    /** By what right the content map of this version is known; null: it is not. */
    synchronized @Nullable Validity contentValidity(long version) {
        return content != null && content.version() == version ? validity : null;
    }

    /** Starts over when what is cached was known by another right. */
    synchronized void knownBy(Validity other) {
        if (!validity.joins(other)) {
            validity = other;
            attributes = null;
            content = null;
            names = Map.of();
            absent = 0;
            xattrs = Map.of();
            listing = null;
            complete = false;
        }
    }

    synchronized @Nullable Attributes attributes() {
        return attributes;
    }

    synchronized void attributes(Attributes newer) {
        if (attributes == null || attributes.getVersion() <= newer.getVersion()) {
            attributes = newer;
        }
    }

    synchronized @Nullable ContentMap content() {
        return content;
    }

    /** What a read said; not noted when an update is known to have come after it. */
    synchronized void content(ContentMap newer) {
        if (content == null) {
            boolean outdated = attributes != null && newer.version() < attributes.getVersion();
            content = outdated ? null : newer;
        } else if (content.version() <= newer.version()) {
            content = content.joined(newer);
        }
    }

    synchronized void replaceContent(@Nullable ContentMap replacement) {
        content = replacement;
    }

    /** What is known of a name, or null. */
    synchronized @Nullable Name name(ByteBuffer key) {
        NameAt known = names.get(key);
        return known != null ? known.name : complete ? Name.ABSENT : null;
    }

    /** Notes a name as of a version of the directory; older news is no news. */
    synchronized void name(ByteBuffer key, Name name, long version) {
        if (names.isEmpty()) {
            names = new HashMap<>();
        }
        NameAt known = names.get(key);
        if (known == null || known.version <= version) {
            if (known != null && known.version == 0) {
                absent--;
            }
            names.put(key, new NameAt(name, version, known != null && known.inKernel));
        }
    }

    synchronized byte @Nullable [] xattr(ByteBuffer key) {
        boolean current = attributes != null && attributes.getVersion() == xattrsVersion;
        return current ? xattrs.get(key) : null;
    }

    synchronized void xattr(ByteBuffer key, byte[] value, long version) {
        if (xattrs.isEmpty() || version > xattrsVersion) {
            xattrs = new HashMap<>();
            xattrsVersion = version;
        }
        if (version == xattrsVersion) {
            xattrs.put(key, value);
        }
    }

    /** The kernel is told of the name; false: it must not be, as nobody would take it back. */
    synchronized boolean nameInKernel(ByteBuffer key) {
        NameAt known = names.get(key);
        if (forgotten || known == null && (!complete || absent >= MOST_ABSENT)) {
            return false;
        }
        if (names.isEmpty()) {
            names = new HashMap<>();
        }
        if (known == null) {
            absent++;
        }
        names.put(
                key,
                known == null
                        ? new NameAt(Name.ABSENT, 0, true)
                        : new NameAt(known.name, known.version, true));
        return true;
    }

    synchronized boolean isForgotten() {
        return forgotten;
    }

    /**
     * The cache has let go of this: names that the kernel was told of and may still remember. It is
     * told of no more.
     */
    synchronized Iterable<byte[]> forgotten() {
        forgotten = true;
        List<byte[]> result = new ArrayList<>();
        names.forEach((key, known) -> {
            if (known.inKernel) {
                result.add(bytes(key));
            }
        });
        return result;
    }

    private static byte[] bytes(ByteBuffer key) {
        byte[] result = new byte[key.remaining()];
        key.get(key.position(), result);
        return result;
    }

    synchronized void complete(boolean value) {
        complete = value;
    }

    /** What the directory held at the version that it still has; null: not known. */
    synchronized @Nullable List<DirectoryEntry> listing() {
        boolean current = attributes != null && attributes.getVersion() == listingVersion;
        return current ? listing : null;
    }

    synchronized void listing(List<DirectoryEntry> entries, long version) {
        if (listing == null || version >= listingVersion) {
            listing = entries;
            listingVersion = version;
        }
    }

    synchronized int weight() {
        long weight =
                BASE_WEIGHT
                        + (long) NAME_WEIGHT
                                * (names.size() + (listing == null ? 0 : listing.size()))
                        + (content == null ? 0 : content.weightBytes());
        for (byte[] value : xattrs.values()) {
            weight += NAME_WEIGHT + value.length;
        }
        return (int) Math.min(weight, Integer.MAX_VALUE);
    }
}
