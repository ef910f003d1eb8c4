package org.globalfs.cli.command;

import java.io.IOException;
import java.nio.file.Path;
import org.globalfs.cli.ExitCode;
import org.globalfs.cli.Failure;
import org.globalfs.client.fuse.FuseMount;
import org.globalfs.client.fuse.Mount;
import org.globalfs.client.fuse.MountOptions;
import org.globalfs.client.jnr.JnrMount;
import org.globalfs.client.vfs.FileSystem;

/** What stands between the kernel and the file system; docs/fuse.md says what each can. */
enum Binding {
    /** The kernel's protocol, spoken by us. */
    DIRECT,
    /** libfuse 2 through jnr-fuse. */
    JNR;

    static Binding of(String name) throws Failure {
        return switch (name) {
            case "direct" -> DIRECT;
            case "jnr" -> JNR;
            default ->
                    throw new Failure(
                            ExitCode.USAGE,
                            "binding '" + name + "' is unknown: there are direct and jnr");
        };
    }

    /** Finds out early whether {@link #mount} could. */
    void check(Path mountpoint) throws IOException {
        switch (this) {
            case DIRECT -> FuseMount.check(mountpoint);
            case JNR -> JnrMount.check(mountpoint);
        }
    }

    Mount mount(FileSystem fileSystem, Path mountpoint, MountOptions options) throws IOException {
        return switch (this) {
            case DIRECT -> FuseMount.mount(fileSystem, mountpoint, options);
            case JNR -> JnrMount.mount(fileSystem, mountpoint, options);
        };
    }
}
