package org.globalfs.jepsen;

import static org.assertj.core.api.Assertions.assertThat;

import clojure.java.api.Clojure;
import clojure.lang.ISeq;
import clojure.lang.Symbol;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The suite for Jepsen, which cannot be run here: that each of its files is Clojure, and that what
 * of it needs nothing but Clojure passes its own tests.
 */
@Timeout(300)
class SuiteTest {
    private static final Path SUITE = Path.of("suite");
    private static final List<Path> ROOTS = List.of(SUITE.resolve("src"), SUITE.resolve("test"));

    static Stream<Path> files() throws IOException {
        try (Stream<Path> all = Files.walk(SUITE)) {
            return all.filter(file -> file.toString().matches(".*\\.(clj|edn)")).toList().stream();
        }
    }

    @ParameterizedTest
    @MethodSource("files")
    void isReadByClojure(Path file) throws Exception {
        List<Object> forms = Clojures.forms(file);
        assertThat(forms).isNotEmpty();
        for (Path root : ROOTS) {
            if (file.startsWith(root)) {
                String path = root.relativize(file).toString();
                String expected = path.replaceAll("\\.clj$", "").replace('/', '.');
                assertThat(namespace(forms.getFirst())).isEqualTo(expected.replace('_', '-'));
            }
        }
    }

    private static String namespace(Object form) {
        assertThat(form).isInstanceOf(ISeq.class);
        ISeq ns = (ISeq) form;
        assertThat(ns.first()).isEqualTo(Symbol.intern("ns"));
        return String.valueOf(ns.next().first());
    }

    @Test
    void thereAreFiles() throws Exception {
        assertThat(files()).hasSizeGreaterThan(10);
    }

    @ParameterizedTest
    @ValueSource(strings = {"globalfs.suite.golden-test", "globalfs.suite.plans-test"})
    void passesItsOwnTests(String namespace) {
        System.setProperty("globalfs.golden", Path.of("check", "golden").toString());
        Clojure.var("clojure.core", "require").invoke(Clojure.read(namespace));
        Map<?, ?> result =
                (Map<?, ?>)
                        Clojures.function("clojure.test", "run-tests")
                                .invoke(Clojure.read(namespace));
        System.out.println(namespace + ": " + result);
        assertThat(result.get(Clojures.keyword("pass"))).isNotEqualTo(0L);
        assertThat(result.get(Clojures.keyword("fail"))).isEqualTo(0L);
        assertThat(result.get(Clojures.keyword("error"))).isEqualTo(0L);
    }
}
