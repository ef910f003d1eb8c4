package org.globalfs.systemtests;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.source.tree.CompilationUnitTree;
import com.sun.source.tree.LineMap;
import com.sun.source.tree.MethodInvocationTree;
import com.sun.source.tree.MethodTree;
import com.sun.source.util.JavacTask;
import com.sun.source.util.SourcePositions;
import com.sun.source.util.TreeScanner;
import com.sun.source.util.Trees;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import javax.tools.JavaCompiler;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;

/** Sources stay readable: their lengths, their packages, no sleeping in tests, no common pool. */
class SourceRulesTest {
    private static final int FILE_LINES = 1_000;
    private static final int METHOD_LINES = 70;

    private final Path root = Path.of("").toAbsolutePath().resolve("..").normalize();

    @Test
    void noFileIsLongerThanItMayBe() throws IOException {
        List<String> tooLong = new ArrayList<>();
        for (Path source : sources()) {
            long lines = Files.readAllLines(source).size();
            if (lines > FILE_LINES) {
                tooLong.add(root.relativize(source) + ": " + lines + " lines");
            }
        }
        assertThat(tooLong).isEmpty();
    }

    @Test
    void everyMethodFitsAScreen() throws IOException {
        List<String> tooLong = new ArrayList<>();
        scan((unit, lines, positions) ->
                new TreeScanner<Void, Void>() {
                    @Override
                    public Void visitMethod(MethodTree method, Void none) {
                        if (method.getBody() != null) {
                            long first =
                                    lines.getLineNumber(
                                            positions.getStartPosition(unit, method.getBody()));
                            long last =
                                    lines.getLineNumber(
                                            positions.getEndPosition(unit, method.getBody()));
                            if (last - first + 1 > METHOD_LINES) {
                                tooLong.add(
                                        at(unit, first)
                                                + " "
                                                + method.getName()
                                                + ": "
                                                + (last - first + 1)
                                                + " lines");
                            }
                        }
                        return super.visitMethod(method, null);
                    }
                });
        assertThat(tooLong).isEmpty();
    }

    /**
     * The common pool has one thread where there are two processors: what waits there holds up all
     * else, and what a test wants to race runs one after the other. A cache of Caffeine keeps house
     * there unless it is told of another executor.
     */
    @Test
    void nothingRunsInTheCommonPool() throws IOException {
        List<String> common = new ArrayList<>();
        scan((unit, lines, positions) ->
                new TreeScanner<Void, Void>() {
                    @Override
                    public Void visitMethodInvocation(MethodInvocationTree call, Void none) {
                        String select = call.getMethodSelect().toString();
                        String method = select.substring(select.lastIndexOf('.') + 1);
                        int arguments = call.getArguments().size();
                        boolean cache =
                                Set.of("build", "buildAsync").contains(method)
                                        && select.startsWith("Caffeine.newBuilder()");
                        if (Set.of("supplyAsync", "runAsync").contains(method) && arguments == 1
                                || Set.of("parallelStream", "commonPool").contains(method)
                                || (cache && !select.contains(".executor("))) {
                            long line = lines.getLineNumber(positions.getStartPosition(unit, call));
                            common.add(at(unit, line) + " " + method);
                        }
                        return super.visitMethodInvocation(call, null);
                    }
                });
        assertThat(common).isEmpty();
    }

    private String at(CompilationUnitTree unit, long line) {
        return root.relativize(Path.of(unit.getSourceFile().toUri())) + ":" + line;
    }

    /** What looks at a source's syntax tree. */
    private interface Look {
        TreeScanner<Void, Void> at(
                CompilationUnitTree unit, LineMap lines, SourcePositions positions);
    }

    private void scan(Look look) throws IOException {
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        try (StandardJavaFileManager files = compiler.getStandardFileManager(null, null, null)) {
            JavacTask task =
                    (JavacTask)
                            compiler.getTask(
                                    null,
                                    files,
                                    d -> {},
                                    List.of(),
                                    null,
                                    files.getJavaFileObjects(sources().toArray(Path[]::new)));
            SourcePositions positions = Trees.instance(task).getSourcePositions();
            for (CompilationUnitTree unit : task.parse()) {
                look.at(unit, unit.getLineMap(), positions).scan(unit, null);
            }
        }
    }

    @Test
    void everyPackageOfTheProductIsNullMarked() throws IOException {
        Set<Path> unmarked = new TreeSet<>();
        for (Path source : sources()) {
            if (!source.toString().contains("/src/main/java/")) {
                continue;
            }
            Path marker = source.resolveSibling("package-info.java");
            if (!Files.exists(marker) || !Files.readString(marker).contains("@NullMarked")) {
                unmarked.add(root.relativize(marker));
            }
        }
        assertThat(unmarked).isEmpty();
    }

    @Test
    void testsDoNotSleep() throws IOException {
        List<String> sleeping = new ArrayList<>();
        String call = "Thread" + ".sleep(";
        for (Path source : sources()) {
            if (source.toString().contains("/src/test/")
                    && Files.readString(source).contains(call)) {
                sleeping.add(root.relativize(source).toString());
            }
        }
        assertThat(sleeping).isEmpty();
    }

    private List<Path> sources() throws IOException {
        try (Stream<Path> modules = Files.list(root)) {
            List<Path> found = new ArrayList<>();
            for (Path module : modules.filter(m -> Files.exists(m.resolve("pom.xml"))).toList()) {
                Path src = module.resolve("src");
                if (Files.isDirectory(src)) {
                    try (Stream<Path> files = Files.walk(src)) {
                        files.filter(f -> f.toString().endsWith(".java")).forEach(found::add);
                    }
                }
            }
            assertThat(found)
                    .as("the sources of all modules, under " + root)
                    .hasSizeGreaterThan(50);
            return found;
        }
    }
}
