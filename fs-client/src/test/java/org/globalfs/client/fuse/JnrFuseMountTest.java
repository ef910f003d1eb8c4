package org.globalfs.client.fuse;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.util.EnumSet;
import java.util.Set;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** The same through libfuse 2, but for what it cannot express. */
class JnrFuseMountTest extends FuseMountTest {
    @Override
    String[] options() {
        return new String[] {"1000", "60000", "jnr"};
    }

    @Override
    Set<Feature> missing() {
        return EnumSet.allOf(Feature.class);
    }

    @BeforeAll
    @Override
    void start() throws Exception {
        assumeTrue(
                MountedProcess.hasLibFuse(),
                "SKIPPED: no libfuse 2: install it with 'apt-get install libfuse2'");
        super.start();
    }

    /** What a program sees instead, as docs/fuse.md says. */
    @Test
    void whatIsMissingIsRefusedAndNotFaked() throws Exception {
        mount().python(
                        30,
                        """
                        import ctypes, errno, mmap
                        os.mkdir('missing'); os.chdir('missing')
                        def fails(code, f, *a):
                            try: f(*a)
                            except OSError as e: assert e.errno == code, (e, f, a); return
                            assert False, ('no error', f, a)
                        libc = ctypes.CDLL(None, use_errno=True)
                        open('x', 'w').write('x'); open('y', 'w').write('y')
                        for target, flags in (b'z', 1), (b'y', 2):
                            assert libc.renameat2(-100, b'x', -100, target, flags) == -1 and ctypes.get_errno() == errno.EINVAL
                        fd = os.open('sparse', os.O_CREAT | os.O_RDWR); os.pwrite(fd, b'end', 1 << 20)
                        assert os.lseek(fd, 0, os.SEEK_DATA) == 0 and os.lseek(fd, 0, os.SEEK_HOLE) == (1 << 20) + 3
                        fails(errno.ENODEV, mmap.mmap, fd, 4096)
                        os.unlink('sparse')
                        fails(errno.ENOENT, os.fstat, fd); fails(errno.ENOENT, os.fchmod, fd, 0o600)
                        fails(errno.EOPNOTSUPP, os.open, '.', os.O_TMPFILE | os.O_RDWR)
                        """);
        assertThat(mount().shell(10, "touch born; stat -c %W born").trim()).isEqualTo("0");
    }

    /** The kernel has only writes of its own pages followed by an fsync. */
    @Test
    void whatIsWrittenWithSyncIsSynced() throws Exception {
        long before = mount().counts().get("SYNCS");
        mount().python(
                        30,
                        """
                        for flag in os.O_DSYNC, os.O_SYNC, 0:
                            fd = os.open('synced', os.O_CREAT | os.O_WRONLY | flag); os.write(fd, b'x'); os.close(fd)
                        """);
        assertThat(mount().counts()).containsEntry("SYNCS", before + 2);
    }

    /** A file handed to a process that could not have opened it, as by {@code su … < file}. */
    @Test
    void anOpenFileHasAttributesWhoeverAsks() throws Exception {
        assumeTrue(Mounter.privileged(), "SKIPPED: needs root");
        mount().shell(
                        20,
                        """
                        mkdir -m 700 locked; echo within > locked/f
                        test "$(setpriv --reuid 1234 --regid 2345 --clear-groups stat -L -c %s - < locked/f)" = 7
                        ! setpriv --reuid 1234 --regid 2345 --clear-groups stat locked/f
                        """);
    }
}
