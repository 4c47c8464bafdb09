/* SPDX-License-Identifier: Apache-2.0 */
#include "import/records/records_clock.h"

#include <string.h>

#include "base/mem.h"
#include "base/sort.h"
#include "model/trace.h"

#define NS_HZ UINT64_C(1000000000)

/* A rate is fitted only if the pairs are at least so many times their width apart. */
#define SPAN_WIDTHS 1000

__extension__ typedef __int128 wide;
__extension__ typedef unsigned __int128 uwide;

struct osc_records_line osc_records_line(uint64_t x0, int64_t y0_ns, uint64_t dx,
                                         uint64_t dy_ns)
{
    const uint64_t rest = dy_ns % dx;

    return (struct osc_records_line){.x0 = x0,
                                     .dx = dx,
                                     .y0_ns = y0_ns,
                                     .dy_ns = dy_ns,
                                     .whole = dy_ns / dx,
                                     .rest = rest,
                                     .share = (uint64_t)(((uwide)rest << 64) / dx)};
}

int64_t osc_records_line_slowly(const struct osc_records_line *l, uint64_t ticks)
{
    /* As a signed number: ticks before X0 are fewer than half of all values. */
    const wide d = (int64_t)(ticks - l->x0);
    const wide ns = d * (wide)(l->dy_ns % l->dx);
    const wide dx = (wide)l->dx;
    wide y = ns / dx;

    if (ns % dx < 0)
        y--;
    y += d * (wide)l->whole + l->y0_ns;
    if (y > OSC_TIME_MAX_NS)
        return OSC_TIME_MAX_NS;
    return y < -OSC_TIME_MAX_NS ? -OSC_TIME_MAX_NS : (int64_t)y;
}

osc_status osc_records_clock_add(struct osc_records_clock *c,
                                 const struct osc_clock_anchor *anchors, size_t n)
{
    const osc_status st =
        osc_grow(&c->anchors, &c->cap_anchors, c->n_anchors + n, sizeof *c->anchors);

    if (st == OSC_OK && n > 0)
        memcpy(c->anchors + c->n_anchors, anchors, n * sizeof *anchors);
    if (st == OSC_OK)
        c->n_anchors += n;
    return st;
}

void osc_records_clock_fini(struct osc_records_clock *c)
{
    osc_free(c->anchors);
    osc_free(c->lines);
    *c = (struct osc_records_clock){0};
}

static int compare_anchors(const void *pa, const void *pb)
{
    const struct osc_clock_anchor *const a = pa, *const b = pb;

    return (a->ticks > b->ticks) - (a->ticks < b->ticks);
}

/* Keep only anchors that are later than the one before them. */
static void drop_anchors(struct osc_records_clock *c)
{
    size_t n = 0;

    if (c->n_anchors > 1)
        osc_sort(c->anchors, c->n_anchors, sizeof *c->anchors, compare_anchors);
    for (size_t i = 0; i < c->n_anchors; i++) {
        const struct osc_clock_anchor *a = &c->anchors[i];

        if (a->monotonic_ns < 0 || a->monotonic_ns > OSC_TIME_MAX_NS ||
            (n > 0 && (a->ticks == c->anchors[n - 1].ticks ||
                       a->monotonic_ns < c->anchors[n - 1].monotonic_ns)))
            continue;
        c->anchors[n++] = *a;
    }
    c->n_anchors = n;
}

osc_status osc_records_clock_sort(struct osc_records_clock *c, uint64_t ticks_hz)
{
    drop_anchors(c);
    const size_t n = c->n_anchors;
    c->n_lines = n > 1 ? n - 1 : 1;
    c->lines = osc_calloc(c->n_lines, sizeof *c->lines);
    if (!c->lines)
        return OSC_ENOMEM;
    if (n < 2) {
        const struct osc_clock_anchor *a = n > 0 ? c->anchors : NULL;

        c->lines[0] = osc_records_line(a ? a->ticks : 0, a ? a->monotonic_ns : 0,
                                       ticks_hz > 0 ? ticks_hz : NS_HZ, NS_HZ);
        return OSC_OK;
    }
    for (size_t i = 0; i + 1 < n; i++) {
        const struct osc_clock_anchor *a = &c->anchors[i], *b = a + 1;

        c->lines[i] = osc_records_line(a->ticks, a->monotonic_ns, b->ticks - a->ticks,
                                       (uint64_t)(b->monotonic_ns - a->monotonic_ns));
    }
    return OSC_OK;
}

void osc_records_clock_seek(struct osc_records_clock *c, uint64_t ticks)
{
    size_t low = 0, high = c->n_lines; /* the wanted line is the last one with x0 <= TICKS */

    while (high - low > 1) {
        const size_t middle = low + (high - low) / 2;
        if (c->lines[middle].x0 <= ticks)
            low = middle;
        else
            high = middle;
    }
    c->at = low;
}

static int compare_pairs(const void *pa, const void *pb)
{
    const struct osc_records_pair *const a = pa, *const b = pb;

    if (a->device_ticks != b->device_ticks)
        return a->device_ticks < b->device_ticks ? -1 : 1;
    return (a->width > b->width) - (a->width < b->width);
}

/* A pair as a point: nanoseconds at its middle, and its width. */
struct point {
    uint64_t x;
    int64_t y_ns, width_ns;
};

static struct point point_of(struct osc_records_clock *c, const struct osc_records_pair *p)
{
    return (struct point){.x = p->device_ticks,
                          .y_ns = osc_records_clock_ns(c, p->before + p->width / 2),
                          .width_ns = osc_records_clock_ns(c, p->before + p->width) -
                                      osc_records_clock_ns(c, p->before)};
}

struct osc_records_fit osc_records_fit(struct osc_records_clock *c,
                                       struct osc_records_pair *pairs, size_t n,
                                       uint64_t stated_hz)
{
    const size_t half = n - n / 2;
    size_t first = 0, last = n - 1;

    if (n > 1)
        osc_sort(pairs, n, sizeof *pairs, compare_pairs);
    for (size_t i = 0; i < half; i++)
        first = pairs[i].width < pairs[first].width ? i : first;
    for (size_t i = n; i-- > half;)
        last = pairs[i].width < pairs[last].width ? i : last;

    const struct point a = point_of(c, &pairs[first]), b = point_of(c, &pairs[last]);
    const uint64_t dx = b.x - a.x;
    const int64_t dy = b.y_ns - a.y_ns, unsure = a.width_ns + b.width_ns;
    const bool is_rate = dx > 0 && dy > 0;
    const bool is_long = is_rate && dy / SPAN_WIDTHS >= unsure;
    struct osc_records_fit fit = {
        .hz = stated_hz, .width_ns = a.width_ns > b.width_ns ? a.width_ns : b.width_ns};

    if (is_long || (is_rate && stated_hz == 0))
        fit.line = osc_records_line(a.x, a.y_ns, dx, (uint64_t)dy);
    else
        fit.line = osc_records_line(a.x, a.y_ns, stated_hz > 0 ? stated_hz : NS_HZ, NS_HZ);
    if (fit.hz == 0)
        fit.hz = is_rate ? (uint64_t)((uwide)dx * NS_HZ / (uint64_t)dy) : NS_HZ;
    else if (is_long)
        fit.drift_ppb =
            (int64_t)(((wide)dy * (wide)stated_hz - (wide)dx * (wide)NS_HZ) / (wide)dx);
    return fit;
}
