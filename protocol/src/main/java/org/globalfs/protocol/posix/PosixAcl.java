package org.globalfs.protocol.posix;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.function.IntPredicate;
import org.globalfs.protocol.Errno;
import org.jspecify.annotations.Nullable;

/**
 * A POSIX access control list in the form of Linux's extended attributes ({@code
 * linux/posix_acl_xattr.h}): a version, then entries of tag, permissions and id, little-endian. The
 * algorithms are those of the kernel's {@code fs/posix_acl.c}, so that both come to the same
 * verdict.
 */
public final class PosixAcl {

    public static final int USER_OBJ = 0x01;
    public static final int USER = 0x02;
    public static final int GROUP_OBJ = 0x04;
    public static final int GROUP = 0x08;
    public static final int MASK = 0x10;
    public static final int OTHER = 0x20;

    private static final int VERSION = 2;
    private static final int HEADER_BYTES = 4;
    private static final int ENTRY_BYTES = 8;
    private static final int RWX = 7;
    private static final int NO_ENTRY = -1;

    private final ByteBuffer bytes;

    private PosixAcl(byte[] blob) {
        bytes = ByteBuffer.wrap(blob).order(ByteOrder.LITTLE_ENDIAN);
    }

    /** One that {@link #malformed} does not refuse. */
    public static PosixAcl of(byte[] blob) {
        return new PosixAcl(blob);
    }

    /** Why these bytes are no list; null when they are. One without entries is fine. */
    public static @Nullable Errno malformed(byte[] blob) {
        if (blob.length < HEADER_BYTES || (blob.length - HEADER_BYTES) % ENTRY_BYTES != 0) {
            return Errno.EINVAL;
        }
        PosixAcl acl = new PosixAcl(blob);
        if (acl.bytes.getInt(0) != VERSION) {
            return Errno.EOPNOTSUPP;
        }
        return acl.isEmpty() || acl.isOrdered() ? null : Errno.EINVAL;
    }

    /** The owner, named users, the group, named groups, the mask, the others: in this order. */
    private boolean isOrdered() {
        int state = USER_OBJ;
        boolean needsMask = false;
        for (int i = 0; i < count(); i++) {
            if ((permissions(i) & ~RWX) != 0) {
                return false;
            }
            switch (tag(i)) {
                case USER_OBJ -> state = state == USER_OBJ ? USER : NO_ENTRY;
                case USER -> {
                    state = state == USER ? USER : NO_ENTRY;
                    needsMask = true;
                }
                case GROUP_OBJ -> state = state == USER ? GROUP : NO_ENTRY;
                case GROUP -> {
                    state = state == GROUP ? GROUP : NO_ENTRY;
                    needsMask = true;
                }
                case MASK -> state = state == GROUP ? OTHER : NO_ENTRY;
                case OTHER -> state = state == OTHER || state == GROUP && !needsMask ? 0 : NO_ENTRY;
                default -> state = NO_ENTRY;
            }
            if (state == NO_ENTRY) {
                return false;
            }
        }
        return state == 0;
    }

    private int count() {
        return (bytes.capacity() - HEADER_BYTES) / ENTRY_BYTES;
    }

    private int tag(int entry) {
        return bytes.getShort(HEADER_BYTES + entry * ENTRY_BYTES);
    }

    private int permissions(int entry) {
        return bytes.getShort(HEADER_BYTES + entry * ENTRY_BYTES + 2) & 0xffff;
    }

    private int id(int entry) {
        return bytes.getInt(HEADER_BYTES + entry * ENTRY_BYTES + 4);
    }

    private void permissions(int entry, int value) {
        bytes.putShort(HEADER_BYTES + entry * ENTRY_BYTES + 2, (short) value);
    }

    public boolean isEmpty() {
        return count() == 0;
    }

    public byte[] toBytes() {
        return bytes.array().clone();
    }

    /** Whether it says no more than a mode could. */
    public boolean isMode() {
        for (int i = 0; i < count(); i++) {
            if ((tag(i) & (USER | GROUP | MASK)) != 0) {
                return false;
            }
        }
        return true;
    }

    /** The nine permission bits that stat(2) shows with it: the mask in place of the group's. */
    public int mode() {
        int mode = 0;
        for (int i = 0; i < count(); i++) {
            switch (tag(i)) {
                case USER_OBJ -> mode |= permissions(i) << 6;
                case GROUP_OBJ -> mode |= permissions(i) << 3;
                case MASK -> mode = mode & ~070 | permissions(i) << 3;
                case OTHER -> mode |= permissions(i);
                default -> {}
            }
        }
        return mode;
    }

    /** Whether it grants all that is wanted (4 read, 2 write, 1 execute). */
    public boolean grants(int uid, IntPredicate inGroup, int owner, int group, int wanted) {
        boolean memberOfSome = false;
        for (int i = 0; i < count(); i++) {
            boolean enough = (permissions(i) & wanted) == wanted;
            switch (tag(i)) {
                case USER_OBJ -> {
                    if (uid == owner) {
                        return enough;
                    }
                }
                case USER -> {
                    if (uid == id(i)) {
                        return enough && unmasked(i, wanted);
                    }
                }
                case GROUP_OBJ, GROUP -> {
                    if (inGroup.test(tag(i) == GROUP ? id(i) : group)) {
                        memberOfSome = true;
                        if (enough) {
                            return unmasked(i, wanted);
                        }
                    }
                }
                case OTHER -> {
                    return !memberOfSome && enough;
                }
                default -> {}
            }
        }
        return false;
    }

    private boolean unmasked(int from, int wanted) {
        for (int i = from + 1; i < count(); i++) {
            if (tag(i) == MASK) {
                return (permissions(i) & wanted) == wanted;
            }
        }
        return true;
    }

    /** As chmod(2) leaves it: the bits of the group's class go to the mask when there is one. */
    public PosixAcl withMode(int mode) {
        PosixAcl changed = new PosixAcl(toBytes());
        int groupClass = NO_ENTRY;
        for (int i = 0; i < changed.count(); i++) {
            switch (changed.tag(i)) {
                case USER_OBJ -> changed.permissions(i, mode >> 6 & RWX);
                case GROUP_OBJ -> groupClass = groupClass == NO_ENTRY ? i : groupClass;
                case MASK -> groupClass = i;
                case OTHER -> changed.permissions(i, mode & RWX);
                default -> {}
            }
        }
        if (groupClass != NO_ENTRY) {
            changed.permissions(groupClass, mode >> 3 & RWX);
        }
        return changed;
    }

    /**
     * What a new inode gets from this, its directory's default list: {@code mode} (asked for, no
     * umask applied) takes away what it does not hold; {@link #mode} then tells the inode's.
     */
    public PosixAcl inherited(int mode) {
        PosixAcl made = new PosixAcl(toBytes());
        int groupClass = NO_ENTRY;
        for (int i = 0; i < made.count(); i++) {
            switch (made.tag(i)) {
                case USER_OBJ -> made.permissions(i, made.permissions(i) & mode >> 6);
                case GROUP_OBJ -> groupClass = groupClass == NO_ENTRY ? i : groupClass;
                case MASK -> groupClass = i;
                case OTHER -> made.permissions(i, made.permissions(i) & mode);
                default -> {}
            }
        }
        if (groupClass != NO_ENTRY) {
            made.permissions(groupClass, made.permissions(groupClass) & mode >> 3);
        }
        return made;
    }
}
