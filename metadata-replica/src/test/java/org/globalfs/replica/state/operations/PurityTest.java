package org.globalfs.replica.state.operations;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import org.junit.jupiter.api.Test;

/** Replicas stay equal only while what they execute depends on nothing but the log. */
final class PurityTest {

    private final JavaClasses pure =
            new ClassFileImporter()
                    .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
                    .importPackages(
                            "org.globalfs.replica.state.model",
                            "org.globalfs.replica.state.operations");

    @Test
    void knowsNoFilesSocketsThreadsOrLogs() {
        classes()
                .should()
                .onlyDependOnClassesThat()
                .resideInAnyPackage(
                        "java.lang",
                        "java.lang.invoke",
                        "java.lang.runtime",
                        "java.nio",
                        "java.nio.charset",
                        "java.util",
                        "java.util.function",
                        "java.util.stream",
                        "org.jspecify.annotations",
                        "org.apache.thrift..",
                        "org.globalfs.protocol",
                        "org.globalfs.protocol.placement",
                        "org.globalfs.protocol.posix",
                        "org.globalfs.protocol.wire",
                        "org.globalfs.replica.state.model",
                        "org.globalfs.replica.state.operations")
                .check(pure);
    }

    @Test
    void knowsNoClockAndNoChance() {
        noClasses().should().dependOnClassesThat().belongToAnyOf(Thread.class).check(pure);
        noClasses().should().callMethod(System.class, "nanoTime").check(pure);
        noClasses().should().callMethod(System.class, "currentTimeMillis").check(pure);
        noClasses()
                .should()
                .dependOnClassesThat()
                .belongToAnyOf(java.util.Random.class, java.util.SplittableRandom.class)
                .check(pure);
    }
}
