/* Simulates a failing disk. Loaded before the system's library.
 *
 * In the folder COFFER_DISK, a file "full" makes writes fail with ENOSPC, and "broken" makes syncs fail. Each contains
 * the suffix of the affected file names, such as "-wal". Files outside the folder are not affected. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static int fails(int fd, const char *switch_name) {
    const char *folder = getenv("COFFER_DISK");
    char path[4096], link[64], name[4096], end[64];
    if (folder == NULL) return 0;
    snprintf(path, sizeof path, "%s/%s", folder, switch_name);
    int saved = errno;
    int at = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
    if (at < 0) {
        errno = saved;
        return 0;
    }
    ssize_t end_length = read(at, end, sizeof end);
    close(at);
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, name, sizeof name - 1);
    errno = saved;
    if (length < 0 || end_length < 0 || length < end_length) return 0;
    return strncmp(name, folder, strlen(folder)) == 0 && memcmp(name + length - end_length, end, (size_t)end_length) == 0;
}

ssize_t write(int fd, const void *bytes, size_t count) {
    if (fails(fd, "full")) {
        errno = ENOSPC;
        return -1;
    }
    return syscall(SYS_write, fd, bytes, count);
}

ssize_t pwrite64(int fd, const void *bytes, size_t count, off64_t offset) {
    if (fails(fd, "full")) {
        errno = ENOSPC;
        return -1;
    }
    return syscall(SYS_pwrite64, fd, bytes, count, offset);
}

ssize_t pwrite(int fd, const void *bytes, size_t count, off_t offset) {
    return pwrite64(fd, bytes, count, offset);
}

int fsync(int fd) {
    if (fails(fd, "broken")) {
        errno = EIO;
        return -1;
    }
    return (int)syscall(SYS_fsync, fd);
}

int fdatasync(int fd) {
    if (fails(fd, "broken")) {
        errno = EIO;
        return -1;
    }
    return (int)syscall(SYS_fdatasync, fd);
}
