package org.globalfs.cli.command;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.globalfs.cli.ExitCode;
import org.globalfs.cli.Failure;
import org.globalfs.client.fuse.MountTable;

/** Finds the mount of ours that a path is on. */
final class OurMount {

    private OurMount() {}

    /**
     * The mountpoint above a path.
     *
     * @throws Failure there is no such file, or it is on another file system, which may well take
     *     what only we understand
     */
    static Path of(Path path) throws Failure, IOException {
        if (!Files.exists(path)) {
            throw new Failure(ExitCode.FAILED, path + ": no such file or directory");
        }
        Path top = top(path.toRealPath());
        if (!MountTable.isOurs(top)) {
            throw new Failure(
                    ExitCode.FAILED,
                    path + " is no mount of GlobalFS, nor on one: name a path on a mount");
        }
        return top;
    }

    /** The directory furthest up that is on the same device. */
    private static Path top(Path path) throws IOException {
        Object device = Files.getAttribute(path, "unix:dev");
        Path at = path;
        for (Path up = at.getParent(); up != null; up = up.getParent()) {
            if (!device.equals(Files.getAttribute(up, "unix:dev"))) {
                break;
            }
            at = up;
        }
        return at;
    }
}
