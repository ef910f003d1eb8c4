package org.globalfs.cli.command;

import java.io.Console;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.globalfs.cli.ExitCode;
import org.globalfs.cli.Failure;
import org.globalfs.cli.status.ExplanationTable;
import org.globalfs.client.control.ControlClient;
import org.globalfs.client.vfs.Explanation;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/**
 * Shows which regions a tree lives in and who uses it, and moves it, through a mount on this
 * machine.
 */
@Command(
        name = "place",
        subcommands = PlanCommand.class,
        description =
                "Show which regions a tree lives in and why, and let it live in another one, or in"
                        + " all.",
        mixinStandardHelpOptions = true)
final class PlaceCommand implements Runnable {
    private static final String ERROR = "error: ";

    @Spec private CommandSpec spec;

    @Override
    public void run() {
        throw new ParameterException(
                spec.commandLine(), "say what to do: show, explain, plan, move, set or clear");
    }

    @Command(
            name = "show",
            description = "Count a tree's inodes by the region that they live in.",
            mixinStandardHelpOptions = true)
    int show(@Parameters(paramLabel = "PATH") Path path) throws Exception {
        return ThroughMount.run(path, () -> count(path));
    }

    private static int count(Path path) throws Failure, IOException {
        List<String[]> counts = new ArrayList<>();
        for (String line : ask(path, "place " + inode(path))) {
            counts.add(line.split(" (?=[^ ]*$)"));
        }
        for (String[] count : counts) {
            System.out.printf("%-20s %,12d%n", count[0], Long.parseLong(count[1]));
        }
        return ExitCode.OK;
    }

    @Command(
            name = "explain",
            description = {
                "Show where a directory, or that of a file, lives, which regions use it and all below"
                        + " it how much, and what the partition oracle of the mount's region makes of"
                        + " that: whether the tree will move by itself, and why."
            },
            mixinStandardHelpOptions = true)
    int explain(@Parameters(paramLabel = "PATH") Path path) throws Exception {
        return ThroughMount.run(path, () -> reasons(path));
    }

    private static int reasons(Path path) throws Failure, IOException {
        Path directory = directory(path);
        List<String> lines = ask(directory, "explain " + inode(directory));
        if (lines.isEmpty()) {
            throw new Failure(ExitCode.FAILED, "the mount ended before it answered");
        }
        System.out.print(named(ExplanationTable.of(Explanation.parse(lines)), directory));
        return ExitCode.OK;
    }

    /** A rule that a directory on the way says of itself is named by its number. */
    private static String named(String explanation, Path directory) throws Failure, IOException {
        String text = explanation;
        Path top = OurMount.of(directory);
        for (Path at = directory; at != null && at.startsWith(top); at = at.getParent()) {
            text = text.replace(" of inode " + inode(at) + ":", " of " + at + ":");
        }
        return text;
    }

    @Command(
            name = "set",
            description = {
                "Say on a directory when its tree moves by itself, as a rule of policy.yaml does: the"
                        + " partition oracles hold to it for all below that has no rule of its own."
                        + " A rule of policy.yaml for the same directory comes first. Root only."
            },
            mixinStandardHelpOptions = true)
    int set(
            @Parameters(paramLabel = "DIRECTORY") Path path,
            @Parameters(
                            arity = "1..*",
                            paramLabel = "KEY=VALUE",
                            description = {
                                "As in policy.yaml: move=off, move=eager, move=threshold reads=500"
                                        + " window=10min, region=NAME, or region=global; global=true"
                                        + " lets what all read, and hardly anybody changes, become"
                                        + " every region's"
                            })
                    Map<String, String> rule)
            throws Exception {
        return ThroughMount.run(path, () -> say(path, rule));
    }

    private static int say(Path path, Map<String, String> rule) throws Failure, IOException {
        if (!Files.isDirectory(path)) {
            throw Files.exists(path)
                    ? new Failure(ExitCode.FAILED, path + ": give a directory: a file has no tree")
                    : absent(path);
        }
        List<String> words = new ArrayList<>();
        rule.forEach((key, value) -> words.add(key + ": " + value));
        ask(path, "policy " + inode(path) + " " + String.join(", ", words));
        return ExitCode.OK;
    }

    @Command(
            name = "clear",
            description = "Take away what `place set` said on a directory. Root only.",
            mixinStandardHelpOptions = true)
    int clear(@Parameters(paramLabel = "DIRECTORY") Path path) throws Exception {
        return ThroughMount.run(path, () -> takeBack(path));
    }

    private static int takeBack(Path path) throws Failure, IOException {
        ask(path, "policy " + inode(path));
        return ExitCode.OK;
    }

    private static Path directory(Path path) throws Failure, IOException {
        if (!Files.exists(path)) {
            throw absent(path);
        }
        Path real = path.toRealPath();
        Path parent = real.getParent();
        return Files.isDirectory(real) || parent == null ? real : parent;
    }

    @Command(
            name = "move",
            description = {
                "Let a file, or a directory and all below it, live in another region: work there"
                        + " runs at local speed from then on. Or, with `global`, in all of them:"
                        + " every region reads it at local speed then, a little behind, and changes"
                        + " it at that of the oceans between. Everything stays in use meanwhile; the"
                        + " content follows in the background. The root directory stays. Given again"
                        + " after an interruption, it does the rest. Root only."
            },
            mixinStandardHelpOptions = true)
    int move(
            @Parameters(paramLabel = "PATH") Path path,
            @Parameters(paramLabel = "REGION", description = "Its name, or global.") String region)
            throws Exception {
        return ThroughMount.run(path, () -> bring(path, region));
    }

    private static int bring(Path path, String region) throws Failure, IOException {
        String last = "0 0";
        boolean terminal =
                Optional.ofNullable(System.console()).filter(Console::isTerminal).isPresent();
        try (ControlClient client =
                ControlClient.ask(OurMount.of(path), "move " + inode(path) + " " + region)) {
            for (String line = client.line(); line != null; line = client.line()) {
                last = checked(path, line);
                if (terminal) {
                    System.out.printf("\r%s moved", inodes(last.split(" ")[0]));
                    System.out.flush();
                }
            }
        }
        String[] end = last.split(" ");
        if (end.length < 2) {
            throw new Failure(
                    ExitCode.FAILED,
                    "the mount ended before " + path + " was moved: give the command again");
        }
        System.out.printf("%s%s moved to %s%n", terminal ? "\r" : "", inodes(end[0]), region);
        long stayed = Long.parseLong(end[1]);
        if (stayed == 0) {
            return ExitCode.OK;
        }
        System.out.printf(
                "%,d had to stay: they are locked, or were by a mount that was cut off or killed"
                        + " less than 30 days ago and is not back, counted by a quota whose"
                        + " directory does not move along, have content on its way, or are"
                        + " directories of more than about 50,000 names. Give the command again"
                        + " later%n",
                stayed);
        return ExitCode.FAILED;
    }

    private static String inodes(String number) {
        return String.format("%,d inode%s", Long.parseLong(number), number.equals("1") ? "" : "s");
    }

    private static List<String> ask(Path path, String request) throws Failure, IOException {
        List<String> lines = new ArrayList<>();
        try (ControlClient client = ControlClient.ask(OurMount.of(path), request)) {
            for (String line : client.lines()) {
                lines.add(checked(path, line));
            }
        }
        return lines;
    }

    private static String checked(Path path, String line) throws Failure {
        if (line.startsWith(ERROR)) {
            throw new Failure(ExitCode.FAILED, path + ": " + line.substring(ERROR.length()));
        }
        return line;
    }

    private static String inode(Path path) throws Failure, IOException {
        if (!Files.exists(path)) {
            throw absent(path);
        }
        return Long.toUnsignedString((Long) Files.getAttribute(path, "unix:ino"));
    }

    private static Failure absent(Path path) {
        return new Failure(ExitCode.FAILED, path + ": no such file or directory");
    }
}
