package org.globalfs.systemtests;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/**
 * POSIX as programs see it: the suite pjdfstest in a regional partition, in partition 0 and across
 * the border between them; extended attributes and access control lists by the tools that use them.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@InSharedCluster
final class PosixIT {
    private static final Duration LIMIT = Duration.ofMinutes(4);
    private static final Duration SUITE_LIMIT = Duration.ofMinutes(8);
    private static final int CASES = 398;
    private static final Path RESOURCES = Path.of("src/test/resources").toAbsolutePath();
    private static final Pattern RESULT = Pattern.compile("^(\\S+::\\S+) +(ok|FAILED|skipped)$");

    private LocalCluster cluster;

    @BeforeAll
    void start(LocalCluster shared) {
        assumeTrue(
                Shell.run(Duration.ofSeconds(10), Path.of("/"), List.of("id", "-u"))
                        .output()
                        .startsWith("0\n"),
                "SKIPPED: other users' permissions are root's to test");
        cluster = shared;
        Shell.bash(LIMIT, cluster.data(), "chmod 755 . mnt").orFail();
        west(
                """
                mkdir r
                setfattr -n user.globalfs.placement -v inherit .
                mkdir g b
                setfattr -n user.globalfs.placement -v creator .
                setfattr -n user.globalfs.placement -v inherit,creator b
                """);
        cluster.awaitSeen("r", "g", "b");
    }

    private String west(String script) {
        return Shell.bash(LIMIT, cluster.mount("us-west"), script).orFail();
    }

    @Test
    void suiteInARegion() throws IOException {
        suite("r");
    }

    @Test
    void suiteInPartitionZero() throws IOException {
        suite("g");
    }

    /** Files lie in partition 0 here, directories in the region. */
    @Test
    void suiteAcrossPartitions() throws IOException {
        suite("b");
    }

    private void suite(String folder) throws IOException {
        Shell.Outcome installed =
                Shell.run(
                        Duration.ofMinutes(1),
                        Path.of(".."),
                        List.of("scripts/crate", "pjdfstest", "0.2.2", "--cached"));
        assumeTrue(
                installed.ok(),
                "SKIPPED: no pjdfstest; ./globalfs test installs it where cargo is");
        String program = installed.output().strip();
        Path tools = Files.createTempDirectory("p");
        Map<String, String> results = new TreeMap<>();
        try {
            // mount(8) would look for a helper of that name to remount with.
            // A short way to the mount, because the path of a socket has 107 bytes at most.
            Shell.bash(
                            LIMIT,
                            tools,
                            """
                            chmod 755 . && mkdir bin && printf '#!/bin/sh\nexec /bin/mount -i "$@"\n' > bin/mount && chmod 755 bin/mount
                            ln -s %s w
                            sed 's/^allow_remount = .*/allow_remount = false/' %s > all.toml
                            """
                                    .formatted(
                                            cluster.mount("us-west").resolve(folder),
                                            RESOURCES.resolve("pjdfstest.toml")))
                    .orFail();
            String command = program + " -s " + tools;
            run(results, tools, command + " -c all.toml -p " + tools.resolve("w"));
            // By themselves: the others leave a file open, and the mount busy.
            run(
                    results,
                    tools,
                    "PATH=%s:$PATH %s -c %s -p %s erofs"
                            .formatted(
                                    tools.resolve("bin"),
                                    command,
                                    RESOURCES.resolve("pjdfstest.toml"),
                                    cluster.mount("us-west").resolve(folder)));
        } finally {
            Shell.bash(LIMIT, Path.of("/"), "rm -rf " + tools).orFail();
        }
        assertThat(results).hasSize(CASES);
        known().forEach((name, allowed) ->
                assertThat(results.remove(name))
                        .as(name)
                        .isIn((Object[]) allowed.split("\\|", -1)));
        results.values().removeIf("ok"::equals);
        assertThat(results).isEmpty();
    }

    private static void run(Map<String, String> results, Path folder, String command) {
        Shell.Outcome outcome = Shell.bash(SUITE_LIMIT, folder, command);
        for (String line : outcome.output().split("\n", -1)) {
            Matcher matcher = RESULT.matcher(line);
            if (matcher.matches()) {
                results.put(matcher.group(1), matcher.group(2));
            }
        }
        int cause = outcome.output().indexOf("FAILED\n");
        if (cause >= 0) {
            System.err.println(outcome.output().substring(cause - Math.min(cause, 100)));
        }
    }

    private static Map<String, String> known() throws IOException {
        Map<String, String> known = new TreeMap<>();
        for (String line : Files.readAllLines(RESOURCES.resolve("pjdfstest-known.txt"))) {
            if (!line.isEmpty() && !line.startsWith("#")) {
                String[] words = line.split(" ", 3);
                assertThat(words).as("name, result, reason: " + line).hasSize(3);
                known.put(words[0], words[1]);
            }
        }
        return known;
    }

    /**
     * A tree with every kind of attribute, through tar and back, and as the other region sees it.
     */
    @Test
    void tarKeepsAttributesAndLists() throws IOException {
        needs("setfacl", "setfattr", "setcap", "tar");
        for (String folder : List.of("r", "g", "b")) {
            west(
                    """
                    cd %s && mkdir tar && cd tar && mkdir -p from/sub from/restricted
                    echo text > from/file && ln -s file from/link && echo more > from/sub/file && cp /bin/true from/program
                    setfattr -n user.note -v 'a note' from/file && setfattr -n user.empty from/file
                    head -c 60000 /dev/urandom | od -An -tx1 -v | tr -d ' \\n' | head -c 60000 > big && setfattr -n user.big -v "$(cat big)" from/sub/file
                    setfattr -n user.dir -v d from/sub && setfattr -n trusted.t -v t from/sub && setfattr -h -n trusted.l -v l from/link
                    setcap cap_net_raw+ep from/program
                    setfacl -m u:daemon:rw,g:nogroup:r from/file && setfacl -m u:daemon:rwx,d:u:daemon:rwx,d:g:nogroup:rx,d:o:- from/restricted
                    echo inherited > from/restricted/file
                    tar --xattrs --xattrs-include='*' --acls -cf all.tar from
                    mkdir to && tar --xattrs --xattrs-include='*' --acls -C to -xpf all.tar
                    list() { (cd "$1" && find . | sort | while read -r f; do getfattr -h -d -m - "$f"; [ -L "$f" ] || getfacl -p "$f"; done); }
                    list from > from.list && list to/from > to.list && diff from.list to.list && [ "$(grep -c = from.list)" -ge 10 ]
                    [ "$(getcap to/from/program)" = 'to/from/program cap_net_raw=ep' ]
                    """
                            .formatted(folder));
            cluster.awaitSeen(folder + "/tar/to.list");
            Shell.bash(
                            LIMIT,
                            cluster.mount("us-east").resolve(folder).resolve("tar"),
                            """
                            list() { (cd "$1" && find . | sort | while read -r f; do getfattr -h -d -m - "$f"; [ -L "$f" ] || getfacl -p "$f"; done); }
                            for i in $(seq 100); do list from > /tmp/globalfs-posix.$$ 2>&1 && cmp -s /tmp/globalfs-posix.$$ to.list && break; sleep 0.1; done
                            diff /tmp/globalfs-posix.$$ to.list; rm /tmp/globalfs-posix.$$
                            """)
                    .orFail();
        }
    }

    /** Shell functions: run as another user (of some groups), and be refused. */
    private static final String USERS =
            """
            as() { local id=$1; shift; setpriv --reuid="$id" --regid="$id" --groups="${groups:-$id}" "$@"; }
            no() { if "$@" > /dev/null 2>&1; then echo "allowed: $*"; exit 1; fi; }
            is() { [ "$1" = "$2" ] || { echo "$1 is not $2"; exit 1; }; }
            mode() { stat -c %a "$1"; }
            """;

    /** Verdicts for users that a list names, and what chmod, umask and writes do. */
    @Test
    void listsAreEnforced() {
        needs("setfacl", "setpriv");
        west(
                USERS
                        + """
                        cd r && mkdir lists && cd lists
                        echo secret > f
                        chmod 600 f
                        setfacl -m u:1234:rw,g:77:r f
                        as 1234 cat f
                        as 1234 sh -c 'echo more >> f'
                        no as 1235 cat f
                        groups=77 as 1235 cat f
                        groups=77 no as 1235 sh -c 'echo x >> f'
                        as 1234 test -w f
                        no as 1235 test -r f
                        no as 1234 test -x f
                        chmod 640 f
                        as 1234 cat f
                        no as 1234 sh -c 'echo x >> f'
                        chmod 600 f
                        no as 1234 cat f
                        is "$(mode f)" 600
                        setfacl -m m::rw f
                        is "$(mode f)" 660
                        setfacl -b f
                        is "$(mode f)" 600
                        no getfattr -n system.posix_acl_access f
                        """);
    }

    @Test
    void listsAreInheritedInPlaceOfTheUmask() {
        needs("setfacl", "setpriv");
        for (String folder : List.of("r", "g", "b")) {
            west(
                    USERS
                            + """
                            cd %s && mkdir inherit && cd inherit
                            mkdir d
                            setfacl -d -m u:1234:rwx,o::- d
                            (umask 077; echo x > d/f; mkdir d/sub; mkfifo d/p)
                            is "$(mode d/f) $(mode d/sub) $(mode d/p)" '660 770 660'
                            as 1234 touch d/sub/mine
                            no as 1235 ls d/sub
                            (umask 027; touch plain; mkdir plaindir; mkfifo pipe)
                            is "$(mode plain) $(mode plaindir) $(mode pipe)" '640 750 640'
                            """
                                    .formatted(folder));
        }
    }

    @Test
    void attributesAreForThoseWhoMayChangeThem() {
        needs("setfacl", "setpriv");
        west(
                USERS
                        + """
                        cd r && mkdir names && cd names
                        echo x > plain
                        no as 1234 setfacl -m u:1234:rw plain
                        for name in user.a trusted.a security.a; do no as 1234 setfattr -n $name -v b plain; done
                        no setfattr -n unknown.a -v b plain
                        mkdir sticky
                        chmod 1777 sticky
                        no as 1234 setfattr -n user.a -v b sticky
                        ln -s plain l
                        no setfattr -h -n user.a -v b l
                        setfattr -n trusted.a -v b plain
                        is "$(as 1234 getfattr -m - plain)" ''
                        setfattr -n user.a -v before plain
                        before=$(stat -c %Z.%z plain)
                        setfattr -n user.a -v after plain
                        [ "$(stat -c %Z.%z plain)" != "$before" ]
                        mv plain moved
                        is "$(getfattr --only-values -n user.a moved)" after
                        setcap cap_net_raw+ep moved
                        chmod 666 moved
                        as 1234 sh -c 'echo y >> moved'
                        is "$(getcap moved)" ''
                        """);
    }

    /** One region takes a permission away; the other's kernel must not go on granting it. */
    @Test
    void listsAreRecalledFromOtherMounts() {
        needs("setfacl", "setpriv");
        west(
                USERS
                        + """
                        cd r && echo x > shared && chmod 600 shared
                        other=%s
                        for i in 1 2 3 4 5; do
                          setfacl -m u:1234:r shared
                          as 1234 cat "$other/shared" > /dev/null
                          as 1234 cat shared > /dev/null
                          setfacl -b shared
                          no as 1234 cat "$other/shared"
                          no as 1234 cat shared
                        done
                        """
                                .formatted(cluster.mount("us-east").resolve("r")));
    }

    private static void needs(String... programs) {
        for (String program : programs) {
            assumeTrue(
                    Shell.run(Duration.ofSeconds(10), Path.of("/"), List.of("which", program)).ok(),
                    "SKIPPED: " + program + " is not installed (./globalfs test does so as root)");
        }
    }
}
