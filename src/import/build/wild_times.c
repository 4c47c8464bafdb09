/* SPDX-License-Identifier: Apache-2.0 */
#include "import/build/wild_times.h"

#include <string.h>

#include "base/mem.h"
#include "base/sort.h"

#define MINUTE_NS      INT64_C(60000000000)
#define DAY_MINUTES    INT64_C(1440)
#define WEEK_NS        (7 * DAY_MINUTES * MINUTE_NS)
#define YEAR_NS        (365 * DAY_MINUTES * MINUTE_NS)
#define LEAST_PAUSE_NS (DAY_MINUTES / 2 * MINUTE_NS)

/* A group is near if it is less far away than this many times what the main one lasts. */
#define LENGTHS 100

/* A group that is not years away is wild only if the main one has this many times its events.
 */
#define TIMES_AS_MANY 10

/* What starts at one time, before or after all others, is wild if the pause between is more
 * than this many times as long as the others last, which are this many at least. */
#define PAUSE_LENGTHS 1000
#define LEAST_OTHERS  4

static int64_t minute_of(int64_t at_ns)
{
    return at_ns / MINUTE_NS - (at_ns % MINUTE_NS < 0);
}

static int64_t day_of(const struct osc_minute *m)
{
    return m->minute / DAY_MINUTES - (m->minute % DAY_MINUTES < 0);
}

void osc_minutes_fini(struct osc_minutes *all)
{
    osc_free(all->v);
    osc_idmap_fini(&all->of_minute);
    *all = (struct osc_minutes){0};
}

/* The minute MINUTE of ALL, which is added if it is missing; NULL: no memory. */
static struct osc_minute *put_minute(struct osc_minutes *all, int64_t minute)
{
    if (all->n > 0 && all->v[all->latest].minute == minute)
        return &all->v[all->latest];
    uint32_t *const place = osc_idmap_put(&all->of_minute, (uint64_t)minute);

    if (!place)
        return NULL;
    if (*place == 0) {
        if (osc_grow(&all->v, &all->cap, all->n + 1, sizeof *all->v) != OSC_OK)
            return NULL;
        all->v[all->n++] = (struct osc_minute){
            .minute = minute, .first_ns = INT64_MAX, .last_ns = INT64_MIN, .end_ns = INT64_MIN};
        *place = (uint32_t)all->n;
    }
    all->latest = *place - 1;
    return &all->v[all->latest];
}

/* Add what MORE counts, which may be of several minutes, to ALL by its first start. */
static osc_status add_starts(struct osc_minutes *all, const struct osc_minute *more)
{
    struct osc_minute *const m = put_minute(all, minute_of(more->first_ns));

    if (!m)
        return OSC_ENOMEM;
    m->first_ns = more->first_ns < m->first_ns ? more->first_ns : m->first_ns;
    m->last_ns = more->last_ns > m->last_ns ? more->last_ns : m->last_ns;
    m->end_ns = more->end_ns > m->end_ns ? more->end_ns : m->end_ns;
    m->n += more->n;
    return OSC_OK;
}

static int64_t end_of(int64_t at_ns, int64_t dur_ns)
{
    int64_t end_ns = at_ns;

    if (dur_ns != OSC_NO_DUR && __builtin_add_overflow(at_ns, dur_ns, &end_ns))
        end_ns = INT64_MAX;
    return end_ns;
}

osc_status osc_minutes_add(struct osc_minutes *all, int64_t at_ns, int64_t dur_ns)
{
    return add_starts(
        all, &(struct osc_minute){
                 .first_ns = at_ns, .last_ns = at_ns, .end_ns = end_of(at_ns, dur_ns), .n = 1});
}

osc_status osc_minutes_join(struct osc_minutes *all, const struct osc_minutes *from)
{
    osc_status st = OSC_OK;

    for (size_t i = 0; i < from->n && st == OSC_OK; i++)
        st = add_starts(all, &from->v[i]);
    return st;
}

/* The time in which events are believed: that of the groups that are not wild. */
struct believed {
    int64_t first_ns, last_ns; /* starts */
    int64_t reach_ns;
    bool any_wild;
    bool all_ends; /* too many ranges end far behind the last start to be mistakes */
};

static int compare_minutes(const void *a, const void *b)
{
    const struct osc_minute *const *x = a, *const *y = b;

    return ((*x)->minute > (*y)->minute) - ((*x)->minute < (*y)->minute);
}

static void append(struct osc_minute *group, const struct osc_minute *next)
{
    group->minute = next->minute;
    group->last_ns = next->last_ns;
    group->end_ns = next->end_ns > group->end_ns ? next->end_ns : group->end_ns;
    group->n += next->n;
}

/* The group that begins with SORTED[*I] of N minutes, without a day that has none; moves *I
 * behind it. */
static struct osc_minute next_group(struct osc_minute *const *sorted, size_t n, size_t *i)
{
    struct osc_minute group = *sorted[*i];

    for (++*i; *i < n && day_of(sorted[*i]) - day_of(&group) <= 1; ++*i)
        append(&group, sorted[*i]);
    return group;
}

/* Whether group A is rather the main one than group B, which is earlier. */
static bool is_rather(const struct osc_minute *a, const struct osc_minute *b)
{
    const bool a_lasts = a->last_ns > a->first_ns, b_lasts = b->last_ns > b->first_ns;

    return a_lasts != b_lasts ? a_lasts : a->n >= b->n;
}

static bool is_wild(const struct osc_minute *group, const struct osc_minute *main,
                    int64_t reach_ns)
{
    const int64_t away_ns = group->first_ns > main->last_ns ? group->first_ns - main->last_ns
                                                            : main->first_ns - group->last_ns;

    return away_ns > reach_ns && (away_ns > YEAR_NS || group->first_ns == group->last_ns ||
                                  group->n <= main->n / TIMES_AS_MANY);
}

/* Tell which of the N minutes in SORTED, which is not 0, are wild. */
static struct believed judge(struct osc_minute *const *sorted, size_t n)
{
    struct believed b = {.first_ns = INT64_MAX, .last_ns = INT64_MIN};
    struct osc_minute main = {0};

    for (size_t i = 0; i < n;) {
        const struct osc_minute group = next_group(sorted, n, &i);

        if (main.n == 0 || is_rather(&group, &main))
            main = group;
    }
    if (__builtin_mul_overflow(main.last_ns - main.first_ns, LENGTHS, &b.reach_ns))
        b.reach_ns = INT64_MAX;
    b.reach_ns = b.reach_ns < WEEK_NS ? WEEK_NS : b.reach_ns;
    for (size_t i = 0, from = 0; i < n; from = i) {
        const struct osc_minute group = next_group(sorted, n, &i);
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

/* Whether EDGE, before or after all of CORE, is behind a pause out of proportion. */
static bool is_apart(const struct osc_minute *edge, const struct osc_minute *core)
{
    int64_t pause_ns, length_ns;

    if (edge->first_ns < core->first_ns
            ? __builtin_sub_overflow(core->first_ns, edge->end_ns, &pause_ns)
            : __builtin_sub_overflow(edge->first_ns, core->end_ns, &pause_ns))
        return false; /* an end out of all bounds */
    return pause_ns > LEAST_PAUSE_NS &&
           !__builtin_sub_overflow(core->end_ns, core->first_ns, &length_ns) &&
           pause_ns / PAUSE_LENGTHS >= length_ns && pause_ns > length_ns * PAUSE_LENGTHS;
}

static bool has_one_start(const struct osc_minute *m)
{
    return m->first_ns == m->last_ns;
}

/* Tell whether the first and the last of the N minutes in SORTED, none of them wild so far, are
 * behind a pause that is out of proportion. */
static void judge_edges(struct osc_minute *const *sorted, size_t n, struct believed *b)
{
    size_t from = has_one_start(sorted[0]), to = n - has_one_start(sorted[n - 1]);

    if (from >= to)
        return;
    struct osc_minute core = *sorted[from];
    for (size_t i = from + 1; i < to; i++)
        append(&core, sorted[i]);
    /* An edge that is not apart makes the core longer, so that the other one may not be apart
     * either. */
    for (bool has_grown = true; has_grown;) {
        has_grown = false;
        if (from > 0 && !is_apart(sorted[0], &core)) {
            struct osc_minute all = *sorted[--from];

            append(&all, &core);
            core = all;
            has_grown = true;
        }
        if (to < n && !is_apart(sorted[n - 1], &core)) {
            append(&core, sorted[to++]);
            has_grown = true;
        }
    }
    const bool is_early = from > 0, is_late = to < n;
    if (has_one_start(&core) || core.n < LEAST_OTHERS || (is_early && sorted[0]->n >= core.n) ||
        (is_late && sorted[n - 1]->n >= core.n))
        return;
    sorted[0]->is_wild = is_early;
    sorted[n - 1]->is_wild = is_late;
    b->first_ns = core.first_ns;
    b->last_ns = core.last_ns;
    b->any_wild |= is_early || is_late;
}

/* TRUSTS_PAUSES: pauses are never out of proportion. */
static osc_status judge_minutes(struct osc_minutes *all, bool trusts_pauses, struct believed *b)
{
    /* NOLINTNEXTLINE(bugprone-sizeof-expression): these are pointers */
    struct osc_minute **const sorted = osc_malloc(all->n * sizeof *sorted);
    size_t n = 0;

    if (!sorted)
        return OSC_ENOMEM;
    for (size_t i = 0; i < all->n; i++)
        sorted[i] = &all->v[i];
    /* NOLINTNEXTLINE(bugprone-sizeof-expression): these are pointers */
    osc_sort(sorted, all->n, sizeof *sorted, compare_minutes);
    *b = judge(sorted, all->n);
    for (size_t i = 0; i < all->n; i++) {
        if (!sorted[i]->is_wild)
            sorted[n++] = sorted[i];
    }
    if (!trusts_pauses)
        judge_edges(sorted, n, b);
    osc_free(sorted);
    return OSC_OK;
}

static bool is_wild_start(const struct osc_minutes *minutes, int64_t at_ns)
{
    const uint32_t place = osc_idmap_get(&minutes->of_minute, (uint64_t)minute_of(at_ns));

    return place > 0 && minutes->v[place - 1].is_wild;
}

/* Whether AT_NS is too far before or after all that is believed. */
static bool is_out_of_reach(const struct believed *b, int64_t at_ns)
{
    return (at_ns < b->first_ns && b->first_ns - at_ns > b->reach_ns) ||
           (at_ns > b->last_ns && at_ns - b->last_ns > b->reach_ns);
}

static void count(struct osc_trace *t, int64_t at_ns)
{
    osc_findings_add(&t->findings, OSC_FINDING_clock_step, OSC_NO_OFFSET, at_ns);
}

/* Remove the wild rows of K, a chunk of events, and wild ends. WANTED has room for its rows. */
static void clean_events(struct osc_trace *t, struct osc_chunk *k,
                         const struct osc_minutes *minutes, const struct believed *b,
                         uint8_t *wanted)
{
    bool any = false;

    if (!b->any_wild && !is_out_of_reach(b, k->max_end_ns))
        return;
    for (uint32_t i = 0; i < k->n_rows; i++) {
        wanted[i] = !is_wild_start(minutes, k->ts_ns[i]);
        if (wanted[i] && !b->all_ends && k->dur_ns[i] != OSC_NO_DUR &&
            is_out_of_reach(b, osc_row_end(k, i))) {
            k->dur_ns[i] = OSC_NO_DUR;
            count(t, k->ts_ns[i]);
            any = true;
        } else if (!wanted[i]) {
            count(t, k->ts_ns[i]);
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
            count(t, k->ts_ns[i]);
    }
    if (any)
        osc_chunk_squeeze(k, wanted);
}

/* Find out whether half of the ranges, or more, end out of reach. */
static void judge_ends(const struct osc_trace *t, const struct osc_minutes *minutes,
                       struct believed *b)
{
    uint64_t n = 0, n_far = 0;

    for (uint32_t c = 1; c < t->events.n_chunks; c++) {
        const struct osc_chunk *const k = t->events.chunks[c];

        for (uint32_t i = 0; i < k->n_rows; i++) {
            if (k->dur_ns[i] == OSC_NO_DUR || is_wild_start(minutes, k->ts_ns[i]))
                continue;
            n++;
            n_far += is_out_of_reach(b, osc_row_end(k, i));
        }
    }
    b->all_ends = n_far >= n - n_far;
}

static osc_status clean(struct osc_trace *t, const struct osc_minutes *minutes,
                        struct believed *b)
{
    uint8_t *const wanted = osc_malloc(OSC_CHUNK_ROWS);

    if (!wanted)
        return OSC_ENOMEM;
    judge_ends(t, minutes, b);
    for (uint32_t c = 1; c < t->events.n_chunks; c++)
        clean_events(t, t->events.chunks[c], minutes, b, wanted);
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

/* Whether all of T is within hours, as mostly: then nothing is wild. */
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
    return first_ns >= last_ns || last_ns - first_ns <= LEAST_PAUSE_NS;
}

/* Count the starts of T in MINUTES; with IS_COUNTED they are there, but not all ends. */
static osc_status add_rows(struct osc_minutes *minutes, const struct osc_trace *t,
                           bool is_counted)
{
    osc_status st = OSC_OK;

    for (uint32_t c = 1; c < t->events.n_chunks; c++) {
        const struct osc_chunk *const k = t->events.chunks[c];

        for (uint32_t i = 0; i < k->n_rows && st == OSC_OK; i++)
            st = add_starts(minutes, &(struct osc_minute){.first_ns = k->ts_ns[i],
                                                          .last_ns = k->ts_ns[i],
                                                          .end_ns = osc_row_end(k, i),
                                                          .n = !is_counted});
    }
    return st;
}

osc_status osc_wild_times_leave_out(struct osc_trace *t, struct osc_minutes *minutes,
                                    int64_t *min_ns)
{
    struct osc_minutes own = {0};
    struct believed b;
    struct osc_str ignored;

    if (!minutes && is_short(t))
        return OSC_OK;
    struct osc_minutes *const all = minutes ? minutes : &own;
    osc_status st = add_rows(all, t, minutes != NULL);
    if (st == OSC_OK && all->n > 0) {
        /* Our recorder writes no wild times, and programs may record a little now and then. A
         * live directory alone has no facts, so none of a version. */
        st = judge_minutes(all,
                           t->producer == OSC_PRODUCER_OPSCOPE ||
                               osc_trace_meta(t, "opscope_version", &ignored),
                           &b);
        if (st == OSC_OK)
            st = clean(t, all, &b);
        if (st == OSC_OK && minutes)
            *min_ns = b.first_ns;
    }
    osc_minutes_fini(&own);
    return st;
}
