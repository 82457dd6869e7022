/* Sets the wall clock COFFER_CLOCK_AHEAD seconds ahead. Loaded before the system's library.
 *
 * Monotonic clocks are not changed. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int clock_gettime(clockid_t clock, struct timespec *now) {
    int failed = (int)syscall(SYS_clock_gettime, clock, now);
    const char *ahead = getenv("COFFER_CLOCK_AHEAD");
    if (failed == 0 && clock == CLOCK_REALTIME && ahead != NULL) now->tv_sec += atol(ahead);
    return failed;
}
