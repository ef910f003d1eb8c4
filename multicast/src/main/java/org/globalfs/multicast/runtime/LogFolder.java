package org.globalfs.multicast.runtime;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.function.Consumer;
import org.globalfs.multicast.Membership;
import org.globalfs.multicast.MulticastOptions;
import org.globalfs.multicast.RingState;
import org.globalfs.multicast.core.LogRecord;
import org.globalfs.multicast.log.LogException;
import org.globalfs.multicast.log.LogException.Reason;
import org.globalfs.multicast.log.LogOptions;
import org.globalfs.multicast.log.MulticastLog;
import org.globalfs.multicast.log.StoredRecord;
import org.globalfs.multicast.wire.LogCodec;
import org.globalfs.protocol.Folders;
import org.globalfs.protocol.Invariant;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Opens a process's log. A log that is damaged, or gone though it was begun once, is replaced by
 * one that says so in every ring ({@link LogRecord.VotesLost}): the process then takes part again
 * once all other members of a ring have agreed to it.
 *
 * <p>Beside the folder {@code NAME} there may be {@code NAME.begun}, an empty file: the process has
 * voted; {@code NAME.damaged-N}: a log set aside for inspection; {@code NAME.new}: a log in the
 * making, complete once renamed.
 */
public final class LogFolder {
    private static final Logger log = LoggerFactory.getLogger(LogFolder.class);

    /** Smaller rings have no majority that could let a member in again. */
    private static final int LEAST_MEMBERS = 3;

    private static final String CONSEQUENCE =
            "this replica takes part again as soon as every other replica of its rings was reached";

    private final MulticastOptions options;
    private final Map<Integer, ? extends RingState> states;
    private final Path folder;
    private final Path begun;
    private final Path draft;

    private LogFolder(MulticastOptions options, Map<Integer, ? extends RingState> states) {
        this.options = options;
        this.states = states;
        this.folder = options.folder();
        this.begun = sibling(folder, ".begun");
        this.draft = sibling(folder, ".new");
    }

    private static Path sibling(Path folder, String suffix) {
        return folder.resolveSibling(folder.getFileName() + suffix);
    }

    private static Path parent(Path path) {
        Path parent = path.toAbsolutePath().getParent();
        Invariant.check(parent != null, "%s is no folder for a log", path);
        return parent;
    }

    /**
     * Notes that this process took part before, whatever its disk says: when its log is gone, it is
     * lost, not new. To be called before the start.
     */
    public static void expectLog(Path folder) throws IOException {
        Path mark = sibling(folder, ".begun");
        if (!Files.exists(mark)) {
            Folders.create(parent(mark));
            Files.createFile(mark);
            Folders.sync(parent(mark));
        }
    }

    /** Whether this process took part before, as far as its disk says. */
    public static boolean isExpected(Path folder) {
        return Files.exists(sibling(folder, ".begun"));
    }

    /** An open log, and the rings' state that its records tell. */
    record Opened(MulticastLog log, RecoveredRings rings) {}

    /**
     * @throws LogException the log belongs to another, is in use, or is lost and the rings are too
     *     small to do without
     */
    static Opened open(MulticastOptions options, Map<Integer, ? extends RingState> states) {
        try {
            Opened opened = new LogFolder(options, states).open();
            try {
                expectLog(options.folder());
                return opened;
            } catch (IOException e) {
                opened.log.close();
                throw e;
            }
        } catch (IOException e) {
            throw new LogException(
                    Reason.IO, "cannot open the multicast log in " + options.folder(), e);
        }
    }

    private Opened open() throws IOException {
        if (!hasSegments() && Files.exists(begun)) {
            replaceWhatIsGone();
        }
        try {
            return recover();
        } catch (LogException e) {
            if (e.reason() != Reason.CORRUPT) {
                throw e;
            }
            String objection = objection();
            if (!objection.isEmpty()) {
                throw new LogException(Reason.CORRUPT, e.getMessage() + ". " + objection, e);
            }
            replaceWhatIsDamaged(e);
            return recover();
        }
    }

    private Opened recover() {
        RecoveredRings rings = new RecoveredRings();
        MulticastLog opened = openLog(folder, rings::add);
        LogCodec codec = new LogCodec();
        rings.unmarkedMemberships().forEach((ring, members) -> codec.append(opened, ring, members));
        return new Opened(opened, rings);
    }

    private void replaceWhatIsGone() throws IOException {
        String objection = objection();
        if (!objection.isEmpty()) {
            throw new LogException(
                    Reason.CORRUPT, "the multicast log in " + folder + " is gone. " + objection);
        }
        log.error(
                "replica {}: the multicast log in {} is gone. A new one begins; {}",
                options.self(),
                folder,
                CONSEQUENCE);
        writeDraft();
        Folders.delete(folder);
        finish();
    }

    private void replaceWhatIsDamaged(LogException damage) throws IOException {
        Path aside = unused(folder.getFileName() + ".damaged-");
        log.error(
                "replica {}: {}. The log is set aside as {}; {}",
                options.self(),
                damage.getMessage(),
                aside,
                CONSEQUENCE);
        writeDraft();
        // A crash between the two renamings must leave a lost log, not a fresh start.
        expectLog(folder);
        Files.move(folder, aside, StandardCopyOption.ATOMIC_MOVE);
        finish();
    }

    /**
     * Why the log cannot be replaced, and what to do; empty when it can. Rings that this process
     * decides nothing in have its votes no more, or never had: how small they are is no matter.
     */
    private String objection() {
        for (Map.Entry<Integer, ? extends RingState> ring : states.entrySet()) {
            Membership membership = ring.getValue().membership();
            List<Integer> acceptors =
                    membership == null
                            ? options.rings().getOrDefault(ring.getKey(), List.of())
                            : membership.acceptors();
            if (acceptors.size() < LEAST_MEMBERS && acceptors.contains(options.self())) {
                return "Only a ring of "
                        + LEAST_MEMBERS
                        + " replicas or more can replace it, and those of ring "
                        + ring.getKey()
                        + " are "
                        + acceptors
                        + ": restore the folder as it was when this replica last stopped; an older"
                        + " copy lacks votes that make acknowledged updates safe";
            }
        }
        return "";
    }

    private boolean hasSegments() throws IOException {
        if (!Files.isDirectory(folder)) {
            return false;
        }
        try (DirectoryStream<Path> files = Files.newDirectoryStream(folder, "segment-*.log")) {
            return files.iterator().hasNext();
        }
    }

    private Path unused(String prefix) {
        for (int n = 1; ; n++) {
            Path candidate = folder.resolveSibling(prefix + n);
            if (!Files.exists(candidate)) {
                return candidate;
            }
        }
    }

    /**
     * Complete and on disk before it gets the log's name, so that it is never taken for a fresh
     * one.
     */
    private void writeDraft() throws IOException {
        Folders.delete(draft);
        MulticastLog fresh = openLog(draft, record -> {});
        try {
            LogCodec codec = new LogCodec();
            long incident = new SplittableRandom().nextLong(1, Long.MAX_VALUE);
            states.forEach((ring, state) -> {
                codec.append(fresh, ring, new LogRecord.VotesLost(incident));
                codec.append(
                        fresh,
                        ring,
                        new LogRecord.StartAfter(
                                state.applied(), state.lastTimestamp(), state.membership()));
            });
            fresh.sync();
        } finally {
            fresh.close();
        }
    }

    private void finish() throws IOException {
        Files.move(draft, folder, StandardCopyOption.ATOMIC_MOVE);
        Folders.sync(parent(folder));
    }

    private MulticastLog openLog(Path where, Consumer<StoredRecord> recovered) {
        return MulticastLog.open(
                new LogOptions(
                        where,
                        options.cluster(),
                        options.self(),
                        options.durable(),
                        options.segmentBytes(),
                        options.retainedBytes()),
                recovered);
    }
}
