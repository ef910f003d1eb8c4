package org.globalfs.systemtests;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/** Programs that people run every day, on the mount of one region. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class ProgramsIT {
    private static final Duration LIMIT = Duration.ofMinutes(4);
    private LocalCluster cluster;

    @BeforeAll
    void start() throws IOException {
        cluster = LocalCluster.start("programs");
        Shell.bash(LIMIT, cluster.mount("us-west"), "mkdir work").orFail();
    }

    @AfterAll
    void stop() throws IOException {
        if (cluster != null) {
            cluster.close();
        }
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

    private void run(String script) {
        Shell.bash(LIMIT, cluster.mount("us-west").resolve("work"), script).orFail();
    }

    private static void needs(String program) {
        assumeTrue(
                Shell.run(Duration.ofSeconds(10), Path.of("/"), java.util.List.of("which", program))
                        .ok(),
                "SKIPPED: " + program + " is not installed");
    }
}
