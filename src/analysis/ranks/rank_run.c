/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/ranks/rank_run.h"

#include <string.h>

#include "analysis/ranks/calls.h"
#include "analysis/ranks/rank_work.h"
#include "analysis/ranks/shift.h"
#include "analysis/shared_options.h"
#include "analysis/step_rules.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/sort.h"
#include "base/wide.h"
#include "derive/facts.h"

static uint32_t hidden(const struct osc_result *r, enum osc_rank_hidden column)
{
    return r->def->n_columns - OSC_RANK_HIDDEN + column;
}

/* --- one trace -------------------------------------------------------------------------- */

/* What a part has besides collectives. */
enum with { WITH_NOTHING, WITH_STEPS, WITH_WORK };

static osc_status map_trace(const struct osc_trace *t, const struct osc_options *o,
                            enum with with, struct osc_result *out, struct osc_err *err)
{
    const struct osc_step_rules rules = osc_step_rules_of(o);
    struct osc_breakdown own = {0};
    const struct osc_breakdown *b = NULL;
    struct osc_rank_words words = {0};
    struct osc_rank_part part = {0};
    struct osc_call_rows *rows = NULL;
    struct osc_strbuf bytes = {0};
    osc_status st = OSC_OK;

    if (with != WITH_NOTHING)
        st = osc_breakdown_get(t, &rules, o->n_threads, &own, &b);
    if (st == OSC_OK)
        st = osc_calls_find(t, osc_is_compat_tb(o), b, &words, &part, &rows);
    if (st == OSC_OK && with == WITH_WORK && o->n_traces != 1) /* one alone waits for nobody */
        st = osc_rank_work_find(t, rows, &words, &part);
    if (st == OSC_OK) {
        osc_rank_part_pack(&part, &words, &bytes);
        st = bytes.len > UINT32_MAX ? OSC_ELIMIT : bytes.status;
    }
    if (st == OSC_OK) {
        osc_result_row(out);
        osc_result_int(out, hidden(out, OSC_RANK_BASE), t->min_ts_ns - t->origin_ns);
        osc_result_str(out, hidden(out, OSC_RANK_PACKED),
                       (struct osc_str){bytes.s, (uint32_t)bytes.len});
        st = out->status;
    }
    osc_strbuf_fini(&bytes);
    osc_free(rows);
    osc_rank_part_fini(&part);
    osc_rank_words_fini(&words);
    osc_breakdown_fini(&own);
    return st == OSC_OK ? st : osc_fail(err, st, "%s: %s", out->def->name, osc_status_text(st));
}

osc_status osc_rank_map_calls(const struct osc_trace *t, const struct osc_options *o,
                              struct osc_result *out, struct osc_err *err)
{
    return map_trace(t, o, WITH_NOTHING, out, err);
}

osc_status osc_rank_map(const struct osc_trace *t, const struct osc_options *o,
                        struct osc_result *out, struct osc_err *err)
{
    return map_trace(t, o, WITH_STEPS, out, err);
}

osc_status osc_rank_map_work(const struct osc_trace *t, const struct osc_options *o,
                             struct osc_result *out, struct osc_err *err)
{
    return map_trace(t, o, WITH_WORK, out, err);
}

osc_status osc_rank_place(struct osc_result *part, const struct osc_placing *from,
                          const struct osc_placing *to)
{
    (void)from;
    for (uint64_t i = 0; i < part->n_rows; i++) {
        if (!osc_rank_is_part(part, i))
            continue;
        osc_result_set_int(part, i, hidden(part, OSC_RANK_OF), to->rank);
        osc_result_set_int(part, i, hidden(part, OSC_RANK_SPAN), to->span);
        osc_result_set_bool(part, i, hidden(part, OSC_RANK_BESIDE), to->is_beside_steps);
    }
    return part->status;
}

bool osc_rank_is_part(const struct osc_result *r, uint64_t i)
{
    return osc_result_has(r, i, hidden(r, OSC_RANK_PACKED));
}

struct osc_rank_place osc_rank_place_of(const struct osc_result *r, uint64_t i)
{
    return (struct osc_rank_place){(int32_t)osc_result_get_int(r, i, hidden(r, OSC_RANK_OF)),
                                   (int32_t)osc_result_get_int(r, i, hidden(r, OSC_RANK_SPAN))};
}

/* Copy part I of FROM to a row of OUT. */
static void copy_part(const struct osc_result *from, uint64_t i, struct osc_result *out)
{
    osc_result_row(out);
    for (uint32_t k = OSC_RANK_OF; k <= OSC_RANK_BASE; k++)
        osc_result_int(out, hidden(out, k), osc_result_get_int(from, i, hidden(from, k)));
    osc_result_bool(out, hidden(out, OSC_RANK_BESIDE),
                    osc_result_get_bool(from, i, hidden(from, OSC_RANK_BESIDE)));
    osc_result_str(out, hidden(out, OSC_RANK_PACKED),
                   osc_result_get_str(from, i, hidden(from, OSC_RANK_PACKED)));
}

osc_status osc_rank_take(struct osc_result *const *blocks, uint32_t n, struct osc_result *out)
{
    for (uint32_t b = 0; b < n; b++) {
        bool *const keep = osc_calloc(blocks[b]->n_rows + 1, sizeof *keep);

        if (!keep)
            return OSC_ENOMEM;
        for (uint64_t i = 0; i < blocks[b]->n_rows; i++) {
            keep[i] = !osc_rank_is_part(blocks[b], i);
            if (!keep[i])
                copy_part(blocks[b], i, out);
        }
        osc_result_keep(blocks[b], keep);
        osc_free(keep);
    }
    return out->status;
}

/* --- matching --------------------------------------------------------------------------- */

/* A call on its way to a match. */
struct item {
    int64_t start_ns;  /* from the origin */
    int64_t signature; /* of what is sent, or 0 */
    int64_t number;    /* sequence number, or place among the calls of its rank */
    uint32_t group;    /* of group, operation and span */
    uint32_t family;   /* of group and span */
    uint32_t file, call;
    int64_t first; /* number of the first call of its operation in its file, by order */
    bool is_ordered;
};

struct matching {
    struct osc_rank_run *run;
    struct item *v; /* owned */
    size_t n;
    struct osc_rank_words keys; /* of groups: the word of (span, group, ranks, operation) */
};

static osc_status key_of(struct matching *m, const struct osc_rank_file *f,
                         const struct osc_rank_call *c, bool with_op, uint32_t *key)
{
    struct osc_strbuf text = {0};

    osc_strbuf_addf(&text, "%d %u %u", f->span, c->group, c->ranks);
    if (with_op && c->op != OSC_COLLECTIVE_OTHER)
        osc_strbuf_addf(&text, " %u", c->op);
    else if (with_op)
        osc_strbuf_addf(&text, " name %u", c->name);
    osc_status st = text.status;
    if (st == OSC_OK)
        st = osc_rank_word(&m->keys, (struct osc_str){text.s, (uint32_t)text.len}, key);
    osc_strbuf_fini(&text);
    return st;
}

static int by_group_and_place(const void *a, const void *b)
{
    const struct item *const x = a, *const y = b;

    if (x->group != y->group)
        return x->group < y->group ? -1 : 1;
    if (x->file != y->file)
        return x->file < y->file ? -1 : 1;
    return x->call < y->call ? -1 : x->call > y->call;
}

static int by_signature(const void *a, const void *b)
{
    const struct item *const x = a, *const y = b;

    if (x->file != y->file)
        return x->file < y->file ? -1 : 1;
    if (x->signature != y->signature)
        return x->signature < y->signature ? -1 : 1;
    return x->call < y->call ? -1 : x->call > y->call;
}

static int by_number(const void *a, const void *b)
{
    const struct item *const x = a, *const y = b;

    if (x->file != y->file)
        return x->file < y->file ? -1 : 1;
    if (x->number != y->number)
        return x->number < y->number ? -1 : 1;
    return x->call < y->call ? -1 : x->call > y->call;
}

static int by_match(const void *a, const void *b)
{
    const struct item *const x = a, *const y = b;

    if (x->group != y->group)
        return x->group < y->group ? -1 : 1;
    if (x->signature != y->signature)
        return x->signature < y->signature ? -1 : 1;
    if (x->number != y->number)
        return x->number < y->number ? -1 : 1;
    if (x->file != y->file)
        return x->file < y->file ? -1 : 1;
    return x->call < y->call ? -1 : x->call > y->call;
}

static osc_status make_items(struct matching *m)
{
    const struct osc_rank_run *const run = m->run;
    osc_status st = OSC_OK;

    for (size_t f = 0; f < run->n_files; f++)
        m->n += run->files[f].part.n_calls;
    m->v = osc_calloc(m->n + 1, sizeof *m->v);
    if (!m->v || m->n > UINT32_MAX)
        return OSC_ENOMEM;
    m->n = 0;
    for (size_t f = 0; f < run->n_files; f++) {
        const struct osc_rank_file *const file = &run->files[f];

        for (size_t k = 0; k < file->part.n_calls && st == OSC_OK; k++) {
            const struct osc_rank_call *const c = &file->part.calls[k];
            struct item *const item = &m->v[m->n++];

            *item = (struct item){.start_ns = c->start_ns + file->base_ns,
                                  .number = c->seq,
                                  .file = (uint32_t)f,
                                  .call = (uint32_t)k};
            st = key_of(m, file, c, true, &item->group);
            if (st == OSC_OK)
                st = key_of(m, file, c, false, &item->family);
        }
    }
    return st;
}

/* What a call sends, as a number; calls with equal ones may belong together. */
static int64_t signature_of(const struct osc_rank_call *c)
{
    const int64_t sent = c->elements >= 0 ? c->elements : c->in_bytes;

    return osc_collective_is_even((enum osc_collective)c->op)
               ? (int64_t)((uint64_t)sent * 0x100000 + c->dtype)
               : 0;
}

/* Whether the items V[0, N), sorted by signature within files, have the same signatures, each
 * as often, in every file. */
static bool is_alike(const struct item *v, size_t n)
{
    size_t first = n > 0 ? 1 : 0;

    while (first < n && v[first].file == v[0].file)
        first++;
    if (first == 0 || n % first != 0)
        return false;
    for (size_t k = first; k < n; k++) {
        if (v[k].signature != v[k % first].signature ||
            (v[k].file != v[k - 1].file) != (k % first == 0))
            return false;
    }
    return true;
}

/* Number the calls of each file among V[0, N), a group without numbers: by signature if these
 * are the same everywhere. */
static void number_by_order(const struct osc_rank_run *run, struct item *v, size_t n)
{
    for (size_t k = 0; k < n; k++) {
        v[k].is_ordered = true;
        v[k].signature = signature_of(&run->files[v[k].file].part.calls[v[k].call]);
    }
    osc_sort(v, n, sizeof *v, by_signature);
    if (is_alike(v, n)) {
        for (size_t k = 0; k < n; k++)
            v[k].first = 0;
    } else {
        for (size_t k = 0; k < n; k++)
            v[k].signature = 0;
        osc_sort(v, n, sizeof *v, by_signature);
    }
    for (size_t k = 0; k < n; k++) {
        const bool goes_on =
            k > 0 && v[k].file == v[k - 1].file && v[k].signature == v[k - 1].signature;

        v[k].number = goes_on ? v[k - 1].number + 1 : v[k].first;
    }
}

/* Number the calls of V[0, N), a group with numbers: those with the same number in a file are
 * apart. */
static void number_repeats(struct item *v, size_t n)
{
    osc_sort(v, n, sizeof *v, by_number);
    for (size_t k = 0; k < n; k++) {
        const bool is_again =
            k > 0 && v[k].file == v[k - 1].file && v[k].number == v[k - 1].number;

        v[k].signature = is_again ? v[k - 1].signature + 1 : 0;
    }
}

/* --- recordings that begin later ---------------------------------------------------------- */

static int by_family(const void *a, const void *b)
{
    const struct item *const x = a, *const y = b;

    if (x->family != y->family)
        return x->family < y->family ? -1 : 1;
    if (x->file != y->file)
        return x->file < y->file ? -1 : 1;
    return x->call < y->call ? -1 : x->call > y->call;
}

/* Scratch for the calls of one group. */
struct shifting {
    uint64_t *signatures; /* owned; by item */
    int64_t *tally;       /* owned; by key; 0 between uses */
};

/* The end of the items of the file of V[FIRST], at most END. */
static size_t file_end(const struct item *v, size_t first, size_t end)
{
    size_t k = first;

    while (k < end && v[k].file == v[first].file)
        k++;
    return k;
}

/* Number the first calls of each operation of V[OWN, OWN_END), the calls of a file, as the
 * longest run of signatures in common with V[REF, REF_END) says. */
static osc_status shift_file(const struct shifting *s, struct item *v, const size_t *ref,
                             const size_t *own)
{
    int64_t shift;
    const osc_status st = osc_rank_shift(&s->signatures[ref[0]], ref[1] - ref[0],
                                         &s->signatures[own[0]], own[1] - own[0], &shift);

    if (st != OSC_OK || shift == 0)
        return st;
    /* The calls that only one of the two has before the other one's first. */
    const size_t from = shift > 0 ? ref[0] : own[0];
    const size_t n = (size_t)(shift > 0 ? shift : -shift);
    for (size_t k = from; k < from + n; k++)
        s->tally[v[k].group] += shift > 0 ? 1 : -1;
    for (size_t k = own[0]; k < own[1]; k++)
        v[k].first = s->tally[v[k].group];
    for (size_t k = from; k < from + n; k++)
        s->tally[v[k].group] = 0;
    return st;
}

/* Find by how much the files of V[FIRST, END), the calls of one group, begin later or earlier
 * than that with most calls. */
static osc_status shift_family(const struct shifting *s, struct item *v, size_t first,
                               size_t end)
{
    size_t ref[2] = {first, first};
    osc_status st = OSC_OK;

    for (size_t k = first, next; k < end; k = next) {
        next = file_end(v, k, end);
        if (next - k > ref[1] - ref[0]) {
            ref[0] = k;
            ref[1] = next;
        }
    }
    for (size_t k = first, next; k < end && st == OSC_OK; k = next) {
        next = file_end(v, k, end);
        if (k != ref[0])
            st = shift_file(s, v, ref, (const size_t[2]){k, next});
    }
    return st;
}

/* Set the first numbers of all items, for groups in which not all calls have numbers. */
static osc_status shift_items(struct matching *m)
{
    struct shifting s = {.signatures = osc_calloc(m->n + 1, sizeof *s.signatures),
                         .tally =
                             osc_calloc(m->keys.words.n_entries + (size_t)1, sizeof *s.tally)};
    osc_status st = s.signatures && s.tally ? OSC_OK : OSC_ENOMEM;

    if (st == OSC_OK)
        osc_sort(m->v, m->n, sizeof *m->v, by_family);
    for (size_t first = 0, end; first < m->n && st == OSC_OK; first = end) {
        bool has_numbers = true;

        for (end = first; end < m->n && m->v[end].family == m->v[first].family; end++) {
            const struct item *const item = &m->v[end];

            has_numbers = has_numbers && item->number >= 0;
            s.signatures[end] = osc_hash_u64((uint64_t)signature_of(
                                    &m->run->files[item->file].part.calls[item->call])) +
                                item->group;
        }
        if (!has_numbers)
            st = shift_family(&s, m->v, first, end);
    }
    osc_free(s.signatures);
    osc_free(s.tally);
    return st;
}

/* Decide the numbers of all items. */
static void number_items(struct matching *m)
{
    osc_sort(m->v, m->n, sizeof *m->v, by_group_and_place);
    for (size_t first = 0, end; first < m->n; first = end) {
        bool has_numbers = true;

        for (end = first; end < m->n && m->v[end].group == m->v[first].group; end++)
            has_numbers = has_numbers && m->v[end].number >= 0;
        if (has_numbers)
            number_repeats(&m->v[first], end - first);
        else
            number_by_order(m->run, &m->v[first], end - first);
    }
    osc_sort(m->v, m->n, sizeof *m->v, by_match);
}

static bool is_same_match(const struct item *x, const struct item *y)
{
    return x->group == y->group && x->signature == y->signature && x->number == y->number;
}

/* A match with what it is sorted by: its first start, then its first member. */
struct sorted_match {
    int64_t start_ns;
    uint32_t file, call;
    struct osc_rank_match match;
};

static int by_start(const void *a, const void *b)
{
    const struct sorted_match *const x = a, *const y = b;

    if (x->start_ns != y->start_ns)
        return x->start_ns < y->start_ns ? -1 : 1;
    if (x->file != y->file)
        return x->file < y->file ? -1 : 1;
    return x->call < y->call ? -1 : x->call > y->call;
}

/* Make the matches of the numbered items. */
static osc_status make_matches(struct matching *m)
{
    struct osc_rank_run *const run = m->run;
    struct sorted_match *const v = osc_calloc(m->n + 1, sizeof *v);
    size_t n = 0;

    run->matches = osc_calloc(m->n + 1, sizeof *run->matches);
    run->members = osc_calloc(m->n + 1, sizeof *run->members);
    if (!v || !run->matches || !run->members) {
        osc_free(v);
        return OSC_ENOMEM;
    }
    run->n_members = m->n;
    for (size_t k = 0; k < m->n; k++) {
        const struct item *const item = &m->v[k];

        if (k == 0 || !is_same_match(item, item - 1))
            v[n++] = (struct sorted_match){
                .start_ns = item->start_ns,
                .file = item->file,
                .call = item->call,
                .match = {.first = (uint32_t)k, .is_ordered = item->is_ordered}};
        if (item->start_ns < v[n - 1].start_ns)
            v[n - 1].start_ns = item->start_ns;
        v[n - 1].match.n++;
        run->members[k] = (struct osc_rank_member){item->file, item->call};
    }
    osc_sort(v, n, sizeof *v, by_start);
    for (size_t k = 0; k < n; k++) {
        run->matches[k] = v[k].match;
        for (uint32_t i = 0; i < v[k].match.n; i++) {
            const struct osc_rank_member at = run->members[v[k].match.first + i];

            run->files[at.file].matches[at.call] = (uint32_t)k;
        }
    }
    run->n_matches = n;
    osc_free(v);
    return OSC_OK;
}

/* Find how much of each range of the calls of MATCH moved data. LEAST_NS is scratch. */
static void measure_match(struct osc_rank_run *run, const struct osc_rank_match *match,
                          int64_t *least_ns)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < match->n; i++) {
        const struct osc_rank_member at = run->members[match->first + i];
        const struct osc_rank_part *const p = &run->files[at.file].part;
        const struct osc_rank_call *const c = &p->calls[at.call];

        for (; n < c->n_ranges; n++)
            least_ns[n] = INT64_MAX;
        for (uint32_t k = 0; k < c->n_ranges; k++) {
            const struct osc_interval *const range = &p->ranges[c->first + k];
            const int64_t length = range->end_ns - range->start_ns;

            least_ns[k] = length < least_ns[k] ? length : least_ns[k];
        }
    }
    for (uint32_t i = 0; i < match->n; i++) {
        const struct osc_rank_member at = run->members[match->first + i];
        const struct osc_rank_call *const c = osc_rank_call_of(run, at);

        for (uint32_t k = 0; k < c->n_ranges; k++)
            run->files[at.file].real_ns[c->first + k] = least_ns[k];
    }
}

static osc_status measure_matches(struct osc_rank_run *run)
{
    uint32_t most = 0;

    for (size_t k = 0; k < run->n_members; k++) {
        const uint32_t n = osc_rank_call_of(run, run->members[k])->n_ranges;

        most = n > most ? n : most;
    }
    int64_t *const least_ns = osc_calloc((size_t)most + 1, sizeof *least_ns);
    for (size_t k = 0; k < run->n_matches && least_ns; k++)
        measure_match(run, &run->matches[k], least_ns);
    osc_free(least_ns);
    return least_ns ? OSC_OK : OSC_ENOMEM;
}

static osc_status match_calls(struct osc_rank_run *run)
{
    struct matching m = {.run = run};
    osc_status st = make_items(&m);

    if (st == OSC_OK)
        st = shift_items(&m);
    if (st == OSC_OK) {
        number_items(&m);
        st = make_matches(&m);
    }
    if (st == OSC_OK)
        st = measure_matches(run);
    osc_free(m.v);
    osc_rank_words_fini(&m.keys);
    return st;
}

/* --- all of them ------------------------------------------------------------------------ */

osc_status osc_rank_run_open(struct osc_rank_run *run, const struct osc_result *r)
{
    osc_status st = OSC_OK;

    run->files = osc_calloc(r->n_rows + 1, sizeof *run->files);
    if (!run->files)
        return OSC_ENOMEM;
    for (uint64_t i = 0; i < r->n_rows && st == OSC_OK; i++) {
        struct osc_rank_file *const f = &run->files[run->n_files++];

        f->rank = (int32_t)osc_result_get_int(r, i, hidden(r, OSC_RANK_OF));
        f->span = (int32_t)osc_result_get_int(r, i, hidden(r, OSC_RANK_SPAN));
        f->base_ns = osc_result_get_int(r, i, hidden(r, OSC_RANK_BASE));
        f->is_beside = osc_result_get_bool(r, i, hidden(r, OSC_RANK_BESIDE));
        run->has_spans = run->has_spans || f->span != run->files[0].span;
        st = osc_rank_part_unpack(osc_result_get_str(r, i, hidden(r, OSC_RANK_PACKED)),
                                  &run->words, &f->part);
        if (st == OSC_OK) {
            f->matches = osc_calloc(f->part.n_calls + 1, sizeof *f->matches);
            f->real_ns = osc_calloc(f->part.n_ranges + 1, sizeof *f->real_ns);
            st = f->matches && f->real_ns ? OSC_OK : OSC_ENOMEM;
        }
    }
    return st == OSC_OK ? match_calls(run) : st;
}

void osc_rank_run_fini(struct osc_rank_run *run)
{
    for (size_t f = 0; f < run->n_files; f++) {
        osc_rank_part_fini(&run->files[f].part);
        osc_free(run->files[f].matches);
        osc_free(run->files[f].real_ns);
    }
    osc_free(run->files);
    osc_free(run->matches);
    osc_free(run->members);
    osc_rank_words_fini(&run->words);
    *run = (struct osc_rank_run){0};
}

size_t osc_rank_group_end(const struct osc_rank_run *run, size_t first)
{
    size_t end = first;

    while (end < run->n_files && run->files[end].rank == run->files[first].rank &&
           run->files[end].span == run->files[first].span)
        end++;
    return end;
}

void osc_rank_times_add(struct osc_rank_times *times, const struct osc_rank_file *f,
                        uint32_t call)
{
    const struct osc_rank_call *const c = &f->part.calls[call];

    for (uint32_t r = c->first; r < c->first + c->n_ranges; r++) {
        const int64_t end_ns = f->part.ranges[r].end_ns + f->base_ns;

        osc_intervals_add(&times->all, f->part.ranges[r].start_ns + f->base_ns, end_ns);
        osc_intervals_add(&times->real, end_ns - f->real_ns[r], end_ns);
    }
}

osc_status osc_rank_times_end(struct osc_rank_times *times, struct osc_rank_moved *moved)
{
    osc_status st = osc_intervals_merge(&times->all);

    if (st == OSC_OK)
        st = osc_intervals_merge(&times->real);
    *moved = (struct osc_rank_moved){osc_intervals_length(&times->all),
                                     osc_intervals_length(&times->real)};
    osc_intervals_fini(&times->all);
    osc_intervals_fini(&times->real);
    return st;
}

osc_status osc_rank_measure(const struct osc_rank_file *f, const uint32_t *order, size_t n,
                            struct osc_rank_moved *moved)
{
    struct osc_rank_times times = {0};

    for (size_t k = 0; k < n; k++)
        osc_rank_times_add(&times, f, order[k]);
    return osc_rank_times_end(&times, moved);
}

void osc_rank_average_of(const struct osc_rank_run *run, size_t first, size_t end,
                         struct osc_rank_average *average)
{
    osc_wide total = 0, cost[OSC_COST_COUNT] = {0};
    uint64_t n = 0;

    *average = (struct osc_rank_average){0};
    for (size_t f = first; f < end; f++) {
        const struct osc_rank_part *const p = &run->files[f].part;

        for (size_t i = 0; i < p->n_steps && !run->files[f].is_beside; i++, n++) {
            total += p->steps[i].end_ns - p->steps[i].start_ns;
            for (int k = 0; k < OSC_COST_COUNT; k++)
                cost[k] += p->steps[i].cost_ns[k];
        }
    }
    average->n_steps = n;
    if (n == 0)
        return;
    average->step_ns = (double)total / (double)n;
    for (int k = 0; k < OSC_COST_COUNT; k++)
        average->cost_ns[k] = (double)cost[k] / (double)n;
}

osc_status osc_rank_finish(struct osc_result *r, const struct osc_options *o,
                           const struct osc_rank_table *t, struct osc_err *err)
{
    struct osc_rank_run run = {0};
    struct osc_result out;
    osc_status st = osc_rank_run_open(&run, r);

    osc_result_init(&out, r->def);
    if (run.has_spans)
        osc_result_show(&out, t->span_column);
    if (st == OSC_OK)
        st = t->fill(&out, &run, o);
    if (out.n_rows == 0 && t->why_empty)
        osc_result_why_empty(&out, t->why_empty);
    osc_rank_run_fini(&run);
    if (st == OSC_OK)
        st = out.status;
    if (st == OSC_OK)
        st = out.notes.status;
    if (st == OSC_OK) {
        osc_result_fini(r);
        osc_result_move(r, &out);
        return OSC_OK;
    }
    osc_result_fini(&out);
    return osc_fail(err, st, "%s: %s", r->def->name, osc_status_text(st));
}
