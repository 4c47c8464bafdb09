/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/progress.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/utf8.h"
#include "cli/cli.h"
#include "prose/units.h"

#define FIRST_NS INT64_C(500000000) /* no line for files that are read faster */
#define EVERY_NS INT64_C(100000000)

_Static_assert(OSC_CLI_WIDTH_LEAST > 12, "a few characters of the line fit");

void osc_progress_start(struct osc_progress *p, const char *verb, const char *path)
{
    *p = (struct osc_progress){.verb = verb, .path = path, .start_ns = osc_clock_now_ns()};
    if (osc_cli_takes_escapes(STDERR_FILENO))
        p->width = osc_cli_width(STDERR_FILENO);
}

/* Append the last WIDTH characters of TEXT, or all of it if it is shorter. */
static void add_end(struct osc_strbuf *out, const struct osc_strbuf *text, size_t width)
{
    size_t n = text->len ? osc_utf8_width((struct osc_str){text->s, (uint32_t)text->len}) : 0;
    const char *p = text->s;

    if (n > width) {
        osc_strbuf_adds(out, "\xe2\x80\xa6"); /* … */
        for (n++; n > width; n--) {
            for (p++; (*p & 0xc0) == 0x80;)
                p++;
        }
    }
    if (text->len)
        osc_strbuf_adds(out, p);
}

void osc_progress_write(struct osc_strbuf *out, const struct osc_progress *p, uint64_t done,
                        uint64_t total, int64_t ns)
{
    struct osc_strbuf path = {0}, rest = {0};
    const double s = (double)ns / 1e9, rate = s > 0 ? (double)done / s : 0;

    osc_utf8_append_terminal(&path,
                             osc_str_c(strcmp(p->path, "-") == 0 ? "standard input" : p->path));
    osc_strbuf_adds(&rest, ": ");
    osc_units_bytes(&rest, (double)done);
    if (total > 0) {
        osc_strbuf_adds(&rest, " of ");
        osc_units_bytes(&rest, (double)total);
    }
    osc_strbuf_adds(&rest, ", ");
    osc_units_bytes(&rest, rate);
    osc_strbuf_adds(&rest, "/s");
    if (total > done && rate > 0)
        osc_strbuf_addf(&rest, ", %.0f s left", (double)(total - done) / rate);

    /* A wrapped line could not be erased; so it must fit, with one column left free. */
    const size_t room = p->width - strlen(p->verb) - 2;
    const size_t rest_len = rest.len < room ? rest.len : room - 1;
    osc_strbuf_addf(out, "%s ", p->verb);
    add_end(out, &path, room > rest_len ? room - rest_len : 1);
    osc_strbuf_add(out, rest.s, rest_len);
    if (path.status != OSC_OK || rest.status != OSC_OK)
        out->status = OSC_ENOMEM;
    osc_strbuf_fini(&path);
    osc_strbuf_fini(&rest);
}

bool osc_progress_tick(void *ctx, uint64_t done_bytes, uint64_t total_bytes)
{
    struct osc_progress *p = ctx;
    struct osc_strbuf line = {0};

    if (p->width == 0)
        return true;
    const int64_t now = osc_clock_now_ns();
    if (now - p->start_ns < FIRST_NS || now - p->shown_ns < EVERY_NS)
        return true;
    osc_strbuf_adds(&line, "\r\x1b[K");
    osc_progress_write(&line, p, done_bytes, total_bytes, now - p->start_ns);
    if (line.status == OSC_OK)
        fwrite(line.s, 1, line.len, stderr);
    fflush(stderr);
    osc_strbuf_fini(&line);
    p->shown_ns = now;
    p->is_shown = true;
    return true;
}

void osc_progress_stop(struct osc_progress *p)
{
    if (p->is_shown)
        fputs("\r\x1b[K", stderr);
    p->is_shown = false;
}
