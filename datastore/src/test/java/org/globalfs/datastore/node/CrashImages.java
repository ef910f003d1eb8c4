package org.globalfs.datastore.node;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.globalfs.protocol.Folders;

/**
 * A store's folder as a crash at the step just reached would leave it: what is in its files now,
 * what was in them when they were last synced, or something between.
 */
final class CrashImages implements FaultPoints {

    /** What happens to the machine. */
    enum Crash {
        /** The process is killed: the kernel has all that was written. */
        KILL,
        /** The power goes, and nothing that was not synced had reached the disk. */
        POWER,
        /** The power goes, and some disk blocks of what was not synced had. */
        TORN
    }

    private static final int BLOCK_BYTES = 4096;

    /** Looks at each step; what it reads in the folder does not change meanwhile. */
    interface Watcher {
        void at(Step step) throws IOException;
    }

    private final Path folder;
    private final Random random;
    private final Map<String, byte[]> synced = new TreeMap<>();
    private final Set<Step> seen = EnumSet.noneOf(Step.class);
    private Watcher watcher = step -> {};

    CrashImages(Path folder, Random random) {
        this.folder = folder;
        this.random = random;
    }

    /**
     * Of a store that is opened after a crash.
     *
     * @param before of the disk that crashed
     * @param image what {@link #write} made of it
     */
    static CrashImages after(Crash crash, CrashImages before, Path image) throws IOException {
        CrashImages images = new CrashImages(image, before.random);
        if (crash == Crash.KILL) {
            images.synced.putAll(before.synced); // the kernel still has the rest
        } else {
            for (String name : images.names()) {
                images.synced.put(name, Files.readAllBytes(image.resolve(name)));
            }
        }
        return images;
    }

    void watch(Watcher other) {
        watcher = other;
    }

    Set<Step> seen() {
        return seen;
    }

    @Override
    public void reached(Step step, Path path) {
        try {
            note(step, path);
            watcher.at(step);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Its thread would change files while they are looked at. */
    @Override
    public void preparing(Path path) throws IOException {
        throw new IOException("No space left on device");
    }

    private synchronized void note(Step step, Path path) throws IOException {
        seen.add(step);
        switch (step) {
            case SYNCED, SEGMENT_CUT, SEGMENT_SEALED ->
                    synced.put(path.getFileName().toString(), Files.readAllBytes(path));
            case SEGMENT_CREATED -> {
                synced.put(path.getFileName().toString(), Files.readAllBytes(path));
                synced.keySet().retainAll(names()); // the folder's names are on disk now
            }
            default -> {} // changes nothing of what is on disk
        }
    }

    private Set<String> names() throws IOException {
        Set<String> names = new LinkedHashSet<>();
        try (Stream<Path> files = Files.list(folder)) {
            files.filter(Files::isRegularFile)
                    .forEach(file -> names.add(file.getFileName().toString()));
        }
        return names;
    }

    /**
     * The index as it was at its last checkpoint, or before: whatever crashes, RocksDB has on disk
     * what it says is there, and knows nothing of the rest.
     */
    private void copyIndex(Path to) throws IOException {
        Path index = folder.resolve(SegmentStore.INDEX);
        if (!Files.isDirectory(index)) {
            return;
        }
        Path copy = Files.createDirectory(to.resolve(SegmentStore.INDEX));
        try (Stream<Path> files = Files.list(index)) {
            for (Path file : files.toList()) {
                try {
                    Files.copy(file, copy.resolve(file.getFileName()));
                } catch (NoSuchFileException e) {
                    // RocksDB tidies up: what it removes, it does not need
                }
            }
        }
    }

    /** Writes the image; the folder is emptied first. */
    synchronized Path write(Path to, Crash crash) throws IOException {
        Folders.delete(to);
        Files.createDirectories(to);
        Set<String> now = names();
        Set<String> all = new LinkedHashSet<>(now);
        all.addAll(synced.keySet());
        for (String name : all) {
            byte[] current = now.contains(name) ? Files.readAllBytes(folder.resolve(name)) : null;
            byte[] left =
                    switch (crash) {
                        case KILL -> current;
                        case POWER -> synced.get(name);
                        case TORN -> mixed(synced.get(name), current);
                    };
            if (left != null) {
                Files.write(to.resolve(name), left);
            }
        }
        copyIndex(to);
        return to;
    }

    private byte[] mixed(byte[] before, byte[] now) {
        if (before == null || now == null) {
            return random.nextBoolean() ? before : now;
        }
        byte[] mix = Arrays.copyOf(now, random.nextBoolean() ? before.length : now.length);
        for (int at = 0; at < mix.length; at += BLOCK_BYTES) {
            byte[] from = random.nextBoolean() ? before : now;
            int end = Math.min(at + BLOCK_BYTES, mix.length);
            Arrays.fill(mix, at, end, (byte) 0);
            int there = Math.min(end, from.length) - at;
            if (there > 0) {
                System.arraycopy(from, at, mix, at, there);
            }
        }
        return mix;
    }
}
