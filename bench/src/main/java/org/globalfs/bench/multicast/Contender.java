package org.globalfs.bench.multicast;

import java.util.List;

/**
 * A system with the settings that suit a measurement best.
 *
 * @param system what the member is told to run
 * @param title of its column
 * @param jvmFlags for its members
 */
record Contender(String system, String title, List<String> jvmFlags) {
    /** As {@code globalfs server} runs. */
    static final Contender GLOBALFS =
            new Contender(
                    "globalfs",
                    "GlobalFS",
                    List.of(
                            "-XX:+UseSerialGC",
                            "-Xmx1g",
                            "-XX:-UsePerfData",
                            "--enable-native-access=ALL-UNNAMED",
                            "--sun-misc-unsafe-memory-access=allow"));
}
