/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `stragglers`: which ranks let the others wait, since when, and what they did meanwhile.
 */
#include "analysis/table_registry.h"

#include "analysis/median.h"
#include "analysis/ranks/calls.h"
#include "analysis/ranks/clocks.h"
#include "analysis/ranks/expected.h"
#include "analysis/ranks/rank_run.h"
#include "analysis/ranks/rank_work.h"
#include "analysis/table_columns.h"
#include "base/mem.h"
#include "base/sort.h"
#include "base/wide.h"
#include "derive/facts.h"

/* What rows can be grouped by. */
enum { BY_STEP };

enum {
    RANK,
    SPAN,
    STEP,
    CAUSED,
    CAUSED_RATIO,
    TIMES_LAST,
    COLLECTIVES,
    WAITED,
    SINCE_STEP,
    OPERATOR,
    OPERATOR_NS,
    ERROR,
    NOTE,
    N_SHOWN
};

static const struct osc_column columns[N_SHOWN + OSC_RANK_HIDDEN] = {
    OSC_COLUMN(RANK, "rank", INTEGER, NULL, FIRST, 0, OSC_RULE_RANKS,
               "Rank that the row is about."),
    OSC_COLUMN(SPAN, "span", INTEGER, NULL, FIRST, OSC_COLUMN_OPTIONAL, OSC_RULE_RANKS,
               "Recording window of the rank, if there are several."),
    OSC_COLUMN(STEP, "step", STRING, NULL, FIRST, OSC_COLUMN_OPTIONAL, OSC_RULE_STEPS,
               "Label of the step that contains the collectives of the row; missing: no step "
               "does.",
               .grouping = "step"),
    OSC_COLUMN(
        CAUSED, "caused_wait_ns", INTEGER, "ns", FIRST, 0, 0,
        "Time of other ranks that waited for this one, over all collectives: while some "
        "ranks wait in a collective, their time belongs in equal parts to the ranks that "
        "have not come yet."),
    OSC_COLUMN(CAUSED_RATIO, "caused_ratio", NUMBER, "ratio", FIRST, 0, 0,
               "caused_wait_ns / sum over all ranks."),
    OSC_COLUMN(TIMES_LAST, "times_last", INTEGER, NULL, FIRST, 0, 0,
               "Collectives in which it came last, later than all others."),
    OSC_COLUMN(COLLECTIVES, "collectives", INTEGER, NULL, FIRST, 0, 0,
               "Its collectives with other ranks whose clocks can be compared."),
    OSC_COLUMN(
        WAITED, "waited_ns", INTEGER, "ns", FIRST, 0, 0,
        "Time that it waited itself: sum over its collectives of last start - its start."),
    OSC_COLUMN(SINCE_STEP, "since_step", STRING, NULL, FIRST, 0, OSC_RULE_STEPS,
               "Label of the first step in which it caused most waiting, if it did so from "
               "then on in at least half of the steps. Steps in which it caused less than a "
               "tenth of its mean over these steps do not count."),
    OSC_COLUMN(OPERATOR, "operator", STRING, NULL, FIRST, OSC_COLUMN_SYMBOL, 0,
               "Operator, other range of the host, or kernel that made it late: what took "
               "longer than on the median rank, summed over the collectives in which it came "
               "last. Missing if it explains less than a tenth of the delay."),
    OSC_COLUMN(OPERATOR_NS, "operator_ns", INTEGER, "ns", FIRST, 0, 0,
               "How much longer that took: self time on this rank since the collective before "
               "- that of the median rank, at most the time by which it came later than the "
               "median rank."),
    OSC_COLUMN(ERROR, "clock_error_ns", INTEGER, "ns", FIRST, OSC_COLUMN_DEEP, OSC_RULE_CLOCKS,
               "Error of its clock: as in `ranks`."),
    OSC_COLUMN(NOTE, "note", STRING, NULL, FIRST, OSC_COLUMN_OPTIONAL | OSC_COLUMN_BELOW, 0,
               "What can be said about why it is late."),
    OSC_RANK_COLUMNS(N_SHOWN, FIRST),
};

/* A rank and span. */
struct row {
    size_t first_file, end_file;
    osc_wide caused, waited;
    osc_wide late;   /* where it came last: by how much later than the median rank; */
    osc_wide before; /* of that, before its recording began; */
    osc_wide more;   /* and by how much longer all that was recorded took */
    uint64_t n_last, n_calls;
    uint32_t since; /* step, + 1 */
    uint32_t cause; /* word + 1 of what made it late; 0: none */
    int64_t operator_ns;
};

/* What a row caused and waited in the steps of one label. */
struct cell {
    uint32_t row, label; /* label: word + 1, or 0 */
    osc_wide caused, waited;
    uint64_t n_last, n_calls;
};

/* What a row caused in a step, or how much longer something took on it. */
struct part {
    uint32_t row, of; /* of: step of its file, or word */
    osc_wide ns;
};

struct parts {
    struct part *v; /* owned */
    size_t n, cap;
};

/* When a member came. */
struct arrival {
    int64_t at_ns;
    struct osc_rank_member member;
    uint32_t row;
};

struct search {
    const struct osc_rank_run *run;
    struct osc_rank_clock *clocks; /* owned */
    struct row *rows;              /* owned */
    uint32_t *row_of;              /* owned; by file */
    struct arrival *arrivals;      /* owned; scratch */
    int64_t *scratch;              /* owned */
    struct parts steps, grown;     /* owned */
    struct cell *cells;            /* owned; by rows, then by labels once they are joined */
    size_t n_rows, n_cells, cap_cells;
    bool by_step; /* cells are wanted */
    uint64_t n_compared;
    osc_status status; /* sticky */
};

static void add_part(struct search *s, struct parts *p, uint32_t row, uint32_t of, int64_t ns)
{
    if (s->status == OSC_OK)
        s->status = osc_grow(&p->v, &p->cap, p->n + 1, sizeof *p->v);
    if (s->status == OSC_OK)
        p->v[p->n++] = (struct part){row, of, ns};
}

static int by_time(const void *a, const void *b)
{
    const struct arrival *const x = a, *const y = b;

    if (x->at_ns != y->at_ns)
        return x->at_ns < y->at_ns ? -1 : 1;
    return x->member.file < y->member.file ? -1 : x->member.file > y->member.file;
}

/* --- why ---------------------------------------------------------------------------------- */

/* How long NAME took before the call of M; if it is not among what took longest there, at most
 * as long as the shortest of these. */
static int64_t work_of(const struct osc_rank_run *run, struct osc_rank_member m, uint32_t name)
{
    const struct osc_rank_part *const p = &run->files[m.file].part;
    const struct osc_rank_call *const c = &p->calls[m.call];
    const struct osc_rank_work *const v = p->work + c->first_work;

    for (uint32_t k = 0; k < c->n_work; k++) {
        if (v[k].name == name)
            return v[k].ns;
    }
    return c->n_work == OSC_RANK_WORK_MAX ? v[c->n_work - 1].ns : 0;
}

static int64_t limited(int64_t ns, int64_t most_ns)
{
    return ns < 0 ? 0 : ns < most_ns ? ns : most_ns;
}

/* Add how late the last of N arrivals was before its recording began, and how much longer all
 * of its work took, LATE_NS at most. */
static void add_whole(struct search *s, size_t n, int64_t late_ns)
{
    const struct arrival *const last = &s->arrivals[n - 1];
    struct row *const row = &s->rows[last->row];

    for (size_t i = 0; i < n; i++)
        s->scratch[i] = osc_rank_call_of(s->run, s->arrivals[i].member)->work_ns;
    const int64_t own_ns = s->scratch[n - 1];
    row->more += limited(own_ns - osc_select_kth(s->scratch, n, (n - 1) / 2), late_ns);
    if (last->member.call > 0)
        return;
    for (size_t i = 0; i < n; i++)
        s->scratch[i] = osc_rank_call_of(s->run, s->arrivals[i].member)->start_ns;
    const int64_t since_ns = s->scratch[n - 1];
    row->before +=
        late_ns - limited(since_ns - osc_select_kth(s->scratch, n, (n - 1) / 2), late_ns);
}

/* Add what took longer before the last of N arrivals than on the median rank, LATE_NS at most.
 */
static void add_grown(struct search *s, size_t n, int64_t late_ns)
{
    const struct arrival *const last = &s->arrivals[n - 1];
    const struct osc_rank_part *const p = &s->run->files[last->member.file].part;
    const struct osc_rank_call *const c = &p->calls[last->member.call];

    add_whole(s, n, late_ns);
    for (uint32_t k = c->first_work; k < c->first_work + c->n_work; k++) {
        for (size_t i = 0; i < n; i++)
            s->scratch[i] = work_of(s->run, s->arrivals[i].member, p->work[k].name);
        const int64_t more_ns = p->work[k].ns - osc_select_kth(s->scratch, n, (n - 1) / 2);

        if (more_ns > 0)
            add_part(s, &s->grown, last->row, p->work[k].name, limited(more_ns, late_ns));
    }
}

/* --- who ---------------------------------------------------------------------------------- */

/* Whether arrivals [0, N) are of several rows. */
static bool has_several(const struct search *s, size_t n)
{
    for (size_t k = 1; k < n; k++) {
        if (s->arrivals[k].row != s->arrivals[0].row)
            return true;
    }
    return false;
}

/* Add what A, the last one if IS_LAST, caused and waited to the cells. */
static void add_cell(struct search *s, const struct arrival *a, int64_t caused_ns,
                     int64_t waited_ns, bool is_last)
{
    const struct osc_rank_part *const p = &s->run->files[a->member.file].part;
    const uint32_t step = osc_rank_call_of(s->run, a->member)->step;

    if (s->status == OSC_OK)
        s->status = osc_grow(&s->cells, &s->cap_cells, s->n_cells + 1, sizeof *s->cells);
    if (s->status == OSC_OK)
        s->cells[s->n_cells++] = (struct cell){
            a->row,    step && step <= p->n_steps ? p->steps[step - 1].label + 1 : 0,
            caused_ns, waited_ns,
            is_last,   1};
}

/* Charge the waiting of the sorted arrivals [0, N). */
static void charge(struct search *s, size_t n)
{
    const int64_t last_ns = s->arrivals[n - 1].at_ns;
    int64_t own_ns = 0;

    for (size_t k = 0; k < n; k++) {
        const struct arrival *const a = &s->arrivals[k];
        struct row *const row = &s->rows[a->row];
        const struct osc_rank_call *const c = osc_rank_call_of(s->run, a->member);

        if (k > 0) {
            const osc_wide waiting =
                (osc_wide)(a->at_ns - s->arrivals[k - 1].at_ns) * (osc_wide)k;

            own_ns += osc_wide_nearest(waiting / (osc_wide)(n - k));
        }
        row->caused += own_ns;
        row->waited += last_ns - a->at_ns;
        row->n_calls++;
        if (s->by_step)
            add_cell(s, a, own_ns, last_ns - a->at_ns,
                     k == n - 1 && last_ns > s->arrivals[n - 2].at_ns);
        if (c->step && own_ns > 0)
            add_part(s, &s->steps, a->row, c->step, own_ns);
    }
    if (last_ns == s->arrivals[n - 2].at_ns)
        return;
    const int64_t late_ns = last_ns - s->arrivals[(n - 1) / 2].at_ns;
    s->rows[s->arrivals[n - 1].row].n_last++;
    s->rows[s->arrivals[n - 1].row].late += late_ns;
    add_grown(s, n, late_ns);
}

static void look_at(struct search *s, const struct osc_rank_match *m)
{
    for (uint32_t k = 0; k < m->n; k++) {
        const struct osc_rank_member at = s->run->members[m->first + k];
        const struct osc_rank_call *const c = osc_rank_call_of(s->run, at);

        s->arrivals[k] =
            (struct arrival){osc_rank_clock_time(&s->clocks[at.file],
                                                 c->start_ns + s->run->files[at.file].base_ns),
                             at, s->row_of[at.file]};
    }
    if (!has_several(s, m->n) || !osc_rank_is_comparable(s->run, s->clocks, m))
        return;
    s->n_compared++;
    osc_sort(s->arrivals, m->n, sizeof *s->arrivals, by_time);
    charge(s, m->n);
}

static osc_status init(struct search *s)
{
    const struct osc_rank_run *const run = s->run;
    uint32_t n_components;

    s->clocks = osc_calloc(run->n_files + 1, sizeof *s->clocks);
    s->rows = osc_calloc(run->n_files + 1, sizeof *s->rows);
    s->row_of = osc_calloc(run->n_files + 1, sizeof *s->row_of);
    s->arrivals = osc_calloc(run->n_members + 1, sizeof *s->arrivals);
    s->scratch = osc_calloc(run->n_members + 1, sizeof *s->scratch);
    if (!s->clocks || !s->rows || !s->row_of || !s->arrivals || !s->scratch)
        return OSC_ENOMEM;
    for (size_t first = 0, end; first < run->n_files; first = end) {
        end = osc_rank_group_end(run, first);
        for (size_t f = first; f < end; f++)
            s->row_of[f] = (uint32_t)s->n_rows;
        s->rows[s->n_rows].first_file = first;
        s->rows[s->n_rows++].end_file = end;
    }
    return osc_rank_clocks_fit(run, s->clocks, &n_components);
}

static void fini(struct search *s)
{
    osc_free(s->clocks);
    osc_free(s->rows);
    osc_free(s->row_of);
    osc_free(s->arrivals);
    osc_free(s->scratch);
    osc_free(s->steps.v);
    osc_free(s->grown.v);
    osc_free(s->cells);
}

/* --- since when ----------------------------------------------------------------------------
 */

static int by_of(const void *a, const void *b)
{
    const struct part *const x = a, *const y = b;

    if (x->of != y->of)
        return x->of < y->of ? -1 : 1;
    return x->row < y->row ? -1 : x->row > y->row;
}

/* Join equal parts, which are then in order of what they are of and of rows. */
static void join(struct parts *p)
{
    size_t n = 0;

    osc_sort(p->v, p->n, sizeof *p->v, by_of);
    for (size_t k = 0; k < p->n; k++) {
        if (n > 0 && by_of(&p->v[n - 1], &p->v[k]) == 0)
            p->v[n - 1].ns += p->v[k].ns;
        else
            p->v[n++] = p->v[k];
    }
    p->n = n;
}

/* Leave in STEPS the part of each step that is the largest; of equal ones that of the first
 * row. */
static void keep_largest(struct parts *steps)
{
    size_t n = 0;

    for (size_t k = 0; k < steps->n; k++) {
        if (n == 0 || steps->v[n - 1].of != steps->v[k].of)
            steps->v[n++] = steps->v[k];
        else if (steps->v[k].ns > steps->v[n - 1].ns)
            steps->v[n - 1] = steps->v[k];
    }
    steps->n = n;
}

/* Which steps count for a row: those in which it caused the most waiting. */
struct led {
    uint64_t n, n_from; /* of all steps, and of those from one on */
    osc_wide ns;
};

/* Find since which step each row causes the most waiting. Steps in which it is the largest by
 * chance, as all causes are small, do not count. */
static osc_status find_since(struct search *s)
{
    struct led *const led = osc_calloc(s->n_rows + 1, sizeof *led);

    if (!led)
        return OSC_ENOMEM;
    join(&s->steps);
    keep_largest(&s->steps);
    for (size_t k = 0; k < s->steps.n; k++) {
        led[s->steps.v[k].row].n++;
        led[s->steps.v[k].row].ns += s->steps.v[k].ns;
    }
    for (size_t k = s->steps.n; k > 0; k--) {
        const struct part *const p = &s->steps.v[k - 1];
        struct led *const l = &led[p->row];

        if (10 * p->ns < l->ns / (osc_wide)l->n)
            continue;
        l->n_from++;
        if (2 * l->n_from >= s->steps.n - k + 1)
            s->rows[p->row].since = p->of;
    }
    osc_free(led);
    return OSC_OK;
}

/* Find what took longer on each row, over all collectives in which it was last. */
static void find_operators(struct search *s)
{
    join(&s->grown);
    for (size_t k = 0; k < s->grown.n; k++) {
        const struct part *const p = &s->grown.v[k];
        struct row *const row = &s->rows[p->row];
        const int64_t ns = osc_wide_nearest(p->ns);
        const bool is_larger = ns > row->operator_ns ||
                               (ns == row->operator_ns && row->cause &&
                                osc_str_cmp(osc_rank_text(&s->run->words, p->of),
                                            osc_rank_text(&s->run->words, row->cause - 1)) < 0);

        if (is_larger) {
            row->cause = p->of + 1;
            row->operator_ns = ns;
        }
    }
}

/* --- rows --------------------------------------------------------------------------------- */

/* The error of the clock of ROW; -1: not known. */
static int64_t error_of(const struct search *s, const struct row *row)
{
    const struct osc_rank_clock *c = &s->clocks[row->first_file];

    for (size_t f = row->first_file + 1; f < row->end_file; f++)
        c = s->clocks[f].n_anchors > c->n_anchors ? &s->clocks[f] : c;
    return c->n_anchors >= 3 ? c->error_ns : -1;
}

/* Whether OPERATOR explains a tenth of the delay or more. */
static bool has_operator(const struct row *row)
{
    return row->cause && row->operator_ns * (osc_wide)10 >= row->late;
}

static void add_note(struct osc_result *out, const struct row *row, int64_t error_ns)
{
    const char *why = NULL;

    if (row->n_last == 0)
        return;
    if (row->late <= 3 * (osc_wide)error_ns * (osc_wide)row->n_last)
        why = "it came last by no more than the clocks may be wrong";
    else if (2 * row->before >= row->late)
        why = "most of its delay is from before its recording began: it met the others late at "
              "its first collective";
    else if (!has_operator(row) && 2 * row->more >= row->late)
        why = "the same work took longer: nothing stands out, but all of it together does";
    else if (!has_operator(row))
        why = "nothing that was recorded took much longer than on the median rank: it was late "
              "between recorded ranges";
    if (!why)
        return;
    osc_result_show(out, NOTE);
    osc_result_str(out, NOTE, osc_str_c(why));
}

static void add_row(struct osc_result *out, const struct search *s, const struct row *row,
                    osc_wide all)
{
    const struct osc_rank_file *const f = &s->run->files[row->first_file];
    const int64_t error_ns = error_of(s, row);

    osc_result_row(out);
    osc_result_int(out, RANK, f->rank);
    osc_result_int(out, SPAN, f->span);
    osc_result_int(out, CAUSED, osc_wide_nearest(row->caused));
    if (all > 0)
        osc_result_num(out, CAUSED_RATIO, (double)row->caused / (double)all);
    osc_result_int(out, TIMES_LAST, (int64_t)row->n_last);
    osc_result_int(out, COLLECTIVES, (int64_t)row->n_calls);
    osc_result_int(out, WAITED, osc_wide_nearest(row->waited));
    for (size_t k = row->first_file; k < row->end_file && row->since; k++) {
        if (row->since > s->run->files[k].part.n_steps)
            continue;
        osc_result_str(
            out, SINCE_STEP,
            osc_rank_text(&s->run->words, s->run->files[k].part.steps[row->since - 1].label));
        break;
    }
    if (has_operator(row)) {
        osc_result_str(out, OPERATOR, osc_rank_text(&s->run->words, row->cause - 1));
        osc_result_int(out, OPERATOR_NS, row->operator_ns);
    }
    if (error_ns >= 0)
        osc_result_int(out, ERROR, error_ns);
    add_note(out, row, error_ns);
}

/* Note the first collective that some rank never reached. */
static osc_status note_hang(const struct search *s, struct osc_result *out)
{
    struct osc_expected e = {0};
    osc_status st = osc_expected_init(&e, s->run, s->clocks);

    for (uint32_t k = 0; k < s->run->n_matches && st == OSC_OK; k++)
        st = osc_expected_find(&e, k);
    e.n_incomplete = 0;
    if (st == OSC_OK)
        st = osc_expected_note(&e, out);
    osc_expected_fini(&e);
    return st;
}

static int by_row_and_label(const void *a, const void *b)
{
    const struct cell *const x = a, *const y = b;

    if (x->row != y->row)
        return x->row < y->row ? -1 : 1;
    return x->label < y->label ? -1 : x->label > y->label;
}

/* The same, by the texts of labels, whose numbers depend on the order of files. */
static int by_row_and_text(const void *a, const void *b, void *ctx)
{
    const struct cell *const x = a, *const y = b;
    const struct search *const s = ctx;

    if (x->row != y->row || !x->label || !y->label)
        return by_row_and_label(a, b);
    return osc_str_cmp(osc_rank_text(&s->run->words, x->label - 1),
                       osc_rank_text(&s->run->words, y->label - 1));
}

/* Add up the cells of the same row and label. */
static void join_cells(struct search *s)
{
    size_t n = 0;

    osc_sort(s->cells, s->n_cells, sizeof *s->cells, by_row_and_label);
    for (size_t k = 0; k < s->n_cells; k++) {
        const struct cell *const c = &s->cells[k];
        struct cell *const last = n > 0 ? &s->cells[n - 1] : NULL;

        if (!last || by_row_and_label(last, c) != 0) {
            s->cells[n++] = *c;
            continue;
        }
        last->caused += c->caused;
        last->waited += c->waited;
        last->n_last += c->n_last;
        last->n_calls += c->n_calls;
    }
    s->n_cells = n;
    osc_sort_with(s->cells, n, sizeof *s->cells, by_row_and_text, s);
}

/* Add a row for each rank and step. */
static void add_cells(struct osc_result *out, struct search *s, osc_wide all)
{
    join_cells(s);
    osc_result_show(out, STEP);
    for (size_t k = 0; k < s->n_cells; k++) {
        const struct cell *const c = &s->cells[k];
        const struct osc_rank_file *const f = &s->run->files[s->rows[c->row].first_file];

        osc_result_row(out);
        osc_result_int(out, RANK, f->rank);
        osc_result_int(out, SPAN, f->span);
        if (c->label)
            osc_result_str(out, STEP, osc_rank_text(&s->run->words, c->label - 1));
        osc_result_int(out, CAUSED, osc_wide_nearest(c->caused));
        if (all > 0)
            osc_result_num(out, CAUSED_RATIO, (double)c->caused / (double)all);
        osc_result_int(out, TIMES_LAST, (int64_t)c->n_last);
        osc_result_int(out, COLLECTIVES, (int64_t)c->n_calls);
        osc_result_int(out, WAITED, osc_wide_nearest(c->waited));
    }
}

static osc_status add_rows(struct osc_result *out, struct search *s)
{
    osc_status st = init(s);
    osc_wide all = 0;

    for (size_t k = 0; k < s->run->n_matches && st == OSC_OK; k++) {
        look_at(s, &s->run->matches[k]);
        st = s->status;
    }
    if (st == OSC_OK)
        st = find_since(s);
    if (st != OSC_OK)
        return st;
    find_operators(s);
    for (size_t k = 0; k < s->n_rows; k++)
        all += s->rows[k].caused;
    if (s->by_step)
        add_cells(out, s, all);
    for (size_t k = 0; k < s->n_rows && s->n_compared > 0 && !s->by_step; k++)
        add_row(out, s, &s->rows[k], all);
    if (s->n_compared < s->run->n_matches && s->n_compared > 0)
        osc_result_note(out,
                        "%llu of %zu collectives are of one rank, or of ranks whose clocks "
                        "cannot be compared",
                        (unsigned long long)(s->run->n_matches - s->n_compared),
                        s->run->n_matches);
    return note_hang(s, out);
}

static osc_status fill(struct osc_result *out, const struct osc_rank_run *run,
                       const struct osc_options *o)
{
    struct search s = {.run = run, .by_step = osc_is_grouped(o, BY_STEP)};
    const osc_status st = add_rows(out, &s);
    fini(&s);
    return st;
}

static osc_status finish(struct osc_result *r, const struct osc_options *o, struct osc_err *err)
{
    static const struct osc_rank_table table = {
        SPAN, "no collective of several ranks whose clocks can be compared", fill};

    return osc_rank_finish(r, o, &table, err);
}

/* See table_columns.h. */
const uint32_t osc_column_stragglers_rank = RANK, osc_column_stragglers_span = SPAN,
               osc_column_stragglers_caused_wait_ns = CAUSED,
               osc_column_stragglers_caused_ratio = CAUSED_RATIO,
               osc_column_stragglers_times_last = TIMES_LAST,
               osc_column_stragglers_collectives = COLLECTIVES,
               osc_column_stragglers_since_step = SINCE_STEP,
               osc_column_stragglers_operator = OPERATOR,
               osc_column_stragglers_operator_ns = OPERATOR_NS,
               osc_column_stragglers_clock_error_ns = ERROR, osc_column_stragglers_note = NOTE;

static const char *const groupings[] = {[BY_STEP] = "step", NULL};

const struct osc_table_def osc_table_stragglers = {
    .name = "stragglers",
    .help = "Which ranks let the others wait, how often, and what they did meanwhile.",
    .source = "collectives of all ranks, matched, on a common clock.",
    .rules = OSC_RULE_COLLECTIVES | OSC_RULE_CLOCKS,
    .columns = columns,
    .n_columns = N_SHOWN + OSC_RANK_HIDDEN,
    .sorted_by = CAUSED + 1,
    .groupings = groupings,
    OSC_MAPS(.facts = OSC_CALLS_FACTS, .joins_ranks = true, .map = osc_rank_map_work,
             .place = osc_rank_place, .finish = finish),
};
