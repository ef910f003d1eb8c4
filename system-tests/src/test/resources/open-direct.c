/*
 * Preloaded into a program that knows no O_DIRECT: all regular files that it opens below the
 * folder DIRECT_BELOW are opened with it.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static int direct(const char *path, int flags) {
    const char *below = getenv("DIRECT_BELOW");
    struct stat status;
    if (below == NULL || strncmp(path, below, strlen(below)) != 0 || (flags & O_DIRECTORY)) {
        return flags;
    }
    return stat(path, &status) == 0 && !S_ISREG(status.st_mode) ? flags : flags | O_DIRECT;
}

static int call(const char *name, const char *path, int flags, mode_t mode) {
    int (*real)(const char *, int, ...) = (int (*)(const char *, int, ...)) dlsym(RTLD_NEXT, name);
    return real(path, direct(path, flags), mode);
}

int open(const char *path, int flags, ...) {
    va_list rest;
    va_start(rest, flags);
    mode_t mode = va_arg(rest, mode_t);
    va_end(rest);
    return call("open", path, flags, mode);
}

int open64(const char *path, int flags, ...) {
    va_list rest;
    va_start(rest, flags);
    mode_t mode = va_arg(rest, mode_t);
    va_end(rest);
    return call("open64", path, flags, mode);
}
