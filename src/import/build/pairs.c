/* SPDX-License-Identifier: Apache-2.0 */
#include "import/build/pairs.h"

#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "base/idmap.h"
#include "base/mem.h"
#include "base/sort.h"
#include "codec/json.h"

/* An open begin; it links to the one below it on its stacks. */
struct open_range {
    osc_row row;                 /* none: it is closed */
    uint32_t below, below_named; /* index + 1, or 0 */
};

/* Begins in the order of the file. */
struct opened {
    struct open_range *v; /* owned; some are closed */
    size_t n, cap;
};

/* An end of an asynchronous range that ended nothing on its stack. */
struct left_end {
    uint32_t chunk, place; /* in the store of others */
    bool is_matched;
};

struct matching {
    struct osc_trace *t;
    struct left_end *left; /* owned; in the order of the file */
    size_t n_left, cap_left;
    uint32_t *of_tracks;   /* owned; for each track the index + 1 of the top of its stack */
    struct osc_idmap tops; /* the same for asynchronous ranges, by the key of the stack */
    struct opened sync, async;
    struct osc_idmap forms; /* (form of begin, form of end) -> form of both */
    size_t cap_forms;       /* of t->forms; at least this */
    uint32_t *words;        /* owned scratch */
    size_t cap_words;
    struct {
        bool is_known, is_late, is_part; /* see look_for_begins() */
        int64_t paused_ns;               /* see first_pause() */
    } without;
    bool knows_names;     /* ends_have_names is found out when it is needed first */
    bool ends_have_names; /* names of some ends, without ids, are those of begins */
};

/* How far an end looks for the range that it names. */
#define NAMED_DEPTH 256

static bool is_begin(uint8_t shape)
{
    return shape == OSC_SHAPE_BEGIN || shape == OSC_SHAPE_ASYNC;
}

static bool is_end(uint8_t shape)
{
    return shape == OSC_SHAPE_END || shape == OSC_SHAPE_ASYNC_END;
}

/* Add the id ARG to hash H. Ids are compared as they are spelled in the file. */
static uint64_t add_id(const struct osc_trace *t, const struct osc_arg *arg, uint64_t h)
{
    if (arg->type == OSC_ARG_INT32 || arg->type == OSC_ARG_INT64) {
        char digits[24]; /* 5 and "5" are the same id */
        const int n = snprintf(digits, sizeof digits, "%lld", (long long)arg->i);
        return h ^ osc_hash(digits, (size_t)n, 1);
    }
    if (arg->type >= OSC_ARG_STRING) {
        const struct osc_str s = osc_trace_str(t, arg->sid);
        return h ^ osc_hash(s.s, s.len, 1);
    }
    return h ^ osc_hash(&arg->d, sizeof arg->d, 2);
}

/*
 * A key that the two ends of an asynchronous range have in common: category, id and its scope,
 * and the process unless the id is said to be global (member id2). ACROSS processes an id is
 * that of one process only if it is said to be (the same).
 */
static uint64_t pair_key(const struct osc_trace *t, const struct osc_chunk *k, uint32_t i,
                         bool across)
{
    const struct osc_form *f = osc_row_form(t, k, i);
    const bool is_old = osc_form_is_old_async(f);
    struct osc_arg id = {0};
    struct osc_str id2, global;
    uint32_t pid = t->tracks[k->track[i]].pid.v;
    uint64_t h;

    const bool has_id2 = osc_row_arg(t, k, i, OSC_ARG_KEY_ID2, &id) && id.type == OSC_ARG_TEXT;
    id2 = has_id2 ? osc_trace_str(t, id.sid) : OSC_STR("");
    if (has_id2 ? osc_json_member(id2, "global", &global) : across)
        pid = 0;
    h = osc_hash_u64(UINT64_C(0x62) << 56 | (uint64_t)is_old << 48 | pid);
    h = osc_hash_u64(h ^ (uint64_t)f->kind << 32 ^ f->category.v);
    if (has_id2 || osc_row_arg(t, k, i, OSC_ARG_KEY_FLOW_ID, &id))
        h = add_id(t, &id, h);
    if (osc_row_arg(t, k, i, OSC_ARG_KEY_ID_SCOPE, &id))
        h = add_id(t, &id, osc_hash_u64(h));
    return h;
}

/* The same for ranges of one name. */
static uint64_t name_key(const struct osc_chunk *k, uint32_t i, uint64_t key)
{
    return osc_hash_u64(key + 1) ^ osc_hash_u64(k->name[i]);
}

/* Where the top of the stack for row I of K is stored; the row is a begin or end of SHAPE.
 * NULL: no memory. */
static uint32_t *top_of(struct matching *m, const struct osc_chunk *k, uint32_t i,
                        uint8_t shape)
{
    if (shape == OSC_SHAPE_BEGIN || shape == OSC_SHAPE_END)
        return &m->of_tracks[k->track[i]];
    return osc_idmap_put(&m->tops, pair_key(m->t, k, i, false));
}

/*
 * The stack of those of the same name, or NULL if names do not matter: of synchronous ranges,
 * and of formats whose ids are unique. Chrome's asynchronous ranges are matched by name, too;
 * an end without a name ends the innermost one. *FAILED: no memory.
 */
static uint32_t *named_top_of(struct matching *m, const struct osc_chunk *k, uint32_t i,
                              uint8_t shape, bool *failed)
{
    uint32_t *top;

    *failed = false;
    if (shape == OSC_SHAPE_BEGIN || shape == OSC_SHAPE_END || k->name[i] == 0 ||
        osc_form_is_neutral(osc_row_form(m->t, k, i)))
        return NULL;
    top = osc_idmap_put(&m->tops, name_key(k, i, pair_key(m->t, k, i, false)));
    *failed = top == NULL;
    return top;
}

static struct opened *opened_of(struct matching *m, uint8_t shape)
{
    return shape == OSC_SHAPE_BEGIN || shape == OSC_SHAPE_END ? &m->sync : &m->async;
}

/* Open the range in row I of K. It stands on the stack of its id, and on that of its name. */
static osc_status push(struct matching *m, const struct osc_chunk *k, uint32_t i, uint8_t shape)
{
    struct opened *const all = opened_of(m, shape);
    bool failed;
    uint32_t *top = top_of(m, k, i, shape);

    if (!top || osc_grow(&all->v, &all->cap, all->n + 1, sizeof *all->v) != OSC_OK)
        return OSC_ENOMEM;
    struct open_range *const open = &all->v[all->n++];

    *open = (struct open_range){osc_row_at(k, i), *top, 0};
    *top = (uint32_t)all->n;
    top = named_top_of(m, k, i, shape, &failed); /* moves the first one */
    if (top) {
        open->below_named = *top;
        *top = (uint32_t)all->n;
    }
    return failed ? OSC_ENOMEM : OSC_OK;
}

static struct osc_str name_of(const struct osc_trace *t, osc_row row)
{
    return osc_row_name(t, osc_chunk_of(&t->events, row), osc_row_place(row));
}

/* Find out whether any end without an id has the name of a begin. */
static osc_status compare_names(struct matching *m)
{
    const struct osc_trace *const t = m->t;
    uint8_t *const begins = osc_calloc(osc_strings_bound(&t->strings), 1);

    if (!begins)
        return OSC_ENOMEM;
    m->knows_names = true;
    for (uint32_t c = 1; c < t->events.n_chunks; c++) {
        const struct osc_chunk *const k = t->events.chunks[c];

        for (uint32_t i = 0; i < k->n_rows; i++)
            begins[k->name[i]] |= t->forms[k->form[i]].shape == OSC_SHAPE_BEGIN;
    }
    begins[0] = 0;
    for (uint32_t c = 1; c < t->others.n_chunks && !m->ends_have_names; c++) {
        const struct osc_chunk *const e = t->others.chunks[c];

        for (uint32_t j = 0; j < e->n_rows; j++)
            m->ends_have_names |=
                t->forms[e->form[j]].shape == OSC_SHAPE_END && begins[e->name[j]];
    }
    osc_free(begins);
    return OSC_OK;
}

/* Whether an end called NAME may mean the range in row OPEN, whose name is another one.
 * OSC_ENOTFOUND: it may not. */
static osc_status may_mean(struct matching *m, osc_row open, struct osc_str name)
{
    const struct osc_str of_open = name_of(m->t, open);
    osc_status st = OSC_OK;

    if (osc_str_starts(of_open, name) || osc_str_starts(name, of_open))
        return OSC_OK;
    if (!m->knows_names)
        st = compare_names(m);
    return st == OSC_OK && m->ends_have_names ? OSC_ENOTFOUND : st;
}

/*
 * Move TOP, the top of a stack of synchronous ranges that is not empty, to the link that leads
 * to the one that the end in row J of E ends. OSC_ENOTFOUND: it ends none, which is counted.
 */
static osc_status find_named(struct matching *m, const struct osc_chunk *e, uint32_t j,
                             uint32_t **top)
{
    struct osc_trace *const t = m->t;
    uint32_t *link = *top;

    if (e->name[j] == 0 || osc_row_name(t, e, j).len == 0 ||
        osc_form_is_neutral(osc_row_form(t, e, j)))
        return OSC_OK;
    for (int depth = 0; depth < NAMED_DEPTH && *link != 0; depth++) {
        struct open_range *const open = &m->sync.v[*link - 1];

        if (osc_chunk_of(&t->events, open->row)->name[osc_row_place(open->row)] == e->name[j]) {
            if (depth > 0)
                osc_findings_add(&t->findings, OSC_FINDING_mismatched_end, OSC_NO_OFFSET,
                                 e->ts_ns[j]);
            *top = link;
            return OSC_OK;
        }
        link = &open->below;
    }
    osc_findings_add(&t->findings, OSC_FINDING_mismatched_end, OSC_NO_OFFSET, e->ts_ns[j]);
    return may_mean(m, m->sync.v[**top - 1].row, osc_row_name(t, e, j));
}

/*
 * Close the range that the end in row J of E ends; *BEGIN is its row, or none if the end means
 * none of those that are open, which is counted. OSC_ENOTFOUND: none is open.
 */
static osc_status pop(struct matching *m, const struct osc_chunk *e, uint32_t j, uint8_t shape,
                      osc_row *begin)
{
    struct opened *const all = opened_of(m, shape);
    bool failed;
    uint32_t *top = named_top_of(m, e, j, shape, &failed);
    const bool is_named = top != NULL;

    if (!top && !failed)
        top = top_of(m, e, j, shape);
    if (!top)
        return OSC_ENOMEM;
    /* What was closed through its other stack is still on this one. */
    while (*top != 0 && all->v[*top - 1].row.v == 0)
        *top = is_named ? all->v[*top - 1].below_named : all->v[*top - 1].below;
    if (*top == 0)
        return OSC_ENOTFOUND;
    *begin = (osc_row){0};
    const osc_status st = all == &m->sync ? find_named(m, e, j, &top) : OSC_OK;
    if (st != OSC_OK)
        return st == OSC_ENOTFOUND ? OSC_OK : st;
    struct open_range *const open = &all->v[*top - 1];

    *begin = open->row;
    open->row.v = 0;
    *top = is_named ? open->below_named : open->below;
    /* Synchronous ones are on one stack only: nothing refers to those that are closed. */
    while (all == &m->sync && all->n > 0 && all->v[all->n - 1].row.v == 0)
        all->n--;
    return OSC_OK;
}

/*
 * Add the slots of FROM, whose words follow FIRST_WORD others, to F, which has room for them.
 * An argument of the end replaces the last one with its key, whose index + 1 is in PLACES. The
 * id and scope of the end are left out: they equal the begin's.
 */
static osc_status add_slots(struct osc_form *f, const struct osc_form *from, bool is_end,
                            uint32_t first_word, struct osc_idmap *places)
{
    for (uint32_t i = 0; i < from->n_slots; i++) {
        struct osc_slot slot = from->slots[i];
        uint32_t *place;

        if (slot.is_member) {
            if (!is_end)
                f->slots[f->n_slots++] = slot;
            continue;
        }
        place = osc_idmap_put(places, slot.key.v);
        if (!place)
            return OSC_ENOMEM;
        slot.word = (uint16_t)(slot.word + first_word);
        if (*place == 0 || !is_end) {
            *place = f->n_slots + 1u;
            f->slots[f->n_slots++] = slot;
        } else {
            f->slots[*place - 1] = slot;
        }
    }
    return OSC_OK;
}

/* Make a form with the slots of both; for an argument that both have, that of the end. */
static osc_status join_forms(struct matching *m, uint32_t begin, uint32_t end, uint32_t *joined)
{
    struct osc_trace *t = m->t;
    const struct osc_form a = t->forms[begin], b = t->forms[end];
    struct osc_idmap places = {0};
    struct osc_form f = a;

    if ((uint32_t)a.n_slots + b.n_slots > OSC_FORM_SLOTS_MAX)
        return OSC_ELIMIT;
    f.slots = osc_malloc(((size_t)a.n_slots + b.n_slots + 1) * sizeof *f.slots);
    if (!f.slots)
        return OSC_ENOMEM;
    if (osc_grow(&t->forms, &m->cap_forms, (size_t)t->n_forms + 1, sizeof *t->forms) !=
        OSC_OK) {
        osc_free(f.slots);
        return OSC_ENOMEM;
    }
    f.n_slots = 0;
    f.has_args |= b.has_args;
    osc_status st = add_slots(&f, &a, false, 0, &places);
    if (st == OSC_OK)
        st = add_slots(&f, &b, true, a.n_words, &places);
    osc_idmap_fini(&places);
    if (st != OSC_OK) {
        osc_free(f.slots);
        return st;
    }
    f.n_words = (uint16_t)(a.n_words + b.n_words);
    for (unsigned key = 0; key < OSC_ARG_KEY_COUNT; key++) {
        const int16_t theirs = b.known[key];
        if (theirs < 0 || b.slots[theirs].is_member)
            continue;
        for (uint32_t i = 0; i < f.n_slots; i++)
            if (f.slots[i].key.v == b.slots[theirs].key.v && !f.slots[i].is_member)
                f.known[key] = (int16_t)i;
    }
    osc_form_cut_slots(&f, f.n_slots); /* frees the room for them if there are none */
    *joined = t->n_forms;
    t->forms[t->n_forms++] = f;
    return OSC_OK;
}

/* Add the arguments of the end, row J of E, to those of row I of K. */
static osc_status join_args(struct matching *m, struct osc_chunk *k, uint32_t i,
                            const struct osc_chunk *e, uint32_t j)
{
    struct osc_trace *t = m->t;
    const uint32_t a = k->form[i], b = e->form[j];
    const uint32_t n_a = t->forms[a].n_words, n_b = t->forms[b].n_words;
    uint32_t *form = osc_idmap_put(&m->forms, (uint64_t)a << 32 | b);
    osc_status st = OSC_OK;

    if (!form)
        return OSC_ENOMEM;
    if (*form == 0)
        st = join_forms(m, a, b, form);
    if (st == OSC_ELIMIT)
        return OSC_OK; /* more arguments than a form can have: the begin's stay */
    if (st != OSC_OK)
        return st;
    const uint32_t joined = *form;
    if (osc_grow(&m->words, &m->cap_words, (size_t)n_a + n_b + 1, sizeof *m->words) != OSC_OK)
        return OSC_ENOMEM;
    if (n_a > 0)
        memcpy(m->words, osc_row_words(k, i), n_a * sizeof *m->words);
    if (n_b > 0)
        memcpy(m->words + n_a, osc_row_words(e, j), n_b * sizeof *m->words);
    st = osc_chunk_replace_words(k, i, m->words, n_a + n_b);
    if (st == OSC_OK)
        k->form[i] = joined;
    return st;
}

void osc_pairs_close(struct osc_findings *f, struct osc_chunk *k, uint32_t i, int64_t end_ns)
{
    if (end_ns == OSC_NO_TIME) {
        osc_findings_add(f, OSC_FINDING_open_range, OSC_NO_OFFSET, k->ts_ns[i]);
        return;
    }
    k->dur_ns[i] = end_ns - k->ts_ns[i];
    if (end_ns < k->ts_ns[i]) {
        osc_findings_add(f, OSC_FINDING_negative_duration, OSC_NO_OFFSET, k->ts_ns[i]);
        k->dur_ns[i] = 0;
    }
    if (osc_row_end(k, i) > k->max_end_ns)
        k->max_end_ns = osc_row_end(k, i);
}

/* End the range of row BEGIN by row J of E. */
static osc_status end_range(struct matching *m, osc_row begin, const struct osc_chunk *e,
                            uint32_t j)
{
    struct osc_trace *t = m->t;
    struct osc_chunk *k = t->events.chunks[begin.v >> OSC_CHUNK_SHIFT];
    const uint32_t i = osc_row_place(begin);

    if (e->ts_ns[j] != OSC_NO_TIME || !osc_row_form(t, k, i)->is_frame)
        osc_pairs_close(&t->findings, k, i, e->ts_ns[j]);
    return osc_row_form(t, e, j)->has_args ? join_args(m, k, i, e, j) : OSC_OK;
}

/* When opscope, which recorded T, was first paused; INT64_MAX: never. */
static int64_t first_pause(const struct osc_trace *t)
{
    const osc_sid paused = osc_strings_find(&t->strings, OSC_STR("recording paused"));
    int64_t first = INT64_MAX;

    if (paused.v == 0 || !osc_str_eq(osc_trace_str(t, t->format), OSC_STR("opscope")))
        return first;
    for (uint32_t c = 1; c < t->events.n_chunks; c++) {
        const struct osc_chunk *const k = t->events.chunks[c];

        for (uint32_t i = 0; i < k->n_rows; i++)
            if (k->name[i] == paused.v && k->ts_ns[i] < first &&
                osc_row_form(t, k, i)->shape == OSC_SHAPE_INSTANT)
                first = k->ts_ns[i];
    }
    return first;
}

static bool is_meta(const struct osc_trace *t, const char *key, struct osc_str wanted)
{
    struct osc_str value;

    return osc_trace_meta(t, key, &value) && (wanted.len == 0 || osc_str_eq(value, wanted));
}

/* Find out whether the recorder of T may have left begins out whose ends are there: it began
 * late, it wrote only parts, or it paused. */
static void look_for_begins(struct matching *m)
{
    const struct osc_trace *const t = m->t;
    const bool is_ours = osc_str_eq(osc_trace_str(t, t->format), OSC_STR("opscope"));

    m->without.is_known = true;
    m->without.is_late = is_ours && is_meta(t, "start", OSC_STR("late"));
    m->without.is_part = is_ours && is_meta(t, "mode", OSC_STR(""));
    m->without.paused_ns = first_pause(t);
}

/* Count an end without a begin, unless the recorder may have left its begin out. Of synchronous
 * ranges that began in a pause or outside of a window it records no ends. */
static void count_end(struct matching *m, bool is_async, int64_t ts_ns)
{
    if (!m->without.is_known)
        look_for_begins(m);
    const bool is_expected =
        m->without.is_late ||
        (is_async &&
         (m->without.is_part || (ts_ns != OSC_NO_TIME && ts_ns >= m->without.paused_ns)));

    if (!is_expected)
        osc_findings_add(&m->t->findings, OSC_FINDING_unmatched_end, OSC_NO_OFFSET, ts_ns);
}

static osc_status match_end(struct matching *m, const struct osc_chunk *e, uint32_t j)
{
    struct osc_trace *t = m->t;
    const struct osc_form *f = osc_row_form(t, e, j);
    osc_row begin;
    const osc_status st = pop(m, e, j, f->shape, &begin);

    if (st == OSC_OK && begin.v != 0)
        return end_range(m, begin, e, j);
    if (st != OSC_ENOTFOUND)
        return st;
    if (f->shape == OSC_SHAPE_ASYNC_END && e->name[j] != 0 && e->ts_ns[j] != OSC_NO_TIME &&
        !osc_form_is_neutral(f)) {
        if (osc_grow(&m->left, &m->cap_left, m->n_left + 1, sizeof *m->left) != OSC_OK)
            return OSC_ENOMEM;
        m->left[m->n_left++] = (struct left_end){e->index, j, false};
        return OSC_OK;
    }
    count_end(m, f->shape == OSC_SHAPE_ASYNC_END, e->ts_ns[j]);
    return OSC_OK;
}

/* A begin or end that is left. */
struct left {
    uint64_t key;
    int64_t ts_ns;
    size_t index; /* in matching.async or matching.left */
    bool is_end;
};

static int compare_left(const void *a, const void *b)
{
    const struct left *const x = a, *const y = b;

    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    if (x->ts_ns != y->ts_ns)
        return x->ts_ns < y->ts_ns ? -1 : 1;
    if (x->is_end != y->is_end)
        return x->is_end ? 1 : -1;
    return x->index < y->index ? -1 : x->index > y->index;
}

/* List in V, which has room, the begins and ends that are left; return how many. */
static size_t list_left(const struct matching *m, struct left *v)
{
    const struct osc_trace *const t = m->t;
    size_t n = 0;

    for (size_t i = 0; i < m->async.n; i++) {
        const osc_row row = m->async.v[i].row;

        if (row.v == 0)
            continue;
        const struct osc_chunk *const k = osc_chunk_of(&t->events, row);
        const uint32_t at = osc_row_place(row);
        v[n++] =
            (struct left){name_key(k, at, pair_key(t, k, at, true)), k->ts_ns[at], i, false};
    }
    for (size_t i = 0; i < m->n_left; i++) {
        const struct osc_chunk *const e = t->others.chunks[m->left[i].chunk];
        const uint32_t j = m->left[i].place;

        v[n++] = (struct left){name_key(e, j, pair_key(t, e, j, true)), e->ts_ns[j], i, true};
    }
    return n;
}

/*
 * Match what is left by time: ends in another process than their begins, as plain ids are those
 * of all processes, and ends that stand before their begins in the file, as programs write
 * buffers thread by thread. An end closes the last begin before it.
 */
static osc_status match_left(struct matching *m)
{
    const size_t most = m->async.n + m->n_left;
    struct left *v;
    size_t *stack, n_stack = 0;
    osc_status st = OSC_OK;

    if (m->n_left == 0)
        return OSC_OK;
    v = osc_malloc((most + 1) * sizeof *v);
    stack = osc_malloc((most + 1) * sizeof *stack);
    if (!v || !stack)
        st = OSC_ENOMEM;
    const size_t n = st == OSC_OK ? list_left(m, v) : 0;
    osc_sort(v, n, sizeof *v, compare_left);
    for (size_t i = 0; i < n && st == OSC_OK; i++) {
        if (i > 0 && v[i].key != v[i - 1].key)
            n_stack = 0;
        if (!v[i].is_end) {
            stack[n_stack++] = v[i].index;
        } else if (n_stack > 0) {
            struct left_end *const end = &m->left[v[i].index];
            struct open_range *const open = &m->async.v[stack[--n_stack]];

            st = end_range(m, open->row, m->t->others.chunks[end->chunk], end->place);
            open->row.v = 0;
            end->is_matched = true;
        }
    }
    for (size_t i = 0; i < m->n_left && st == OSC_OK; i++) {
        const struct left_end *const end = &m->left[i];

        if (!end->is_matched)
            count_end(m, true, m->t->others.chunks[end->chunk]->ts_ns[end->place]);
    }
    osc_free(v);
    osc_free(stack);
    return st;
}

/* Push all begins from (*CHUNK, *PLACE) to before event number UNTIL. */
static osc_status push_begins(struct matching *m, uint32_t *chunk, uint32_t *place,
                              uint32_t until)
{
    struct osc_trace *t = m->t;
    osc_status st = OSC_OK;

    for (; st == OSC_OK && *chunk < t->events.n_chunks; ++*chunk, *place = 0) {
        const struct osc_chunk *k = t->events.chunks[*chunk];

        for (; *place < k->n_rows; ++*place) {
            if (k->first_row + *place >= until)
                return OSC_OK;
            const uint8_t shape = t->forms[k->form[*place]].shape;

            if (is_begin(shape) && k->dur_ns[*place] == OSC_NO_DUR)
                st = push(m, k, *place, shape);
            if (st != OSC_OK)
                return st;
        }
    }
    return st;
}

static void count_open(struct matching *m, const struct opened *all)
{
    struct osc_trace *t = m->t;

    for (size_t i = 0; i < all->n; i++) {
        const osc_row row = all->v[i].row;
        if (row.v == 0)
            continue;
        const struct osc_chunk *k = osc_chunk_of(&t->events, row);
        const uint32_t at = osc_row_place(row);
        const bool is_async = osc_row_form(t, k, at)->shape == OSC_SHAPE_ASYNC;
        osc_findings_add(&t->findings,
                         is_async ? OSC_FINDING_unmatched_begin : OSC_FINDING_open_range,
                         OSC_NO_OFFSET, k->ts_ns[at]);
    }
}

osc_status osc_pairs_match(struct osc_trace *t)
{
    struct matching m = {.t = t, .cap_forms = t->n_forms};
    uint32_t chunk = 1, place = 0;
    osc_status st = OSC_OK;
    bool any = false;

    for (uint32_t i = 1; i < t->n_forms; i++)
        any |= is_begin(t->forms[i].shape) || is_end(t->forms[i].shape);
    if (!any)
        return OSC_OK;
    m.of_tracks = osc_calloc((size_t)t->n_tracks + 1, sizeof *m.of_tracks);
    st = m.of_tracks ? OSC_OK : OSC_ENOMEM;
    for (uint32_t c = 1; st == OSC_OK && c < t->others.n_chunks; c++) {
        const struct osc_chunk *e = t->others.chunks[c];
        for (uint32_t j = 0; st == OSC_OK && j < e->n_rows; j++) {
            if (!is_end(osc_row_form(t, e, j)->shape))
                continue;
            st = push_begins(&m, &chunk, &place, e->first_event + (uint32_t)e->dur_ns[j]);
            if (st == OSC_OK)
                st = match_end(&m, e, j);
        }
    }
    if (st == OSC_OK)
        st = push_begins(&m, &chunk, &place, UINT32_MAX);
    if (st == OSC_OK)
        st = match_left(&m);
    if (st == OSC_OK) {
        count_open(&m, &m.sync);
        count_open(&m, &m.async);
    }
    osc_free(m.of_tracks);
    osc_idmap_fini(&m.tops);
    osc_idmap_fini(&m.forms);
    osc_free(m.sync.v);
    osc_free(m.async.v);
    osc_free(m.words);
    osc_free(m.left);
    return st;
}
