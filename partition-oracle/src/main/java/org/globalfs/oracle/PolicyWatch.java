package org.globalfs.oracle;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.Optional;
import java.util.Set;
import org.globalfs.protocol.config.ConfigException;
import org.globalfs.protocol.config.PolicyFile;
import org.globalfs.protocol.placement.MovePolicy;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The policy as its file says it. A file that changes is read again; one that is wrong then leaves
 * the policy that was valid before in force, and is read each time: who may read it now does not
 * show in its time.
 */
final class PolicyWatch {

    private static final Logger LOG = LoggerFactory.getLogger(PolicyWatch.class);

    /** What shows that a file has changed. */
    private record Version(FileTime time, long size) {}

    private final Optional<Path> file;
    private final Set<String> regions;
    private MovePolicy policy = MovePolicy.OFF;
    private Optional<Version> version = Optional.empty();
    private Optional<String> problem = Optional.empty();

    /**
     * @throws ConfigException the file is wrong
     */
    PolicyWatch(Optional<Path> file, Set<String> regions) throws ConfigException {
        this.file = file;
        this.regions = Set.copyOf(regions);
        if (file.isPresent()) {
            version = version(file.get());
            policy = PolicyFile.read(file.get(), regions);
        }
    }

    synchronized MovePolicy policy() {
        return policy;
    }

    /** Why the file's newest text is not in force. */
    synchronized Optional<String> problem() {
        return problem;
    }

    /** Reads the file again if it has changed; returns whether there is a new policy. */
    synchronized boolean look() {
        if (file.isEmpty()) {
            return false;
        }
        Optional<Version> now = version(file.get());
        if (now.equals(version) && problem.isEmpty()) {
            return false;
        }
        version = now;
        try {
            policy = PolicyFile.read(file.get(), regions);
            problem = Optional.empty();
            LOG.info("{} has changed: {} rules", file.get(), policy.rules().size());
            return true;
        } catch (ConfigException e) {
            Optional<String> told = problem;
            problem = Optional.of(String.valueOf(e.getMessage()));
            if (!told.equals(problem)) {
                LOG.error("the policy before stays in force: {}", e.getMessage());
            }
            return false;
        }
    }

    private static Optional<Version> version(Path file) {
        try {
            return Optional.of(new Version(Files.getLastModifiedTime(file), Files.size(file)));
        } catch (IOException unreadable) {
            return Optional.empty(); // reading it says what is wrong
        }
    }
}
