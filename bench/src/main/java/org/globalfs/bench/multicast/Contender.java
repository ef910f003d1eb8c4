package org.globalfs.bench.multicast;

import java.util.List;
import java.util.Locale;
import org.globalfs.bench.lab.JavaCommand;
import org.globalfs.protocol.Dissemination;

/**
 * A system with the settings that suit a measurement best.
 *
 * @param system what the member is told to run
 * @param title of its column
 * @param dissemination how its values spread (GlobalFS only)
 * @param jvmFlags for its members, beside those of {@link JavaCommand}
 */
record Contender(String system, String title, Dissemination dissemination, List<String> jvmFlags) {
    /** As {@code globalfs server} runs. */
    static final Contender GLOBALFS =
            new Contender(
                    "globalfs",
                    "GlobalFS",
                    Dissemination.STAR,
                    List.of("-XX:+UseSerialGC", "-Xmx1g"));

    boolean isOurs() {
        return system.equals(GLOBALFS.system());
    }

    static Contender spreading(Dissemination dissemination) {
        return new Contender(
                GLOBALFS.system(),
                dissemination.name().toLowerCase(Locale.ROOT),
                dissemination,
                GLOBALFS.jvmFlags());
    }

    /** Best with many values outstanding. */
    static final Contender RATIS_THROUGHPUT =
            new Contender(
                    "ratis-throughput",
                    "Apache Ratis",
                    Dissemination.STAR,
                    List.of("-XX:+UseParallelGC", "-Xmx1g"));

    /** Best with one value outstanding. */
    static final Contender RATIS_LATENCY =
            new Contender("ratis-latency", "Apache Ratis", Dissemination.STAR, List.of("-Xmx1g"));
}
