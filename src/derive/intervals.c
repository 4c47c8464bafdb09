/* SPDX-License-Identifier: Apache-2.0 */
#include "derive/intervals.h"

#include <string.h>

#include "base/mem.h"
#include "base/sort.h"

void osc_intervals_fini(struct osc_intervals *s)
{
    osc_free(s->v);
    *s = (struct osc_intervals){0};
}

void osc_intervals_append(struct osc_intervals *s, int64_t start_ns, int64_t end_ns)
{
    if (s->status != OSC_OK)
        return;
    /* A parent that comes after its children, as in old files, replaces them. */
    while (s->n > 0 && start_ns <= s->v[s->n - 1].start_ns &&
           end_ns >= s->v[s->n - 1].start_ns) {
        s->n--;
        if (s->v[s->n].end_ns > end_ns)
            end_ns = s->v[s->n].end_ns;
    }
    if (s->n > 0 && start_ns > s->v[s->n - 1].start_ns && start_ns <= s->v[s->n - 1].end_ns) {
        if (end_ns > s->v[s->n - 1].end_ns)
            s->v[s->n - 1].end_ns = end_ns;
        return;
    }
    if (s->n == s->cap) {
        s->status = osc_grow(&s->v, &s->cap, s->n + 1, sizeof *s->v);
        if (s->status != OSC_OK)
            return;
    }
    if (s->n > 0 && start_ns < s->v[s->n - 1].start_ns)
        s->is_unsorted = true;
    s->v[s->n++] = (struct osc_interval){start_ns, end_ns};
}

void osc_intervals_concat(struct osc_intervals *s, const struct osc_intervals *from)
{
    if (s->status == OSC_OK)
        s->status = from->status;
    if (s->status != OSC_OK || from->n == 0)
        return;
    s->status = osc_grow(&s->v, &s->cap, s->n + from->n, sizeof *s->v);
    if (s->status != OSC_OK)
        return;
    s->is_unsorted = s->is_unsorted || from->is_unsorted ||
                     (s->n > 0 && from->v[0].start_ns < s->v[s->n - 1].start_ns);
    memcpy(s->v + s->n, from->v, from->n * sizeof *s->v);
    s->n += from->n;
}

/* End of the ascending run that begins at I. */
static size_t run_end(const struct osc_interval *v, size_t i, size_t n)
{
    for (i++; i < n && v[i].start_ns >= v[i - 1].start_ns; i++)
        continue;
    return i;
}

/* Merge A[0, MID) and A[MID, N) into OUT. */
static void merge_two(const struct osc_interval *a, size_t mid, size_t n,
                      struct osc_interval *out)
{
    size_t i = 0, j = mid;

    while (i < mid && j < n)
        *out++ = a[j].start_ns < a[i].start_ns ? a[j++] : a[i++];
    memcpy(out, a + i, (mid - i) * sizeof *a);
    memcpy(out + (mid - i), a + j, (n - j) * sizeof *a);
}

/* Natural merge sort: merge pairs of runs until one is left. */
static osc_status sort_by_start(struct osc_intervals *s)
{
    struct osc_interval *tmp = osc_malloc(s->n * sizeof *tmp);
    size_t n_runs = 2;

    if (!tmp)
        return OSC_ENOMEM;
    while (n_runs > 1) {
        n_runs = 0;
        for (size_t i = 0; i < s->n; n_runs++) {
            const size_t mid = run_end(s->v, i, s->n);
            const size_t end = mid < s->n ? run_end(s->v, mid, s->n) : mid;

            merge_two(s->v + i, mid - i, end - i, tmp + i);
            i = end;
        }
        struct osc_interval *const swap = s->v;
        s->v = tmp;
        tmp = swap;
    }
    s->cap = s->n; /* the allocated size of TMP */
    osc_free(tmp);
    return OSC_OK;
}

osc_status osc_intervals_merge(struct osc_intervals *s)
{
    size_t n = 0;

    if (s->status == OSC_OK && s->is_unsorted && s->n > 1)
        s->status = sort_by_start(s);
    if (s->status != OSC_OK)
        return s->status;
    for (size_t i = 0; i < s->n; i++) {
        if (n > 0 && s->v[i].start_ns <= s->v[n - 1].end_ns) {
            if (s->v[i].end_ns > s->v[n - 1].end_ns)
                s->v[n - 1].end_ns = s->v[i].end_ns;
        } else {
            s->v[n++] = s->v[i];
        }
    }
    s->n = n;
    s->is_unsorted = false;
    return OSC_OK;
}

osc_status osc_intervals_intersect(const struct osc_intervals *a, const struct osc_intervals *b,
                                   struct osc_intervals *out)
{
    size_t i = 0, j = 0;

    while (i < a->n && j < b->n) {
        const struct osc_interval x = a->v[i], y = b->v[j];
        const int64_t start_ns = x.start_ns > y.start_ns ? x.start_ns : y.start_ns;
        const int64_t end_ns = x.end_ns < y.end_ns ? x.end_ns : y.end_ns;

        if (start_ns < end_ns)
            osc_intervals_add(out, start_ns, end_ns);
        if (x.end_ns < y.end_ns)
            i++;
        else
            j++;
    }
    return out->status;
}

osc_status osc_intervals_subtract(const struct osc_intervals *a, const struct osc_intervals *b,
                                  struct osc_intervals *out)
{
    const struct osc_interval *cut = b->v, *const end = b->v + b->n;
    struct osc_interval *to;

    out->n = 0;
    /* Each interval of B adds at most one piece: make room for all at once. */
    out->status = osc_grow(&out->v, &out->cap, a->n + b->n, sizeof *out->v);
    if (out->status != OSC_OK || a->n == 0)
        return out->status;
    to = out->v;
    for (size_t i = 0; i < a->n; i++) {
        const int64_t end_ns = a->v[i].end_ns;
        int64_t at_ns = a->v[i].start_ns;

        while (cut < end && cut->end_ns <= at_ns)
            cut++;
        /* The last one may extend into the next interval of A, so CUT does not pass it. */
        for (const struct osc_interval *k = cut; k < end && k->start_ns < end_ns; k++) {
            if (k->start_ns == k->end_ns)
                continue;
            if (k->start_ns > at_ns)
                *to++ = (struct osc_interval){at_ns, k->start_ns};
            at_ns = k->end_ns;
            cut = k;
        }
        if (at_ns < end_ns)
            *to++ = (struct osc_interval){at_ns, end_ns};
    }
    out->n = (size_t)(to - out->v);
    return OSC_OK;
}

size_t osc_intervals_find(const struct osc_intervals *s, int64_t at_ns, size_t *hint)
{
    size_t low = *hint < s->n ? *hint : s->n, high = low, stride = 1;

    /* All below LOW end before AT_NS, none from HIGH on does. Search with growing strides,
     * then bisect. */
    if (low < s->n && s->v[low].end_ns < at_ns) {
        for (low++; stride < s->n - low && s->v[low + stride].end_ns < at_ns; stride *= 2)
            low += stride + 1;
        high = stride < s->n - low ? low + stride : s->n;
    } else {
        for (; stride < high && s->v[high - stride].end_ns >= at_ns; stride *= 2)
            high -= stride;
        low = stride < high ? high - stride + 1 : 0;
    }
    OSC_BISECT(low, high, i, s->v[i].end_ns < at_ns);
    *hint = low;
    return low;
}

int64_t osc_intervals_length(const struct osc_intervals *s)
{
    int64_t sum_ns = 0;

    for (size_t i = 0; i < s->n; i++)
        sum_ns += s->v[i].end_ns - s->v[i].start_ns;
    return sum_ns;
}

/* The ruler has one mark for this many intervals; those in between are added up. */
#define RULER_STRIDE 64

osc_status osc_ruler_init(struct osc_ruler *r, const struct osc_intervals *set)
{
    int64_t sum_ns = 0;

    *r = (struct osc_ruler){.set = set};
    r->before_ns = osc_malloc((set->n / RULER_STRIDE + 1) * sizeof *r->before_ns);
    if (!r->before_ns)
        return OSC_ENOMEM;
    for (size_t i = 0; i < set->n; i++) {
        if (i % RULER_STRIDE == 0)
            r->before_ns[i / RULER_STRIDE] = sum_ns;
        sum_ns += set->v[i].end_ns - set->v[i].start_ns;
    }
    return OSC_OK;
}

void osc_ruler_fini(struct osc_ruler *r)
{
    osc_free(r->before_ns);
    *r = (struct osc_ruler){0};
}

/* Length of the part of the set before AT_NS. */
static int64_t length_before(const struct osc_ruler *r, int64_t at_ns)
{
    size_t low = 0, high = r->set->n; /* all below LOW start before AT_NS */

    OSC_BISECT(low, high, i, r->set->v[i].start_ns < at_ns);
    if (low == 0)
        return 0;
    const struct osc_interval last = r->set->v[low - 1];
    const int64_t end_ns = last.end_ns < at_ns ? last.end_ns : at_ns;
    int64_t sum_ns = r->before_ns[(low - 1) / RULER_STRIDE] + (end_ns - last.start_ns);
    for (size_t i = (low - 1) / RULER_STRIDE * RULER_STRIDE; i < low - 1; i++)
        sum_ns += r->set->v[i].end_ns - r->set->v[i].start_ns;
    return sum_ns;
}

int64_t osc_ruler_length(const struct osc_ruler *r, int64_t start_ns, int64_t end_ns)
{
    return start_ns < end_ns ? length_before(r, end_ns) - length_before(r, start_ns) : 0;
}
