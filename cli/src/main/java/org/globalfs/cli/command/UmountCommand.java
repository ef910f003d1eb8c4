package org.globalfs.cli.command;

import java.nio.file.Path;
import java.util.concurrent.Callable;
import org.globalfs.cli.ExitCode;
import org.globalfs.cli.Failure;
import org.globalfs.cli.cluster.Mounts;
import org.globalfs.client.fuse.MountTable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Takes a mount away. */
@Command(name = "umount", description = "Unmount.", mixinStandardHelpOptions = true)
final class UmountCommand implements Callable<Integer> {
    @Option(
            names = "--lazy",
            description = "Detach now, even while files are open or the mount's process is gone.")
    private boolean lazy;

    @Option(
            names = "--force",
            description =
                    "End the connection first: whoever waits in the mount gets an error, what was not made durable is lost.")
    private boolean force;

    @Parameters(paramLabel = "MOUNTPOINT", description = "Where it is mounted.")
    private Path mountpoint = Path.of("");

    @Override
    public Integer call() throws Exception {
        MountTable.Mount mount = MountTable.named(mountpoint);
        if (mount == null) {
            throw new Failure(ExitCode.FAILED, mountpoint + " is not mounted");
        }
        if (!MountTable.isOurs(mount)) {
            throw new Failure(
                    ExitCode.FAILED,
                    mountpoint
                            + " is a mount of type "
                            + mount.type()
                            + ", none of GlobalFS: umount(8) takes it away");
        }
        boolean unmounted = force ? Mounts.force(mountpoint) : Mounts.unmount(mountpoint, lazy);
        if (!unmounted) {
            throw new Failure(
                    ExitCode.FAILED,
                    mountpoint
                            + " cannot be unmounted: files in it are open (try --lazy), or it is another user's");
        }
        return ExitCode.OK;
    }
}
