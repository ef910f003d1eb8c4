package org.globalfs.replica.state.model;

/** Bits of st_mode. */
public final class Mode {

    public static final int TYPE = 0170000;
    public static final int SOCKET = 0140000;
    public static final int SYMLINK = 0120000;
    public static final int REGULAR = 0100000;
    public static final int BLOCK_DEVICE = 0060000;
    public static final int DIRECTORY = 0040000;
    public static final int CHARACTER_DEVICE = 0020000;
    public static final int FIFO = 0010000;
    public static final int SET_UID = 04000;
    public static final int SET_GID = 02000;
    public static final int STICKY = 01000;
    public static final int GROUP_EXECUTE = 010;
    public static final int PERMISSIONS = 07777;

    /** What an access control list or a umask has a say in. */
    public static final int ACCESS = 0777;

    private Mode() {}

    public static int type(int mode) {
        return mode & TYPE;
    }

    public static boolean isDirectory(int mode) {
        return (mode & TYPE) == DIRECTORY;
    }

    public static boolean isRegular(int mode) {
        return (mode & TYPE) == REGULAR;
    }

    public static boolean isKnownType(int mode) {
        return switch (mode & TYPE) {
            case SOCKET, SYMLINK, REGULAR, BLOCK_DEVICE, DIRECTORY, CHARACTER_DEVICE, FIFO -> true;
            default -> false;
        };
    }

    /**
     * The mode after a write, truncation or change of owner: no set-uid; set-gid only where it
     * means locking, and only if the caller could set it again.
     */
    public static int withoutSetId(int mode, boolean maySetGid) {
        boolean keeps = maySetGid && (mode & GROUP_EXECUTE) == 0;
        return mode & ~(keeps ? SET_UID : SET_UID | SET_GID);
    }
}
