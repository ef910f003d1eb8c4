package org.globalfs.client.fuse;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeFalse;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Set;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;

/** Programs on a mounted in-memory file system; subclasses mount it differently. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class FuseMountTest {
    @TempDir static Path folder;

    private MountedProcess mount;

    /** Time-out of cached names and attributes in ms, of requests, further options. */
    String[] options() {
        return new String[] {"1000", "60000"};
    }

    /** What this binding cannot express. */
    Set<Feature> missing() {
        return Set.of();
    }

    void requires(Feature feature) {
        assumeFalse(
                missing().contains(feature), () -> "SKIPPED: this binding is without " + feature);
    }

    MountedProcess mount() {
        return mount;
    }

    @BeforeAll
    void start() throws Exception {
        assumeTrue(
                MountedProcess.possible(),
                "SKIPPED: no /dev/fuse, or neither root nor fusermount3");
        mount = MountedProcess.start(Files.createDirectory(folder.resolve("mnt")), options());
    }

    @AfterAll
    void stop() throws Exception {
        if (mount != null) {
            mount.close();
            assertThat(mount.process().exitValue()).isZero();
        }
    }

    @Test
    void namesAndLinks() throws Exception {
        mount.python(
                60,
                """
                import stat, errno
                os.mkdir('names'); os.chdir('names')
                def fails(code, f, *a):
                    try: f(*a)
                    except OSError as e: assert e.errno == code, (e, f, a); return
                    assert False, ('no error', f, a)
                open('a', 'w').write('one')
                os.link('a', 'b')
                assert os.stat('a').st_nlink == 2 and os.stat('a').st_ino == os.stat('b').st_ino
                os.unlink('a'); assert open('b').read() == 'one' and os.stat('b').st_nlink == 1
                fails(errno.ENOENT, os.stat, 'a')
                os.symlink('b', 's'); assert os.readlink('s') == 'b' and open('s').read() == 'one'
                os.symlink('x' * 4095, 'long'); assert os.readlink('long') == 'x' * 4095
                fails(errno.EEXIST, os.symlink, 'b', 's')
                fails(errno.EEXIST, os.mkdir, 's')
                os.mkdir('d'); fails(errno.ENOTDIR, os.rmdir, 'b'); fails(errno.EISDIR, os.unlink, 'd')
                os.rename('b', 'd/c'); assert open('d/c').read() == 'one'
                fails(errno.ENOTEMPTY, os.rmdir, 'd')
                fails(errno.EINVAL, os.rename, 'd', 'd/e')
                os.mkfifo('fifo', 0o600); assert stat.S_ISFIFO(os.stat('fifo').st_mode)
                import socket
                sock = socket.socket(socket.AF_UNIX); sock.bind('sock'); assert stat.S_ISSOCK(os.stat('sock').st_mode)
                # every byte that a name may hold
                odd = [bytes([b]) + b'-odd' for b in range(1, 256) if b != 0x2f] + [b'n' * 255]
                for n in odd: os.close(os.open(n, os.O_CREAT | os.O_WRONLY | os.O_EXCL))
                listed = set(os.listdir(b'.'))
                assert set(odd) <= listed
                for n in odd: os.unlink(n)
                fails(errno.ENAMETOOLONG, os.mkdir, 'n' * 256)
                assert os.stat('.').st_nlink == 3
                """);
    }

    @Test
    void namesAreExchangedOrNotReplaced() throws Exception {
        requires(Feature.RENAME_FLAGS);
        mount.python(
                30,
                """
                import errno, ctypes
                os.mkdir('flags'); os.chdir('flags')
                libc = ctypes.CDLL(None, use_errno=True)
                def rename2(a, b, flags):
                    return ctypes.get_errno() if libc.renameat2(-100, a, -100, b, flags) else 0
                open('x', 'w').write('x'); open('y', 'w').write('y')
                assert rename2(b'x', b'y', 1) == errno.EEXIST
                assert rename2(b'x', b'y', 2) == 0 and open('x').read() == 'y' and open('y').read() == 'x'
                assert rename2(b'x', b'z', 1) == 0 and sorted(os.listdir('.')) == ['y', 'z']
                assert rename2(b'y', b'z', 8) == errno.EINVAL
                assert rename2(b'y', b'z', 4) == 0 and open('z').read() == 'x'
                assert os.lstat('y').st_mode == 0o20000 and os.lstat('y').st_rdev == 0
                """);
    }

    @Test
    void birthIsKnown() throws Exception {
        requires(Feature.BIRTH_TIME);
        String birth = mount.shell(20, "touch born; stat -c %W born");
        assertThat(Long.parseLong(birth.trim())).isPositive();
    }

    @Test
    void holesAreFound() throws Exception {
        requires(Feature.HOLES);
        mount.python(
                30,
                """
                import errno
                fd = os.open('holes', os.O_CREAT | os.O_RDWR); os.pwrite(fd, b'end', 10 << 20)
                assert os.lseek(fd, 0, os.SEEK_DATA) == 10 << 20 and os.lseek(fd, 0, os.SEEK_HOLE) == 0
                try: os.lseek(fd, 11 << 20, os.SEEK_DATA); assert False
                except OSError as e: assert e.errno == errno.ENXIO
                """);
    }

    @Test
    void mappingsAreShared() throws Exception {
        requires(Feature.SHARED_MAPPINGS);
        mount.python(
                30,
                """
                import mmap
                fd = os.open('shared', os.O_CREAT | os.O_RDWR); os.ftruncate(fd, 8192)
                m = mmap.mmap(fd, 8192); m[5000:5005] = b'hello'; m.flush(); assert os.pread(fd, 5, 5000) == b'hello'
                """);
    }

    @Test
    void aRemovedFileHasAttributes() throws Exception {
        requires(Feature.ATTRIBUTES_WITHOUT_A_NAME);
        mount.python(
                30,
                """
                fd = os.open('removed', os.O_CREAT | os.O_RDWR); os.unlink('removed'); os.write(fd, b'still')
                os.fchmod(fd, 0o600); s = os.fstat(fd); assert (s.st_nlink, s.st_size, s.st_mode & 0o777) == (0, 5, 0o600)
                """);
    }

    @Test
    void attributes() throws Exception {
        mount.python(
                60,
                """
                import stat, errno
                os.umask(0o027)
                os.mkdir('attributes', 0o777); os.chdir('attributes')
                assert stat.S_IMODE(os.stat('.').st_mode) == 0o750
                fd = os.open('f', os.O_CREAT | os.O_RDWR, 0o666); assert stat.S_IMODE(os.fstat(fd).st_mode) == 0o640
                os.fchmod(fd, 0o751); assert stat.S_IMODE(os.fstat(fd).st_mode) == 0o751
                os.utime('f', ns=(1, 1234567890123456789)); s = os.stat('f')
                assert (s.st_atime_ns, s.st_mtime_ns) == (1, 1234567890123456789)
                os.utime('f', ns=(-1500000000, 4102444800999999999)); s = os.stat('f')
                assert (s.st_atime_ns, s.st_mtime_ns) == (-1500000000, 4102444800999999999)
                os.write(fd, b'12345'); os.ftruncate(fd, 3); assert os.pread(fd, 9, 0) == b'123'
                os.truncate('f', 10); assert os.pread(fd, 99, 0) == b'123' + bytes(7)
                if os.geteuid() == 0:
                    os.chown('f', 12, 34); s = os.stat('f'); assert (s.st_uid, s.st_gid) == (12, 34)
                    os.chmod('f', 0o4755); os.chown('f', 1, 2); assert os.stat('f').st_mode & 0o4000 == 0
                    os.chmod('f', 0o4755); os.write(fd, b'x'); assert os.stat('f').st_mode & 0o4000 == 0
                    os.mknod('null', stat.S_IFCHR | 0o666, os.makedev(259, 70000))
                    assert os.stat('null').st_rdev == os.makedev(259, 70000)
                v = os.statvfs('.'); assert v.f_namemax == 255 and v.f_blocks > 0
                try: os.setxattr('f', 'user.x', b'y'); assert False
                except OSError as e: assert e.errno == errno.EOPNOTSUPP
                try: os.open('.', os.O_TMPFILE | os.O_RDWR); assert False
                except OSError as e: assert e.errno == errno.EOPNOTSUPP
                """);
    }

    @Test
    void content() throws Exception {
        mount.python(
                90,
                """
                import errno, hashlib, mmap, random, fcntl
                os.mkdir('content'); os.chdir('content')
                # open, removed, still there
                fd = os.open('gone', os.O_CREAT | os.O_RDWR); os.unlink('gone'); os.write(fd, b'still')
                assert os.pread(fd, 9, 0) == b'still' and os.listdir('.') == []
                os.ftruncate(fd, 3); assert os.lseek(fd, 0, os.SEEK_END) == 3; os.close(fd)
                # append
                a = os.open('log', os.O_CREAT | os.O_WRONLY | os.O_APPEND); b = os.open('log', os.O_WRONLY | os.O_APPEND)
                for i in range(100): os.write(a if i % 2 else b, b'%03d\\n' % i)
                assert open('log').read() == ''.join('%03d\\n' % i for i in range(100))
                # holes
                fd = os.open('sparse', os.O_CREAT | os.O_RDWR); os.pwrite(fd, b'end', 10 << 20)
                assert os.pread(fd, 5, 5 << 20) == bytes(5) and os.lseek(fd, 10 << 20, os.SEEK_HOLE) == (10 << 20) + 3
                # large, odd-sized pieces, against a local copy of what was written
                rnd = random.Random(42); model = bytearray(); fd = os.open('large', os.O_CREAT | os.O_RDWR)
                while len(model) < 96 << 20:
                    piece = rnd.randbytes(rnd.choice([1, 4095, 65537, 1 << 20, 3 << 20]))
                    os.write(fd, piece) == len(piece) or exit('short write'); model += piece
                for _ in range(200):
                    at = rnd.randrange(len(model)); piece = rnd.randbytes(rnd.randrange(1, 200000))
                    piece = piece[:len(model) - at]; os.pwrite(fd, piece, at); model[at:at + len(piece)] = piece
                os.fsync(fd)
                want = hashlib.sha256(model).hexdigest()
                assert hashlib.sha256(open('large', 'rb').read()).hexdigest() == want
                os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
                assert hashlib.sha256(open('large', 'rb').read()).hexdigest() == want
                # private mapping
                fd = os.open('mapped', os.O_CREAT | os.O_RDWR); os.pwrite(fd, b'hello', 5000); os.ftruncate(fd, 8192)
                m = mmap.mmap(fd, 8192, mmap.MAP_PRIVATE); assert m[4999:5006] == b'\\0hello\\0'
                m[5000:5005] = b'mine!'; assert os.pread(fd, 5, 5000) == b'hello'
                # locks are the kernel's own
                fcntl.lockf(fd, fcntl.LOCK_EX | fcntl.LOCK_NB); fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
                # O_TRUNC and O_EXCL
                os.close(os.open('log', os.O_WRONLY | os.O_TRUNC)); assert os.stat('log').st_size == 0
                try: os.open('log', os.O_CREAT | os.O_EXCL | os.O_WRONLY); assert False
                except FileExistsError: pass
                """);
    }

    @Test
    void manyNamesInOneDirectory() throws Exception {
        mount.python(
                120,
                """
                os.mkdir('many')
                names = {'entry-%05d' % i for i in range(10000)}
                for n in names: os.close(os.open('many/' + n, os.O_CREAT | os.O_WRONLY))
                assert set(os.listdir('many')) == names
                sizes = [e.stat().st_size for e in os.scandir('many')]
                assert len(sizes) == 10000
                # names that stay are seen once, whatever is removed meanwhile
                seen = []
                for i, e in enumerate(os.scandir('many')):
                    seen.append(e.name)
                    n = 'entry-%05d' % (i * 2)
                    if i < 5000 and i % 10 == 0 and n != e.name: os.unlink('many/' + n)
                stay = set(os.listdir('many'))
                assert len(seen) == len(set(seen)) and stay <= set(seen)
                """);
        assertThat(
                        mount.shell(
                                        60,
                                        "ls -l many | wc -l; rm -r many; ls -a | grep -c many || true")
                                .trim())
                .endsWith("0");
    }

    @Test
    void manyProgramsAtOnce() throws Exception {
        mount.python(
                120,
                """
                import random, sys
                os.mkdir('parallel'); os.mkdir('parallel/shared')
                children = []
                for c in range(8):
                    pid = os.fork()
                    if pid: children.append(pid); continue
                    try:
                        rnd = random.Random(c); mine = 'parallel/p%d' % c; os.mkdir(mine); model = {}
                        for i in range(400):
                            k = rnd.randrange(30); p = '%s/%d' % (mine, k); what = rnd.randrange(5)
                            if what <= 1:
                                model[k] = b'%d-%d' % (c, i) * rnd.randrange(1, 3000); open(p, 'wb').write(model[k])
                            elif what == 2 and k in model: os.unlink(p); del model[k]
                            elif what == 3 and k in model:
                                n = rnd.randrange(30); os.rename(p, '%s/%d' % (mine, n)); v = model.pop(k); model[n] = v
                            else:
                                s = 'parallel/shared/%d-%d' % (c, i); open(s, 'w').close(); os.unlink(s)
                        assert {int(n) for n in os.listdir(mine)} == set(model)
                        for k, v in model.items(): assert open('%s/%d' % (mine, k), 'rb').read() == v
                    except BaseException:
                        import traceback; traceback.print_exc(); os._exit(1)
                    os._exit(0)
                assert all(os.waitpid(p, 0)[1] == 0 for p in children)
                assert os.listdir('parallel/shared') == []
                """);
    }

    @Test
    void buildsAProgram() throws Exception {
        assumeTrue(
                MountedProcess.run(
                                        20,
                                        "sh",
                                        "-c",
                                        "gcc --version && make --version && tar --version")
                                .exitCode()
                        == 0,
                "SKIPPED: no gcc, make or tar: apt-get install gcc make tar");
        String output =
                mount.shell(
                        120,
                        """
                        mkdir -p build/src; cd build/src
                        for i in $(seq 1 12); do echo "int f$i(int x) { return x + $i; }" > f$i.c; done
                        { for i in $(seq 1 12); do echo "int f$i(int);"; done
                          echo '#include <stdio.h>'; echo 'int main(void) { int x = 0;'
                          for i in $(seq 1 12); do echo "x = f$i(x);"; done; echo 'printf("sum %d\\n", x); return 0; }'; } > main.c
                        printf 'OBJ := $(patsubst %%.c,%%.o,$(wildcard *.c))\\nprog: $(OBJ)\\n\\tgcc -o $@ $^\\n%%.o: %%.c\\n\\tgcc -c $<\\n' > Makefile
                        make -s -j4; ./prog; make -s -q prog && echo up to date
                        cd ..; ln -s src/prog link; ln src/prog hard; tar cf all.tar src link hard
                        mkdir copy; tar xpf all.tar -C copy; diff -r src copy/src; ./copy/link; cmp hard copy/hard
                        cp -a src again; diff -r src again; mv again moved; ./moved/prog; rm -r src copy moved; ls
                        """);
        assertThat(output).contains("sum 78\nup to date\nsum 78\nsum 78\n").contains("all.tar");
    }

    @Test
    void callerIsKnown() throws Exception {
        assumeTrue(Mounter.privileged(), "SKIPPED: needs root");
        mount.shell(
                30,
                """
                mkdir -m 777 callers; mkdir -m 700 private
                setpriv --reuid 1234 --regid 2345 --groups 7,8 sh -c 'umask 0; echo x > callers/mine; mkdir callers/dir; touch callers/groups'
                test "$(stat -c %u:%g callers/mine)" = 1234:2345
                test "$(stat -c %u:%g callers/dir)" = 1234:2345
                test -e 'callers/[7, 8]'
                ! setpriv --reuid 1234 --regid 2345 --clear-groups ls private
                chmod 644 callers/mine
                ! setpriv --reuid 1235 --regid 2345 --clear-groups sh -c 'echo y >> callers/mine'
                """);
    }

    @Test
    void inodesAreFoundByNumber() throws Exception {
        requires(Feature.LASTING_NUMBERS);
        assumeTrue(Mounter.privileged(), "SKIPPED: needs root");
        mount.python(
                30,
                """
                import ctypes, struct
                open('by-number', 'w').write('found')
                libc = ctypes.CDLL(None, use_errno=True)
                buffer = ctypes.create_string_buffer(struct.pack('Ii', 128, 0) + bytes(128)); mid = ctypes.c_int()
                assert libc.name_to_handle_at(-100, b'by-number', buffer, ctypes.byref(mid), 0) == 0, ctypes.get_errno()
                open('/proc/sys/vm/drop_caches', 'w').write('2')
                top = os.open('.', os.O_RDONLY)
                fd = libc.open_by_handle_at(top, buffer, os.O_RDONLY)
                assert fd >= 0, ctypes.get_errno()
                assert os.read(fd, 9) == b'found'
                """);
    }

    @Test
    void nothingLeaks() throws Exception {
        assumeTrue(Mounter.privileged(), "SKIPPED: needs root");
        try (MountedProcess own =
                MountedProcess.start(Files.createDirectory(folder.resolve("leaks")), options())) {
            own.shell(
                    60,
                    """
                    for d in 1 2 3; do mkdir $d; for i in $(seq 1 50); do echo $i > $d/$i; ln $d/$i $d/l$i; done; done
                    ls -lR > /dev/null; cat */* > /dev/null; find . -type f -links 2 | wc -l
                    rm -r 1 2; rm 3/[0-9]*; rm -r 3
                    """);
            await().atMost(Duration.ofSeconds(60))
                    .untilAsserted(() -> {
                        own.shell(20, "echo 2 > /proc/sys/vm/drop_caches");
                        assertThat(own.counts())
                                .containsEntry("INODES", 1L)
                                .containsEntry("HANDLES", 0L);
                    });
        }
    }
}
