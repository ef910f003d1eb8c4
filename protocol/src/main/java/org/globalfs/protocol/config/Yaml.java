package org.globalfs.protocol.config;

import java.io.IOException;
import java.io.StringReader;
import java.net.InetAddress;
import java.nio.charset.CharacterCodingException;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.globalfs.protocol.HostPort;
import org.jspecify.annotations.Nullable;
import org.snakeyaml.engine.v2.api.LoadSettings;
import org.snakeyaml.engine.v2.api.lowlevel.Compose;
import org.snakeyaml.engine.v2.api.lowlevel.Parse;
import org.snakeyaml.engine.v2.events.CollectionEndEvent;
import org.snakeyaml.engine.v2.events.CollectionStartEvent;
import org.snakeyaml.engine.v2.events.Event;
import org.snakeyaml.engine.v2.exceptions.Mark;
import org.snakeyaml.engine.v2.exceptions.MarkedYamlEngineException;
import org.snakeyaml.engine.v2.exceptions.YamlEngineException;
import org.snakeyaml.engine.v2.nodes.MappingNode;
import org.snakeyaml.engine.v2.nodes.Node;
import org.snakeyaml.engine.v2.nodes.NodeTuple;
import org.snakeyaml.engine.v2.nodes.ScalarNode;
import org.snakeyaml.engine.v2.nodes.SequenceNode;
import org.snakeyaml.engine.v2.nodes.Tag;

/**
 * One mapping of a YAML file, read key by key; {@link #finish} refuses the keys that nobody asked
 * for, so a misspelt one is never silently ignored.
 */
public final class Yaml {
    private static final Pattern QUANTITY = Pattern.compile("([0-9]{1,15}) ?([A-Za-z]*)");
    private static final Pattern DECIMAL = Pattern.compile("[0-9]{1,9}(\\.[0-9]{1,9})?");
    private static final Map<String, Long> SIZES =
            Map.of(
                    "", 1L, "B", 1L, "KiB", 1L << 10, "MiB", 1L << 20, "GiB", 1L << 30, "TiB",
                    1L << 40);
    private static final Map<String, Long> DURATIONS_MS =
            Map.of("ms", 1L, "s", 1_000L, "min", 60_000L, "h", 3_600_000L);
    private static final long HOUR_MS = 3_600_000;
    private static final int MOST_LEVELS = 100;

    /** Far below the 292 years of nanoseconds that a long holds. */
    private static final long LONGEST_MS = 876_000 * HOUR_MS;

    private final String source;
    private final String path;
    private final int line;
    private final Map<String, Node> unread = new LinkedHashMap<>();
    private final Map<String, Integer> lines = new HashMap<>();
    private final List<String> known = new ArrayList<>();

    private Yaml(String source, String path, MappingNode node) throws ConfigException {
        this.source = source;
        this.path = path;
        this.line = line(node);
        for (NodeTuple tuple : node.getValue()) {
            if (!(tuple.getKeyNode() instanceof ScalarNode key)) {
                throw error(line(tuple.getKeyNode()), path, "a key must be a plain word");
            }
            if (unread.put(key.getValue(), tuple.getValueNode()) != null) {
                throw error(line(key), at(key.getValue()), "is given twice: keep one");
            }
            lines.put(key.getValue(), line(key));
        }
    }

    public static Yaml read(Path file) throws ConfigException {
        if (Files.isDirectory(file)) {
            throw new ConfigException(
                    (file.toString().isEmpty() ? "''" : file)
                            + ": is a folder, not a file: give the path of a YAML file");
        }
        String text;
        try {
            text = Files.readString(file);
        } catch (NoSuchFileException e) {
            throw new ConfigException(file + ": no such file: give the path of a YAML file", e);
        } catch (AccessDeniedException e) {
            throw new ConfigException(file + ": permission denied: let this user read the file", e);
        } catch (CharacterCodingException e) {
            throw new ConfigException(file + ": is not UTF-8 text: save it as UTF-8", e);
        } catch (IOException e) {
            throw new ConfigException(file + ": cannot be read: " + e.getMessage(), e);
        }
        return parse(file.toString(), text);
    }

    /** Reads text; the source's name is what errors show. */
    public static Yaml parse(String source, String text) throws ConfigException {
        LoadSettings settings =
                LoadSettings.builder().setAllowDuplicateKeys(false).setLabel(source).build();
        try {
            checkDepth(source, settings, text);
            Node root = new Compose(settings).composeReader(new StringReader(text)).orElse(null);
            if (!(root instanceof MappingNode mapping)) {
                throw new ConfigException(source + ": must be a mapping of keys to values");
            }
            return new Yaml(source, "", mapping);
        } catch (MarkedYamlEngineException e) {
            int line = e.getProblemMark().map(Mark::getLine).orElse(0) + 1;
            throw new ConfigException(
                    source + ":" + line + ": not valid YAML: " + oneLine(e.getProblem()), e);
        } catch (YamlEngineException e) {
            throw new ConfigException(
                    source + ": not valid YAML: " + oneLine(String.valueOf(e.getMessage())), e);
        }
    }

    /** What composes the nodes calls itself for each level, and texts come from anybody. */
    private static void checkDepth(String source, LoadSettings settings, String text)
            throws ConfigException {
        int depth = 0;
        for (Event event : new Parse(settings).parseString(text)) {
            if (event instanceof CollectionStartEvent && ++depth > MOST_LEVELS) {
                int line = event.getStartMark().map(Mark::getLine).orElse(0) + 1;
                throw new ConfigException(
                        source
                                + ":"
                                + line
                                + ": more than "
                                + MOST_LEVELS
                                + " levels in each other: nothing here has so many");
            } else if (event instanceof CollectionEndEvent) {
                depth--;
            }
        }
    }

    private static String oneLine(String text) {
        return text.strip().replaceAll("\\s*\\R\\s*", ", ");
    }

    public boolean has(String key) {
        known.add(key);
        return unread.containsKey(key);
    }

    public String text(String key) throws ConfigException {
        return scalar(key, required(key)).getValue();
    }

    public Optional<String> optionalText(String key) throws ConfigException {
        return has(key) ? Optional.of(text(key)) : Optional.empty();
    }

    /** A path; a relative one is relative to the file's folder. */
    public Path file(String key) throws ConfigException {
        Path folder = Path.of(source).toAbsolutePath().getParent();
        Node node = required(key);
        String text = scalar(key, node).getValue();
        try {
            Path given = Path.of(text);
            return (folder == null ? given : folder.resolve(given)).normalize();
        } catch (InvalidPathException e) {
            throw error(line(node), at(key), "is not a path: " + e.getReason());
        }
    }

    public long integer(String key, long min, long max) throws ConfigException {
        Node node = required(key);
        String text = scalar(key, node).getValue();
        try {
            long value = Long.parseLong(text.replace("_", ""));
            if (value >= min && value <= max) {
                return value;
            }
        } catch (NumberFormatException e) {
            throw error(line(node), at(key), "'" + text + "' is not a whole number");
        }
        throw error(line(node), at(key), text + " is not between " + min + " and " + max);
    }

    public long integer(String key, long min, long max, long otherwise) throws ConfigException {
        return has(key) ? integer(key, min, max) : otherwise;
    }

    /** A decimal number such as {@code 1.5}. */
    public double decimal(String key, double min, double max, double otherwise)
            throws ConfigException {
        if (!has(key)) {
            return otherwise;
        }
        Node node = required(key);
        String text = scalar(key, node).getValue();
        if (!DECIMAL.matcher(text).matches()) {
            throw error(line(node), at(key), "'" + text + "' is not a number such as 1.5");
        }
        double value = Double.parseDouble(text);
        if (value >= min && value <= max) {
            return value;
        }
        throw error(line(node), at(key), text + " is not between " + min + " and " + max);
    }

    public int port(String key) throws ConfigException {
        return (int) integer(key, 1, 65_535);
    }

    public boolean flag(String key, boolean otherwise) throws ConfigException {
        if (!has(key)) {
            return otherwise;
        }
        Node node = required(key);
        return switch (scalar(key, node).getValue()) {
            case "true" -> true;
            case "false" -> false;
            case String text ->
                    throw error(line(node), at(key), "'" + text + "' is neither true nor false");
        };
    }

    /** A number of bytes such as {@code 256MiB}. */
    public long sizeBytes(String key, long otherwise) throws ConfigException {
        return has(key) ? quantity(key, SIZES, "a size such as 64KiB, 256MiB or 2GiB") : otherwise;
    }

    /** A duration such as {@code 30s}, in milliseconds. */
    public long durationMs(String key, long otherwise) throws ConfigException {
        if (!has(key)) {
            return otherwise;
        }
        long ms = quantity(key, DURATIONS_MS, "a duration such as 500ms, 30s, 5min or 1h");
        if (ms > LONGEST_MS) {
            throw error(key, "is more than " + LONGEST_MS / HOUR_MS + "h, 100 years: give less");
        }
        return ms;
    }

    /** The same between bounds, of whole seconds and whole hours. */
    public long durationMs(String key, long leastMs, long mostMs, long otherwise)
            throws ConfigException {
        long ms = durationMs(key, otherwise);
        if (ms < leastMs || ms > mostMs) {
            throw error(
                    key, "is not between " + leastMs / 1000 + "s and " + mostMs / HOUR_MS + "h");
        }
        return ms;
    }

    /** A host's name or address, without a port; an IPv6 address may be in brackets. */
    public Optional<String> host(String key) throws ConfigException {
        Optional<String> text = optionalText(key);
        if (text.isEmpty()) {
            return text;
        }
        try {
            String host = new HostPort(text.get(), 0).host();
            if (host.indexOf(':') >= 0) {
                InetAddress.ofLiteral(host);
            }
            return Optional.of(host);
        } catch (IllegalArgumentException e) {
            throw error(key, "'" + text.get() + "' is no host: write its name or address alone");
        }
    }

    /** Where others reach something. */
    public HostPort address(String key) throws ConfigException {
        Node node = required(key);
        HostPort address;
        try {
            address = HostPort.parse(scalar(key, node).getValue());
        } catch (IllegalArgumentException e) {
            throw error(line(node), at(key), e.getMessage() + ": write HOST:PORT");
        }
        if (address.port() == 0 || HostPort.isWildcard(address.host())) {
            throw error(
                    line(node),
                    at(key),
                    "others cannot reach " + address + ": give the host's address, and its port");
        }
        return address;
    }

    public <E extends Enum<E>> E choice(String key, Class<E> type, E otherwise)
            throws ConfigException {
        if (!has(key)) {
            return otherwise;
        }
        Node node = required(key);
        String text = scalar(key, node).getValue();
        List<String> names = new ArrayList<>();
        for (E constant : type.getEnumConstants()) {
            String name = constant.name().toLowerCase(Locale.ROOT);
            if (name.equals(text)) {
                return constant;
            }
            names.add(name);
        }
        throw error(
                line(node), at(key), "'" + text + "' is not one of " + String.join(", ", names));
    }

    public Yaml mapping(String key) throws ConfigException {
        return mapping(at(key), required(key));
    }

    public Optional<Yaml> optionalMapping(String key) throws ConfigException {
        return has(key) ? Optional.of(mapping(key)) : Optional.empty();
    }

    /** A list of mappings. */
    public List<Yaml> list(String key) throws ConfigException {
        Node node = required(key);
        if (!(node instanceof SequenceNode sequence)) {
            throw error(line(node), at(key), "must be a list (lines that begin with '- ')");
        }
        List<Yaml> items = new ArrayList<>();
        for (Node item : sequence.getValue()) {
            items.add(mapping(at(key) + "[" + items.size() + "]", item));
        }
        return items;
    }

    public List<Yaml> optionalList(String key) throws ConfigException {
        return has(key) ? list(key) : List.of();
    }

    /** Refuses what is left over. */
    public void finish() throws ConfigException {
        for (Map.Entry<String, Node> entry : unread.entrySet()) {
            throw error(
                    line(entry.getValue()),
                    at(entry.getKey()),
                    "unknown key: " + remedy(entry.getKey()));
        }
    }

    /** An error about a key of this mapping that only its reader can find. */
    public ConfigException error(String key, String problem) {
        return error(lines.getOrDefault(key, line), at(key), problem);
    }

    private String remedy(String key) {
        String nearest = null;
        int best = Math.max(2, key.length() / 3) + 1;
        for (String candidate : known) {
            int distance =
                    distance(key.toLowerCase(Locale.ROOT), candidate.toLowerCase(Locale.ROOT));
            if (distance < best) {
                best = distance;
                nearest = candidate;
            }
        }
        return nearest != null
                ? "did you mean '" + nearest + "'?"
                : "remove it; known here: "
                        + String.join(", ", known.stream().sorted().distinct().toList());
    }

    private static int distance(String a, String b) {
        int[] row = new int[b.length() + 1];
        for (int j = 0; j <= b.length(); j++) {
            row[j] = j;
        }
        for (int i = 1; i <= a.length(); i++) {
            int diagonal = row[0];
            row[0] = i;
            for (int j = 1; j <= b.length(); j++) {
                int substituted = diagonal + (a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1);
                diagonal = row[j];
                row[j] = Math.min(substituted, Math.min(row[j], row[j - 1]) + 1);
            }
        }
        return row[b.length()];
    }

    private Node required(String key) throws ConfigException {
        known.add(key);
        Node node = unread.remove(key);
        if (node == null) {
            throw error(line, at(key), "is missing: add it");
        }
        return node;
    }

    private ScalarNode scalar(String key, Node node) throws ConfigException {
        if (!(node instanceof ScalarNode scalar)) {
            throw error(line(node), at(key), "must be a single value");
        }
        if (scalar.getTag().equals(Tag.NULL) || scalar.getValue().isEmpty()) {
            throw error(line(node), at(key), "has no value: give one or remove the key");
        }
        return scalar;
    }

    private Yaml mapping(String at, Node node) throws ConfigException {
        if (node instanceof ScalarNode scalar && scalar.getTag().equals(Tag.NULL)) {
            throw error(line(node), at, "has no value: give its keys below it, indented");
        }
        if (!(node instanceof MappingNode mapping)) {
            throw error(line(node), at, "must be a mapping of keys to values");
        }
        return new Yaml(source, at, mapping);
    }

    private long quantity(String key, Map<String, Long> units, String example)
            throws ConfigException {
        Node node = required(key);
        String text = scalar(key, node).getValue();
        Matcher matcher = QUANTITY.matcher(text);
        Long unit = matcher.matches() ? units.get(matcher.group(2)) : null;
        if (unit == null) {
            throw error(line(node), at(key), "'" + text + "' is not " + example);
        }
        try {
            return Math.multiplyExact(Long.parseLong(matcher.group(1)), unit);
        } catch (ArithmeticException e) {
            throw error(line(node), at(key), "'" + text + "' is too large");
        }
    }

    private String at(String key) {
        return path.isEmpty() ? key : path + "." + key;
    }

    private ConfigException error(int line, String at, String problem) {
        return new ConfigException(source + ":" + line + ": " + at + ": " + problem);
    }

    private static int line(@Nullable Node node) {
        return node == null ? 1 : node.getStartMark().map(Mark::getLine).orElse(0) + 1;
    }
}
