/* SPDX-License-Identifier: Apache-2.0 */
#include "import/build/wild_times.h"

#include <string.h>

#include "base/mem.h"
#include "base/sort.h"

#define DAY_NS  INT64_C(86400000000000)
#define WEEK_NS (7 * DAY_NS)
#define YEAR_NS (365 * DAY_NS)

/* A group is near if it is less far away than this many times what the main one lasts. */
#define LENGTHS 100

/* A group that is not years away is wild only if the main one has this many times its events.
 */
#define TIMES_AS_MANY 10

static int64_t day_of(int64_t at_ns)
{
    return at_ns / DAY_NS - (at_ns % DAY_NS < 0);
}

void osc_days_fini(struct osc_days *d)
{
    osc_free(d->v);
    osc_idmap_fini(&d->of_day);
    *d = (struct osc_days){0};
}

/* The day DAY of D, which is added if it is missing; NULL: no memory. */
static struct osc_day *put_day(struct osc_days *d, int64_t day)
{
    if (d->n > 0 && d->v[d->latest].day == day)
        return &d->v[d->latest];
    uint32_t *const place = osc_idmap_put(&d->of_day, (uint64_t)day);

    if (!place)
        return NULL;
    if (*place == 0) {
        if (osc_grow(&d->v, &d->cap, d->n + 1, sizeof *d->v) != OSC_OK)
            return NULL;
        d->v[d->n++] =
            (struct osc_day){.day = day, .first_ns = INT64_MAX, .last_ns = INT64_MIN};
        *place = (uint32_t)d->n;
    }
    d->latest = *place - 1;
    return &d->v[d->latest];
}

/* Count N starts from FIRST_NS to LAST_NS, all in one day. */
static osc_status add_starts(struct osc_days *d, int64_t first_ns, int64_t last_ns, uint64_t n)
{
    struct osc_day *const day = put_day(d, day_of(first_ns));

    if (!day)
        return OSC_ENOMEM;
    day->first_ns = first_ns < day->first_ns ? first_ns : day->first_ns;
    day->last_ns = last_ns > day->last_ns ? last_ns : day->last_ns;
    day->n += n;
    return OSC_OK;
}

osc_status osc_days_add(struct osc_days *d, int64_t at_ns)
{
    return add_starts(d, at_ns, at_ns, 1);
}

osc_status osc_days_join(struct osc_days *d, const struct osc_days *from)
{
    osc_status st = OSC_OK;

    for (size_t i = 0; i < from->n && st == OSC_OK; i++)
        st = add_starts(d, from->v[i].first_ns, from->v[i].last_ns, from->v[i].n);
    return st;
}

/* The time in which events are believed: that of the groups that are not wild. */
struct believed {
    int64_t first_ns, last_ns; /* starts */
    int64_t reach_ns;
    bool any_wild;
    bool all_ends; /* too many ranges end far behind the last start to be mistakes */
};

static int compare_days(const void *a, const void *b)
{
    const struct osc_day *const *x = a, *const *y = b;

    return ((*x)->day > (*y)->day) - ((*x)->day < (*y)->day);
}

/* The group that begins with SORTED[*I] of N days; moves *I behind it. */
static struct osc_day next_group(struct osc_day *const *sorted, size_t n, size_t *i)
{
    struct osc_day group = *sorted[*i];

    for (++*i; *i < n && sorted[*i]->day - group.day <= 1; ++*i) {
        group.day = sorted[*i]->day;
        group.last_ns = sorted[*i]->last_ns;
        group.n += sorted[*i]->n;
    }
    return group;
}

/* Whether group A is rather the main one than group B, which is earlier. */
static bool is_rather(const struct osc_day *a, const struct osc_day *b)
{
    const bool a_lasts = a->last_ns > a->first_ns, b_lasts = b->last_ns > b->first_ns;

    return a_lasts != b_lasts ? a_lasts : a->n >= b->n;
}

static bool is_wild(const struct osc_day *group, const struct osc_day *main, int64_t reach_ns)
{
    const int64_t away_ns = group->first_ns > main->last_ns ? group->first_ns - main->last_ns
                                                            : main->first_ns - group->last_ns;

    return away_ns > reach_ns && (away_ns > YEAR_NS || group->first_ns == group->last_ns ||
                                  group->n <= main->n / TIMES_AS_MANY);
}

/* Tell which of the N days in SORTED, which is not 0, are wild. */
static struct believed judge(struct osc_day *const *sorted, size_t n)
{
    struct believed b = {.first_ns = INT64_MAX, .last_ns = INT64_MIN};
    struct osc_day main = {0};

    for (size_t i = 0; i < n;) {
        const struct osc_day group = next_group(sorted, n, &i);

        if (main.n == 0 || is_rather(&group, &main))
            main = group;
    }
    if (__builtin_mul_overflow(main.last_ns - main.first_ns, LENGTHS, &b.reach_ns))
        b.reach_ns = INT64_MAX;
    b.reach_ns = b.reach_ns < WEEK_NS ? WEEK_NS : b.reach_ns;
    for (size_t i = 0, from = 0; i < n; from = i) {
        const struct osc_day group = next_group(sorted, n, &i);
        const bool wild = group.first_ns != main.first_ns && is_wild(&group, &main, b.reach_ns);

        for (size_t k = from; k < i; k++)
            sorted[k]->is_wild = wild;
        b.any_wild |= wild;
        if (!wild) {
            b.first_ns = group.first_ns < b.first_ns ? group.first_ns : b.first_ns;
            b.last_ns = group.last_ns > b.last_ns ? group.last_ns : b.last_ns;
        }
    }
    return b;
}

static osc_status judge_days(struct osc_days *days, struct believed *b)
{
    /* NOLINTNEXTLINE(bugprone-sizeof-expression): these are pointers */
    struct osc_day **const sorted = osc_malloc((days->n + 1) * sizeof *sorted);

    if (!sorted)
        return OSC_ENOMEM;
    for (size_t i = 0; i < days->n; i++)
        sorted[i] = &days->v[i];
    /* NOLINTNEXTLINE(bugprone-sizeof-expression): these are pointers */
    osc_sort(sorted, days->n, sizeof *sorted, compare_days);
    *b = judge(sorted, days->n);
    osc_free(sorted);
    return OSC_OK;
}

static bool is_wild_start(const struct osc_days *days, int64_t at_ns)
{
    const uint32_t place = osc_idmap_get(&days->of_day, (uint64_t)day_of(at_ns));

    return place > 0 && days->v[place - 1].is_wild;
}

/* Whether AT_NS is too far before or after all that is believed. */
static bool is_out_of_reach(const struct believed *b, int64_t at_ns)
{
    return (at_ns < b->first_ns && b->first_ns - at_ns > b->reach_ns) ||
           (at_ns > b->last_ns && at_ns - b->last_ns > b->reach_ns);
}

static void count(struct osc_trace *t)
{
    osc_findings_add(&t->findings, OSC_FINDING_clock_step, OSC_NO_OFFSET, OSC_NO_TIME);
}

/* Remove the wild rows of K, a chunk of events, and wild ends. WANTED has room for its rows. */
static void clean_events(struct osc_trace *t, struct osc_chunk *k, const struct osc_days *days,
                         const struct believed *b, uint8_t *wanted)
{
    bool any = false;

    if (!b->any_wild && !is_out_of_reach(b, k->max_end_ns))
        return;
    for (uint32_t i = 0; i < k->n_rows; i++) {
        wanted[i] = !is_wild_start(days, k->ts_ns[i]);
        if (wanted[i] && !b->all_ends && k->dur_ns[i] != OSC_NO_DUR &&
            is_out_of_reach(b, osc_row_end(k, i))) {
            k->dur_ns[i] = OSC_NO_DUR;
            count(t);
            any = true;
        } else if (!wanted[i]) {
            count(t);
            any = true;
        }
    }
    if (any)
        osc_chunk_squeeze(k, wanted);
}

/* The same for records of arrows in K, a chunk of others. */
static void clean_arrows(struct osc_trace *t, struct osc_chunk *k, const struct believed *b,
                         uint8_t *wanted)
{
    bool any = false;

    for (uint32_t i = 0; i < k->n_rows; i++) {
        const struct osc_form *const form = osc_row_form(t, k, i);

        wanted[i] = !osc_shape_is_arrow((enum osc_form_shape)form->shape) ||
                    !is_out_of_reach(b, k->ts_ns[i]);
        any |= !wanted[i];
        if (!wanted[i])
            count(t);
    }
    if (any)
        osc_chunk_squeeze(k, wanted);
}

/* Find out whether half of the ranges, or more, end out of reach. */
static void judge_ends(const struct osc_trace *t, const struct osc_days *days,
                       struct believed *b)
{
    uint64_t n = 0, n_far = 0;

    for (uint32_t c = 1; c < t->events.n_chunks; c++) {
        const struct osc_chunk *const k = t->events.chunks[c];

        for (uint32_t i = 0; i < k->n_rows; i++) {
            if (k->dur_ns[i] == OSC_NO_DUR || is_wild_start(days, k->ts_ns[i]))
                continue;
            n++;
            n_far += is_out_of_reach(b, osc_row_end(k, i));
        }
    }
    b->all_ends = n_far >= n - n_far;
}

static osc_status clean(struct osc_trace *t, const struct osc_days *days, struct believed *b)
{
    uint8_t *const wanted = osc_malloc(OSC_CHUNK_ROWS);

    if (!wanted)
        return OSC_ENOMEM;
    judge_ends(t, days, b);
    for (uint32_t c = 1; c < t->events.n_chunks; c++)
        clean_events(t, t->events.chunks[c], days, b, wanted);
    for (uint32_t c = 1; c < t->others.n_chunks; c++)
        clean_arrows(t, t->others.chunks[c], b, wanted);
    osc_store_number(&t->events);
    osc_store_number(&t->others);
    osc_free(wanted);
    return OSC_OK;
}

static bool has_arrows(const struct osc_trace *t)
{
    bool any = false;

    for (uint32_t i = 1; i < t->n_forms; i++)
        any |= osc_shape_is_arrow((enum osc_form_shape)t->forms[i].shape);
    return any;
}

/* Whether all of T is within a week, as nearly always: then nothing is wild. */
static bool is_short(const struct osc_trace *t)
{
    int64_t first_ns = INT64_MAX, last_ns = INT64_MIN;

    for (uint32_t c = 1; c < t->events.n_chunks; c++) {
        const struct osc_chunk *const k = t->events.chunks[c];

        first_ns = k->min_ts_ns < first_ns ? k->min_ts_ns : first_ns;
        last_ns = k->max_end_ns > last_ns ? k->max_end_ns : last_ns;
    }
    for (uint32_t c = 1; c < t->others.n_chunks && has_arrows(t); c++) {
        const struct osc_chunk *const k = t->others.chunks[c];

        for (uint32_t i = 0; i < k->n_rows; i++) {
            const struct osc_form *const form = osc_row_form(t, k, i);

            if (!osc_shape_is_arrow((enum osc_form_shape)form->shape))
                continue;
            first_ns = k->ts_ns[i] < first_ns ? k->ts_ns[i] : first_ns;
            last_ns = k->ts_ns[i] > last_ns ? k->ts_ns[i] : last_ns;
        }
    }
    return first_ns >= last_ns || last_ns - first_ns <= WEEK_NS;
}

static osc_status add_rows(struct osc_days *days, const struct osc_trace *t)
{
    osc_status st = OSC_OK;

    for (uint32_t c = 1; c < t->events.n_chunks; c++) {
        const struct osc_chunk *const k = t->events.chunks[c];

        for (uint32_t i = 0; i < k->n_rows && st == OSC_OK; i++)
            st = osc_days_add(days, k->ts_ns[i]);
    }
    return st;
}

osc_status osc_wild_times_leave_out(struct osc_trace *t, struct osc_days *days, int64_t *min_ns)
{
    struct osc_days own = {0};
    struct believed b;
    osc_status st = OSC_OK;

    if (!days && is_short(t))
        return OSC_OK;
    if (!days)
        st = add_rows(&own, t);
    struct osc_days *const all = days ? days : &own;
    if (st == OSC_OK && all->n > 0) {
        st = judge_days(all, &b);
        if (st == OSC_OK)
            st = clean(t, all, &b);
        if (st == OSC_OK && days)
            *min_ns = b.first_ns;
    }
    osc_days_fini(&own);
    return st;
}
