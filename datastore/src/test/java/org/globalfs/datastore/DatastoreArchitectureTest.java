package org.globalfs.datastore;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;

@AnalyzeClasses(
        packages = "org.globalfs.datastore",
        importOptions = ImportOption.DoNotIncludeTests.class)
class DatastoreArchitectureTest {
    @ArchTest
    static final ArchRule PLACEMENT_IS_PURE =
            classes()
                    .that()
                    .resideInAPackage("..datastore.placement..")
                    .should()
                    .onlyDependOnClassesThat()
                    .resideInAnyPackage(
                            "java.lang..",
                            "java.util",
                            "java.util.function",
                            "java.util.stream",
                            "java.nio.charset",
                            "org.jspecify..",
                            "org.globalfs.protocol.discovery",
                            "org.globalfs.datastore.placement");

    @ArchTest
    static final ArchRule CACHE_POLICY_IS_PURE =
            classes()
                    .that()
                    .resideInAPackage("..datastore.cache.policy..")
                    .should()
                    .onlyDependOnClassesThat()
                    .resideInAnyPackage(
                            "java.lang..",
                            "java.util",
                            "java.util.function",
                            "java.util.stream",
                            "org.jspecify..",
                            "org.globalfs.datastore.cache.policy");

    @ArchTest
    static final ArchRule NODE_AND_CLIENT_MEET_IN_THE_PROTOCOL_ONLY =
            noClasses()
                    .that()
                    .resideInAPackage("..datastore.node..")
                    .should()
                    .dependOnClassesThat()
                    .resideInAPackage("..datastore.client..");

    @ArchTest
    static final ArchRule CLIENT_KNOWS_NO_NODE =
            noClasses()
                    .that()
                    .resideInAPackage("..datastore.client..")
                    .should()
                    .dependOnClassesThat()
                    .resideInAPackage("..datastore.node..");

    @ArchTest
    static final ArchRule ERASURE_STANDS_ALONE =
            noClasses()
                    .that()
                    .resideInAPackage("..datastore.erasure..")
                    .should()
                    .dependOnClassesThat()
                    .resideInAnyPackage(
                            "..datastore.node..",
                            "..datastore.client..",
                            "..datastore.wire..",
                            "java.net..",
                            "java.nio.channels..");
}
