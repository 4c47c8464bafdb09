/* SPDX-License-Identifier: Apache-2.0 */
#include "import/run.h"

#include "base/idmap.h"
#include "base/mem.h"
#include "base/sort.h"
#include "codec/json.h"
#include "import/filename.h"

/* Times before 1973 are no wall clock: some processor's uptime, or a test's. */
#define UNIX_LEAST INT64_C(100000000000000000)

/* Metadata that launchers leave behind, the first one first. */
static const char *const rank_keys[] = {"RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK",
                                        "SLURM_PROCID"};

static bool parse_rank(struct osc_str text, int32_t *rank)
{
    int64_t v;

    if (!osc_json_int(text, &v) || v < 0 || v > INT32_MAX)
        return false;
    *rank = (int32_t)v;
    return true;
}

static void find_rank(struct osc_trace *t, const struct osc_filename *name)
{
    struct osc_str value, rank;

    if (t->has_rank) /* columns say what was found out when they were written */
        return;
    if (osc_trace_meta(t, "distributedInfo", &value) && osc_json_member(value, "rank", &rank))
        t->has_rank = parse_rank(rank, &t->rank);
    for (size_t i = 0; i < sizeof rank_keys / sizeof *rank_keys && !t->has_rank; i++)
        t->has_rank = osc_trace_meta(t, rank_keys[i], &value) && parse_rank(value, &t->rank);
    if (!t->has_rank) {
        t->has_rank = name->has_rank;
        t->rank = name->has_rank ? name->rank : 0;
    }
}

/* By worker, then number. */
static int compare_windows(const void *a, const void *b)
{
    const struct osc_filename *x = *(const struct osc_filename *const *)a;
    const struct osc_filename *y = *(const struct osc_filename *const *)b;
    const int order = osc_str_cmp(x->worker, y->worker);

    return order != 0 ? order : osc_filename_compare_numbers(x->number, y->number);
}

/* Count the windows of each worker; files of one number are one window. */
static osc_status number_windows(struct osc_trace *const *traces,
                                 const struct osc_filename *names, uint32_t n)
{
    const struct osc_filename **sorted = osc_calloc(n ? n : 1, sizeof(void *));
    const struct osc_filename *last = NULL;
    int32_t span = 0;
    uint32_t n_sorted = 0;

    if (!sorted)
        return OSC_ENOMEM;
    for (uint32_t i = 0; i < n; i++) {
        if (names[i].is_logdir)
            sorted[n_sorted++] = &names[i];
    }
    osc_sort(sorted, n_sorted, sizeof(void *), compare_windows);
    for (uint32_t k = 0; k < n_sorted; last = sorted[k++]) {
        if (!last || !osc_str_eq(last->worker, sorted[k]->worker))
            span = 1;
        else
            span += osc_filename_compare_numbers(last->number, sorted[k]->number) != 0;
        traces[sorted[k] - names]->span = span;
    }
    osc_free(sorted);
    return OSC_OK;
}

/* The other files stand behind all windows that their rank has by then. */
static osc_status number_others(struct osc_trace *const *traces,
                                const struct osc_filename *names, uint32_t n)
{
    struct osc_idmap latest = {0}; /* rank -> its last window */
    osc_status st = OSC_OK;

    for (uint32_t pass = 0; pass < 2; pass++) {
        for (uint32_t i = 0; i < n && st == OSC_OK; i++) {
            uint32_t *span;

            if (names[i].is_logdir != (pass == 0))
                continue;
            span = osc_idmap_put(&latest, (uint64_t)traces[i]->rank);
            if (!span)
                st = OSC_ENOMEM;
            else if (pass == 1)
                traces[i]->span = (int32_t)++ * span;
            else if ((uint32_t)traces[i]->span > *span)
                *span = (uint32_t)traces[i]->span;
        }
    }
    osc_idmap_fini(&latest);
    return st;
}

osc_status osc_run_identify(struct osc_trace *const *traces, const char *const *paths,
                            uint32_t n)
{
    struct osc_filename *names = osc_calloc(n ? n : 1, sizeof *names);
    osc_status st = OSC_OK;

    if (!names)
        return OSC_ENOMEM;
    for (uint32_t i = 0; i < n && st == OSC_OK; i++) {
        names[i] = osc_filename_parse(paths[i]);
        find_rank(traces[i], &names[i]);
        if (names[i].is_logdir)
            st =
                osc_strings_add(&traces[i]->strings, names[i].worker, &traces[i]->worker, NULL);
    }
    if (st == OSC_OK)
        st = number_windows(traces, names, n);
    if (st == OSC_OK)
        st = number_others(traces, names, n);
    osc_free(names);
    return st;
}

/* The start of T by the clock it counts with; a base that makes no sense is dropped. */
static int64_t first_start(struct osc_trace *t)
{
    int64_t start, end;

    if (__builtin_add_overflow(t->min_ts_ns, t->base_ns, &start) ||
        __builtin_add_overflow(t->max_end_ns, t->base_ns, &end)) {
        t->base_ns = 0;
        return t->min_ts_ns;
    }
    return start;
}

/* ORIGIN by the clock of T's file, if all its times can be told from there. */
static void set_origin(struct osc_trace *t, int64_t origin)
{
    int64_t own, length;

    if (!__builtin_sub_overflow(origin, t->base_ns, &own) &&
        !__builtin_sub_overflow(t->max_end_ns, own, &length))
        t->origin_ns = own;
    else
        t->origin_ns = t->min_ts_ns;
}

/*
 * Traces of one boot count with the same clock, whatever was done to the wall clock
 * between their starts: all take the base of the first of them.
 */
static void join_boots(struct osc_trace *const *traces, uint32_t n)
{
    struct osc_str boot, other;

    for (uint32_t i = 1; i < n; i++) {
        if (!osc_trace_meta(traces[i], "boot_id", &boot))
            continue;
        for (uint32_t k = 0; k < i; k++) {
            if (osc_trace_meta(traces[k], "boot_id", &other) && osc_str_eq(boot, other)) {
                traces[i]->base_ns = traces[k]->base_ns;
                break;
            }
        }
    }
}

void osc_run_align(struct osc_trace *const *traces, uint32_t n)
{
    int64_t first[2] = {INT64_MAX, INT64_MAX}; /* uptimes, wall clocks */
    const struct osc_trace *reference = NULL;
    struct osc_str host, other;

    join_boots(traces, n);
    for (uint32_t i = 0; i < n; i++) {
        const int64_t start = first_start(traces[i]);
        int64_t *least = &first[start >= UNIX_LEAST];

        if (traces[i]->events.n_rows > 0 && start < *least)
            *least = start;
    }
    for (uint32_t i = 0; i < n; i++) {
        struct osc_trace *t = traces[i];

        if (t->events.n_rows > 0)
            set_origin(t, first[first_start(t) >= UNIX_LEAST]);
        if (!osc_trace_meta(t, "host_name", &other))
            continue;
        if (reference && osc_trace_meta(reference, "host_name", &host) &&
            !osc_str_eq(host, other))
            osc_findings_add(&t->findings, OSC_FINDING_unaligned, OSC_NO_OFFSET, OSC_NO_TIME);
        else if (!reference)
            reference = t;
    }
}

void osc_run_sort(struct osc_trace **traces, uint32_t n)
{
    /* By insertion: stable, few, and mostly in order already. */
    for (uint32_t i = 1; i < n; i++) {
        struct osc_trace *t = traces[i];
        uint32_t k = i;

        for (; k > 0 && (traces[k - 1]->rank > t->rank ||
                         (traces[k - 1]->rank == t->rank && traces[k - 1]->span > t->span));
             k--)
            traces[k] = traces[k - 1];
        traces[k] = t;
    }
}
