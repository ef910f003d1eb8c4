package org.globalfs.client.fuse;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The mounts of this process's namespace, read from {@code /proc/self/mountinfo} without touching
 * any of them.
 */
public final class MountTable {

    /** As many as the kernel follows. */
    private static final int MOST_LINKS = 40;

    /** One mount; {@code device} is "major:minor", {@code uid} of FUSE: whose process serves it. */
    public record Mount(String device, String mountpoint, String type, int uid) {

        /** What to write to so that a FUSE connection ends; belongs to whoever mounted it. */
        public Path abortFile() {
            String minor = device.substring(device.indexOf(':') + 1);
            return Path.of("/sys/fs/fuse/connections", minor, "abort");
        }
    }

    private MountTable() {}

    /** The topmost mount at exactly this path; null if there is none. */
    public static @Nullable Mount at(Path mountpoint) throws IOException {
        return last(mounts(), normal(mountpoint).toString());
    }

    /**
     * The topmost mount at this path as a person writes it: symbolic links may lead to it. What is
     * mounted there is not touched.
     */
    public static @Nullable Mount named(Path mountpoint) throws IOException {
        Path path = normal(mountpoint);
        for (int links = 0; links < MOST_LINKS; links++) {
            Mount over = over(path);
            if (over == null || over.mountpoint.equals(path.toString())) {
                return over;
            }
            Path parent = path.getParent();
            Path name = path.getFileName();
            if (isOurs(over) || parent == null || name == null || !Files.isDirectory(parent)) {
                return null;
            }
            Path found = parent.toRealPath().resolve(name);
            Mount mount = at(found);
            if (mount != null || !Files.isSymbolicLink(found)) {
                return mount;
            }
            path = normal(found.resolveSibling(Files.readSymbolicLink(found)));
        }
        return null;
    }

    /** The mount that a path is on by its name, if no symbolic link leads elsewhere. */
    public static @Nullable Mount over(Path path) throws IOException {
        List<Mount> mounts = mounts();
        for (Path at = normal(path); at != null; at = at.getParent()) {
            Mount found = last(mounts, at.toString());
            if (found != null) {
                return found;
            }
        }
        return null;
    }

    private static Path normal(Path path) {
        return path.toAbsolutePath().normalize();
    }

    private static @Nullable Mount last(List<Mount> mounts, String mountpoint) {
        Mount found = null;
        for (Mount mount : mounts) {
            if (mount.mountpoint.equals(mountpoint)) {
                found = mount;
            }
        }
        return found;
    }

    /** Whether something is mounted on a directory of this device, wherever that is mounted. */
    static boolean carriesOthers(String device) throws IOException {
        return carriesOthers(device, lines());
    }

    static boolean carriesOthers(String device, List<String> lines) {
        Set<String> own = new HashSet<>();
        Set<String> parents = new HashSet<>();
        for (String line : lines) {
            String[] fields = line.split(" ", 4);
            if (fields.length == 4) {
                parents.add(fields[1]);
                if (fields[2].equals(device)) {
                    own.add(fields[0]);
                }
            }
        }
        return !Collections.disjoint(own, parents);
    }

    /** As mounted, one after the other. */
    private static List<Mount> mounts() throws IOException {
        List<Mount> mounts = new ArrayList<>();
        for (String line : lines()) {
            Mount mount = parse(line);
            if (mount != null) {
                mounts.add(mount);
            }
        }
        return mounts;
    }

    private static List<String> lines() throws IOException {
        String table =
                new String(
                        Files.readAllBytes(Path.of("/proc/self/mountinfo")),
                        StandardCharsets.ISO_8859_1);
        return List.of(table.split("\n", -1));
    }

    /** Whether the topmost mount at this path is one of GlobalFS, through whichever binding. */
    public static boolean isOurs(Path mountpoint) throws IOException {
        Mount mount = at(mountpoint);
        return mount != null && isOurs(mount);
    }

    /** Whether a mount is one of GlobalFS, through whichever binding. */
    public static boolean isOurs(Mount mount) {
        return mount.type.equals(Mounter.TYPE);
    }

    /** A line is: id parent major:minor root mountpoint options fields* - type source options. */
    static @Nullable Mount parse(String line) {
        String[] fields = line.split(" ", -1);
        for (int i = 6; i + 1 < fields.length; i++) {
            if (fields[i].equals("-")) {
                String options = fields[fields.length - 1];
                return new Mount(fields[2], unescape(fields[4]), fields[i + 1], uid(options));
            }
        }
        return null;
    }

    private static int uid(String options) {
        for (String option : options.split(",", -1)) {
            if (option.startsWith("user_id=")) {
                return Integer.parseUnsignedInt(option.substring("user_id=".length()));
            }
        }
        return 0;
    }

    /** Blanks and backslashes are written as three octal digits; bytes are taken for UTF-8. */
    private static String unescape(String field) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream(field.length());
        for (int i = 0; i < field.length(); i++) {
            char c = field.charAt(i);
            if (c == '\\' && i + 3 < field.length()) {
                bytes.write(Integer.parseInt(field.substring(i + 1, i + 4), 8));
                i += 3;
            } else {
                bytes.write(c);
            }
        }
        return bytes.toString(StandardCharsets.UTF_8);
    }
}
