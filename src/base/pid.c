/* SPDX-License-Identifier: Apache-2.0 */
#include "base/pid.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Fields of /proc/PID/stat, from 1; field 2, in brackets, may contain anything. */
enum { STATE = 3, N_THREADS = 20, START = 22 };

struct facts {
    char state;
    uint64_t n_threads, start_ticks;
};

/* Read the start of the file at PATH as text; false if there is none. */
static bool read_text(const char *path, char *to, size_t room)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    const ssize_t n = fd < 0 ? -1 : read(fd, to, room - 1);

    if (fd >= 0)
        (void)close(fd);
    to[n > 0 ? n : 0] = '\0';
    return n > 0;
}

static uint64_t read_number(const char *s)
{
    uint64_t v = 0;

    for (; *s >= '0' && *s <= '9'; s++)
        v = v * 10 + (uint64_t)(*s - '0');
    return v;
}

/* Read /proc/PID/stat, or /proc/self/stat if PID is 0. */
static bool read_facts(uint32_t pid, struct facts *f)
{
    char path[48] = "/proc/self/stat", text[1024];

    if (pid > 0)
        (void)snprintf(path, sizeof path, "/proc/%u/stat", pid);
    if (!read_text(path, text, sizeof text))
        return false;
    const char *space = strrchr(text, ')');

    for (int field = STATE; space && field <= START; field++) {
        space = strchr(space + 1, ' ');
        if (!space)
            return false;
        if (field == STATE)
            f->state = space[1];
        else if (field == N_THREADS)
            f->n_threads = read_number(space + 1);
        else if (field == START)
            f->start_ticks = read_number(space + 1);
    }
    return space != NULL;
}

/* The value of a hexadecimal digit; -1: it is none. */
static int digit_of(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static void read_boot_id(unsigned char id[16])
{
    char text[64];
    unsigned n = 0;

    (void)read_text("/proc/sys/kernel/random/boot_id", text, sizeof text);
    for (const char *s = text; *s && n < 32; s++) {
        if (digit_of(*s) < 0)
            continue;
        id[n / 2] = (unsigned char)(id[n / 2] << 4 | digit_of(*s));
        n++;
    }
}

static uint64_t read_space(void)
{
    struct stat st;

    return stat("/proc/self/ns/pid", &st) == 0 ? st.st_ino : 0;
}

void osc_pid_get_self(struct osc_pid *p)
{
    const int kept = errno;
    struct facts f = {0};

    *p = (struct osc_pid){.pid = (uint32_t)getpid(), .space = read_space()};
    (void)read_facts(0, &f);
    p->start_ticks = f.start_ticks;
    read_boot_id(p->boot_id);
    errno = kept;
}

/* Whether the numbers in /proc are those of this process's name space. */
static bool has_own_proc(void)
{
    char name[24] = "";

    return readlink("/proc/self", name, sizeof name - 1) > 0 &&
           read_number(name) == (uint64_t)getpid();
}

/* Whether P's number means the same to this process. */
static bool is_comparable(const struct osc_pid *p)
{
    static const unsigned char unknown[16];
    unsigned char boot_id[16] = {0};

    read_boot_id(boot_id);
    return p->pid > 0 && p->pid <= INT32_MAX && p->space != 0 && p->space == read_space() &&
           memcmp(boot_id, unknown, sizeof boot_id) != 0 &&
           memcmp(boot_id, p->boot_id, sizeof boot_id) == 0;
}

static enum osc_pid_life find(const struct osc_pid *p)
{
    struct facts f = {0};

    if (!is_comparable(p))
        return OSC_PID_UNKNOWN;
    if (kill((pid_t)p->pid, 0) != 0 && errno == ESRCH)
        return OSC_PID_ENDED;
    if (!has_own_proc() || !read_facts(p->pid, &f))
        return OSC_PID_RUNS; /* of another user, and hidden */
    if (p->start_ticks != 0 && f.start_ticks != p->start_ticks)
        return OSC_PID_ENDED;
    return (f.state == 'Z' || f.state == 'X') && f.n_threads <= 1 ? OSC_PID_ENDED
                                                                  : OSC_PID_RUNS;
}

enum osc_pid_life osc_pid_find(const struct osc_pid *p)
{
    const int kept = errno;
    const enum osc_pid_life life = find(p);

    errno = kept;
    return life;
}
