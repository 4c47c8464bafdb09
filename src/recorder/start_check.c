/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder/start_check.h"

#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#define BUFFER_BYTES_MIN ((uint64_t)256 << 10)
#define BUFFER_BYTES_MAX ((uint64_t)1 << 40)

static char why[PATH_MAX + 256];

/* Whether NUMBER is 0 or a signal that a program can catch. */
static bool is_signal(int number)
{
    struct sigaction action;

    /* libc refuses numbers that are none, and those that it keeps for itself. */
    return number == 0 ||
           (number != SIGKILL && number != SIGSTOP && sigaction(number, NULL, &action) == 0);
}

static const char *check_out(const char *out)
{
    static const char longest[] = ".4294967295.9999.osc.live/strings";

    if (!out || out[0] == '\0')
        return NULL;
    if (strnlen(out, PATH_MAX) >= PATH_MAX - sizeof longest)
        return "out is longer than a path can be";
    return out[strlen(out) - 1] == '/' ? "out must name a file, not a directory" : NULL;
}

const char *osc_start_check(const struct osc_start_options *o)
{
    if (!is_signal(o->dump_signal))
        return "dump_signal must be 0 or a signal that a program can catch";
    if (!is_signal(o->toggle_signal))
        return "toggle_signal must be 0 or a signal that a program can catch";
    if (o->dump_signal != 0 && o->dump_signal == o->toggle_signal)
        return "dump_signal and toggle_signal are the same signal";
    if (o->buffer_bytes != 0 && o->buffer_bytes < BUFFER_BYTES_MIN)
        return "buffer_bytes must be 0 or at least 256 KiB";
    if (o->buffer_bytes > BUFFER_BYTES_MAX)
        return "buffer_bytes must be at most 1 TiB";
    if (!(o->slow_step >= 0 && o->slow_step < 1e9))
        return "slow_step must be at least 0 and below 1e9";
    return check_out(o->out);
}

static size_t add(size_t at, const char *s)
{
    const size_t len = strnlen(s, sizeof why - 1 - at);

    memcpy(why + at, s, len);
    why[at + len] = '\0';
    return at + len;
}

osc_status osc_start_failed(osc_status st, const char *path, const char *what)
{
    size_t at = 0;

    if (path && path[0] != '\0')
        at = add(add(0, path), ": ");
    (void)add(at, what);
    return st;
}

void osc_start_succeeded(void)
{
    why[0] = '\0';
}

const char *osc_start_why(void)
{
    return why;
}
