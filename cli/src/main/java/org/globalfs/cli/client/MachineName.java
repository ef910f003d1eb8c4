package org.globalfs.cli.client;

import java.io.IOException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.file.Files;
import java.nio.file.Path;

/** What this machine calls itself: for people to read, it need not be an address. */
public final class MachineName {
    private static final Path LINUX = Path.of("/proc/sys/kernel/hostname");

    private MachineName() {}

    /** Never empty; on Linux without a question to a name server, which may take long. */
    public static String get() {
        try {
            String name = Files.readString(LINUX).strip();
            return name.isEmpty() ? "localhost" : name;
        } catch (IOException e) {
            return ofJava();
        }
    }

    private static String ofJava() {
        try {
            return InetAddress.getLocalHost().getHostName();
        } catch (UnknownHostException e) {
            return "localhost";
        }
    }
}
