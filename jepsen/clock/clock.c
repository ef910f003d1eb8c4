/*
 * Preloaded into a process that has an argument --config .../NAME.EXTENSION: its wall clock is off
 * by the nanoseconds in the file NAME of the folder GLOBALFS_CLOCKS, 8 bytes in the machine's
 * order, which may change at any time. Other clocks, and processes without such a file, have the
 * time that it is.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_S 1000000000LL

static const int64_t *offset_ns;

static void join(const char *folder, const char *config) {
    const char *slash = strrchr(config, '/');
    const char *name = slash == NULL ? config : slash + 1;
    char path[4096];
    int length = (int) strcspn(name, ".");
    if (snprintf(path, sizeof path, "%s/%.*s", folder, length, name) >= (int) sizeof path) {
        return;
    }
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) {
        return;
    }
    void *mapped = mmap(NULL, sizeof *offset_ns, PROT_READ, MAP_SHARED, file, 0);
    close(file);
    if (mapped != MAP_FAILED) {
        offset_ns = mapped;
    }
}

__attribute__((constructor)) static void find(int count, char **arguments) {
    const char *folder = getenv("GLOBALFS_CLOCKS");
    for (int i = 1; folder != NULL && i + 1 < count; i++) {
        if (strcmp(arguments[i], "--config") == 0) {
            join(folder, arguments[i + 1]);
        }
    }
}

int clock_gettime(clockid_t clock, struct timespec *now) {
    static int (*real)(clockid_t, struct timespec *);
    if (real == NULL) {
        real = (int (*)(clockid_t, struct timespec *)) dlsym(RTLD_NEXT, "clock_gettime");
    }
    int result = real(clock, now);
    if (result == 0 && offset_ns != NULL
            && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) {
        int64_t ns = now->tv_sec * NS_PER_S + now->tv_nsec
                + __atomic_load_n(offset_ns, __ATOMIC_RELAXED);
        now->tv_sec = ns / NS_PER_S;
        now->tv_nsec = ns % NS_PER_S;
    }
    return result;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone) {
    struct timespec precise;
    (void) zone;
    if (clock_gettime(CLOCK_REALTIME, &precise) == 0) {
        now->tv_sec = precise.tv_sec;
        now->tv_usec = precise.tv_nsec / 1000;
    }
    return 0;
}

time_t time(time_t *into) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (into != NULL) {
        *into = now.tv_sec;
    }
    return now.tv_sec;
}
