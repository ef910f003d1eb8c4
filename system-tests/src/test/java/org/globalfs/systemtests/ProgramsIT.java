package org.globalfs.systemtests;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;

/**
 * Programs that people run every day, on the mount of one region. {@code
 * -Dglobalfs.programs.seconds=30} makes pgbench run for so long, and runs more of Python's tests.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@InSharedCluster
final class ProgramsIT {
    private static final Duration LIMIT = Duration.ofMinutes(4);
    private static final int SECONDS = Integer.getInteger("globalfs.programs.seconds", 5);

    private LocalCluster cluster;
    @TempDir private Path scratch;

    @BeforeAll
    void start(LocalCluster shared) {
        cluster = shared;
        // PostgreSQL runs as another user.
        Shell.bash(LIMIT, cluster.data(), "chmod 755 . mnt").orFail();
        Shell.bash(LIMIT, cluster.mount("us-west"), "mkdir work").orFail();
    }

    @Test
    void git() {
        needs("git");
        run(
                """
                export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null
                git init -q repo && cd repo
                for i in 1 2 3 4 5; do mkdir -p d$i; seq 1 $((i * 1000)) > d$i/f; git add -A; git commit -qm "c$i"; done
                git checkout -qb side HEAD~2 && echo x > y && git add y && git commit -qm side && git merge -q -m merged - || git merge -q -m merged master || git merge -q -m merged main
                git gc -q && git fsck --full --strict
                cd .. && git clone -q repo copy && diff -r --exclude=.git repo copy
                """);
    }

    @Test
    void rsync() {
        needs("rsync");
        run(
                """
                mkdir from && cd from && for i in $(seq 1 30); do head -c $((i * 3001)) /dev/urandom > f$i; done && ln f1 hard && ln -s f2 soft && chmod 640 f3 && mkdir -p a/b/c && touch -d 2001-02-03 a/b/c/old && cd ..
                rsync -aH from/ to/ && rsync -aH --checksum --itemize-changes from/ to/ > changes && [ ! -s changes ] && diff -r from to && [ "$(stat -c %h to/hard)" = 2 ]
                """);
    }

    @Test
    void sqlite() {
        run(
                """
                cat > s.py <<'PY'
                import sqlite3
                for mode in ('delete', 'truncate', 'persist'):
                    c = sqlite3.connect('db.' + mode); c.execute('pragma journal_mode=' + mode)
                    c.execute('create table t(k integer primary key, v text)')
                    for i in range(30):
                        with c: c.executemany('insert into t(v) values(?)', [('v%d' % (i * 50 + j) * 20,) for j in range(50)])
                    with c: c.execute('delete from t where k % 3 = 0')
                    c.execute('vacuum'); c.close()
                    c = sqlite3.connect('db.' + mode)
                    assert c.execute('pragma integrity_check').fetchone() == ('ok',)
                    assert c.execute('select count(*) from t').fetchone() == (1000,), c.execute('select count(*) from t').fetchone()
                PY
                python3 s.py
                """);
    }

    @Test
    void editorsAndShells() {
        run(
                """
                mkdir ed && cd ed && printf 'a\\none\\ntwo\\n.\\nw file\\nq\\n' | { command -v ed >/dev/null && ed -s || { printf 'one\\ntwo\\n' > file; }; }
                if command -v vim > /dev/null; then
                    printf 'a\\nb\\n' > v && vim -N -u NONE -i NONE -es -c 'set swapfile writebackup backupcopy=no' -c '%s/b/c/' -c wq v
                    [ "$(cat v)" = "$(printf 'a\\nc')" ] && [ ! -e .v.swp ] && [ ! -e v~ ]
                fi
                sed -i s/one/three/ file && [ "$(head -1 file)" = three ]
                exec 5<>open && rm open && echo gone >&5 && [ "$(cat /proc/$$/fd/5)" = gone ] && exec 5>&-
                truncate -s 10M sparse && [ "$(stat -c %b sparse)" = 0 ] && printf x | dd of=sparse bs=1 seek=5000000 conv=notrunc status=none && [ "$(stat -c %s sparse)" = 10485760 ]
                [ "$(od -An -tx1 -j4999999 -N3 sparse | tr -d ' ')" = 007800 ]
                mkfifo p && (echo through > p &) && [ "$(cat p)" = through ]
                n=$(printf 'caf\\351\\001') && : > "$n" && [ -f "$n" ] && rm "$n"
                seq 1 300 | xargs -P4 -I{} sh -c 'echo {} > many{}' && [ "$(cat many* | wc -l)" = 300 ] && [ "$(ls | grep -c many)" = 300 ]
                find . -name 'many*' -delete && [ "$(ls | grep -c many || true)" = 0 ]
                ln file other && chmod 600 other && [ "$(stat -c %a%h file)" = 6002 ] && touch -d '2020-01-01 00:00:00.123456789' file && [ "$(stat -c %y other | cut -c1-29)" = '2020-01-01 00:00:00.123456789' ]
                df . > /dev/null
                """);
    }

    @Test
    void packages() {
        needs("dpkg-deb");
        run(
                """
                mkdir -p p/DEBIAN p/usr/share/doc/x p/usr/bin && printf 'Package: x\nVersion: 1\nArchitecture: all\nMaintainer: a <a@b>\nDescription: x\n' > p/DEBIAN/control
                seq 1 20000 > p/usr/share/doc/x/numbers && printf '#!/bin/sh\necho ran\n' > p/usr/bin/x && chmod 4755 p/usr/bin/x && ln -s x p/usr/bin/y && ln p/usr/bin/x p/usr/bin/z
                dpkg-deb --build --root-owner-group p x.deb && dpkg-deb -x x.deb out && dpkg-deb -e x.deb out/DEBIAN && diff -r p out
                [ "$(stat -c %a%h out/usr/bin/x)" = 47552 ] && [ "$(readlink out/usr/bin/y)" = x ] && [ "$(sh out/usr/bin/y)" = ran ]
                """);
    }

    /** PostgreSQL's data folder, a crash of the server included. */
    @Test
    void postgresql() {
        String bin =
                Shell.bash(LIMIT, scratch, "ls -d /usr/lib/postgresql/*/bin | tail -1")
                        .output()
                        .strip();
        assumeTrue(
                Files.isExecutable(Path.of(bin, "pgbench")),
                "SKIPPED: no PostgreSQL: apt-get install postgresql");
        run(
                """
                bin=%s sockets=$(mktemp -d) && trap 'kill -9 $(head -1 pg/postmaster.pid 2> /dev/null) 2> /dev/null || true; rm -rf "$sockets"' EXIT
                chown postgres "$sockets" && mkdir -m 700 pg && chown postgres pg
                as() { setpriv --reuid=postgres --regid=postgres --init-groups env -u PGDATA PATH="$bin:$PATH" "$@"; }
                start() { as pg_ctl -D "$PWD/pg" -s -w -t 60 -l "$PWD/pg/log" -o "-k $sockets -c listen_addresses=" start; }
                as initdb -D "$PWD/pg" -A trust > /dev/null && start
                as pgbench -h "$sockets" -i -q -s 1 postgres 2> /dev/null && as pgbench -h "$sockets" -c 4 -T %d postgres
                kill -9 $(head -1 pg/postmaster.pid)
                for i in $(seq 50); do start 2> again && break; sleep 0.2; done || { cat again; exit 1; }
                [ "$(as psql -h "$sockets" -Atc 'select sum(abalance) = (select sum(delta) from pgbench_history) from pgbench_accounts' postgres)" = t ]
                as psql -h "$sockets" -qc 'create extension amcheck' postgres && as pg_amcheck -h "$sockets" --heapallindexed postgres && as pg_ctl -D "$PWD/pg" -s -w stop
                """
                        .formatted(bin, SECONDS));
    }

    /** Python's own tests of what it does with files, in a folder of the mount. */
    @Test
    void pythonsOwnTests() {
        assumeTrue(
                Shell.bash(LIMIT, scratch, "python3 -c 'import test.test_os'").ok(),
                "SKIPPED: no tests of Python's: apt-get install libpython3-testsuite");
        String more =
                SECONDS > 5 ? "test_shutil test_glob test_mmap test_fileio test_dbm_dumb" : "";
        run(
                "mkdir python && python3 -m test --tempdir=$PWD/python test_tempfile test_posix test_fcntl test_filecmp test_genericpath "
                        + more);
    }

    private void run(String script) {
        Shell.bash(LIMIT, work(), script).orFail();
    }

    private Path work() {
        return cluster.mount("us-west").resolve("work");
    }

    private static void needs(String program) {
        assumeTrue(
                Shell.run(Duration.ofSeconds(10), Path.of("/"), List.of("which", program)).ok(),
                "SKIPPED: " + program + " is not installed (./globalfs test does so as root)");
    }
}
