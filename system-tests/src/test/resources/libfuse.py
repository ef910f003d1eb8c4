"""What works through libfuse 2: RULE, a directory on its mount, the same directory on a direct one."""
import ctypes
import errno
import os
import sys

XATTR_CREATE, XATTR_REPLACE = 1, 2
KEEP_SIZE, PUNCH_HOLE, COLLAPSE, ZERO_RANGE = 1, 2, 8, 16
MIB = 1 << 20

libc = ctypes.CDLL(None, use_errno=True)


def fails(code, call, *arguments):
    try:
        call(*arguments)
    except OSError as e:
        assert e.errno == code, (e, call, arguments)
        return
    raise AssertionError(('no error', call, arguments))


def fallocate(fd, mode, offset, length):
    if libc.fallocate(fd, mode, ctypes.c_long(offset), ctypes.c_long(length)):
        raise OSError(ctypes.get_errno(), 'fallocate')


def as_user(uid, task):
    """Runs `task` as another user, in a process of its own; it must not fail."""
    child = os.fork()
    if child == 0:
        os.setgroups([])
        os.setgid(uid)
        os.setuid(uid)
        try:
            task()
            os._exit(0)
        except BaseException as e:
            print(repr(e), file=sys.stderr)
            os._exit(1)
    assert os.waitpid(child, 0)[1] == 0


def attributes(here, there):
    os.chdir(here)
    other = there + '/attributes'
    os.mkdir('attributes')
    os.chdir('attributes')
    open('f', 'w').close()
    os.mkdir('d')
    os.symlink('f', 'l')
    # of every name space, on every kind that has some, of any bytes
    name = b'user.' + b'\xff\x80' * 125
    values = {b'user.empty': b'', name: bytes(range(256)), b'user.long': os.urandom(64 << 10), b'trusted.t': b't', b'security.s': b's'}
    for target in 'f', 'd':
        for key, value in values.items():
            os.setxattr(target, key, value)
            assert os.getxattr(target, key) == value, key
            assert os.getxattr(other + '/' + target, key) == value, key
        for seen in target, other + '/' + target:
            assert set(values) <= {os.fsencode(each) for each in os.listxattr(seen)}, os.listxattr(seen)
    os.setxattr('l', 'trusted.l', b'link', follow_symlinks=False)
    assert os.getxattr('l', 'trusted.l', follow_symlinks=False) == b'link'
    assert 'trusted.l' not in os.listxattr('f')
    fails(errno.EPERM, lambda: os.setxattr('l', 'user.l', b'x', follow_symlinks=False))
    # what the other mount changes counts at once
    os.setxattr(other + '/f', 'user.empty', b'full')
    assert os.getxattr('f', 'user.empty') == b'full'
    os.removexattr(other + '/f', 'user.empty')
    fails(errno.ENODATA, os.getxattr, 'f', 'user.empty')
    # flags, and errors
    fails(errno.EEXIST, os.setxattr, 'f', 'user.long', b'x', XATTR_CREATE)
    fails(errno.ENODATA, os.setxattr, 'f', 'user.new', b'x', XATTR_REPLACE)
    os.setxattr('f', 'user.new', b'one', XATTR_CREATE)
    os.setxattr('f', 'user.new', b'two', XATTR_REPLACE)
    assert os.getxattr(other + '/f', 'user.new') == b'two'
    room = ctypes.create_string_buffer(8)
    assert libc.getxattr(b'f', b'user.long', room, 8) == -1 and ctypes.get_errno() == errno.ERANGE
    assert libc.getxattr(b'f', b'user.long', None, 0) == 64 << 10
    assert libc.listxattr(b'f', room, 8) == -1 and ctypes.get_errno() == errno.ERANGE
    fails(errno.EOPNOTSUPP, os.setxattr, 'f', 'unknown.a', b'x')
    fails(errno.E2BIG, os.setxattr, 'f', 'user.huge', b'x' * ((64 << 10) + 1))
    fails(errno.ERANGE, os.setxattr, 'f', b'user.' + b'n' * 251, b'x')
    os.removexattr('f', 'user.new')
    fails(errno.ENODATA, os.removexattr, 'f', 'user.new')
    fails(errno.ENODATA, os.getxattr, other + '/f', 'user.new')
    # through an open file
    with open('f', 'r+') as file:
        os.setxattr(file.fileno(), 'user.open', b'o')
        assert os.getxattr(file.fileno(), 'user.open') == b'o'
    os.rename('f', 'g')
    assert os.getxattr('g', 'user.open') == b'o' and os.getxattr(other + '/g', name) == values[name]

    def stranger():
        fails(errno.EACCES, os.setxattr, 'g', 'user.mine', b'x')
        fails(errno.EPERM, os.setxattr, 'g', 'trusted.t', b'x')
        fails(errno.EPERM, os.setxattr, 'g', 'security.s', b'x')
        fails(errno.ENODATA, os.getxattr, 'g', 'trusted.t')
        assert 'trusted.t' not in os.listxattr('g') and os.getxattr('g', 'user.open') == b'o'

    if os.getuid() == 0:
        as_user(1234, stranger)


def space(here, there):
    os.chdir(here)
    content = os.urandom(MIB)
    fd = os.open('space', os.O_CREAT | os.O_RDWR)
    other = os.open(there + '/space', os.O_RDWR)

    def check(size, allocated, shown):
        """By both mounts."""
        for each in fd, other:
            stat = os.fstat(each)
            assert (stat.st_size, stat.st_blocks * 512) == (size, allocated), (each, stat, size, allocated)
            read = os.pread(each, size + 1, 0)
            assert read == shown, (each, len(read), len(shown))

    fallocate(fd, 0, 0, MIB)
    check(MIB, MIB, bytes(MIB))
    os.pwrite(fd, content, 0)
    os.fsync(fd)
    check(MIB, MIB, content)
    # what is there stays, whoever allocates it once more
    fallocate(fd, 0, 0, MIB)
    check(MIB, MIB, content)
    fallocate(fd, KEEP_SIZE, MIB, MIB)
    check(MIB, 2 * MIB, content)
    fallocate(fd, PUNCH_HOLE | KEEP_SIZE, 256 << 10, 256 << 10)
    shown = content[:256 << 10] + bytes(256 << 10) + content[512 << 10:]
    check(MIB, 2 * MIB - (256 << 10), shown)
    fallocate(fd, ZERO_RANGE, 512 << 10, 100)
    shown = shown[:512 << 10] + bytes(100) + shown[(512 << 10) + 100:]
    check(MIB, 2 * MIB - (256 << 10), shown)
    fallocate(fd, ZERO_RANGE | KEEP_SIZE, 2 * MIB, MIB)
    check(MIB, 3 * MIB - (256 << 10), shown)
    fallocate(fd, ZERO_RANGE, 2 * MIB, MIB)
    check(3 * MIB, 3 * MIB - (256 << 10), shown + bytes(2 * MIB))
    os.ftruncate(fd, MIB)
    check(MIB, MIB - (256 << 10), shown)
    # a file that the other mount has open is as long for it at once
    fallocate(other, 0, MIB, 4096)
    check(MIB + 4096, MIB + 4096 - (256 << 10), shown + bytes(4096))
    for mode in PUNCH_HOLE, COLLAPSE, PUNCH_HOLE | ZERO_RANGE | KEEP_SIZE:
        fails(errno.EOPNOTSUPP, fallocate, fd, mode, 0, 4096)
    fails(errno.EINVAL, fallocate, fd, 0, 0, 0)
    fails(errno.EINVAL, fallocate, fd, 0, -1, 4096)
    fails(errno.EFBIG, fallocate, fd, 0, 1 << 62, 4096)
    reader = os.open('space', os.O_RDONLY)
    fails(errno.EBADF, fallocate, reader, 0, 0, 4096)
    for each in fd, other, reader:
        os.close(each)


{'attributes': attributes, 'space': space}[sys.argv[1]](sys.argv[2], sys.argv[3])
