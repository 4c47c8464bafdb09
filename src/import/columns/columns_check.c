/* SPDX-License-Identifier: Apache-2.0 */
/* Read and check columns before they are used. */
#include <unistd.h>

#include "base/mem.h"
#include "base/thread.h"
#include "import/columns/columns_reader.h"

void osc_unchecked_free(void *unchecked)
{
    struct osc_unchecked *const u = unchecked;

    if (u && u->fd >= 0)
        (void)close(u->fd);
    if (u)
        osc_free(u->chunks);
    osc_free(u);
}

static bool is_text(const struct osc_slot *s)
{
    return s->type == OSC_ARG_STRING || s->type == OSC_ARG_TEXT || s->type == OSC_ARG_NUMTEXT;
}

static struct osc_form_needs needs_of(const struct osc_form *f, uint16_t *places)
{
    struct osc_form_needs need = {.n_words = f->n_words, .places = places};

    for (uint32_t k = 0; k < f->n_slots; k++) {
        if (is_text(&f->slots[k]))
            places[need.n_texts++] = f->slots[k].word;
    }
    need.first = need.n_texts > 0 ? places[0] : 0;
    need.second = need.n_texts > 1 ? places[1] : need.first;
    return need;
}

/* Compute what each form requires of its rows, so that checks of rows need not read slots. */
osc_status osc_columns_rules_make(struct osc_columns_rules *c, const struct osc_trace *t)
{
    size_t n_places = 0;

    *c = (struct osc_columns_rules){
        .n_texts = t->strings.n_adopted, .n_forms = t->n_forms, .n_tracks = t->n_tracks};

    for (uint32_t i = 0; i < t->n_forms; i++)
        n_places += t->forms[i].n_slots;
    c->of_events = osc_calloc((size_t)t->n_forms + 1, sizeof *c->of_events);
    c->of_others = osc_calloc((size_t)t->n_forms + 1, sizeof *c->of_others);
    c->places = osc_calloc(n_places + 1, sizeof *c->places);
    if (!c->of_events || !c->of_others || !c->places)
        return OSC_ENOMEM;
    n_places = 0;
    for (uint32_t i = 1; i < t->n_forms; i++) {
        const struct osc_form *const f = &t->forms[i];
        const struct osc_form_needs need = needs_of(f, c->places + n_places);

        n_places += need.n_texts;
        c->of_events[i] = c->of_others[i] = need;
        /* More words than a chunk can have: this form is not allowed in that store. */
        if (!osc_shape_is_event((enum osc_form_shape)f->shape))
            c->of_events[i].n_words = UINT32_MAX;
        if (!osc_shape_is_other((enum osc_form_shape)f->shape))
            c->of_others[i].n_words = UINT32_MAX;
    }
    return OSC_OK;
}

void osc_columns_rules_fini(struct osc_columns_rules *c)
{
    osc_free(c->of_events);
    osc_free(c->of_others);
    osc_free(c->places);
    *c = (struct osc_columns_rules){0};
}

/* Columns in memory are aligned as in the file. */
static size_t aligned(uint64_t n_bytes)
{
    return (size_t)((n_bytes + OSC_WIRE_ALIGN - 1) / OSC_WIRE_ALIGN * OSC_WIRE_ALIGN);
}

size_t osc_columns_room(const struct osc_unchecked_chunk *u)
{
    size_t n = 0;

    for (unsigned k = 0; k < OSC_COLUMN_COUNT; k++)
        n += u->columns[k].p ? 0 : aligned(u->columns[k].n_bytes);
    return n;
}

void osc_columns_fetch(struct osc_unchecked_chunk *u, int fd, unsigned char *to)
{
    for (unsigned k = 0; k < OSC_COLUMN_COUNT && u->loss == OSC_COLUMNS_GOOD; k++) {
        struct osc_column_place *const c = &u->columns[k];

        if (c->p || c->offset == 0)
            continue;
        const osc_status st = osc_fd_read(fd, c->offset, to, (size_t)c->n_bytes);
        if (st != OSC_OK)
            u->loss = st == OSC_EFORMAT ? OSC_COLUMNS_CUT : OSC_COLUMNS_CORRUPT;
        c->p = to;
        to += aligned(c->n_bytes);
    }
}

/* Point the columns of U's chunk to where they are. */
static void lay(struct osc_unchecked_chunk *u)
{
    /* The memory is writable and the trace's own. */
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

        if (p->p &&
            osc_wire_payload_hash(OSC_CHUNK_EVENTS, p->p, (size_t)p->n_bytes) != p->hash)
            return false;
    }
    return true;
}

/* Vector types of the compiler, because it does not vectorize the plain loops. */
typedef int64_t times __attribute__((vector_size(16)));
typedef uint32_t ids __attribute__((vector_size(16)));
typedef uint8_t kinds __attribute__((vector_size(16)));

#define TIMES (sizeof(times) / sizeof(int64_t))
#define IDS   (sizeof(ids) / sizeof(uint32_t))
#define KINDS sizeof(kinds)

/* The times checked so far: signs and bits that must not be set. */
struct times_seen {
    times signs, bits;
};

/* The sign of the result: whether T is 2^62 or more away from zero. */
static inline times far(times t)
{
    return t ^ (t << 1);
}

/*
 * Check a start and a duration: both ends must be times from LEAST to MOST. A sum can only
 * overflow if a check before it has failed already.
 */
static inline void see_times(struct times_seen *seen, times ts, times dur, int64_t least,
                             int64_t most)
{
    const times is_none = dur >> 63, len = dur & ~is_none, end = ts + len;

    seen->bits |= (dur ^ OSC_NO_DUR) & is_none; /* the only negative number that is allowed */
    seen->signs |= far(ts) | ((ts ^ end) & (len ^ end)) | far(end);
    seen->signs |= (ts - least) | (most - end);
}

/* DUR_NS may be NULL. LEAST and MOST are times. */
static bool times_are_good(const int64_t *ts_ns, const int64_t *dur_ns, uint32_t n,
                           int64_t least, int64_t most)
{
    struct times_seen seen = {0};
    uint32_t i = 0;

    for (; i + TIMES <= n; i += TIMES) {
        times ts, dur = {0};

        memcpy(&ts, ts_ns + i, sizeof ts);
        if (dur_ns)
            memcpy(&dur, dur_ns + i, sizeof dur);
        see_times(&seen, ts, dur, least, most);
    }
    for (; i < n; i++) {
        const times ts = {ts_ns[i], ts_ns[i]}, dur = {dur_ns ? dur_ns[i] : 0, 0};

        see_times(&seen, ts, dur, least, most);
    }
    return (seen.bits[0] | seen.bits[1]) == 0 && (seen.signs[0] | seen.signs[1]) >= 0;
}

/* Whether all N ids are at least LEAST and below BOUND, which is less than 2^31. */
static bool ids_are_good(const uint32_t *p, uint32_t n, uint32_t least, uint32_t bound)
{
    const uint32_t most = bound - 1 - least;
    ids seen = {0};
    uint32_t i = 0;

    for (; i + IDS <= n; i += IDS) {
        ids id;

        memcpy(&id, p + i, sizeof id);
        id -= least;
        seen |= id | (most - id);
    }
    for (; i < n; i++)
        seen[0] |= (p[i] - least) | (most - (p[i] - least));
    return bound > least && ((seen[0] | seen[1] | seen[2] | seen[3]) >> 31) == 0;
}

static bool kinds_are_good(const uint8_t *p, uint32_t n)
{
    kinds seen = {0};
    uint8_t all = 0;
    uint32_t i = 0;

    _Static_assert(OSC_KIND_COUNT <= 0x80, "the sign bit says whether one is too large");
    for (; i + KINDS <= n; i += KINDS) {
        kinds k;

        memcpy(&k, p + i, sizeof k);
        seen |= k | (OSC_KIND_COUNT - 1 - k);
    }
    for (; i < n; i++)
        all |= p[i] | (uint8_t)(OSC_KIND_COUNT - 1 - p[i]);
    for (unsigned k = 0; k < KINDS; k++)
        all |= seen[k];
    return (all & 0x80) == 0;
}

/* The sign of the result: whether ID is BOUND or more. */
static inline uint32_t past(uint32_t id, uint32_t bound)
{
    return id | (bound - 1 - id);
}

/* Whether the words of every row are within the chunk and those that are texts are known ids.
 * The forms were checked before. */
static bool words_are_good(const struct osc_columns_rules *k, const struct osc_chunk *c,
                           bool is_other)
{
    const struct osc_form_needs *const needs = is_other ? k->of_others : k->of_events;
    const uint32_t bound = k->n_texts, n_words = c->n_arg_words;
    static const uint32_t none[1];
    uint32_t seen = 0;

    for (uint32_t i = 0; i < c->n_rows; i++) {
        const struct osc_form_needs *const need = &needs[c->form[i]];
        const uint32_t at = c->arg_word[i];
        const uint32_t *const words = need->n_texts > 0 ? c->args + at : none;

        /* A form that is not allowed here needs more words than there can be. */
        if (at > n_words || n_words - at < need->n_words)
            return false;
        /* Two without a branch: most rows have at most two, and a wrong prediction costs more.
         */
        seen |= past(words[need->first], bound) | past(words[need->second], bound);
        for (uint32_t t = 2; t < need->n_texts; t++)
            seen |= past(words[need->places[t]], bound);
    }
    return seen >> 31 == 0;
}

static bool rows_are_good(const struct osc_columns_rules *k,
                          const struct osc_unchecked_chunk *u)
{
    const struct osc_chunk *const c = u->chunk;
    const int64_t least = u->is_other ? -OSC_TIME_MAX_NS : c->min_ts_ns;
    const int64_t most = u->is_other ? OSC_TIME_MAX_NS : c->max_end_ns;

    return times_are_good(c->ts_ns, c->dur_ns, c->n_rows, least, most) &&
           ids_are_good(c->name, c->n_rows, 0, k->n_texts) &&
           ids_are_good(c->form, c->n_rows, 1, k->n_forms) &&
           ids_are_good(c->track, c->n_rows, 1, k->n_tracks) &&
           (!c->kind || kinds_are_good(c->kind, c->n_rows)) &&
           words_are_good(k, c, u->is_other);
}

bool osc_columns_look(const struct osc_columns_rules *r, struct osc_unchecked_chunk *u)
{
    lay(u);
    return hashes_are_good(u) && rows_are_good(r, u);
}

struct checking {
    struct osc_columns_rules rules;
    struct osc_unchecked *u;
    unsigned char *memory; /* for the columns that are in the file */
};

static void check_chunk(void *ctx, uint32_t i)
{
    const struct checking *const k = ctx;
    struct osc_unchecked_chunk *const u = &k->u->chunks[i];

    if (k->memory)
        osc_columns_fetch(u, k->u->fd, k->memory + u->at);
    if (u->loss == OSC_COLUMNS_GOOD && !osc_columns_look(&k->rules, u))
        u->loss = OSC_COLUMNS_CORRUPT;
}

/* Drop the rows of U, which are lost; its chunk stays, but empty. */
static void lose(struct osc_trace *t, const struct osc_unchecked_chunk *u)
{
    osc_columns_lose(t,
                     u->loss == OSC_COLUMNS_CUT ? OSC_FINDING_truncated : OSC_FINDING_corrupt,
                     u->offset, u->chunk);
    u->chunk->n_rows = 0;
}

/* Allocate the memory that was reserved for the columns of K; T owns it. */
static osc_status take_memory(struct osc_trace *t, struct checking *k)
{
    struct osc_unchecked *const u = k->u;
    size_t cap = t->n_pages;

    if (u->n_bytes == 0)
        return OSC_OK;
    osc_status st = osc_grow(&t->pages, &cap, (size_t)t->n_pages + 1, sizeof *t->pages);
    if (st != OSC_OK)
        return st;
    osc_mem_unreserve(u->n_bytes);
    k->memory = osc_pages_alloc(u->n_bytes);
    if (!k->memory) {
        osc_mem_reserve(u->n_bytes);
        return OSC_ENOMEM;
    }
    t->reserved_bytes -= u->n_bytes;
    t->pages[t->n_pages++] = (struct osc_pages){.p = k->memory, .size = u->n_bytes};
    return OSC_OK;
}

osc_status osc_columns_check(struct osc_trace *t, unsigned n_threads, struct osc_err *err)
{
    struct checking k = {.u = t->unchecked};
    osc_status st = osc_columns_rules_make(&k.rules, t);

    if (st == OSC_OK)
        st = take_memory(t, &k);
    if (st == OSC_OK) {
        osc_parallel(n_threads, k.u->n_chunks, check_chunk, &k);
        for (uint32_t i = 0; i < k.u->n_chunks; i++) {
            if (k.u->chunks[i].loss != OSC_COLUMNS_GOOD)
                lose(t, &k.u->chunks[i]);
        }
        osc_store_number(&t->others);
        osc_trace_recount(t);
    } else {
        (void)osc_fail(err, st, "out of memory while columns were read");
    }
    osc_columns_rules_fini(&k.rules);
    return st;
}
