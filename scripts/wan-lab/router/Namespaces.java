import java.io.IOException;
import java.util.List;

/** The regions' network namespaces, each with a device "wan0" that leads to all others. */
final class Namespaces {
    static final String DEVICE = "wan0";

    /** Long fat pipes need windows of more than the default's 4 to 6 MiB. */
    private static final List<String> WINDOWS =
            List.of(
                    "ipv4/tcp_rmem=4096 131072 134217728",
                    "ipv4/tcp_wmem=4096 65536 134217728",
                    "ipv4/tcp_no_metrics_save=1");

    private Namespaces() {}

    static void make(String namespace) throws IOException, InterruptedException {
        Command.run("ip", "netns", "add", namespace);
        Command.run("ip", "-n", namespace, "link", "set", "lo", "up");
        set(namespace, WINDOWS);
    }

    /**
     * @param settings files under /proc/sys/net, each with its value behind a =; one that the
     *     kernel does not have is left out
     */
    static void set(String namespace, List<String> settings)
            throws IOException, InterruptedException {
        for (String setting : settings) {
            String script =
                    "file=/proc/sys/net/${1%%=*}; [ ! -e $file ] || echo \"${1#*=}\" > $file";
            Command.run("ip", "netns", "exec", namespace, "sh", "-c", script, "sh", setting);
        }
    }

    /** Gives the region's device, which is there but down, its address. */
    static void connect(String namespace, int region, int mtu)
            throws IOException, InterruptedException {
        String address = Lab.address(region) + "/24";
        Command.run("ip", "-n", namespace, "addr", "add", address, "dev", DEVICE);
        up(namespace, DEVICE, mtu);
        Command.run("ip", "-n", namespace, "route", "replace", "10.77.0.0/16", "dev", DEVICE);
    }

    static void up(String namespace, String device, int mtu)
            throws IOException, InterruptedException {
        String settings = " up mtu " + mtu + " txqueuelen 20000";
        Command.run(List.of("ip", "-n", namespace, "-batch", "-"), "link set " + device + settings);
    }
}
