package org.globalfs.cli.command;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.globalfs.cli.ExitCode;
import org.globalfs.cli.client.Connection;
import org.globalfs.cli.cluster.ClusterFolder;
import org.globalfs.cli.server.ServerProcess;
import org.globalfs.client.fuse.FuseMount;
import org.globalfs.datastore.rocksdb.NativeLibrary;
import org.globalfs.protocol.Folders;
import org.globalfs.protocol.config.ClientConfig;
import org.globalfs.protocol.config.ServerConfig;
import picocli.CommandLine.Command;

/**
 * Runs a cluster and a mount for a moment and throws them away: what the Java machine loads
 * meanwhile goes into the archive that later starts are fast by. RocksDB's library is unpacked for
 * them, too.
 */
@Command(name = "warm-up", hidden = true, mixinStandardHelpOptions = true)
final class WarmUpCommand implements Callable<Integer> {
    @Override
    public Integer call() throws Exception {
        NativeLibrary.keep();
        Path data = Files.createTempDirectory("globalfs-warm-up");
        try {
            ClusterFolder folder = ClusterFolder.openOrCreate(data, 0);
            List<ServerConfig> servers = new ArrayList<>();
            for (String name : folder.servers()) {
                servers.add(ServerConfig.read(folder.config(name)));
            }
            ClientConfig client =
                    ClientConfig.read(folder.config("mount-" + folder.regions().getFirst()));
            ServerProcess process = ServerProcess.start(servers, WarmUpCommand::fatal);
            try {
                use(client, Files.createDirectories(data.resolve("mnt/warm-up")));
            } finally {
                process.close();
            }
        } finally {
            Folders.delete(data);
        }
        return ExitCode.OK;
    }

    private static void use(ClientConfig client, Path mountpoint) throws Exception {
        try (Connection connection = Connection.open(client)) {
            connection.client().paths(0, 0).list("/");
            try (FuseMount mount =
                    FuseMount.mount(
                            connection.client().fileSystem(),
                            mountpoint,
                            MountFlags.of(client, List.of(), false).options())) {
                System.out.println("mounted " + mount.mountpoint());
            } catch (IOException e) {
                // A machine that cannot mount gains from the rest all the same.
                System.out.println("not mounted: " + e.getMessage());
            }
        }
    }

    private static void fatal(Throwable cause) {
        cause.printStackTrace(System.err);
        Runtime.getRuntime().halt(ExitCode.FAILED);
    }
}
