/* SPDX-License-Identifier: Apache-2.0
 *
 * A wall clock that is ahead by the seconds in a file, for the program that
 * preloads this library. wall_clock.py compiles it. The monotonic clock stays as
 * it is, as on a host whose administrator sets the date.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static volatile int64_t *ahead;

__attribute__((constructor)) static void open_file(void)
{
    const char *path = getenv("WALL_CLOCK_FILE");
    int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (file >= 0) {
        void *place = mmap(NULL, sizeof *ahead, PROT_READ, MAP_SHARED, file, 0);
        if (place != MAP_FAILED)
            ahead = place;
        close(file);
    }
}

static int64_t seconds_ahead(void)
{
    return ahead ? *ahead : 0;
}

int clock_gettime(clockid_t id, struct timespec *now)
{
    static int (*real)(clockid_t, struct timespec *);
    if (!real)
        real = (int (*)(clockid_t, struct timespec *))
            dlsym(RTLD_NEXT, "clock_gettime");
    int failed = real(id, now);
    if (!failed && (id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE))
        now->tv_sec += seconds_ahead();
    return failed;
}

int gettimeofday(struct timeval *now, void *zone)
{
    struct timespec exact;
    (void)zone;
    if (clock_gettime(CLOCK_REALTIME, &exact))
        return -1;
    now->tv_sec = exact.tv_sec;
    now->tv_usec = exact.tv_nsec / 1000;
    return 0;
}

time_t time(time_t *now)
{
    struct timespec exact;
    clock_gettime(CLOCK_REALTIME, &exact);
    if (now)
        *now = exact.tv_sec;
    return exact.tv_sec;
}
