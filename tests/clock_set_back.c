/* A wall clock that is set back by an hour: from the moment when the file that SET_BACK_WHEN names
   exists, each time of the wall clock that the process asks for is an hour earlier. The monotonic
   clock, and the times that the kernel gives files, stay as they are.

   The calls are made directly: the host's clock is changed for nobody else. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define HOUR_S 3600

static time_t set_back_s(void) {
    static volatile int seen = 0;
    if (!seen) {
        int error = errno;
        const char *file = getenv("SET_BACK_WHEN");
        seen = file && syscall(SYS_faccessat, -100 /* AT_FDCWD */, file, F_OK) == 0;
        errno = error;
    }
    return seen ? HOUR_S : 0;
}

int clock_gettime(clockid_t clock, struct timespec *now) {
    int failed = syscall(SYS_clock_gettime, clock, now);
    if (!failed && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) now->tv_sec -= set_back_s();
    return failed;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone) {
    struct timespec exact;
    (void)zone;
    if (clock_gettime(CLOCK_REALTIME, &exact)) return -1;
    now->tv_sec = exact.tv_sec;
    now->tv_usec = exact.tv_nsec / 1000;
    return 0;
}

time_t time(time_t *now) {
    struct timespec exact;
    if (clock_gettime(CLOCK_REALTIME, &exact)) return -1;
    if (now) *now = exact.tv_sec;
    return exact.tv_sec;
}

int timespec_get(struct timespec *now, int base) {
    return base == TIME_UTC && !clock_gettime(CLOCK_REALTIME, now) ? base : 0;
}
