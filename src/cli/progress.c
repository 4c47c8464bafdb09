/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/progress.h"

#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/strbuf.h"
#include "base/utf8.h"
#include "cli/cli.h"
#include "render/units.h"

#define FIRST_NS INT64_C(500000000) /* nothing for what is read at once */
#define EVERY_NS INT64_C(100000000)

void osc_progress_start(struct osc_progress *p, const char *path)
{
    *p = (struct osc_progress){
        .path = path, .start_ns = osc_clock_now_ns(), .is_terminal = isatty(STDERR_FILENO)};
}

static void print_line(const struct osc_progress *p, uint64_t done, uint64_t total, double s)
{
    struct osc_strbuf line = {0};
    const double rate = s > 0 ? (double)done / s : 0;

    osc_strbuf_adds(&line, "\r\x1b[Kreading ");
    osc_utf8_append_terminal(&line,
                             osc_str_c(strcmp(p->path, "-") == 0 ? "standard input" : p->path));
    osc_strbuf_adds(&line, ": ");
    osc_units_bytes(&line, (double)done);
    if (total > 0) {
        osc_strbuf_adds(&line, " of ");
        osc_units_bytes(&line, (double)total);
    }
    osc_strbuf_adds(&line, ", ");
    osc_units_bytes(&line, rate);
    osc_strbuf_adds(&line, "/s");
    if (total > done && rate > 0)
        osc_strbuf_addf(&line, ", %.0f s left", (double)(total - done) / rate);
    if (line.status == OSC_OK)
        fwrite(line.s, 1, line.len, stderr);
    fflush(stderr);
    osc_strbuf_fini(&line);
}

bool osc_progress_tick(void *ctx, uint64_t done_bytes, uint64_t total_bytes)
{
    struct osc_progress *p = ctx;

    if (p->is_terminal) {
        const int64_t now = osc_clock_now_ns();

        if (now - p->start_ns >= FIRST_NS && now - p->shown_ns >= EVERY_NS) {
            print_line(p, done_bytes, total_bytes, (double)(now - p->start_ns) / 1e9);
            p->shown_ns = now;
            p->is_shown = true;
        }
    }
    return !osc_cli_is_interrupted();
}

void osc_progress_stop(struct osc_progress *p)
{
    if (p->is_shown)
        fputs("\r\x1b[K", stderr);
    p->is_shown = false;
}
