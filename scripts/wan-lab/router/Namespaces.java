import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** The regions' network namespaces, with a TUN device "wan0" each whose other end is the router. */
final class Namespaces {
    /** Long fat pipes need windows of more than the default's 4 to 6 MiB. */
    private static final List<String> WINDOWS =
            List.of(
                    "tcp_rmem '4096 131072 134217728'",
                    "tcp_wmem '4096 65536 134217728'",
                    "tcp_no_metrics_save 1");

    private Namespaces() {}

    /**
     * @return the descriptor through which the region's packets come and go
     */
    static int join(String namespace, int region, int mtu)
            throws IOException, InterruptedException {
        // The device is made here and moved: a name that no other lab's router uses meanwhile.
        String device = "w" + region + "x" + Long.toString(ProcessHandle.current().pid(), 36);
        int tun = Kernel.openTun(device);
        run("ip", "netns", "add", namespace);
        run("ip", "link", "set", device, "netns", namespace, "name", "wan0");
        run("ip", "-n", namespace, "addr", "add", Lab.address(region) + "/24", "dev", "wan0");
        run(
                "ip",
                "-n",
                namespace,
                "link",
                "set",
                "wan0",
                "up",
                "mtu",
                "" + mtu,
                "txqueuelen",
                "20000");
        run("ip", "-n", namespace, "link", "set", "lo", "up");
        run("ip", "-n", namespace, "route", "replace", "10.77.0.0/16", "dev", "wan0");
        for (String setting : WINDOWS) {
            run(
                    "ip",
                    "netns",
                    "exec",
                    namespace,
                    "sh",
                    "-c",
                    "set -- " + setting + "; echo \"$2\" > /proc/sys/net/ipv4/$1");
        }
        return tun;
    }

    private static void run(String... command) throws IOException, InterruptedException {
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        if (process.waitFor() != 0) {
            throw new IOException(String.join(" ", command) + ": " + output.strip());
        }
    }
}
