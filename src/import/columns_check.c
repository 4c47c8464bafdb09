/* SPDX-License-Identifier: Apache-2.0 */
/* Columns of a mapped file, looked at before anybody uses them. */
#include "base/mem.h"
#include "base/thread.h"
#include "import/columns.h"

/* What rows of a form need. */
struct form_needs {
    uint32_t n_words;
    uint32_t first_text; /* of the places of words that are texts, in places[] */
    uint16_t n_texts;
    uint8_t is_event, is_other; /* which store it may be in */
};

struct checking {
    struct osc_trace *t;
    struct osc_unchecked *u;
    uint32_t n_texts;         /* ids of texts are below it */
    struct form_needs *needs; /* owned; by form */
    uint16_t *places;         /* owned */
};

void osc_unchecked_free(void *unchecked)
{
    struct osc_unchecked *const u = unchecked;

    if (u)
        osc_free(u->chunks);
    osc_free(u);
}

static bool is_text(const struct osc_slot *s)
{
    return s->type == OSC_ARG_STRING || s->type == OSC_ARG_TEXT || s->type == OSC_ARG_NUMTEXT;
}

/* What the forms ask of rows, so that no row has to look at slots. */
static osc_status find_needs(struct checking *c)
{
    const struct osc_trace *const t = c->t;
    size_t n_places = 0;

    for (uint32_t i = 0; i < t->n_forms; i++)
        n_places += t->forms[i].n_slots;
    c->needs = osc_calloc((size_t)t->n_forms + 1, sizeof *c->needs);
    c->places = osc_calloc(n_places + 1, sizeof *c->places);
    if (!c->needs || !c->places)
        return OSC_ENOMEM;
    n_places = 0;
    for (uint32_t i = 1; i < t->n_forms; i++) {
        const struct osc_form *const f = &t->forms[i];
        struct form_needs *const need = &c->needs[i];

        *need = (struct form_needs){.n_words = f->n_words,
                                    .first_text = (uint32_t)n_places,
                                    .is_event = osc_phase_is_event(f->ph),
                                    .is_other = osc_phase_is_other(f->ph)};
        for (uint32_t k = 0; k < f->n_slots; k++) {
            if (is_text(&f->slots[k]))
                c->places[n_places++] = f->slots[k].word;
        }
        need->n_texts = (uint16_t)(n_places - need->first_text);
    }
    return OSC_OK;
}

/* Point the columns of C into the file. */
static void lay(struct osc_unchecked_chunk *u)
{
    /* The mapping is private and may be written; payloads lie at multiples of 64. */
    struct osc_chunk *const c = u->chunk;
    void *at[OSC_COLUMN_COUNT];

    for (unsigned k = 0; k < OSC_COLUMN_COUNT; k++)
        memcpy(&at[k], &u->columns[k].p, sizeof at[k]);
    c->ts_ns = at[OSC_COLUMN_TS];
    c->dur_ns = at[OSC_COLUMN_DUR];
    c->name = at[OSC_COLUMN_NAME];
    c->form = at[OSC_COLUMN_FORM];
    c->track = at[OSC_COLUMN_TRACK];
    c->arg_word = at[OSC_COLUMN_ARG_WORD];
    c->args = at[OSC_COLUMN_ARGS];
    c->n_arg_words = (uint32_t)(u->columns[OSC_COLUMN_ARGS].n_bytes / sizeof *c->args);
    c->kind = at[OSC_COLUMN_KIND];
}

static bool hashes_are_good(const struct osc_unchecked_chunk *u)
{
    for (unsigned k = 0; k < OSC_COLUMN_COUNT; k++) {
        const struct osc_column_place *const p = &u->columns[k];

        if (p->p && osc_wire_hash(p->p, (size_t)p->n_bytes) != p->hash)
            return false;
    }
    return true;
}

/* Starts and ends within bounds; notes how far they reach. Plain loops: they become vectors. */
static bool times_are_good(struct osc_chunk *c)
{
    int64_t min = INT64_MAX, max = INT64_MIN, max_end = INT64_MIN;
    bool is_good = true;

    for (uint32_t i = 0; i < c->n_rows; i++) {
        min = c->ts_ns[i] < min ? c->ts_ns[i] : min;
        max = c->ts_ns[i] > max ? c->ts_ns[i] : max;
    }
    if (min < -OSC_TIME_MAX_NS || max > OSC_TIME_MAX_NS)
        return false;
    if (!c->dur_ns)
        return true;
    for (uint32_t i = 0; i < c->n_rows; i++) {
        const int64_t dur = c->dur_ns[i] == OSC_NO_DUR ? 0 : c->dur_ns[i];
        const int64_t end = c->ts_ns[i] + dur;

        /* Less than the start: the sum has gone over. */
        is_good &= (dur >= 0) & (end >= c->ts_ns[i]);
        max_end = end > max_end ? end : max_end;
    }
    c->min_ts_ns = min;
    c->max_end_ns = max_end;
    return is_good && max_end <= OSC_TIME_MAX_NS;
}

static bool ids_are_good(const struct checking *k, const struct osc_chunk *c)
{
    uint32_t name = 0, form = 0, track = 0, least_track = UINT32_MAX;
    uint8_t kind = 0;

    for (uint32_t i = 0; i < c->n_rows; i++) {
        name = c->name[i] > name ? c->name[i] : name;
        form = c->form[i] > form ? c->form[i] : form;
        track = c->track[i] > track ? c->track[i] : track;
        least_track = c->track[i] < least_track ? c->track[i] : least_track;
    }
    for (uint32_t i = 0; c->kind && i < c->n_rows; i++)
        kind = c->kind[i] > kind ? c->kind[i] : kind;
    return name < k->n_texts && form < k->t->n_forms && track < k->t->n_tracks &&
           least_track > 0 && kind < OSC_KIND_COUNT;
}

/* Words of every row lie within, and those that are texts are known. Forms are good. */
static bool words_are_good(const struct checking *k, const struct osc_chunk *c, bool is_other)
{
    bool is_bad = false;

    for (uint32_t i = 0; i < c->n_rows && !is_bad; i++) {
        const struct form_needs *const need = &k->needs[c->form[i]];
        const uint64_t end = (uint64_t)c->arg_word[i] + need->n_words;
        const uint16_t *const places = k->places + need->first_text;

        if (end > c->n_arg_words || !(is_other ? need->is_other : need->is_event))
            return false;
        const uint32_t *const words = c->args + c->arg_word[i];
        for (uint32_t t = 0; t < need->n_texts; t++)
            is_bad |= words[places[t]] >= k->n_texts;
    }
    return !is_bad;
}

static void check_chunk(void *ctx, uint32_t i)
{
    const struct checking *const k = ctx;
    struct osc_unchecked_chunk *const u = &k->u->chunks[i];

    lay(u);
    u->is_lost = !hashes_are_good(u) || !times_are_good(u->chunk) ||
                 !ids_are_good(k, u->chunk) || !words_are_good(k, u->chunk, u->is_other);
}

/* Rows that are lost are gone: the chunk stays, empty. */
static void lose(struct osc_trace *t, const struct osc_unchecked_chunk *u)
{
    osc_columns_lose(t, OSC_FINDING_corrupt, u->offset, u->chunk);
    u->chunk->n_rows = 0;
}

static void number_others(struct osc_store *s)
{
    uint32_t n_rows = 0;

    for (uint32_t k = 1; k < s->n_chunks; k++) {
        s->chunks[k]->first_row = n_rows;
        n_rows += s->chunks[k]->n_rows;
    }
    s->n_rows = n_rows;
}

osc_status osc_columns_check(struct osc_trace *t, unsigned n_threads, struct osc_err *err)
{
    struct checking k = {.t = t, .u = t->unchecked, .n_texts = t->strings.n_adopted};
    const osc_status st = find_needs(&k);

    if (st == OSC_OK) {
        osc_parallel(n_threads, k.u->n_chunks, check_chunk, &k);
        for (uint32_t i = 0; i < k.u->n_chunks; i++) {
            if (k.u->chunks[i].is_lost)
                lose(t, &k.u->chunks[i]);
        }
        number_others(&t->others);
        osc_trace_recount(t);
    } else {
        (void)osc_fail(err, st, "out of memory while columns were checked");
    }
    osc_free(k.needs);
    osc_free(k.places);
    return st;
}
