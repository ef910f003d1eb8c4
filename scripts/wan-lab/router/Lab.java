import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * A configured WAN: its regions, the links between each two of them, and the commands that change
 * them.
 */
final class Lab {
    private static final int MOST_REGIONS = 200;
    private static final String REGION_NAME = "[a-z0-9][a-z0-9-]{0,15}";

    /** A mistake in the configuration or in a command, in words for who made it. */
    static final class Mistake extends Exception {
        private static final long serialVersionUID = 1;

        Mistake(String message) {
            super(message);
        }
    }

    final List<String> regions = new ArrayList<>();
    private final Router router;
    private final List<Link> links = new ArrayList<>();
    private int mtu = 1500;

    /**
     * Lines: {@code region NAME}, {@code mtu BYTES}, or one of the commands {@code rtt}, {@code
     * delay}, {@code bw}, {@code loss}; {@code #} begins a comment.
     */
    Lab(Path config, Router router) throws IOException, Mistake {
        this.router = router;
        List<String> lines = Files.readAllLines(config);
        List<String[]> settings = new ArrayList<>();
        List<Integer> numbers = new ArrayList<>();
        for (int i = 0; i < lines.size(); i++) {
            String[] words = words(lines.get(i));
            if (words.length == 0) {
                continue;
            }
            try {
                switch (words[0]) {
                    case "region" -> addRegion(words);
                    case "mtu" -> mtu = (int) number(words, 1, 576, 65535);
                    case "rtt", "delay", "bw", "loss" -> {
                        settings.add(words);
                        numbers.add(i + 1);
                    }
                    default -> throw new Mistake("unknown setting '" + words[0] + "'");
                }
            } catch (Mistake e) {
                throw new Mistake(config + ":" + (i + 1) + ": " + e.getMessage());
            }
        }
        if (regions.size() < 2) {
            throw new Mistake(config + ": needs at least two lines 'region NAME'");
        }
        for (int from = 0; from < regions.size(); from++) {
            for (int to = 0; to < regions.size(); to++) {
                if (from != to) {
                    String name = regions.get(from) + ">" + regions.get(to);
                    links.add(router.link(name, from, to));
                }
            }
        }
        for (int i = 0; i < settings.size(); i++) {
            try {
                command(settings.get(i));
            } catch (Mistake e) {
                throw new Mistake(config + ":" + numbers.get(i) + ": " + e.getMessage());
            }
        }
    }

    private static String[] words(String line) {
        String text = line.replaceFirst("#.*", "").strip();
        return text.isEmpty() ? new String[0] : text.split("\\s+");
    }

    private void addRegion(String[] words) throws Mistake {
        arguments(words, 1);
        Set<String> known = new HashSet<>(regions);
        if (!words[1].matches(REGION_NAME)) {
            throw new Mistake(
                    "region name '" + words[1] + "': up to 16 of a-z, 0-9 and -, not first a -");
        }
        if (!known.add(words[1])) {
            throw new Mistake("region " + words[1] + " is there twice");
        }
        if (known.size() > MOST_REGIONS) {
            throw new Mistake("more than " + MOST_REGIONS + " regions");
        }
        regions.add(words[1]);
    }

    int mtu() {
        return mtu;
    }

    /** The region's address; its network is the /24 around it. */
    static String address(int region) {
        return "10.77." + (region + 1) + ".1";
    }

    /** What a line of the control connection is answered with. */
    String answer(String line) throws InterruptedException {
        String[] words = words(line);
        try {
            if (words.length == 0) {
                throw new Mistake("no command");
            }
            switch (words[0]) {
                case "stat" -> {
                    router.count();
                    return statistics();
                }
                case "router" -> {
                    return router.name() + "\n";
                }
                default -> {
                    command(words);
                    router.apply();
                    return "ok\n";
                }
            }
        } catch (Mistake | IOException e) {
            return "error " + e.getMessage() + "\n";
        }
    }

    private void command(String[] words) throws Mistake {
        switch (words[0]) {
            case "rtt" -> {
                arguments(words, 3);
                double ms = number(words, 3, 0, 20_000) / 2;
                link(words[1], words[2]).delayMs(ms);
                link(words[2], words[1]).delayMs(ms);
            }
            case "delay" -> {
                arguments(words, 3);
                link(words[1], words[2]).delayMs(number(words, 3, 0, 10_000));
            }
            case "bw" -> {
                arguments(words, 3);
                double mbit = number(words, 3, 0, 1e6);
                link(words[1], words[2]).bandwidthMbit(mbit);
                link(words[2], words[1]).bandwidthMbit(mbit);
            }
            case "loss" -> {
                arguments(words, 3);
                double percent = number(words, 3, 0, 100);
                link(words[1], words[2]).lossPercent(percent);
                link(words[2], words[1]).lossPercent(percent);
            }
            case "cut" -> {
                arguments(words, 2);
                link(words[1], words[2]).cut(true);
                link(words[2], words[1]).cut(true);
            }
            case "cut1" -> {
                arguments(words, 2);
                link(words[1], words[2]).cut(true);
            }
            case "isolate" -> {
                arguments(words, 1);
                isolate(region(words[1]));
            }
            case "heal" -> {
                arguments(words, 0);
                links.forEach(link -> link.cut(false));
            }
            default -> throw new Mistake("unknown command '" + words[0] + "'");
        }
    }

    private void isolate(int region) {
        for (Link link : links) {
            if (link.from == region || link.to == region) {
                link.cut(true);
            }
        }
    }

    private String statistics() {
        return links.stream().map(link -> link.statistics() + "\n").collect(Collectors.joining());
    }

    private static void arguments(String[] words, int wanted) throws Mistake {
        if (words.length - 1 != wanted) {
            throw new Mistake(
                    words[0] + " takes " + wanted + " arguments, not " + (words.length - 1));
        }
    }

    private static double number(String[] words, int at, double least, double most) throws Mistake {
        try {
            double value = Double.parseDouble(words[at]);
            if (value >= least && value <= most) {
                return value;
            }
        } catch (ArrayIndexOutOfBoundsException e) {
            throw new Mistake(words[0] + " needs a number");
        } catch (NumberFormatException e) {
            throw new Mistake("'" + words[at] + "' is no number");
        }
        throw new Mistake(
                String.format(
                        Locale.ROOT, "%s is not between %.0f and %.0f", words[at], least, most));
    }

    private Link link(String from, String to) throws Mistake {
        int a = region(from);
        int b = region(to);
        if (a == b) {
            throw new Mistake("a link joins two different regions");
        }
        return links.stream()
                .filter(link -> link.from == a && link.to == b)
                .findFirst()
                .orElseThrow();
    }

    private int region(String name) throws Mistake {
        int region = regions.indexOf(name);
        if (region < 0) {
            throw new Mistake("unknown region '" + name + "', there are " + regions);
        }
        return region;
    }
}
