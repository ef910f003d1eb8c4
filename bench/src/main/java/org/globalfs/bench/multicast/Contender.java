package org.globalfs.bench.multicast;

import java.util.List;
import java.util.stream.Stream;

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

    private static final List<String> RATIS_ACCESS =
            List.of(
                    "-Xmx1g",
                    "-XX:-UsePerfData",
                    "--enable-native-access=ALL-UNNAMED",
                    "--sun-misc-unsafe-memory-access=allow");

    /** Best with many values outstanding. */
    static final Contender RATIS_THROUGHPUT =
            new Contender(
                    "ratis-throughput",
                    "Apache Ratis",
                    Stream.concat(Stream.of("-XX:+UseParallelGC"), RATIS_ACCESS.stream()).toList());

    /** Best with one value outstanding. */
    static final Contender RATIS_LATENCY =
            new Contender("ratis-latency", "Apache Ratis", RATIS_ACCESS);
}
