package org.globalfs.protocol.posix;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.util.Arrays;
import java.util.function.BooleanSupplier;
import org.globalfs.protocol.Errno;
import org.jspecify.annotations.Nullable;

/** The name spaces of extended attributes, and who may read and change what (xattr(7)). */
public enum Xattr {
    /** For regular files and directories, under their permission bits. */
    USER("user."),
    /** For uid 0 only, whom alone they are shown to. */
    TRUSTED("trusted."),
    /** Everybody may read, uid 0 change. */
    SECURITY("security."),
    ACCESS_ACL("system.posix_acl_access"),
    DEFAULT_ACL("system.posix_acl_default");

    public static final int NAME_MAX = 255;
    public static final int VALUE_MAX = 64 << 10;

    /** Flags of setxattr(2). */
    public static final int CREATE = 1;

    public static final int REPLACE = 2;

    private static final byte[] CAPABILITY = "security.capability".getBytes(US_ASCII);
    private static final int TYPE = 0170000;
    private static final int REGULAR = 0100000;
    private static final int DIRECTORY = 0040000;
    private static final int SYMLINK = 0120000;
    private static final int STICKY = 01000;

    private final String prefix;

    Xattr(String prefix) {
        this.prefix = prefix;
    }

    /** The whole name of an access control list's attribute. */
    public byte[] fullName() {
        return prefix.getBytes(US_ASCII);
    }

    public boolean isAcl() {
        return this == ACCESS_ACL || this == DEFAULT_ACL;
    }

    /** The space that a name is in; null: none that is known. */
    public static @Nullable Xattr of(byte[] name) {
        for (Xattr space : values()) {
            boolean within =
                    space.begins(name) && (!space.isAcl() || name.length == space.prefix.length());
            if (within) {
                return space;
            }
        }
        return null;
    }

    private boolean begins(byte[] name) {
        for (int i = 0; i < prefix.length(); i++) {
            if (i == name.length || name[i] != prefix.charAt(i)) {
                return false;
            }
        }
        return true;
    }

    /** Whether it gives programs capabilities; every change of content or owner takes it away. */
    public static boolean isCapability(byte[] name) {
        return Arrays.equals(name, CAPABILITY);
    }

    public static byte[] capability() {
        return CAPABILITY.clone();
    }

    private static @Nullable Errno badName(byte[] name) {
        if (name.length == 0 || name.length > NAME_MAX) {
            return Errno.ERANGE;
        }
        Xattr space = of(name);
        if (space == null) {
            return Errno.EOPNOTSUPP;
        }
        return !space.isAcl() && name.length == space.prefix.length() ? Errno.EINVAL : null;
    }

    /** Why an attribute of an inode of this mode may not be read. */
    public static @Nullable Errno unreadable(
            byte[] name, int mode, boolean root, BooleanSupplier mayRead) {
        Errno bad = badName(name);
        if (bad != null) {
            return bad;
        }
        return switch (of(name)) {
            case USER ->
                    !holdsUsers(mode)
                            ? Errno.ENODATA
                            : mayRead.getAsBoolean() ? null : Errno.EACCES;
            case TRUSTED -> root ? null : Errno.ENODATA;
            case ACCESS_ACL, DEFAULT_ACL -> isSymlink(mode) ? Errno.EOPNOTSUPP : null;
            case null, default -> null;
        };
    }

    /**
     * Why an attribute may not be set or removed.
     *
     * @param root has all capabilities
     * @param owns is the inode's owner, or root
     */
    public static @Nullable Errno unwritable(
            byte[] name, int mode, boolean root, boolean owns, BooleanSupplier mayWrite) {
        Errno bad = badName(name);
        if (bad != null) {
            return bad;
        }
        return switch (of(name)) {
            case USER -> {
                boolean sticky = (mode & TYPE) == DIRECTORY && (mode & STICKY) != 0;
                if (!holdsUsers(mode) || sticky && !owns) {
                    yield Errno.EPERM;
                }
                yield mayWrite.getAsBoolean() ? null : Errno.EACCES;
            }
            case TRUSTED, SECURITY -> root ? null : Errno.EPERM;
            case ACCESS_ACL, DEFAULT_ACL ->
                    isSymlink(mode) ? Errno.EOPNOTSUPP : owns ? null : Errno.EPERM;
            case null -> Errno.EOPNOTSUPP;
        };
    }

    /** Whether listxattr(2) shows the name. */
    public static boolean isListed(byte[] name, boolean root) {
        return root || of(name) != TRUSTED;
    }

    private static boolean holdsUsers(int mode) {
        int type = mode & TYPE;
        return type == REGULAR || type == DIRECTORY;
    }

    private static boolean isSymlink(int mode) {
        return (mode & TYPE) == SYMLINK;
    }
}
