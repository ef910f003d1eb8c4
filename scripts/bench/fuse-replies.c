// fuse-replies: what it costs to answer the kernel's FUSE requests in different ways.   (root)
// Serves a file of zeros from memory, without a library, and reads and stats it from another process:
//   cc -O2 -pthread -o fuse-replies fuse-replies.c && ./fuse-replies EMPTY_FOLDER [ROUNDS]
// Prints a table row for each way, all in turn, best of ROUNDS (3): reads of 512 KiB (a reply of 1 MiB does not fit into a
// pipe as large as pipes may be by default), answered by write(2), and by vmsplice(2) into a pipe and splice(2) from it;
// stat(2) by four threads, answered by four threads with one descriptor, and with a clone of it each.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define THREADS 4
#define MIB (1l << 20)
#define READ_BYTES (MIB / 2)
#define FILE_BYTES (1024 * MIB)
#define STATS 20000
#define HEADER sizeof(struct fuse_out_header)

static int session, spliced, cloned;
static char *content;  // a reply of the largest size, its header's place before it, on a page's boundary

static const char *mounted;

static void die(const char *what) {
    fprintf(stderr, "fuse-replies: %s: %s\n", what, strerror(errno));
    if (mounted) umount2(mounted, MNT_DETACH);
    _exit(1);
}

static double now(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return t.tv_sec + t.tv_nsec / 1e9; }

static void attributes(struct fuse_attr *a, unsigned long node) {
    memset(a, 0, sizeof *a);
    a->ino = node;
    a->mode = node == FUSE_ROOT_ID ? S_IFDIR | 0755 : S_IFREG | 0444;
    a->nlink = 1;
    a->size = node == FUSE_ROOT_ID ? 0 : FILE_BYTES;
    a->blksize = 4096;
}

static void reply(int fd, unsigned long unique, int error, const void *body, size_t size) {
    struct fuse_out_header head = {.len = HEADER + size, .error = -error, .unique = unique};
    struct iovec parts[] = {{&head, sizeof head}, {(void *)body, size}};
    if (writev(fd, parts, size ? 2 : 1) < 0 && errno != ENOENT) die("reply");
}

static void by_splice(int fd, int *tube, unsigned long unique, size_t size) {
    struct fuse_out_header head = {.len = HEADER + size, .unique = unique};
    struct iovec parts[] = {{&head, sizeof head}, {content, size}};
    for (size_t in = 0; in < head.len;) {
        struct iovec rest[2];
        int n = 0;
        size_t skip = in;
        for (int i = 0; i < 2; i++) {
            if (skip >= parts[i].iov_len) { skip -= parts[i].iov_len; continue; }
            rest[n++] = (struct iovec){(char *)parts[i].iov_base + skip, parts[i].iov_len - skip};
            skip = 0;
        }
        ssize_t took = vmsplice(tube[1], rest, n, 0);
        if (took < 0) die("vmsplice");
        in += took;
    }
    if (splice(tube[0], NULL, fd, NULL, head.len, SPLICE_F_MOVE) < 0 && errno != ENOENT) die("splice");
}

static void *serve(void *unused) {
    int fd = session, tube[2];
    (void)unused;
    if (cloned) {
        fd = open("/dev/fuse", O_RDWR | O_CLOEXEC);
        if (fd < 0 || ioctl(fd, FUSE_DEV_IOC_CLONE, &session)) die("clone");
    }
    if (pipe2(tube, O_CLOEXEC) || fcntl(tube[1], F_SETPIPE_SZ, MIB) < 0) die("pipe");
    size_t room = MIB + 4096;
    char *buffer = aligned_alloc(4096, room);
    for (;;) {
        ssize_t got = read(fd, buffer, room);
        if (got < 0 && (errno == EINTR || errno == EAGAIN || errno == ENOENT)) continue;
        if (got <= 0) return NULL;
        struct fuse_in_header *head = (void *)buffer;
        void *in = head + 1;
        switch (head->opcode) {
        case FUSE_INIT: {
            struct fuse_init_in *asked = in;
            struct fuse_init_out out = {.major = FUSE_KERNEL_VERSION, .minor = FUSE_KERNEL_MINOR_VERSION,
                .max_readahead = asked->max_readahead < MIB ? MIB : asked->max_readahead, .max_background = 64,
                .congestion_threshold = 48, .max_write = MIB, .max_pages = 256,
                .flags = FUSE_MAX_PAGES | FUSE_ASYNC_READ | FUSE_BIG_WRITES};
            reply(fd, head->unique, 0, &out, sizeof out);
            break;
        }
        case FUSE_LOOKUP: {
            struct fuse_entry_out out = {.nodeid = 2, .entry_valid = 3600};
            attributes(&out.attr, 2);
            reply(fd, head->unique, 0, &out, sizeof out);
            break;
        }
        case FUSE_GETATTR: {
            struct fuse_attr_out out = {0};
            attributes(&out.attr, head->nodeid);
            reply(fd, head->unique, 0, &out, sizeof out);
            break;
        }
        case FUSE_OPEN: {
            struct fuse_open_out out = {.open_flags = FOPEN_DIRECT_IO};
            reply(fd, head->unique, 0, &out, sizeof out);
            break;
        }
        case FUSE_READ: {
            struct fuse_read_in *asked = in;
            if (spliced) by_splice(fd, tube, head->unique, asked->size);
            else reply(fd, head->unique, 0, content, asked->size);
            break;
        }
        case FUSE_FORGET: case FUSE_BATCH_FORGET: case FUSE_INTERRUPT: break;
        case FUSE_FLUSH: case FUSE_RELEASE: reply(fd, head->unique, 0, NULL, 0); break;
        default: reply(fd, head->unique, ENOSYS, NULL, 0);
        }
    }
}

static void *stats(void *path) {
    struct stat s;
    for (int i = 0; i < STATS; i++) if (stat(path, &s)) die(path);
    return NULL;
}

static double client(const char *path, int reading) {
    double from = now();
    if (reading) {
        char *into = aligned_alloc(4096, READ_BYTES);
        int f = open(path, O_RDONLY);
        if (f < 0) die(path);
        for (long left = FILE_BYTES; left > 0; left -= READ_BYTES)
            if (read(f, into, READ_BYTES) != READ_BYTES) die("read");
        return FILE_BYTES / 1e6 / (now() - from);
    }
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, stats, (void *)path);
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    return THREADS * STATS / (now() - from);
}

// Mounts, measures in another process, unmounts; the figure.
static double run(const char *folder, int reading, int with_splice, int with_clone) {
    char options[99], path[4096];
    int results[2];
    double figure;
    spliced = with_splice;
    cloned = with_clone;
    session = open("/dev/fuse", O_RDWR | O_CLOEXEC);
    if (session < 0) die("/dev/fuse");
    snprintf(options, sizeof options, "fd=%d,rootmode=40000,user_id=0,group_id=0", session);
    if (mount("replies", folder, "fuse.replies", MS_NOSUID | MS_NODEV, options)) die("mount");
    mounted = folder;
    if (pipe(results)) die("pipe");
    snprintf(path, sizeof path, "%s/f", folder);
    pid_t child = fork();
    if (!child) {
        close(session);  // or requests would wait for ever once the server is gone
        mounted = NULL;
        figure = client(path, reading);
        _exit(write(results[1], &figure, sizeof figure) != sizeof figure);
    }
    close(results[1]);
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, serve, NULL);
    if (read(results[0], &figure, sizeof figure) != sizeof figure) die("no result");
    waitpid(child, NULL, 0);
    mounted = NULL;
    if (umount2(folder, MNT_DETACH)) die("umount");
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    close(session); close(results[0]);
    return figure;
}

int main(int count, char **words) {
    static const struct { const char *name; int reading, spliced, cloned; } ways[] = {
        {"read, replies by write, MB/s", 1, 0, 1}, {"read, replies by splice, MB/s", 1, 1, 1},
        {"stat by 4, one descriptor, /s", 0, 0, 0}, {"stat by 4, a clone each, /s", 0, 0, 1}};
    double best[4] = {0};
    if (count < 2) { fprintf(stderr, "usage: fuse-replies EMPTY_FOLDER [ROUNDS]\n"); return 2; }
    content = aligned_alloc(4096, MIB);
    memset(content, 0, MIB);
    for (int round = count > 2 ? atoi(words[2]) : 3; round > 0; round--)
        for (int i = 0; i < 4; i++) {
            double figure = run(words[1], ways[i].reading, ways[i].spliced, ways[i].cloned);
            if (figure > best[i]) best[i] = figure;
        }
    for (int i = 0; i < 4; i++) printf("| %s | %.0f |\n", ways[i].name, best[i]);
    return 0;
}
