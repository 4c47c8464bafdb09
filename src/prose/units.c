/* SPDX-License-Identifier: Apache-2.0 */
#include "prose/units.h"

#include <inttypes.h>
#include <math.h>

#include "base/percent.h"

struct unit {
    double size;
    const char *name;
};

/* The unit in which V, rounded, stays below the next larger unit. */
static const struct unit *choose(const struct unit *units, size_t n, double v, double rounding)
{
    size_t i = 0;

    v = fabs(v);
    while (i + 1 < n && v + rounding * units[i].size >= units[i + 1].size)
        i++;
    return &units[i];
}

void osc_units_time(struct osc_strbuf *out, double ns)
{
    static const struct unit units[] = {{1, "ns"}, {1e3, "us"}, {1e6, "ms"}, {1e9, "s"}};
    const struct unit *u = choose(units, 4, ns, 0.0005);

    if (ns == 0)
        osc_strbuf_adds(out, "0 ns");
    else
        osc_strbuf_addf(out, "%.3f %s", ns / u->size, u->name);
}

void osc_units_time_int(struct osc_strbuf *out, int64_t ns)
{
    if (ns > -1000 && ns < 1000)
        osc_strbuf_addf(out, "%d ns", (int)ns);
    else
        osc_units_time(out, (double)ns);
}

void osc_units_moment(struct osc_strbuf *out, int64_t ns)
{
    const uint64_t positive = ns < 0 ? 0 - (uint64_t)ns : (uint64_t)ns;
    const uint64_t us = (positive + 500) / 1000;

    if (us < 1000000)
        osc_units_time_int(out, ns);
    else
        osc_strbuf_addf(out, "%s%" PRIu64 ".%06" PRIu64 " s", ns < 0 ? "-" : "", us / 1000000,
                        us % 1000000);
}

void osc_units_bytes(struct osc_strbuf *out, double bytes)
{
    static const struct unit units[] = {
        {1, "B"},           {1024, "KB"},          {1048576, "MB"},
        {1073741824, "GB"}, {1099511627776, "TB"}, {1125899906842624, "PB"}};
    const struct unit *u = choose(units, 6, bytes, 0.005);

    osc_strbuf_addf(out, u->size > 1 ? "%.2f %s" : "%.0f %s", bytes / u->size, u->name);
}

void osc_units_rate(struct osc_strbuf *out, double bytes_per_s)
{
    static const struct unit units[] = {
        {1, "B/s"}, {1e3, "kB/s"}, {1e6, "MB/s"}, {1e9, "GB/s"}, {1e12, "TB/s"}};
    const struct unit *u = choose(units, 5, bytes_per_s, 0.005);

    osc_strbuf_addf(out, "%.2f %s", bytes_per_s / u->size, u->name);
}

void osc_units_ratio(struct osc_strbuf *out, double ratio)
{
    osc_percent_add(out, ratio, 2);
}
