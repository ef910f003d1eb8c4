package org.globalfs.bench.lab;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** How command lines of Java programs begin that measurements start. */
public final class JavaCommand {
    private JavaCommand() {}

    /**
     * This JVM's program, with what GlobalFS needs everywhere, these options, and those that {@code
     * GLOBALFS_JVM_FLAGS} adds; a new list.
     */
    public static List<String> with(List<String> options) {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(
                List.of(
                        "-XX:-UsePerfData",
                        "--enable-native-access=ALL-UNNAMED",
                        "--add-modules=jdk.incubator.vector",
                        "--sun-misc-unsafe-memory-access=allow"));
        command.addAll(options);
        String more = System.getenv().getOrDefault("GLOBALFS_JVM_FLAGS", "").strip();
        if (!more.isEmpty()) {
            command.addAll(Arrays.asList(more.split(" +", -1)));
        }
        return command;
    }
}
