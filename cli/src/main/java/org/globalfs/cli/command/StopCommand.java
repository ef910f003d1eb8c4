package org.globalfs.cli.command;

import java.util.concurrent.Callable;
import org.globalfs.cli.ExitCode;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** Ends a local cluster. */
@Command(
        name = "stop",
        description = "Unmount and end a local cluster; its data stays.",
        mixinStandardHelpOptions = true)
final class StopCommand implements Callable<Integer> {
    @Mixin private DataOption data = new DataOption();

    @Override
    public Integer call() throws Exception {
        int count = data.cluster().stop();
        System.out.println(count == 0 ? "nothing was running" : "stopped " + count + " processes");
        return ExitCode.OK;
    }
}
