import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A WAN of the kernel's: another namespace, the hub, has a veth device to each region, forwards
 * packets between them, and has a queue with a netem a link at the device to the destination.
 */
final class Netem implements Router {
    /** No region's name is in upper case. */
    private static final String HUB = "HUB";

    private static final String SCRATCH = "TRY";

    /** Of both ends of all veth pairs, so that no address needs to be asked for. */
    private static final String MAC = "02:00:0a:4d:00:01";

    private static final List<String> FORWARDING =
            List.of(
                    "ipv4/ip_forward=1",
                    "ipv4/conf/all/rp_filter=0",
                    "ipv4/conf/default/rp_filter=0",
                    "ipv4/conf/all/send_redirects=0",
                    "ipv4/conf/default/send_redirects=0",
                    "ipv6/conf/all/disable_ipv6=1",
                    "ipv6/conf/default/disable_ipv6=1");

    private static final Pattern CLASS =
            Pattern.compile(
                    "class htb (1:\\w+) .*\\n *Sent (\\d+) bytes (\\d+) pkt \\(dropped (\\d+)");
    private static final Pattern POLICED =
            Pattern.compile("classid (1:\\w+)|Sent \\d+ bytes \\d+ pkts? \\(dropped (\\d+)");

    private final String prefix;
    private final List<NetemLink> links = new ArrayList<>();
    private int regions;

    Netem(String prefix) {
        this.prefix = prefix;
    }

    /** Tries all that this needs in a namespace of its own: why it cannot be had, if so. */
    static Optional<String> missing(String prefix) throws InterruptedException {
        String scratch = prefix + SCRATCH;
        try {
            Command.run("ip", "netns", "add", scratch);
            try {
                tryIn(scratch);
            } finally {
                Command.run("ip", "netns", "del", scratch);
            }
            return Optional.empty();
        } catch (IOException e) {
            return Optional.of(e.getMessage());
        }
    }

    private static void tryIn(String scratch) throws IOException, InterruptedException {
        ip(
                "link add %s netns %s type veth peer name %s netns %s"
                        .formatted(NetemLink.device(0), scratch, NetemLink.device(1), scratch));
        NetemLink link = new NetemLink("a>b", 0, 1);
        link.delayMs(1);
        link.bandwidthMbit(1);
        link.lossPercent(1);
        tc(scratch, NetemLink.root(1) + String.join("\n", link.changes()));
    }

    @Override
    public String name() {
        return "netem";
    }

    @Override
    public Link link(String name, int from, int to) {
        NetemLink link = new NetemLink(name, from, to);
        links.add(link);
        return link;
    }

    @Override
    public void start(Lab lab) throws IOException, InterruptedException {
        regions = lab.regions.size();
        Command.run("ip", "netns", "add", prefix + HUB);
        Namespaces.set(prefix + HUB, FORWARDING);
        Command.run("ip", "-n", prefix + HUB, "route", "add", "blackhole", "default");
        for (int region = 0; region < regions; region++) {
            join(prefix + lab.regions.get(region), region, lab.mtu());
        }
        apply();
        new Probes(links).start(lab, prefix);
    }

    private void join(String namespace, int region, int mtu)
            throws IOException, InterruptedException {
        String device = NetemLink.device(region);
        String hub = prefix + HUB;
        Namespaces.make(namespace);
        ip(
                "link add %s netns %s address %s type veth peer name %s netns %s address %s"
                        .formatted(Namespaces.DEVICE, namespace, MAC, device, hub, MAC));
        Command.run("ip", "-n", namespace, "link", "set", Namespaces.DEVICE, "arp", "off");
        Command.run("ip", "-n", hub, "link", "set", device, "arp", "off");
        tc(hub, NetemLink.root(region));
        Namespaces.up(hub, device, mtu);
        Namespaces.connect(namespace, region, mtu);
        String network = Lab.address(region).replaceFirst("1$", "0/24");
        Command.run("ip", "-n", hub, "route", "add", network, "dev", device);
    }

    @Override
    public void apply() throws IOException, InterruptedException {
        StringBuilder lines = new StringBuilder();
        for (NetemLink link : links) {
            link.changes().forEach(line -> lines.append(line).append('\n'));
        }
        if (lines.isEmpty()) {
            return;
        }
        try {
            tc(prefix + HUB, lines.toString());
        } catch (IOException e) {
            links.forEach(NetemLink::forget);
            throw e;
        }
    }

    @Override
    public void count() throws IOException, InterruptedException {
        for (int region = 0; region < regions; region++) {
            Map<String, Link.Passed> classes = counts(region);
            for (NetemLink link : links) {
                if (link.to == region) {
                    Link.Passed passed = classes.get(link.classId());
                    if (passed == null) {
                        throw new IOException("tc shows no class of link " + link.name);
                    }
                    link.passed(passed);
                }
            }
        }
    }

    /** By class, what passed on the way to a region. */
    private Map<String, Link.Passed> counts(int region) throws IOException, InterruptedException {
        String device = NetemLink.device(region);
        Map<String, Long> policed = new HashMap<>();
        String current = "";
        Matcher filters = POLICED.matcher(tcShow("filter", device));
        while (filters.find()) {
            if (filters.group(1) != null) {
                current = filters.group(1);
            } else {
                policed.merge(current, Long.parseLong(filters.group(2)), Long::sum);
            }
        }
        Map<String, Link.Passed> counts = new HashMap<>();
        Matcher classes = CLASS.matcher(tcShow("class", device));
        while (classes.find()) {
            long drops =
                    Long.parseLong(classes.group(4)) + policed.getOrDefault(classes.group(1), 0L);
            long bytes = Long.parseLong(classes.group(2));
            long packets = Long.parseLong(classes.group(3));
            counts.put(classes.group(1), new Link.Passed(packets, bytes, drops));
        }
        return counts;
    }

    private String tcShow(String what, String device) throws IOException, InterruptedException {
        return Command.run("tc", "-n", prefix + HUB, "-s", what, "show", "dev", device);
    }

    private static void tc(String namespace, String lines)
            throws IOException, InterruptedException {
        Command.run(List.of("tc", "-n", namespace, "-batch", "-"), lines + "\n");
    }

    private static void ip(String line) throws IOException, InterruptedException {
        Command.run(List.of("ip", "-batch", "-"), line + "\n");
    }
}
