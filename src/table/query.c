/* SPDX-License-Identifier: Apache-2.0 */
#include "table/query.h"

#include <string.h>

#include "base/mem.h"
#include "table/merge.h"
#include "table/row_groups.h"
#include "table/row_sort.h"

#define TEXT_ROWS 100 /* per block, unless --limit is given */

static uint64_t row_limit(const struct osc_query *q)
{
    if (q->limit == 0)
        return q->is_machine ? UINT64_MAX : TEXT_ROWS;
    return q->limit < 0 ? UINT64_MAX : (uint64_t)q->limit;
}

osc_status osc_query_check(const struct osc_query *q, struct osc_err *err)
{
    struct osc_sheet sheet = {.def = q->def};
    struct osc_sort_key key;
    osc_status st = OSC_OK;

    if (q->columns) {
        const struct osc_sheet_choice choice = {.columns = q->columns};

        st = osc_sheet_choose(&sheet, &choice, err);
    }
    if (st == OSC_OK && q->sort)
        st = osc_sort_parse(q->def, q->sort, &key, err);
    osc_sheet_fini(&sheet);
    return st;
}

/* The trace of part I of Q; NULL: its rows were made before. */
static const struct osc_trace *trace_of(const struct osc_query *q, uint32_t i)
{
    return q->parts[i]->trace;
}

/* Whether the traces of Q are open. */
static bool is_open(const struct osc_query *q)
{
    return q->n_parts > 0 && trace_of(q, 0);
}

/* Whether all traces make one block of rows. */
static bool joins_all(const struct osc_query *q)
{
    return q->is_merged || osc_table_joins_ranks(q->def);
}

/* Make one block for each rank and span, or one for all. */
static osc_status make_blocks(const struct osc_query *q, struct osc_answer *a)
{
    a->blocks = osc_calloc(q->n_parts ? q->n_parts : 1, sizeof *a->blocks);
    if (!a->blocks)
        return OSC_ENOMEM;
    if (q->ready) {
        a->blocks[a->n_blocks++] =
            (struct osc_answer_block){.rank = OSC_NO_RANK, .span = OSC_NO_RANK};
        osc_result_init(&a->blocks[0].result, q->def);
    }
    for (uint32_t i = 0; i < q->n_parts; i++) {
        const struct osc_placing at = q->parts[i]->identity.among;
        struct osc_answer_block *last = a->n_blocks ? &a->blocks[a->n_blocks - 1] : NULL;

        if (last && (joins_all(q) || (last->rank == at.rank && last->span == at.span))) {
            if (last->rank != at.rank)
                last->rank = OSC_NO_RANK;
            if (last->span != at.span)
                last->span = OSC_NO_RANK;
            last->n_traces++;
            continue;
        }
        struct osc_answer_block *b = &a->blocks[a->n_blocks++];
        b->rank = at.rank;
        b->span = at.span;
        b->first_trace = i;
        b->n_traces = 1;
        osc_result_init(&b->result, q->def);
    }
    return OSC_OK;
}

/* Append all rows of a streaming table to OUT. */
static osc_status collect(const struct osc_query *q, const struct osc_trace *t,
                          struct osc_result *out, struct osc_err *err)
{
    struct osc_scan *scan = NULL;
    osc_status st = OSC_OK;
    uint64_t before;

    if (!q->def->stream)
        return osc_fail(err, OSC_EINVAL, "%s has no rows of traces", q->def->name);
    st = q->def->stream->open(t, q->options, &scan, err);
    if (st != OSC_OK)
        return st;
    do {
        before = out->n_rows;
        st = osc_mem_is_cancelled() ? OSC_ECANCELED : q->def->stream->next(scan, out, err);
    } while (st == OSC_OK && out->n_rows > before);
    q->def->stream->close(scan);
    return st;
}

/* Number of rows of a streaming table for T. */
static uint64_t count_rows(const struct osc_query *q, const struct osc_trace *t,
                           uint64_t *shown)
{
    osc_trace_read(t);
    const uint64_t n = q->def->stream->rows(t, q->options, shown);
    osc_trace_read_end(t);
    return n;
}

/* Map T to its rows, not yet placed. */
static osc_status map_trace(const struct osc_query *q, const struct osc_trace *t,
                            struct osc_result *out, struct osc_err *err)
{
    if (osc_mem_is_cancelled())
        return osc_fail(err, OSC_ECANCELED, "%s", osc_status_text(OSC_ECANCELED));
    osc_trace_read(t);
    osc_status st = q->def->mapping ? q->def->mapping->map(t, q->options, out, err)
                                    : collect(q, t, out, err);
    osc_trace_read_end(t);

    if (st == OSC_OK && out->status != OSC_OK)
        st = osc_fail(err, out->status, "%s", osc_status_text(out->status));
    return st == OSC_OK && q->options->pattern ? osc_rows_group(out, q->options->pattern, err)
                                               : st;
}

uint64_t osc_query_rows_of_each(const struct osc_query *q)
{
    const struct osc_mapping *const how = q->def->mapping;
    const uint64_t limit = row_limit(q);

    if (limit == UINT64_MAX || q->where || q->has_own_text ||
        (how && (how->place || how->finish)) || osc_merge_has_keys(q->def))
        return 0;
    return limit;
}

/* Sort the rows of R by SORT or, if that is NULL, as its table does. *ORDER becomes NULL if
 * they stay in their order. */
static osc_status sort_rows(const struct osc_result *r, const char *sort, uint32_t **order,
                            struct osc_err *err)
{
    const uint32_t by = r->sorted_by > 0 ? r->sorted_by : r->def->sorted_by;
    struct osc_sort_key key = {.column = by - 1, .divisor = -1};
    osc_status st = OSC_OK;

    *order = NULL;
    if (sort)
        st = osc_sort_parse(r->def, sort, &key, err);
    else if (by == 0)
        return OSC_OK;
    if (st != OSC_OK)
        return st;
    st = osc_sort_rows(r, &key, order);
    return st == OSC_OK ? OSC_OK : osc_fail(err, st, "%s", osc_status_text(st));
}

/* Leave only the rows in R that the answer to OF can show. */
static osc_status cut(const struct osc_partial_question *of, struct osc_result *r,
                      struct osc_err *err)
{
    const uint64_t n = r->n_rows;
    uint32_t *order;

    if (of->n_rows == 0 || n <= of->n_rows || (!of->sort && r->sorted_by > 0))
        return OSC_OK;
    const osc_status st = sort_rows(r, of->sort, &order, err);
    if (st != OSC_OK)
        return st;
    bool *const keep = osc_calloc(n, sizeof *keep);
    for (uint64_t i = 0; i < of->n_rows && keep; i++)
        keep[order ? order[i] : i] = true;
    osc_free(order);
    if (!keep)
        return osc_fail(err, OSC_ENOMEM, "out of memory");
    osc_result_keep(r, keep);
    r->n_left_out = n - r->n_rows;
    osc_free(keep);
    return OSC_OK;
}

osc_status osc_query_map(const struct osc_query *q, const struct osc_trace *t,
                         const struct osc_partial_question *of, const struct osc_identity *id,
                         struct osc_strbuf *out, struct osc_err *err)
{
    struct osc_result r;

    osc_result_init(&r, q->def);
    osc_status st = map_trace(q, t, &r, err);
    if (st == OSC_OK)
        st = cut(of, &r, err);
    if (st == OSC_OK)
        st = osc_partial_write(of, &r, t, id, out, err);
    osc_result_fini(&r);
    return st;
}

/* The partial result of source I. */
static osc_status map(const struct osc_query *q, uint32_t i, struct osc_result *out,
                      struct osc_err *err)
{
    const struct osc_placing at = q->parts[i]->identity.among;

    if (!trace_of(q, i))
        return osc_partial_read(q->parts[i], out, err);
    osc_status st = map_trace(q, trace_of(q, i), out, err);
    if (st != OSC_OK)
        return st;
    st = osc_result_place(out, &at, &at);
    return st == OSC_OK ? st : osc_fail(err, st, "%s", osc_status_text(st));
}

static osc_status map_and_merge(const struct osc_query *q, struct osc_answer_block *b,
                                struct osc_err *err)
{
    struct osc_merger merger;
    struct osc_result part;
    uint32_t sorted_by = 0;
    bool is_same = true;
    osc_status st = OSC_OK;

    osc_merger_init(&merger, q->def);
    for (uint32_t i = 0; i < b->n_traces && st == OSC_OK; i++) {
        osc_result_init(&part, q->def);
        st = map(q, b->first_trace + i, &part, err);
        if (st == OSC_OK) {
            is_same = is_same && (i == 0 || part.sorted_by == sorted_by);
            sorted_by = part.sorted_by;
            st = osc_merger_add(&merger, &part, b->first_trace + i);
            if (st != OSC_OK)
                st = osc_fail(err, st, "%s", osc_status_text(st));
        }
        osc_result_fini(&part);
    }
    if (st == OSC_OK) {
        st = osc_merger_result(&merger, &b->result);
        if (st != OSC_OK)
            st = osc_fail(err, st, "%s", osc_status_text(st));
        b->result.sorted_by = is_same ? sorted_by : 0;
    }
    osc_merger_fini(&merger);
    return st;
}

/* Keep only the rows of B that match --where. */
static osc_status filter_block(const struct osc_query *q, struct osc_answer_block *b,
                               struct osc_err *err)
{
    const uint64_t n = b->result.n_rows;
    const struct osc_rows rows = {&b->result, NULL, n, b->rank, b->span};

    if (!q->where || n == 0)
        return OSC_OK;
    bool *const keep = osc_calloc(n, sizeof *keep);
    if (!keep)
        return osc_fail(err, OSC_ENOMEM, "out of memory");
    const osc_status st = q->where->keep(q->where->ctx, &rows, keep, err);
    if (st == OSC_OK && q->has_own_text) {
        b->result.marks = keep;
        return st;
    }
    if (st == OSC_OK)
        osc_result_keep(&b->result, keep);
    if (st == OSC_OK && b->result.n_rows == 0)
        osc_result_note(&b->result, "--where selects none of %llu %s", (unsigned long long)n,
                        n == 1 ? "row" : "rows");
    osc_free(keep);
    return st;
}

static osc_status fill_block(const struct osc_query *q, struct osc_answer_block *b,
                             struct osc_err *err)
{
    osc_status st = OSC_OK;

    if (q->ready)
        osc_result_move(&b->result, q->ready);
    else
        st = b->n_traces == 1 ? map(q, b->first_trace, &b->result, err)
                              : map_and_merge(q, b, err);
    if (st == OSC_OK && q->more && b->first_trace == 0)
        st = q->more->add(q->more->ctx, &b->result);
    return st;
}

/* Let the table say what the blocks of A show together. */
static osc_status look_together(const struct osc_query *q, struct osc_answer *a,
                                struct osc_err *err)
{
    const struct osc_mapping *const how = q->def->mapping;

    if (!how || !how->together)
        return OSC_OK;
    struct osc_result **const all = osc_calloc((size_t)a->n_blocks + 1, sizeof(void *));
    if (!all)
        return osc_fail(err, OSC_ENOMEM, "out of memory");
    for (uint32_t i = 0; i < a->n_blocks; i++)
        all[i] = &a->blocks[i].result;
    const osc_status st = how->together(all, a->n_blocks, q->options, err);
    osc_free(all);
    return st;
}

static osc_status finish_block(const struct osc_query *q, struct osc_answer_block *b,
                               struct osc_err *err)
{
    const struct osc_mapping *const how = q->def->mapping;
    osc_status st = OSC_OK;

    if (how && how->finish)
        st = how->finish(&b->result, q->options, err);
    if (st == OSC_OK)
        st = filter_block(q, b, err);
    return st == OSC_OK ? sort_rows(&b->result, q->sort, &b->order, err) : st;
}

/* Add the notes of a block once; name the block if there are several. */
static void add_notes(struct osc_answer *a, const struct osc_answer_block *b)
{
    const char *line = b->result.notes.len > 0 ? b->result.notes.s : "";

    while (*line) {
        const char *end = strchrnul(line, '\n');

        if (a->n_blocks > 1)
            osc_strbuf_addf(&a->sheet.notes, "rank %d, span %d: ", b->rank, b->span);
        osc_strbuf_add(&a->sheet.notes, line, (size_t)(end - line));
        osc_strbuf_addc(&a->sheet.notes, '\n');
        line = *end ? end + 1 : end;
    }
}

/* What the traces contained. */
struct found {
    uint64_t n_events, n_not_dumped, n_without_window;
};

static struct found look_at_all(const struct osc_query *q)
{
    struct found all = {0};

    for (uint32_t i = 0; i < q->n_parts; i++) {
        all.n_events += q->parts[i]->n_events;
        all.n_not_dumped += q->parts[i]->n_not_dumped;
        all.n_without_window += q->parts[i]->n_without_window;
    }
    return all;
}

/* Explain an empty table: recorders say if no trigger fired. */
static void note_emptiness(const struct osc_query *q, struct osc_answer *a)
{
    const struct found all = look_at_all(q);

    if (all.n_events > 0)
        return;
    if (all.n_not_dumped > 0)
        osc_strbuf_addf(&a->sheet.notes, "no events: %s\n",
                        osc_finding_message(OSC_FINDING_nothing_dumped));
    if (all.n_without_window > 0)
        osc_strbuf_addf(&a->sheet.notes, "no events: %s\n",
                        osc_finding_message(OSC_FINDING_no_window));
    if (all.n_not_dumped + all.n_without_window == 0)
        osc_strbuf_adds(&a->sheet.notes, "no events are there, or none are left\n");
}

/* Say if the rows could not be sorted as asked. */
static void note_order(const struct osc_query *q, struct osc_answer *a)
{
    struct osc_sort_key key;
    uint64_t n_rows = 0;

    if (!q->sort || osc_sort_parse(q->def, q->sort, &key, NULL) != OSC_OK)
        return;
    for (uint32_t i = 0; i < a->n_blocks; i++) {
        if (osc_sort_has_any(&a->blocks[i].result, &key))
            return;
        n_rows += a->blocks[i].result.n_rows;
    }
    if (n_rows == 0)
        return;
    const char *const name = q->sort + (q->sort[0] == '-');
    a->is_unsorted = true;
    osc_strbuf_addf(&a->sheet.notes, "not sorted by %.*s: no row has a value of %s\n",
                    (int)strcspn(name, ":"), name, q->def->columns[key.column].name);
}

/* Whether any track of T is of a device called FAMILY. */
static bool has_device(const struct osc_trace *t, struct osc_str family)
{
    bool has = false;

    osc_trace_read(t);
    for (uint32_t i = 0; i < t->n_tracks && !has; i++) {
        const struct osc_str device = osc_trace_str(t, t->tracks[i].device);

        has = osc_str_starts(device, family) &&
              (device.len == family.len || device.s[family.len] == ':');
    }
    osc_trace_read_end(t);
    return has;
}

/* Whether any row of B is of DEVICE; true for a table that does not say. */
static bool has_row_of(const struct osc_answer_block *b, struct osc_str device)
{
    const struct osc_result *const r = &b->result;
    const int column = osc_table_column(r->def, "device");

    for (uint64_t i = 0; i < r->n_rows && column >= 0; i++) {
        if (osc_str_eq(osc_result_get_str(r, i, (uint32_t)column), device))
            return true;
    }
    return column < 0;
}

/* Check that the device that the sort key names is in the traces. */
static osc_status check_device(const struct osc_query *q, const struct osc_answer *a,
                               struct osc_err *err)
{
    const struct osc_str device = q->sort ? osc_sort_device(q->def, q->sort) : OSC_STR("");

    if (device.len == 0)
        return OSC_OK;
    for (uint32_t i = 0; i < q->n_parts && is_open(q); i++) {
        if (has_device(trace_of(q, i), device))
            return OSC_OK;
    }
    for (uint32_t i = 0; i < a->n_blocks && !is_open(q); i++) {
        if (has_row_of(&a->blocks[i], device))
            return OSC_OK;
    }
    return osc_sort_fail_device(q->def, q->sort, device, err);
}

osc_status osc_query_run(const struct osc_query *q, struct osc_answer *a, struct osc_err *err)
{
    struct osc_sheet_choice choice = {
        .columns = q->columns, .group_by = q->options->group_by, .is_machine = q->is_machine};
    osc_status st = OSC_OK;

    *a = (struct osc_answer){.sheet.def = q->def};
    st = make_blocks(q, a);
    if (st != OSC_OK)
        return osc_fail(err, st, "%s", osc_status_text(st));

    a->is_stream = q->def->stream && !q->sort && is_open(q);
    for (uint32_t i = 0; i < a->n_blocks && st == OSC_OK && !a->is_stream; i++)
        st = fill_block(q, &a->blocks[i], err);
    if (st == OSC_OK && !a->is_stream)
        st = look_together(q, a, err);
    if (st == OSC_OK)
        st = check_device(q, a, err);
    for (uint32_t i = 0; i < a->n_blocks && st == OSC_OK; i++) {
        if (!a->is_stream)
            st = finish_block(q, &a->blocks[i], err);
        choice.shown |= a->blocks[i].result.shown;
        add_notes(a, &a->blocks[i]);
        if (a->blocks[i].n_traces > 1 && !joins_all(q))
            osc_strbuf_addf(&a->sheet.notes, "rank %d, span %d: %u files taken together\n",
                            a->blocks[i].rank, a->blocks[i].span, a->blocks[i].n_traces);
    }
    for (uint32_t i = 0; i < q->n_parts && q->def->stream && is_open(q); i++)
        (void)count_rows(q, trace_of(q, i), &choice.shown);
    if (!q->ready)
        note_emptiness(q, a);
    if (st == OSC_OK)
        note_order(q, a);
    choice.has_blocks = a->n_blocks > 1;
    if (st == OSC_OK)
        st = osc_sheet_choose(&a->sheet, &choice, err);
    if (st == OSC_OK && a->sheet.notes.status != OSC_OK)
        st = osc_fail(err, a->sheet.notes.status, "out of memory");
    return st;
}

struct emitter {
    osc_status (*emit)(void *ctx, const struct osc_rows *rows);
    void *ctx;
    uint64_t skip;   /* rows to leave out first */
    uint64_t left;   /* rest of this block's limit */
    uint64_t n_more; /* with --where: rows beyond the limit */
};

/* Keep only the rows of the nonempty batch B that match --where. */
static osc_status filter_batch(const struct osc_query *q, const struct osc_trace *t,
                               struct osc_result *batch, struct osc_err *err)
{
    const struct osc_rows rows = {batch, NULL, batch->n_rows, t->rank, t->span};
    bool keep[OSC_BATCH_ROWS];
    const osc_status st = q->where->keep(q->where->ctx, &rows, keep, err);

    if (st == OSC_OK)
        osc_result_keep(batch, keep);
    return st;
}

/*
 * Stream the rows of one trace up to the limit. The number of further rows is known in
 * advance, except with --where: then all rows are examined, to report it.
 */
static osc_status stream_trace(const struct osc_query *q, const struct osc_trace *t,
                               struct osc_answer_block *b, struct emitter *e,
                               struct osc_err *err)
{
    struct osc_scan *scan = NULL;
    const bool has_to_count = q->where && !q->is_machine;
    osc_status st = OSC_OK;

    if (e->left == 0 && !has_to_count)
        return OSC_OK;
    osc_trace_read(t);
    st = q->def->stream->open(t, q->options, &scan, err);
    if (st == OSC_OK && e->skip > 0)
        q->def->stream->skip(scan, e->skip);
    osc_trace_read_end(t);
    if (st != OSC_OK)
        return st;
    e->skip = 0;
    do {
        osc_result_clear(&b->result);
        osc_trace_read(t);
        st = osc_mem_is_cancelled() ? OSC_ECANCELED
                                    : q->def->stream->next(scan, &b->result, err);
        osc_trace_read_end(t);
        if (st == OSC_OK && b->result.status != OSC_OK)
            st = osc_fail(err, b->result.status, "%s", osc_status_text(b->result.status));
        if (st != OSC_OK || b->result.n_rows == 0)
            break;
        if (q->where)
            st = filter_batch(q, t, &b->result, err);

        struct osc_rows rows = {&b->result, NULL, b->result.n_rows, t->rank, t->span};
        if (rows.n_rows > e->left) {
            e->n_more += rows.n_rows - e->left;
            rows.n_rows = e->left;
        }
        e->left -= rows.n_rows;
        if (st == OSC_OK && rows.n_rows > 0)
            st = e->emit(e->ctx, &rows);
    } while (st == OSC_OK && (e->left > 0 || has_to_count));
    q->def->stream->close(scan);
    return st;
}

/* Whether rows that do not differ are left out: of text, if nobody asked for all or for some.
 */
static bool leaves_alike_out(const struct osc_query *q)
{
    return q->def->comparison && q->def->comparison->is_alike && !q->is_machine && !q->where &&
           q->limit >= 0;
}

/* Leave only those of ROWS that differ: *ORDER, which the caller frees, is their order. */
static osc_status keep_different(struct osc_answer *a, struct osc_rows *rows, uint32_t **order,
                                 struct osc_err *err)
{
    const uint64_t n = rows->n_rows;
    uint32_t *const kept = osc_calloc(n + 1, sizeof *kept);

    if (!kept)
        return osc_fail(err, OSC_ENOMEM, "out of memory");
    rows->n_rows = 0;
    for (uint64_t i = 0; i < n; i++) {
        const uint32_t row = rows->order ? rows->order[i] : (uint32_t)i;

        if (!a->sheet.def->comparison->is_alike(rows->result, row))
            kept[rows->n_rows++] = row;
    }
    a->sheet.n_alike += n - rows->n_rows;
    rows->order = *order = kept;
    return OSC_OK;
}

// Emits the first `limit` rows of block `b`, which has all of its rows in memory.
static osc_status emit_block(const struct osc_query *q, struct osc_answer *a,
                             const struct osc_answer_block *b, uint64_t limit,
                             struct emitter *e, struct osc_err *err)
{
    struct osc_rows rows = {&b->result, b->order, b->result.n_rows, b->rank, b->span};
    uint32_t *different = NULL;
    osc_status st = leaves_alike_out(q) ? keep_different(a, &rows, &different, err) : OSC_OK;

    a->sheet.n_more += b->result.n_left_out;
    if (rows.n_rows > limit) {
        a->sheet.n_more += rows.n_rows - limit;
        rows.n_rows = limit;
    }
    if (st == OSC_OK)
        st = e->emit(e->ctx, &rows);
    osc_free(different);
    return st;
}

// Makes and emits the first `limit` rows of block `b`, part after part.
static osc_status stream_block(const struct osc_query *q, struct osc_answer *a,
                               struct osc_answer_block *b, uint64_t limit, struct emitter *e,
                               struct osc_err *err)
{
    uint64_t n_rows = 0, shown = 0;
    osc_status st = OSC_OK;

    e->left = limit;
    e->n_more = 0;
    for (uint32_t k = 0; k < b->n_traces && st == OSC_OK; k++) {
        const struct osc_trace *t = trace_of(q, b->first_trace + k);
        const uint64_t n = count_rows(q, t, &shown);

        n_rows += n;
        if (e->skip >= n)
            e->skip -= n;
        else
            st = stream_trace(q, t, b, e, err);
    }
    if (q->where)
        a->sheet.n_more += e->n_more;
    else
        a->sheet.n_more += n_rows > limit ? n_rows - limit : 0;
    return st;
}

osc_status osc_answer_rows(const struct osc_query *q, struct osc_answer *a,
                           osc_status (*emit)(void *ctx, const struct osc_rows *rows),
                           void *ctx, struct osc_err *err)
{
    const uint64_t limit = row_limit(q);
    struct emitter e = {.emit = emit, .ctx = ctx, .skip = q->n_skipped};
    osc_status st = OSC_OK;

    a->sheet.n_more = a->sheet.n_alike = 0;
    for (uint32_t i = 0; i < a->n_blocks && st == OSC_OK; i++)
        st = a->is_stream ? stream_block(q, a, &a->blocks[i], limit, &e, err)
                          : emit_block(q, a, &a->blocks[i], limit, &e, err);
    return st;
}

uint64_t osc_answer_count_stream(const struct osc_query *q, const struct osc_answer *a)
{
    uint64_t n_rows = 0, shown = 0;

    for (uint32_t i = 0; i < a->n_blocks; i++)
        for (uint32_t k = 0; k < a->blocks[i].n_traces; k++)
            n_rows += count_rows(q, trace_of(q, a->blocks[i].first_trace + k), &shown);
    return n_rows;
}

void osc_answer_fini(struct osc_answer *a)
{
    for (uint32_t i = 0; i < a->n_blocks; i++) {
        osc_result_fini(&a->blocks[i].result);
        osc_free(a->blocks[i].order);
    }
    osc_free(a->blocks);
    osc_sheet_fini(&a->sheet);
    *a = (struct osc_answer){0};
}
