package org.globalfs.systemtests;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;

/**
 * What docs/fuse.md says of the binding through libfuse 2, on a mount beside a direct one of the
 * same tree.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@InSharedCluster
final class LibfuseIT {
    private static final Duration LIMIT = Duration.ofMinutes(2);

    @TempDir private Path scratch;
    private Path direct;
    private Path point;

    @BeforeAll
    void start(LocalCluster cluster) throws IOException {
        assumeTrue(
                Shell.bash(LIMIT, Path.of("/"), "PATH=$PATH:/sbin ldconfig -p | grep libfuse.so.2")
                        .ok(),
                "SKIPPED: no libfuse 2: install it with 'apt-get install libfuse2'");
        direct = cluster.mount("us-west");
        point = Files.createTempDirectory("globalfs-libfuse-");
        // Other users reach both mounts.
        Shell.bash(LIMIT, cluster.data(), "chmod 755 . mnt " + point).orFail();
        String config = cluster.data().resolve("config/mount-us-west.yaml").toString();
        run("mount", "--background", "--binding", "jnr", "--config", config, point.toString())
                .orFail();
        Shell.bash(LIMIT, direct, "mkdir libfuse").orFail();
        LocalCluster.await(
                LIMIT,
                () -> Shell.bash(LIMIT, point, "[ -d libfuse ]").ok(),
                () -> "a directory of the root does not appear");
    }

    @AfterAll
    void stop() {
        if (point != null) {
            run("umount", point.toString()).orFail();
            Shell.bash(LIMIT, direct, "rmdir " + point + "; rm -r libfuse").orFail();
        }
    }

    @Test
    void itAndADirectMountSeeEachOthersFilesAtOnce() {
        bash(
                """
                mkdir $direct/pair
                here=$direct/pair; there=$point/pair
                is() { [ "$2" = "$3" ] || { echo "round $i: $1 has '$2', not '$3'"; exit 1; }; }
                gone() { [ ! -e $1 ] || { echo "round $i: $1 is there"; stat $here/* $there/*; exit 1; }; }
                for i in $(seq 50); do
                    echo $i > $here/f; is $there "$(cat $there/f)" $i
                    echo -$i > $there/f; is $here "$(cat $here/f)" -$i
                    mv $there/f $there/g; gone $here/f
                    mv $here/g $here/f; gone $there/g
                done
                """);
        String before = run("stats", "--json", point.toString()).orFail();
        assertThat(before).contains("\"MKDIR\"", "\"bytesWritten\"");
        // The kernel does not wait for a close to be through, so neither for a lock to be free.
        bash(
                """
                here=$direct/pair; cd $point/pair
                mkdir tree; for i in $(seq 20); do head -c 70000 /dev/urandom > tree/$i; done
                tar cf tree.tar tree; mkdir copy; tar xf tree.tar -C copy; diff -r tree copy/tree
                if flock -n tree.tar flock -n $here/tree.tar true; then echo both have the lock; exit 1; fi
                flock -w 30 $here/tree.tar true; rm -r tree copy
                [ "$(ls $here)" = "$(printf 'f\\ntree.tar')" ]
                """);
    }

    @Test
    void attributesAreSetToldListedAndRemoved() throws IOException {
        rule("attributes");
    }

    @Test
    void spaceIsAllocatedAndGivenBack() throws IOException {
        rule("space");
    }

    /**
     * The kernel goes by the modes, the replicas by the lists: what a list denies is denied, what
     * it grants needs the mode as well.
     */
    @Test
    void listsAreKeptInheritedAndEnforced() {
        assumeTrue(Shell.bash(LIMIT, direct, "[ $UID = 0 ]").ok(), "SKIPPED: needs root");
        assumeTrue(
                Shell.bash(LIMIT, direct, "command -v setfacl setpriv").ok(),
                "SKIPPED: no setfacl or setpriv: apt-get install acl util-linux");
        bash(
                """
                as() { local id=$1; shift; setpriv --reuid="$id" --regid="$id" --clear-groups "$@"; }
                no() { if "$@" > /dev/null 2>&1; then echo "allowed: $*"; exit 1; fi; }
                is() { [ "$1" = "$2" ] || { echo "'$1' is not '$2'"; exit 1; }; }
                here=$direct/lists; mkdir -m 755 $point/lists; cd $point/lists
                echo text > f; chmod 644 f; setfacl -m u:1234:-,u:1235:rw f
                is "$(getfacl -cpn f)" "$(getfacl -cpn $here/f)"
                is "$(getfacl -cpn f | grep -c :123)" 2
                is "$(stat -c %a f) $(stat -c %a $here/f)" '664 664'
                no as 1234 cat f
                no as 1234 cat $here/f
                as 1235 cat f
                as 1235 sh -c "echo more >> $here/f"
                no as 1235 sh -c 'echo more >> f'
                chmod 666 f
                as 1235 sh -c 'echo more >> f'
                is "$(cat f | wc -l)" 3
                chmod 614 f
                is "$(getfacl -cpn f | grep mask)" mask::--x
                no as 1235 cat f
                setfacl -b f
                is "$(getfacl -cpn $here/f | grep -c :123 || true)" 0
                as 1234 cat f
                mkdir d; setfacl -d -m u:1234:rwx,o::- d
                (umask 077; echo x > d/f; mkdir d/sub; mkfifo d/p)
                is "$(stat -c %a d/f d/sub d/p | tr '\\n' ' ')" '660 770 660 '
                is "$(getfacl -cpn $here/d/sub)" "$(getfacl -cpn d/sub)"
                is "$(getfacl -cpn d/sub | grep -c :1234:rwx)" 2
                setfacl -k d; is "$(getfacl -cpn $here/d | grep -c default || true)" 0
                no setfacl -m u:1234:rw nothing
                no as 1234 setfacl -m u:1234:rwx f
                """);
    }

    private void rule(String rule) throws IOException {
        Path script = scratch.resolve("libfuse.py");
        try (InputStream in = LibfuseIT.class.getResourceAsStream("/libfuse.py")) {
            Files.write(script, Objects.requireNonNull(in).readAllBytes());
        }
        Shell.run(
                        LIMIT,
                        Path.of("/"),
                        List.of(
                                "python3",
                                script.toString(),
                                rule,
                                point.resolve("libfuse").toString(),
                                direct.resolve("libfuse").toString()))
                .orFail();
    }

    /** In any folder; {@code point} and {@code direct} are where both mounts have one directory. */
    private void bash(String script) {
        Shell.bash(
                        LIMIT,
                        scratch,
                        "point=%s/libfuse direct=%s/libfuse\n".formatted(point, direct) + script)
                .orFail();
    }

    private static Shell.Outcome run(String... arguments) {
        List<String> command = new ArrayList<>(LocalCluster.launcher());
        command.addAll(List.of(arguments));
        return Shell.run(LIMIT, Path.of("/"), command);
    }
}
