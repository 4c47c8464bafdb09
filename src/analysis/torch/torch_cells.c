/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/torch/torch_cells.h"

#include <math.h>
#include <stdio.h>

#include "base/utf8.h"

static struct osc_str finish(const struct osc_torch_cell *cell, int len)
{
    return (struct osc_str){cell->s, (uint32_t)len};
}

struct osc_str osc_torch_time(struct osc_torch_cell *cell, double us)
{
    int len = 0;

    /* The value before rounding selects the unit, so 999.9996 is 1000.000us. */
    if (us >= 1000.0 * 1000.0)
        len = snprintf(cell->s, sizeof cell->s, "%.3fs", us / (1000.0 * 1000.0));
    else if (us >= 1000.0)
        len = snprintf(cell->s, sizeof cell->s, "%.3fms", us / 1000.0);
    else
        len = snprintf(cell->s, sizeof cell->s, "%.3fus", us);
    return finish(cell, len);
}

struct osc_str osc_torch_share(struct osc_torch_cell *cell, double us, double total_us)
{
    if (total_us < 0.0 || total_us > 0.0)
        return finish(cell, snprintf(cell->s, sizeof cell->s, "%.2f%%", us * 100.0 / total_us));
    return OSC_STR("NaN");
}

struct osc_str osc_torch_memory(struct osc_torch_cell *cell, int64_t bytes, bool is_113)
{
    static const char *const units[2][4] = {{"B", "KB", "MB", "GB"}, {"b", "Kb", "Mb", "Gb"}};
    const uint64_t size = bytes < 0 ? 0 - (uint64_t)bytes : (uint64_t)bytes;
    unsigned power = 3;

    while (power > 0 && size < UINT64_C(1) << 10 * power)
        power--;
    if (power == 0)
        return finish(cell, snprintf(cell->s, sizeof cell->s, "%lld %s", (long long)bytes,
                                     units[is_113][0]));
    return finish(cell, snprintf(cell->s, sizeof cell->s, "%.2f %s",
                                 (double)bytes / (double)(UINT64_C(1) << 10 * power),
                                 units[is_113][power]));
}

struct osc_str osc_torch_flops(struct osc_torch_cell *cell, int64_t flops, unsigned power)
{
    if (flops <= 0)
        return OSC_STR("--");
    return finish(cell, snprintf(cell->s, sizeof cell->s, "%8.3f",
                                 (double)flops * pow(10.0, -3.0 * power)));
}

unsigned osc_torch_flops_power(int64_t min_flops)
{
    const double power = floor(log10((double)min_flops) / 3.0);

    return power < 0.0 ? 0 : power > 5.0 ? 5 : (unsigned)power;
}

/* Number of bytes of the first N characters of S. */
static uint32_t bytes_of(struct osc_str s, size_t n)
{
    uint32_t i = 0;

    for (; i < s.len; i++) {
        if (((unsigned char)s.s[i] & 0xc0u) != 0x80u && n-- == 0)
            break;
    }
    return i;
}

struct osc_str osc_torch_head(struct osc_str s, size_t n)
{
    return (struct osc_str){s.s, bytes_of(s, n)};
}

void osc_torch_name(struct osc_strbuf *out, struct osc_str name, int32_t max_width)
{
    const int64_t width = (int64_t)osc_utf8_width(name);
    const int64_t room = (int64_t)max_width - 3;

    if (max_width < 0 || width < room) {
        osc_strbuf_addstr(out, name);
        return;
    }

    /* Negative: Python counts from the end of the name. */
    const int64_t kept = room >= 0 ? room : width + room;
    osc_strbuf_addstr(out, osc_torch_head(name, kept > 0 ? (size_t)kept : 0));
    osc_strbuf_adds(out, "...");
}

void osc_torch_path(struct osc_strbuf *out, struct osc_str path, size_t width)
{
    const size_t len = osc_utf8_width(path);

    if (len > width) {
        const uint32_t cut = bytes_of(path, len - width + (width > 3 ? 3 : 0));

        if (width > 3)
            osc_strbuf_adds(out, "...");
        path = (struct osc_str){path.s + cut, path.len - cut};
    }
    osc_strbuf_addstr(out, path);
}
