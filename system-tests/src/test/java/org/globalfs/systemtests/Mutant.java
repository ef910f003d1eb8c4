package org.globalfs.systemtests;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.StringWriter;
import java.net.URI;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import javax.tools.JavaCompiler;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;

/**
 * The program with a planted fault: some lines of its source are others, as {@code
 * src/test/mutants/NAME.txt} says, in this form, any number of times:
 *
 * <pre>
 * &lt;&lt;&lt;&lt; FILE
 * lines as they are, once in that file
 * ====
 * lines instead
 * &gt;&gt;&gt;&gt;
 * </pre>
 *
 * What comes before says what is wrong with it.
 */
record Mutant(String name, List<Change> changes) {
    private static final Path HOME = Path.of("..").toAbsolutePath().normalize();
    private static final Path FOLDER = Path.of("src", "test", "mutants");
    private static final String SOURCES = "src/main/java/";

    /** A file, and what in it is replaced by what. */
    record Change(String file, String before, String after) {
        String apply(String source) {
            assertThat(source.split(java.util.regex.Pattern.quote(before), -1))
                    .as(file + " contains once what is to be replaced:\n" + before)
                    .hasSize(2);
            return source.replace(before, after);
        }

        /** The name of the type that the file is about. */
        private String type() {
            return file.substring(file.indexOf(SOURCES) + SOURCES.length());
        }
    }

    static List<String> names() throws IOException {
        try (Stream<Path> files = Files.list(FOLDER)) {
            return files.map(file -> file.getFileName().toString())
                    .filter(name -> name.endsWith(".txt"))
                    .map(name -> name.substring(0, name.length() - ".txt".length()))
                    .sorted()
                    .toList();
        }
    }

    static Mutant read(String name) throws IOException {
        List<Change> changes = new ArrayList<>();
        String[] blocks = Files.readString(FOLDER.resolve(name + ".txt")).split("(?m)^<<<< ", -1);
        for (int i = 1; i < blocks.length; i++) {
            String block = blocks[i];
            int begin = block.indexOf('\n') + 1;
            int middle = block.indexOf("\n====\n", begin);
            int end = block.indexOf("\n>>>>", middle);
            assertThat(begin < middle && middle < end).as(name + ", change " + i).isTrue();
            changes.add(
                    new Change(
                            block.substring(0, begin).strip(),
                            block.substring(begin, middle + 1),
                            block.substring(middle + "\n====\n".length(), end + 1)));
        }
        assertThat(changes).as(name).isNotEmpty();
        return new Mutant(name, changes);
    }

    /** Each changed file by its path below its module's sources. */
    Map<String, String> sources() throws IOException {
        Map<String, String> sources = new java.util.LinkedHashMap<>();
        for (Change change : changes) {
            String source = sources.get(change.type());
            if (source == null) {
                source = Files.readString(HOME.resolve(change.file));
            }
            sources.put(change.type(), change.apply(source));
        }
        return sources;
    }

    /** A jar of the program with the changed classes, in an empty folder. */
    Path build(Path program, Path folder) throws IOException {
        Path classes = compile(program, folder);
        Path jar = Files.copy(program, folder.resolve("globalfs.jar"));
        try (FileSystem inside =
                        FileSystems.newFileSystem(URI.create("jar:" + jar.toUri()), Map.of());
                Stream<Path> all = Files.walk(classes)) {
            for (Path file : all.filter(Files::isRegularFile).toList()) {
                Path entry = inside.getPath("/" + classes.relativize(file));
                assertThat(Files.exists(entry) || file.toString().contains("$"))
                        .as(entry + " is in the program")
                        .isTrue();
                Files.copy(file, entry, StandardCopyOption.REPLACE_EXISTING);
            }
        }
        return jar;
    }

    /** The changed classes, in a folder of this one. */
    Path compile(Path program, Path folder) throws IOException {
        List<Path> files = new ArrayList<>();
        for (Map.Entry<String, String> source : sources().entrySet()) {
            Path file = folder.resolve("sources").resolve(source.getKey());
            Files.createDirectories(file.getParent());
            files.add(Files.writeString(file, source.getValue()));
        }
        Path classes = Files.createDirectories(folder.resolve("classes"));
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        StringWriter said = new StringWriter();
        try (StandardJavaFileManager manager = compiler.getStandardFileManager(null, null, null)) {
            boolean compiled =
                    compiler.getTask(
                                    said,
                                    manager,
                                    null,
                                    List.of(
                                            "-proc:none",
                                            "-nowarn",
                                            "--release",
                                            "25",
                                            "-cp",
                                            program.toString(),
                                            "-d",
                                            classes.toString()),
                                    null,
                                    manager.getJavaFileObjectsFromPaths(files))
                            .call();
            assertThat(compiled).as(name + " is compiled: " + said).isTrue();
        }
        return classes;
    }
}
