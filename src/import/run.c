/* SPDX-License-Identifier: Apache-2.0 */
#include "import/run.h"

#include "base/mem.h"
#include "codec/json.h"
#include "import/filename.h"

/* Times before 1973 are no wall clock: some processor's uptime, or a test's. */
#define UNIX_LEAST INT64_C(100000000000000000)

/* Metadata that launchers leave behind, the first one first. */
static const char *const rank_keys[] = {"RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK",
                                        "SLURM_PROCID"};

static bool parse_rank(struct osc_str text, int32_t *rank)
{
    struct osc_json_number n;

    if (!osc_json_number(text.s, text.s + text.len, &n) || n.end != text.s + text.len ||
        !n.fits_int64 || n.i < 0 || n.i > INT32_MAX)
        return false;
    *rank = (int32_t)n.i;
    return true;
}

static void find_rank(struct osc_trace *t, const struct osc_filename *name)
{
    struct osc_str value, rank;

    if (osc_trace_meta(t, "distributedInfo", &value) && osc_json_member(value, "rank", &rank))
        t->has_rank = parse_rank(rank, &t->rank);
    for (size_t i = 0; i < sizeof rank_keys / sizeof *rank_keys && !t->has_rank; i++)
        t->has_rank = osc_trace_meta(t, rank_keys[i], &value) && parse_rank(value, &t->rank);
    if (!t->has_rank) {
        t->has_rank = name->has_rank;
        t->rank = name->has_rank ? name->rank : 0;
    }
}

/* How many different numbers of the worker of file I are smaller, plus 1. */
static int32_t span_of_number(const struct osc_filename *names, uint32_t n, uint32_t i)
{
    int32_t span = 1;

    for (uint32_t k = 0; k < n; k++) {
        bool is_new = names[k].is_logdir && osc_str_eq(names[k].worker, names[i].worker) &&
                      osc_filename_compare_numbers(names[k].number, names[i].number) < 0;

        for (uint32_t m = 0; m < k && is_new; m++)
            is_new = !(names[m].is_logdir && osc_str_eq(names[m].worker, names[i].worker) &&
                       osc_str_eq(names[m].number, names[k].number));
        span += is_new;
    }
    return span;
}

osc_status osc_run_identify(struct osc_trace *const *traces, const char *const *paths,
                            uint32_t n)
{
    struct osc_filename *names = osc_calloc(n ? n : 1, sizeof *names);
    osc_status st = OSC_OK;

    if (!names)
        return OSC_ENOMEM;
    for (uint32_t i = 0; i < n; i++) {
        names[i] = osc_filename_parse(paths[i]);
        find_rank(traces[i], &names[i]);
    }
    for (uint32_t i = 0; i < n && st == OSC_OK; i++) {
        struct osc_trace *t = traces[i];

        t->span = 1;
        if (names[i].is_logdir) {
            t->span = span_of_number(names, n, i);
            st = osc_strings_add(&t->strings, names[i].worker, &t->worker, NULL);
            continue;
        }
        /* Behind all windows that the rank has by then. */
        for (uint32_t k = 0; k < n; k++) {
            const bool is_before = names[k].is_logdir || k < i;
            const int32_t span =
                names[k].is_logdir ? span_of_number(names, n, k) : traces[k]->span;

            if (is_before && traces[k]->rank == t->rank && span >= t->span)
                t->span = span + 1;
        }
    }
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

void osc_run_align(struct osc_trace *const *traces, uint32_t n)
{
    int64_t first[2] = {INT64_MAX, INT64_MAX}; /* uptimes, wall clocks */
    const struct osc_trace *reference = NULL;
    struct osc_str host, other;

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
