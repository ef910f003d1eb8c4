package org.globalfs.client.fuse;

import org.jspecify.annotations.Nullable;

/**
 * All requests of the protocol up to 7.45. Those that are not served are answered ENOSYS, which for
 * most of them tells the kernel never to ask again; what applications then see is said beside each.
 * Their names are those of the statistics, for every binding.
 */
public enum Opcode {
    LOOKUP(1),
    FORGET(2),
    GETATTR(3),
    SETATTR(4),
    READLINK(5),
    SYMLINK(6),
    MKNOD(8),
    MKDIR(9),
    UNLINK(10),
    RMDIR(11),
    RENAME(12),
    LINK(13),
    OPEN(14),
    READ(15),
    WRITE(16),
    STATFS(17),
    RELEASE(18),
    FSYNC(20),
    SETXATTR(21),
    GETXATTR(22),
    LISTXATTR(23),
    REMOVEXATTR(24),
    FLUSH(25),
    INIT(26),
    OPENDIR(27),
    READDIR(28),
    RELEASEDIR(29),
    FSYNCDIR(30),
    GETLK(31),
    /** This and SETLKW are answered by {@link LockOperations}, not by the worker. */
    SETLK(32),
    SETLKW(33),
    ACCESS(34),
    CREATE(35),
    INTERRUPT(36),
    /** Not served: FIBMAP and swap files fail. */
    BMAP(37),
    DESTROY(38),
    /** Not served: ENOTTY. */
    IOCTL(39),
    /** Not served: files are always ready. */
    POLL(40),
    /** Answer to a notification that is never sent. */
    NOTIFY_REPLY(41),
    BATCH_FORGET(42),
    FALLOCATE(43),
    READDIRPLUS(44),
    RENAME2(45),
    LSEEK(46),
    COPY_FILE_RANGE(47),
    /** Only of virtiofs. */
    SETUPMAPPING(48),
    /** Only of virtiofs. */
    REMOVEMAPPING(49),
    SYNCFS(50),
    TMPFILE(51),
    STATX(52),
    COPY_FILE_RANGE_64(53);

    private static final @Nullable Opcode[] BY_NUMBER = new Opcode[64];

    static {
        for (Opcode opcode : values()) {
            BY_NUMBER[opcode.number] = opcode;
        }
    }

    final int number;

    Opcode(int number) {
        this.number = number;
    }

    /** Whether it is in the nature of the request to take as long as other programs like. */
    public boolean waitsForOthers() {
        return this == SETLKW || this == POLL;
    }

    /** Null for a number that is not known here. */
    static @Nullable Opcode of(int number) {
        return number >= 0 && number < BY_NUMBER.length ? BY_NUMBER[number] : null;
    }
}
