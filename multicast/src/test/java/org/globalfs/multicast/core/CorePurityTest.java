package org.globalfs.multicast.core;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import org.junit.jupiter.api.Test;

/**
 * The core and the merge must stay functions of their inputs: what the simulator shows then holds
 * in production.
 */
class CorePurityTest {
    private final JavaClasses core =
            new ClassFileImporter()
                    .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
                    .importPackages("org.globalfs.multicast.core", "org.globalfs.multicast.merge");

    @Test
    void knowsNoThreadsSocketsFilesOrLogs() {
        classes()
                .should()
                .onlyDependOnClassesThat()
                .resideInAnyPackage(
                        "java.lang",
                        "java.lang.invoke",
                        "java.lang.runtime",
                        "java.util",
                        "java.util.function",
                        "java.util.stream",
                        "org.jspecify.annotations",
                        "org.globalfs.protocol",
                        "org.globalfs.multicast",
                        "org.globalfs.multicast.core",
                        "org.globalfs.multicast.merge")
                .check(core);
    }

    @Test
    void knowsNoClockAndNoChance() {
        noClasses().should().dependOnClassesThat().belongToAnyOf(Thread.class).check(core);
        noClasses().should().callMethod(System.class, "nanoTime").check(core);
        noClasses().should().callMethod(System.class, "currentTimeMillis").check(core);
        noClasses()
                .should()
                .dependOnClassesThat()
                .belongToAnyOf(java.util.Random.class, java.util.SplittableRandom.class)
                .check(core);
    }
}
