package org.globalfs.client.fuse;

import java.time.Duration;
import java.util.function.Consumer;

/**
 * How a file system is mounted. Start from {@link #defaults()} and change what differs.
 *
 * @param source what {@code mount} and {@code df} show as the source
 * @param readers threads that wait for requests at the same time
 * @param maxThreads threads that work on requests at the same time; further ones wait in the kernel
 * @param requestTimeout a request that takes longer is answered EIO, whatever became of it
 * @param allowOther other users than the one who mounts may use it (needs root, or {@code
 *     user_allow_other} in {@code /etc/fuse.conf})
 * @param defaultPermissions the kernel checks modes and owners. Without it, names and attributes
 *     that it caches are open to everybody and access(2) is asked of the file system
 * @param allowSetId set-id bits count when programs are run from here (root only)
 * @param allowDevices device nodes work (root only)
 * @param allowExec programs can be run from here
 * @param readOnly the kernel refuses changes
 * @param readAheadKb how far the kernel reads ahead (only root can raise it above 128)
 * @param ioSizeBytes st_blksize: how much programs that ask read or write at a time
 * @param explicitInvalidation cached content is dropped only through {@link
 *     org.globalfs.client.vfs.KernelCache} or at an open without keepCache. Then the file system
 *     must invalidate before it reports a size or content of others: the kernel's last page holds
 *     zeros behind the end that it knew, and would show them. Without this option the kernel drops
 *     everything whenever attributes come back with another size or mtime, its own user's writes
 *     included: always right, at the price of reading those again
 * @param trace log each request
 * @param slowOperation log a request that takes longer; zero: none
 * @param unmountAtExit a shutdown hook flushes and unmounts, so that SIGTERM leaves no dead
 *     mountpoint
 */
public record MountOptions(
        String source,
        int readers,
        int maxThreads,
        Duration requestTimeout,
        boolean allowOther,
        boolean defaultPermissions,
        boolean allowSetId,
        boolean allowDevices,
        boolean allowExec,
        boolean readOnly,
        int readAheadKb,
        int ioSizeBytes,
        boolean explicitInvalidation,
        boolean trace,
        Duration slowOperation,
        boolean unmountAtExit) {

    public MountOptions {
        require(
                !source.isEmpty() && source.indexOf(',') < 0,
                "source must be neither empty nor hold a comma");
        require(readers >= 1 && readers <= 64, "readers must be 1 to 64");
        require(
                maxThreads >= readers && maxThreads <= 1024,
                "maxThreads must be from readers to 1024");
        require(
                !requestTimeout.isNegative() && !requestTimeout.isZero(),
                "requestTimeout must be positive");
        require(!slowOperation.isNegative(), "slowOperation must not be negative");
        require(readAheadKb >= 0, "readAheadKb must not be negative");
        require(
                ioSizeBytes >= 4096 && Integer.bitCount(ioSizeBytes) == 1,
                "ioSizeBytes must be a power of two from 4096 on");
    }

    private static void require(boolean condition, String message) {
        if (!condition) {
            throw new IllegalArgumentException(message);
        }
    }

    public static MountOptions defaults() {
        return new MountOptions(
                "globalfs",
                4,
                64,
                Duration.ofSeconds(60),
                Libc.effectiveUid() == 0,
                true,
                false,
                false,
                true,
                false,
                1024,
                128 << 10,
                false,
                false,
                Duration.ofSeconds(1),
                true);
    }

    public MountOptions withSource(String value) {
        return with(changed -> changed.source = value);
    }

    public MountOptions withReaders(int value) {
        return with(changed -> changed.readers = value);
    }

    public MountOptions withMaxThreads(int value) {
        return with(changed -> changed.maxThreads = value);
    }

    public MountOptions withRequestTimeout(Duration value) {
        return with(changed -> changed.requestTimeout = value);
    }

    public MountOptions withAllowOther(boolean value) {
        return with(changed -> changed.allowOther = value);
    }

    public MountOptions withDefaultPermissions(boolean value) {
        return with(changed -> changed.defaultPermissions = value);
    }

    public MountOptions withAllowSetId(boolean value) {
        return with(changed -> changed.allowSetId = value);
    }

    public MountOptions withAllowDevices(boolean value) {
        return with(changed -> changed.allowDevices = value);
    }

    public MountOptions withAllowExec(boolean value) {
        return with(changed -> changed.allowExec = value);
    }

    public MountOptions withReadOnly(boolean value) {
        return with(changed -> changed.readOnly = value);
    }

    public MountOptions withReadAheadKb(int value) {
        return with(changed -> changed.readAheadKb = value);
    }

    public MountOptions withIoSizeBytes(int value) {
        return with(changed -> changed.ioSizeBytes = value);
    }

    public MountOptions withExplicitInvalidation(boolean value) {
        return with(changed -> changed.explicitInvalidation = value);
    }

    public MountOptions withTrace(boolean value) {
        return with(changed -> changed.trace = value);
    }

    public MountOptions withSlowOperation(Duration value) {
        return with(changed -> changed.slowOperation = value);
    }

    public MountOptions withUnmountAtExit(boolean value) {
        return with(changed -> changed.unmountAtExit = value);
    }

    private MountOptions with(Consumer<Changed> change) {
        Changed changed = new Changed(this);
        change.accept(changed);
        return changed.options();
    }

    /** A copy that can be changed. */
    private static final class Changed {
        private String source;
        private int readers;
        private int maxThreads;
        private Duration requestTimeout;
        private boolean allowOther;
        private boolean defaultPermissions;
        private boolean allowSetId;
        private boolean allowDevices;
        private boolean allowExec;
        private boolean readOnly;
        private int readAheadKb;
        private int ioSizeBytes;
        private boolean explicitInvalidation;
        private boolean trace;
        private Duration slowOperation;
        private boolean unmountAtExit;

        Changed(MountOptions options) {
            source = options.source;
            readers = options.readers;
            maxThreads = options.maxThreads;
            requestTimeout = options.requestTimeout;
            allowOther = options.allowOther;
            defaultPermissions = options.defaultPermissions;
            allowSetId = options.allowSetId;
            allowDevices = options.allowDevices;
            allowExec = options.allowExec;
            readOnly = options.readOnly;
            readAheadKb = options.readAheadKb;
            ioSizeBytes = options.ioSizeBytes;
            explicitInvalidation = options.explicitInvalidation;
            trace = options.trace;
            slowOperation = options.slowOperation;
            unmountAtExit = options.unmountAtExit;
        }

        MountOptions options() {
            return new MountOptions(
                    source,
                    readers,
                    maxThreads,
                    requestTimeout,
                    allowOther,
                    defaultPermissions,
                    allowSetId,
                    allowDevices,
                    allowExec,
                    readOnly,
                    readAheadKb,
                    ioSizeBytes,
                    explicitInvalidation,
                    trace,
                    slowOperation,
                    unmountAtExit);
        }
    }
}
