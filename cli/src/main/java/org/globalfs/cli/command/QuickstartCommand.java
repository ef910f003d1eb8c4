package org.globalfs.cli.command;

import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** A whole cluster in one process, and a mount per region. */
@Command(
        name = "quickstart",
        description = {
            "Start a cluster of 3 regions on this machine and mount it once per region.",
            "Data is kept between runs."
        },
        mixinStandardHelpOptions = true)
final class QuickstartCommand implements Callable<Integer> {
    @Mixin private UpOptions options = new UpOptions();

    @Override
    public Integer call() throws Exception {
        return options.run(false);
    }
}
