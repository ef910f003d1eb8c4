package org.globalfs.oracle;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.globalfs.oracle.policy.Replay;
import org.globalfs.protocol.config.ConfigException;
import org.globalfs.protocol.placement.MovePolicy;

/**
 * A text of accesses: a line {@code SECONDS REGION READS WRITES PATH} for what a region did in a
 * directory, in the order of time; {@code home REGION PATH} for where one lived at first; empty
 * lines and those that begin with {@code #} say nothing.
 */
public final class AccessTrace {

    private static final Pattern ACCESS =
            Pattern.compile(
                    "([0-9]{1,9}(?:\\.[0-9]{1,9})?) (\\S+) ([0-9]{1,15}) ([0-9]{1,15}) (/.*)");
    private static final Pattern HOME = Pattern.compile("home (\\S+) (/.+)");

    private AccessTrace() {}

    /**
     * Replays the accesses.
     *
     * @throws ConfigException names the line that is wrong
     * @throws IOException the file cannot be read
     */
    public static Replay.Summary replay(Path file, MovePolicy policy)
            throws ConfigException, IOException {
        Replay replay = new Replay(policy);
        try (BufferedReader lines = Files.newBufferedReader(file)) {
            int number = 0;
            long lastMs = 0;
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                number++;
                if (line.isBlank() || line.startsWith("#")) {
                    continue;
                }
                Matcher home = HOME.matcher(line);
                if (home.matches()) {
                    replay.lives(path(home.group(2)), home.group(1));
                    continue;
                }
                Matcher access = ACCESS.matcher(line);
                if (!access.matches()) {
                    throw new ConfigException(
                            file
                                    + ":"
                                    + number
                                    + ": is neither SECONDS REGION READS WRITES PATH nor home"
                                    + " REGION PATH");
                }
                long timeMs = (long) (Double.parseDouble(access.group(1)) * 1_000);
                if (timeMs < lastMs) {
                    throw new ConfigException(
                            file + ":" + number + ": is earlier than the line before: sort them");
                }
                lastMs = timeMs;
                replay.use(
                        timeMs,
                        access.group(2),
                        path(access.group(5)),
                        Long.parseLong(access.group(3)),
                        Long.parseLong(access.group(4)));
            }
            return replay.end();
        } catch (NoSuchFileException e) {
            throw new ConfigException(file + ": no such file: give the path of a trace", e);
        }
    }

    private static String path(String text) {
        String path = text.replaceAll("/+", "/");
        return path.length() > 1 && path.endsWith("/")
                ? path.substring(0, path.length() - 1)
                : path;
    }
}
