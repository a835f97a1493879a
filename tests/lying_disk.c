/* The page cache as the cache of a disk. Files are opened without O_DIRECT, so each write stays
   in memory until it is flushed. With LIES, a flush returns at once and writes nothing: what was
   "flushed" is lost when the power fails, which a copy of the device shows. Without LIES, a flush
   is the kernel's own.

   The calls are made directly, so the library also serves a program with a C library of its own.
   syncfs stays the kernel's: Assay itself flushes the device with it before the load. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdarg.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#ifdef LIES
#define KEPT(flags) ((flags) & ~(O_DIRECT | (O_SYNC | O_DSYNC)))
int fsync(int file) { (void)file; return 0; }
int fdatasync(int file) { (void)file; return 0; }
int sync_file_range(int file, off64_t from, off64_t bytes, unsigned flags) {
    (void)file; (void)from; (void)bytes; (void)flags;
    return 0;
}
#else
#define KEPT(flags) ((flags) & ~O_DIRECT)
#endif

static int opened(int place, const char *path, int flags, mode_t mode) {
    return syscall(SYS_openat, place, path, KEPT(flags) | O_LARGEFILE, mode);
}

/* The mode is only there if a file may be made; what is read otherwise is not used. */
#define MODE(flags) \
    mode_t mode = 0; \
    if ((flags) & (O_CREAT | __O_TMPFILE)) { \
        va_list more; \
        va_start(more, flags); \
        mode = va_arg(more, mode_t); \
        va_end(more); \
    }

int open(const char *path, int flags, ...) { MODE(flags) return opened(AT_FDCWD, path, flags, mode); }
int open64(const char *path, int flags, ...) { MODE(flags) return opened(AT_FDCWD, path, flags, mode); }
int openat(int place, const char *path, int flags, ...) { MODE(flags) return opened(place, path, flags, mode); }
int openat64(int place, const char *path, int flags, ...) { MODE(flags) return opened(place, path, flags, mode); }
int __open_2(const char *path, int flags) { return opened(AT_FDCWD, path, flags, 0); }
int __open64_2(const char *path, int flags) { return opened(AT_FDCWD, path, flags, 0); }

/* O_DIRECT can be set later, too; all other commands have one argument of a register's size. */
static int controlled(int file, int command, long argument) {
    return syscall(SYS_fcntl, file, command, command == F_SETFL ? KEPT(argument) : argument);
}

#define ARGUMENT \
    va_list more; \
    va_start(more, command); \
    long argument = va_arg(more, long); \
    va_end(more);

int fcntl(int file, int command, ...) { ARGUMENT return controlled(file, command, argument); }
int fcntl64(int file, int command, ...) { ARGUMENT return controlled(file, command, argument); }
