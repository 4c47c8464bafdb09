/* SPDX-License-Identifier: Apache-2.0 */
/*
 * windows.c - measure what it costs to open and close a recording, compared with its files
 * alone.
 *
 *   windows DIR [N]    N recordings of one scope each in DIR, which stay there
 *
 * Samples are milliseconds of processor time of the whole process: `window` for a start, a
 * scope and a stop, `files` for making the same entries of the file system and removing those
 * that a recording removes. Between them the program sleeps, because a file system takes longer
 * to find a free entry while many were removed in the last seconds.
 */
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <opscope/record.h>

#include "bench.h"

static double process_ms(void)
{
    return bench_clock_s(CLOCK_PROCESS_CPUTIME_ID) * 1e3;
}

/* Record one scope; returns the milliseconds, or a negative number. */
static double window_ms(const char *dir, int i)
{
    char path[256];
    const struct osc_start_options options = {.size = sizeof options, .out = path};
    const double start = process_ms();

    (void)snprintf(path, sizeof path, "%s/%d.osc", dir, i);
    if (osc_start(&options) != OSC_OK)
        return -1;
    osc_begin(OSC_SCOPE_OPERATOR, osc_name_c("work"));
    osc_end();
    return osc_stop() == OSC_OK ? process_ms() - start : -1;
}

static int make(const char *dir, const char *name)
{
    char path[256];

    (void)snprintf(path, sizeof path, "%s/%s", dir, name);
    return open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
}

/* Make and remove what a recording needs. */
static double files_ms(const char *dir)
{
    static const char *const names[] = {"blocks", "strings", "x.osc", "ctl"};
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    char live[128], path[256];
    const double start = process_ms();
    int fds[4];

    (void)snprintf(live, sizeof live, "%s/x.live", dir);
    (void)mkdir(live, 0700);
    for (int i = 0; i < 3; i++)
        fds[i] = make(live, names[i]);
    fds[3] = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    (void)snprintf(address.sun_path, sizeof address.sun_path, "/proc/self/fd/%d/ctl",
                   open(live, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    (void)bind(fds[3], (const struct sockaddr *)&address, sizeof address);
    for (int i = 0; i < 4; i++) {
        (void)snprintf(path, sizeof path, "%s/%s", live, names[i]);
        (void)unlink(path);
        (void)close(fds[i]);
    }
    (void)close(atoi(address.sun_path + strlen("/proc/self/fd/")));
    (void)rmdir(live);
    return process_ms() - start;
}

int main(int argc, char **argv)
{
    const int n = bench_number(argc, argv, 2, 100);

    if (argc < 2)
        return 2;
    for (int i = 0; i < n; i++) {
        const double ms = window_ms(argv[1], i);

        if (ms < 0)
            return 1;
        bench_sample("window", ms);
        bench_sample("files", files_ms(argv[1]));
        if (i < 100)
            (void)usleep(20000);
    }
    return 0;
}
