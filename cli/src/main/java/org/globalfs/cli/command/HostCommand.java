package org.globalfs.cli.command;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.globalfs.cli.cluster.ClusterFolder;
import org.globalfs.protocol.config.ServerConfig;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** All servers of a local cluster in this process: what quickstart starts. */
@Command(name = "host", hidden = true, mixinStandardHelpOptions = true)
final class HostCommand implements Callable<Integer> {
    @Mixin private DataOption data = new DataOption();
    @Mixin private RunFileOption runFile = new RunFileOption();

    @Override
    public Integer call() throws Exception {
        ClusterFolder folder = data.open();
        List<ServerConfig> configs = new ArrayList<>();
        for (String name : folder.servers()) {
            configs.add(ServerConfig.read(folder.config(name)));
        }
        return Serving.run(configs, runFile, false);
    }
}
