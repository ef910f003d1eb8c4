package org.globalfs.systemtests;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/**
 * Java's file classes, as Apache Commons IO's own tests use them, in a folder of the mount: in a
 * JVM of its own, as a JVM never touches a mount of its own. What is left out stands in {@code
 * file-tests-left-out.txt} with the reason. {@code -Dglobalfs.programs.seconds=30} runs more
 * classes.
 */
@InSharedCluster
final class FileTestsIT {
    private static final String MORE =
            "|FileUtils|monitor[.]FileAlterationObserver|output[.]DeferredFileOutputStream|input[.](BufferedFileChannelInputStream|MemoryMappedFileInputStream|ReversedLinesFileReaderParam(File|BlockSize))";
    private static final String CLASSES =
            "org[.]apache[.]commons[.]io[.](file[.][A-Za-z]*|FileUtils(CleanSymlinks|CopyDirectoryToDirectory|CopyToFile|DeleteDirectoryLinux|DirectoryContains|FileNewer)|FileDeleteStrategy|IORandomAccessFile|RandomAccessFiles|RandomAccessFileMode|channels[.]File(Channels|SeekableByteChannel)|output[.](LockableFileWriter|FileWriterWithEncoding|RandomAccessFileOutputStream)|input[.]RandomAccessFileInputStream%s)Test";
    private static final int SECONDS = Integer.getInteger("globalfs.programs.seconds", 5);
    private static final Duration LIMIT = Duration.ofMinutes(SECONDS > 5 ? 30 : 6);

    private final Path jars = Path.of("target", "file-tests").toAbsolutePath();

    @Test
    void commonsIoTestsPass(LocalCluster cluster) throws IOException {
        Path folder = cluster.mount("us-west").resolve("file-tests");
        // The tests read files of their own sources' tree, below the folder where they run.
        Shell.bash(
                        LIMIT,
                        cluster.mount("us-west"),
                        """
                        mkdir -p file-tests/tmp file-tests/src/test/java file-tests/src/test/resources && cd file-tests/src/test/resources
                        python3 -c 'import sys, zipfile; jar = zipfile.ZipFile(sys.argv[1]); jar.extractall(members=[n for n in jar.namelist() if not n.endswith(".class")])' '%s'
                        """
                                .formatted(jars.resolve("commons-io-tests.jar")))
                .orFail();
        String output = Shell.run(LIMIT, folder, line(folder)).orFail();
        assertThat(count(output, "successful")).as(output).isGreaterThan(300);
    }

    private List<String> line(Path folder) throws IOException {
        String classPath =
                "src/test/resources:%1$s/commons-io-tests.jar:%1$s/commons-io.jar:%1$s/commons-lang3.jar";
        List<String> line = new ArrayList<>();
        line.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        line.addAll(List.of("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx256m"));
        line.add("-Djava.io.tmpdir=" + folder.resolve("tmp"));
        line.addAll(List.of("-jar", jars + "/junit-platform-console-standalone.jar", "execute"));
        line.addAll(List.of("--disable-banner", "--disable-ansi-colors", "--details=summary"));
        line.add("--class-path=" + classPath.formatted(jars));
        line.add("--scan-class-path=" + jars + "/commons-io-tests.jar");
        line.add("--include-classname=" + CLASSES.formatted(SECONDS > 5 ? MORE : ""));
        line.add("--exclude-methodname=.*#(" + String.join("|", leftOut()) + ")");
        return line;
    }

    private static List<String> leftOut() throws IOException {
        List<String> names = new ArrayList<>();
        Path list = Path.of("src/test/resources/file-tests-left-out.txt");
        for (String each : Files.readAllLines(list)) {
            if (!each.startsWith("#")) {
                String[] words = each.split(" ", 2);
                assertThat(words).as("name, reason: " + each).hasSize(2);
                names.add(words[0]);
            }
        }
        return names;
    }

    private static int count(String output, String what) {
        Matcher found = Pattern.compile("(\\d+) tests " + what).matcher(output);
        assertThat(found.find()).as(output).isTrue();
        return Integer.parseInt(found.group(1));
    }
}
