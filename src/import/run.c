/* SPDX-License-Identifier: Apache-2.0 */
#include "import/run.h"

#include "base/hash.h"
#include "base/idmap.h"
#include "base/mem.h"
#include "base/sort.h"
#include "codec/json.h"
#include "import/rank_words.h"
#include "import/spans.h"

/* Times before 1973 are not wall clock times but the uptime of a machine, or made up. */
#define UNIX_LEAST INT64_C(100000000000000000)

#define GENERATIONS 64 /* of processes between one and the ancestor whose rank it has */

/* Metadata with the rank, as launchers set it; the first one that is there counts. */
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

/* Get the rank of T from its metadata; false: it has none. */
static bool find_rank(const struct osc_trace *t, int32_t *rank)
{
    struct osc_str value, text;

    *rank = t->rank;
    if (t->has_rank) /* files of columns have the rank that was found before */
        return true;
    if (osc_trace_meta(t, "distributedInfo", &value) && osc_json_member(value, "rank", &text) &&
        parse_rank(text, rank))
        return true;
    for (size_t i = 0; i < sizeof rank_keys / sizeof *rank_keys; i++) {
        if (osc_trace_meta(t, rank_keys[i], &value) && parse_rank(value, rank))
            return true;
    }
    return false;
}

static struct osc_str meta(const struct osc_trace *t, const char *key)
{
    struct osc_str value = {NULL, 0};

    (void)osc_trace_meta(t, key, &value);
    return value;
}

/* A process id in the metadata of T; 0: it has none. */
static int64_t find_pid(const struct osc_trace *t, const char *key)
{
    int64_t pid;

    return osc_json_int(meta(t, key), &pid) && pid > 0 ? pid : 0;
}

void osc_run_identity(struct osc_identity *id, const struct osc_trace *t, const char *path)
{
    while (t->base) /* the identity is that of the whole trace, not of the view */
        t = t->base;
    *id = (struct osc_identity){
        .path = osc_str_c(path),
        .source = osc_trace_str(t, t->source),
        .boot_id = meta(t, "boot_id"),
        .host = meta(t, "host_name"),
        .run_id = meta(t, "run_id"),
        .torch_version = osc_trace_torch_version(t),
        .n_events = t->events.n_rows,
        .min_ts_ns = t->min_ts_ns,
        .max_end_ns = t->max_end_ns,
        .from_ns = t->min_ts_ns,
        .to_ns = t->max_end_ns,
        .pid = find_pid(t, "pid"),
        .parent_pid = find_pid(t, "parent_pid"),
        .has_steps = t->has_steps,
        .is_piece = meta(t, "piece_of_process").s != NULL,
        .alone = {.rank = t->rank,
                  .span = t->span,
                  .origin_ns = t->origin_ns,
                  .base_ns = t->base_ns},
    };
    if (t->to_ns > t->from_ns) {
        const bool is_empty = t->events.n_rows == 0; /* and has no times of its own */

        id->from_ns = is_empty || t->from_ns < id->from_ns ? t->from_ns : id->from_ns;
        id->to_ns = is_empty || t->to_ns > id->to_ns ? t->to_ns : id->to_ns;
    }
    id->among = id->alone;
    id->has_rank = find_rank(t, &id->among.rank);
}

/* A file, to be sorted by process and then in its order. */
struct by_pid {
    const struct osc_identity *id;
    uint32_t at;
};

static int compare_pids(const void *a, const void *b)
{
    const struct by_pid *const x = a, *const y = b;

    if (x->id->pid != y->id->pid)
        return x->id->pid < y->id->pid ? -1 : 1;
    return (x->at > y->at) - (x->at < y->at);
}

/* The index of the first of the N files in SORTED with at least this PID. */
static uint32_t first_with(const struct by_pid *sorted, uint32_t n, int64_t pid)
{
    uint32_t from = 0;

    while (n > from) {
        const uint32_t middle = from + (n - from) / 2;

        if (sorted[middle].id->pid < pid)
            from = middle + 1;
        else
            n = middle;
    }
    return from;
}

/* The first file of the process that started the process of CHILD, at that time; NULL: none. */
static const struct osc_identity *find_parent(const struct by_pid *sorted, uint32_t n,
                                              const struct osc_identity *child)
{
    uint32_t k = child->parent_pid > 0 ? first_with(sorted, n, child->parent_pid) : n;

    for (; k < n && sorted[k].id->pid == child->parent_pid; k++) {
        if (sorted[k].id != child && osc_spans_overlap(sorted[k].id, child))
            return sorted[k].id;
    }
    return NULL;
}

/* A file without a rank gets that of the next recorded ancestor that has one. */
static void inherit_rank(const struct by_pid *sorted, uint32_t n, struct osc_identity *id)
{
    const struct osc_identity *of = id;

    for (int depth = 0; depth < GENERATIONS && of && !of->has_rank; depth++)
        of = find_parent(sorted, n, of);
    if (of && of->has_rank)
        id->among.rank = of->among.rank;
}

/* Give the N files at IDS, with NAMES, their ranks. */
static osc_status find_ranks(struct osc_identity *const *ids, const struct osc_filename *names,
                             uint32_t n)
{
    struct by_pid *const sorted = osc_calloc(n ? n : 1, sizeof *sorted);

    if (!sorted)
        return OSC_ENOMEM;
    for (uint32_t i = 0; i < n; i++) {
        if (!ids[i]->has_rank)
            ids[i]->among.rank = names[i].has_rank ? names[i].rank : 0;
        ids[i]->has_rank = ids[i]->has_rank || names[i].has_rank;
        sorted[i] = (struct by_pid){ids[i], i};
    }
    const osc_status st = osc_rank_words_apply(ids, n);
    if (st != OSC_OK) {
        osc_free(sorted);
        return st;
    }
    osc_sort(sorted, n, sizeof *sorted, compare_pids);
    for (uint32_t i = 0; i < n; i++)
        inherit_rank(sorted, n, ids[i]);
    osc_free(sorted);
    return OSC_OK;
}

/* The start of a file with its base added; drops a base with which times overflow. */
static int64_t first_start(struct osc_identity *id)
{
    int64_t start, end;

    if (__builtin_add_overflow(id->min_ts_ns, id->among.base_ns, &start) ||
        __builtin_add_overflow(id->max_end_ns, id->among.base_ns, &end)) {
        id->among.base_ns = 0;
        return id->min_ts_ns;
    }
    return start;
}

/* Set the origin of the file to ORIGIN, if all its times can be expressed relative to it. */
static void set_origin(struct osc_identity *id, int64_t origin)
{
    int64_t own, length;

    if (!__builtin_sub_overflow(origin, id->among.base_ns, &own) &&
        !__builtin_sub_overflow(id->max_end_ns, own, &length))
        id->among.origin_ns = own;
    else
        id->among.origin_ns = id->min_ts_ns;
}

/*
 * Files of the same boot have the same clock, even if the wall clock was set between their
 * starts: give all of them the base of the first one.
 */
static osc_status join_boots(struct osc_identity *const *ids, uint32_t n)
{
    const uint64_t seed = osc_hash_seed();
    struct osc_idmap of_boot = {0}; /* hash of the boot -> index + 1 of its first file */
    osc_status st = OSC_OK;

    for (uint32_t i = 0; i < n && st == OSC_OK; i++) {
        if (!ids[i]->boot_id.s)
            continue;
        uint32_t *const first =
            osc_idmap_put(&of_boot, osc_hash(ids[i]->boot_id.s, ids[i]->boot_id.len, seed));
        if (!first)
            st = OSC_ENOMEM;
        else if (*first == 0)
            *first = i + 1;
        else if (osc_str_eq(ids[i]->boot_id, ids[*first - 1]->boot_id))
            ids[i]->among.base_ns = ids[*first - 1]->among.base_ns;
    }
    osc_idmap_fini(&of_boot);
    return st;
}

/* Let all files have the same time 0: the earliest start of those with the same kind of clock,
 * for uptimes and wall clocks have nothing in common. Files of another host than the first are
 * marked: their clocks may differ. */
static void align_all(struct osc_identity *const *ids, uint32_t n)
{
    int64_t first[2] = {INT64_MAX, INT64_MAX}; /* uptimes, wall clocks */
    const struct osc_identity *reference = NULL;

    for (uint32_t i = 0; i < n; i++) {
        const int64_t start = first_start(ids[i]);
        int64_t *least = &first[start >= UNIX_LEAST];

        if (ids[i]->n_events > 0 && start < *least)
            *least = start;
    }
    for (uint32_t i = 0; i < n; i++) {
        struct osc_identity *const id = ids[i];

        if (id->n_events > 0)
            set_origin(id, first[first_start(id) >= UNIX_LEAST]);
        if (!id->host.s)
            continue;
        id->among.is_unaligned = reference && !osc_str_eq(reference->host, id->host);
        reference = reference ? reference : id;
    }
}

osc_status osc_run_place(struct osc_identity *const *ids, uint32_t n)
{
    struct osc_filename *const names = osc_calloc(n ? n : 1, sizeof *names);

    if (!names)
        return OSC_ENOMEM;
    for (uint32_t i = 0; i < n; i++)
        names[i] = osc_filename_parse(ids[i]->path.s);
    osc_status st = join_boots(ids, n);
    if (st == OSC_OK)
        st = find_ranks(ids, names, n);
    if (st == OSC_OK)
        st = osc_spans_number(ids, names, n);
    if (st == OSC_OK)
        align_all(ids, n);
    osc_free(names);
    return st;
}

osc_status osc_run_apply(struct osc_trace *t, const struct osc_identity *id)
{
    const struct osc_filename name = osc_filename_parse(id->path.s);

    t->has_rank = id->has_rank;
    t->is_beside_steps = id->among.is_beside_steps;
    t->shares_steps = id->among.shares_steps;
    t->rank = id->among.rank;
    t->span = id->among.span;
    t->piece = id->among.piece;
    t->base_ns = id->among.base_ns;
    t->origin_ns = id->among.origin_ns;
    if (id->among.is_unaligned)
        osc_findings_add(&t->findings, OSC_FINDING_unaligned, OSC_NO_OFFSET, OSC_NO_TIME);
    return name.is_logdir ? osc_strings_add(&t->strings, name.worker, &t->worker, NULL)
                          : OSC_OK;
}

/* A trace, and where it was. */
struct place {
    struct osc_trace *trace;
    uint32_t at;
};

static int compare_places(const void *a, const void *b)
{
    const struct place *const x = a, *const y = b;

    if (x->trace->rank != y->trace->rank)
        return x->trace->rank < y->trace->rank ? -1 : 1;
    if (x->trace->span != y->trace->span)
        return x->trace->span < y->trace->span ? -1 : 1;
    if (x->trace->piece != y->trace->piece)
        return x->trace->piece < y->trace->piece ? -1 : 1;
    return (x->at > y->at) - (x->at < y->at);
}

osc_status osc_run_sort(struct osc_trace **traces, uint32_t n)
{
    struct place *const places = osc_calloc((size_t)n + 1, sizeof *places);

    if (!places)
        return OSC_ENOMEM;
    for (uint32_t i = 0; i < n; i++)
        places[i] = (struct place){traces[i], i};
    osc_sort(places, n, sizeof *places, compare_places);
    for (uint32_t i = 0; i < n; i++)
        traces[i] = places[i].trace;
    osc_free(places);
    return OSC_OK;
}
