package org.globalfs.jepsen;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Files that hold their number move between folders, from one client's hands to another's, and
 * never to a name that was given before. A file that may not have been placed is left alone.
 */
final class Wandering implements Workload {
    /** At least: several clients may place the last one. */
    private static final int FILES = 5;

    /** So that a file's own operations and all listings are not too many for the checker. */
    private static final long OPERATIONS = 350;

    private final List<String> folders;
    private final AtomicLong files = new AtomicLong();
    private final AtomicLong names = new AtomicLong();

    /** Where each file is, as far as anybody was told last. */
    private final Map<Long, String> known = new ConcurrentHashMap<>();

    Wandering(List<String> folders) {
        this.folders = folders;
    }

    @Override
    public String checker() {
        return "wandering";
    }

    @Override
    public long mostOperations() {
        return OPERATIONS;
    }

    @Override
    public List<Map<String, Object>> preparations() {
        return folders.stream().map(Workloads::mkdir).toList();
    }

    @Override
    public Step next(long process, Random random) {
        List<Long> placed = List.copyOf(known.keySet());
        String folder = folders.get(random.nextInt(folders.size()));
        if (placed.size() < FILES) {
            return place(files.incrementAndGet(), folder);
        }
        long file = placed.get(random.nextInt(placed.size()));
        String path = known.getOrDefault(file, folder);
        return switch (random.nextInt(10)) {
            case 0, 1 -> listing(folder);
            case 2, 3, 4 -> reading(file, path);
            default -> {
                String to = name(folder, file);
                yield Step.update(
                        "rename",
                        value("file", file, "path", path, "to", to),
                        Workloads.request("ns.rename", "path", path, "to", to));
            }
        };
    }

    private String name(String folder, long file) {
        return folder + "/" + file + "." + names.incrementAndGet();
    }

    private Step place(long file, String folder) {
        String path = name(folder, file);
        return Step.update(
                "place",
                value("file", file, "path", path),
                Workloads.request("mark.place", "dir", folder, "path", path, "value", file));
    }

    private static Step listing(String folder) {
        return Step.read(
                "readdir", value("path", folder), Workloads.request("ns.readdir", "path", folder));
    }

    private static Step reading(long file, String path) {
        return Step.read(
                "read",
                value("file", file, "path", path),
                Workloads.request("mark.read", "path", path));
    }

    private static Map<String, Object> value(Object... fields) {
        Map<String, Object> value = new LinkedHashMap<>();
        for (int i = 0; i < fields.length; i += 2) {
            value.put((String) fields[i], fields[i + 1]);
        }
        return value;
    }

    @Override
    public void done(long process, Step step, Outcome outcome) {
        if (!outcome.is("ok") || !(step.value() instanceof Map<?, ?> asked)) {
            return;
        }
        String path = String.valueOf(asked.get("path"));
        if (step.f().equals("place")) {
            known.put((Long) asked.get("file"), path);
        } else if (step.f().equals("rename")) {
            known.put((Long) asked.get("file"), String.valueOf(asked.get("to")));
        } else if (step.f().equals("readdir")
                && outcome.value() instanceof Map<?, ?> seen
                && seen.get("entries") instanceof List<?> entries) {
            for (Object entry : entries) {
                String name = String.valueOf(entry);
                long file = Long.parseLong(name.substring(0, name.indexOf('.')));
                // what may not have been placed is not taken up
                known.computeIfPresent(file, (key, old) -> path + "/" + name);
            }
        }
    }

    /** All folders, and what the files contain. */
    @Override
    public List<Step> last() {
        List<Step> all = new ArrayList<>();
        folders.forEach(folder -> all.add(listing(folder)));
        known.forEach((file, path) -> all.add(reading(file, path)));
        return all;
    }
}
