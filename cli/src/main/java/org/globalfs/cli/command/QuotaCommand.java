package org.globalfs.cli.command;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.UserDefinedFileAttributeView;
import java.util.ArrayList;
import java.util.List;
import org.globalfs.cli.ExitCode;
import org.globalfs.cli.Failure;
import org.globalfs.cli.status.QuotaTable;
import org.globalfs.client.control.ControlClient;
import org.globalfs.client.vfs.QuotaUsage;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Shows and sets quotas of directory trees, through a mount on this machine. */
@Command(
        name = "quota",
        description = "Limit how many bytes and inodes a directory's tree may have, and show it.",
        mixinStandardHelpOptions = true)
final class QuotaCommand implements Runnable {
    private static final String ATTRIBUTE = "globalfs.quota";

    @Spec private CommandSpec spec;

    @Override
    public void run() {
        throw new ParameterException(
                spec.commandLine(), "say what to do: set, show, list or clear");
    }

    @Command(
            name = "set",
            description = "Limit what lives in a directory's own partition below it. Root only.",
            mixinStandardHelpOptions = true)
    int set(
            @Parameters(paramLabel = "PATH") Path path,
            @Option(
                            names = "--bytes",
                            paramLabel = "SIZE",
                            description =
                                    "Such as 500M, 10G or 2TiB (powers of 1024); 0: no limit.")
                    @Nullable String bytes,
            @Option(
                            names = "--inodes",
                            paramLabel = "COUNT",
                            description = "Such as 100k (powers of 1000); 0: no limit.")
                    @Nullable String inodes)
            throws Exception {
        if (bytes == null && inodes == null) {
            throw new Failure(ExitCode.USAGE, "give --bytes, --inodes or both");
        }
        List<String> limits = new ArrayList<>();
        if (bytes != null) {
            limits.add("bytes=" + QuotaTable.quantity("--bytes", bytes, 1024));
        }
        if (inodes != null) {
            limits.add("inodes=" + QuotaTable.quantity("--inodes", inodes, 1000));
        }
        return ThroughMount.run(path, () -> limit(path, String.join(" ", limits)));
    }

    private static int limit(Path path, String limits) throws Failure, IOException {
        UserDefinedFileAttributeView view = view(path);
        try {
            view.write(ATTRIBUTE, ByteBuffer.wrap(limits.getBytes(UTF_8)));
        } catch (IOException e) {
            throw refused(path, e);
        }
        return ExitCode.OK;
    }

    @Command(
            name = "clear",
            description = "Take a directory's quota away. Root only.",
            mixinStandardHelpOptions = true)
    int clear(@Parameters(paramLabel = "PATH") Path path) throws Exception {
        return ThroughMount.run(path, () -> takeAway(path));
    }

    private static int takeAway(Path path) throws Failure, IOException {
        UserDefinedFileAttributeView view = view(path);
        try {
            view.delete(ATTRIBUTE);
        } catch (IOException e) {
            throw refused(path, e);
        }
        return ExitCode.OK;
    }

    @Command(
            name = "show",
            description = "Show the quotas that count a file or directory, the innermost first.",
            mixinStandardHelpOptions = true)
    int show(@Parameters(paramLabel = "PATH") Path path) throws Exception {
        return ThroughMount.run(path, () -> print(path));
    }

    private static int print(Path path) throws Failure, IOException {
        List<QuotaUsage> quotas = new ArrayList<>();
        for (QuotaUsage quota : read(path)) {
            quotas.add(QuotaTable.withPath(quota, above(path, quota.ino())));
        }
        if (quotas.isEmpty()) {
            System.out.println("no quota counts " + path);
        } else {
            System.out.print(QuotaTable.of(quotas));
            System.out.println(QuotaTable.COUNTED);
        }
        return ExitCode.OK;
    }

    @Command(
            name = "list",
            description = "Show all quotas, with paths below the root of the tree.",
            mixinStandardHelpOptions = true)
    int list(@Parameters(paramLabel = "MOUNTPOINT") Path mountpoint) throws Exception {
        return ThroughMount.run(mountpoint, () -> printAll(mountpoint));
    }

    private static int printAll(Path mountpoint) throws Failure, IOException {
        List<QuotaUsage> quotas = new ArrayList<>();
        try (ControlClient client = ControlClient.ask(mountpoint, "quotas")) {
            for (String line : client.lines()) {
                if (line.startsWith("error: ")) {
                    throw new Failure(ExitCode.FAILED, line.substring("error: ".length()));
                }
                quotas.add(QuotaUsage.parse(line));
            }
        }
        System.out.print(QuotaTable.of(quotas));
        return ExitCode.OK;
    }

    /** Other file systems would keep the attribute, and nobody would hold to it. */
    private static UserDefinedFileAttributeView view(Path path) throws Failure, IOException {
        OurMount.of(path);
        return Files.getFileAttributeView(path, UserDefinedFileAttributeView.class);
    }

    private static List<QuotaUsage> read(Path path) throws Failure, IOException {
        UserDefinedFileAttributeView view = view(path);
        try {
            ByteBuffer value = ByteBuffer.allocate(64 << 10);
            view.read(ATTRIBUTE, value);
            return UTF_8.decode(value.flip()).toString().lines().map(QuotaUsage::parse).toList();
        } catch (IOException e) {
            if (reason(e).contains("No data available")) {
                return List.of();
            }
            throw refused(path, e);
        }
    }

    private static String reason(IOException e) {
        String reason = e instanceof FileSystemException known ? known.getReason() : e.getMessage();
        if (reason == null) {
            return e.toString();
        }
        // "Error writing extended attribute 'globalfs.quota': Not a directory"
        int text = reason.lastIndexOf("': ");
        return text < 0 ? reason : reason.substring(text + 3);
    }

    private static Failure refused(Path path, IOException e) {
        String reason = reason(e);
        String mend =
                reason.contains("not permitted")
                        ? ": only root may set quotas"
                        : reason.contains("No data available")
                                ? ": it has no quota of its own"
                                : reason.contains("Not a directory")
                                        ? ": quotas are of directories"
                                        : "";
        return new Failure(ExitCode.FAILED, path + ": " + reason + mend, e);
    }

    /** The path or one above it that is this inode; else its number. */
    private static String above(Path path, long ino) throws IOException {
        for (Path at = path.toRealPath(); at != null; at = at.getParent()) {
            if (Files.getAttribute(at, "unix:ino") instanceof Long found && found == ino) {
                return at.toString();
            }
        }
        return "inode " + Long.toUnsignedString(ino);
    }
}
