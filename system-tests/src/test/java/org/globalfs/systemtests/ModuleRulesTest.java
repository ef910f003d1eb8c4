package org.globalfs.systemtests;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import java.io.File;
import java.io.InputStream;
import java.io.OutputStream;
import java.security.SecureRandom;
import java.time.Clock;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/** Dependencies point one way, and the pure packages stay pure. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class ModuleRulesTest {
    private static final String OURS = "org.globalfs.";

    /** What each module may use besides itself. */
    private static final Map<String, List<String>> USES =
            Map.of(
                    "protocol", List.of(),
                    "multicast", List.of("protocol"),
                    "datastore", List.of("protocol"),
                    "replica", List.of("protocol", "multicast", "datastore"),
                    "oracle", List.of("protocol", "multicast", "datastore"),
                    "client", List.of("protocol", "datastore"),
                    "cli",
                            List.of(
                                    "protocol",
                                    "multicast",
                                    "datastore",
                                    "replica",
                                    "oracle",
                                    "client"));

    private static final String[] PURE = {
        "org.globalfs.multicast.core..",
        "org.globalfs.oracle.policy..",
        "org.globalfs.datastore.placement..",
        "org.globalfs.datastore.cache.policy..",
        "org.globalfs.protocol.posix..",
        "org.globalfs.replica.state.operations..",
        "org.globalfs.replica.state.model..",
    };

    private final JavaClasses classes =
            new ClassFileImporter()
                    .withImportOption(new ImportOption.DoNotIncludeTests())
                    .importPackages("org.globalfs");

    @Test
    void modulesDependOneWay() {
        USES.forEach((module, used) -> {
            String[] others =
                    USES.keySet().stream()
                            .filter(other -> !other.equals(module) && !used.contains(other))
                            .map(other -> OURS + other + "..")
                            .toArray(String[]::new);
            if (others.length > 0) {
                noClasses()
                        .that()
                        .resideInAPackage(OURS + module + "..")
                        .should()
                        .dependOnClassesThat()
                        .resideInAnyPackage(others)
                        .check(classes);
            }
        });
    }

    @Test
    void everyClassBelongsToAModule() {
        String[] modules =
                USES.keySet().stream().map(module -> OURS + module + "..").toArray(String[]::new);
        classes()
                .that()
                .resideInAPackage("org.globalfs..")
                .and()
                .doNotHaveSimpleName("package-info")
                .should()
                .resideInAnyPackage(modules)
                .orShould()
                .resideInAnyPackage(OURS + "bench..", OURS + "jepsen..", OURS + "systemtests..")
                .check(classes);
    }

    @Test
    void purePackagesTouchNothingOutside() {
        noClasses()
                .that()
                .resideInAnyPackage(PURE)
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage(
                        "java.net..",
                        "java.nio.file..",
                        "java.nio.channels..",
                        "java.util.concurrent..")
                .orShould()
                .dependOnClassesThat()
                .belongToAnyOf(
                        Thread.class,
                        File.class,
                        InputStream.class,
                        OutputStream.class,
                        Random.class,
                        SecureRandom.class,
                        Clock.class)
                .orShould()
                .callMethod(System.class, "currentTimeMillis")
                .orShould()
                .callMethod(System.class, "nanoTime")
                .orShould()
                .callMethod(Instant.class, "now")
                .orShould()
                .callMethod(Math.class, "random")
                .check(classes);
    }

    @Test
    void namesSayWhatAThingIs() {
        noClasses()
                .should()
                .haveNameMatching(".*(Manager|Helper|Util|Utils|Impl)")
                .check(classes.that(written()));
    }

    private static DescribedPredicate<JavaClass> written() {
        return DescribedPredicate.describe(
                "written by hand", c -> !c.getPackageName().startsWith(OURS + "protocol.wire"));
    }
}
