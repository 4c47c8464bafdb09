/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/ranks/rank_part.h"

#include "base/mem.h"

void osc_rank_words_fini(struct osc_rank_words *w)
{
    osc_intern_fini(&w->words);
    osc_arena_fini(&w->arena);
    *w = (struct osc_rank_words){0};
}

osc_status osc_rank_word(struct osc_rank_words *w, struct osc_str text, uint32_t *word)
{
    osc_sid id = {0};

    *word = 0;
    if (text.len == 0)
        return OSC_OK;
    w->words.arena = &w->arena;
    const osc_status st = osc_intern_add(&w->words, text, &id);
    *word = id.v;
    return st;
}

void osc_rank_part_fini(struct osc_rank_part *p)
{
    osc_free(p->steps);
    osc_free(p->calls);
    osc_free(p->ranges);
    osc_free(p->work);
    *p = (struct osc_rank_part){0};
}

/* --- packing ---------------------------------------------------------------------------- */

/* Seven bits a byte, the lowest first; the highest bit says that more follow. */
static void put(struct osc_strbuf *out, uint64_t v)
{
    char bytes[10];
    size_t n = 0;

    for (; v >= 0x80; v >>= 7)
        bytes[n++] = (char)(v | 0x80);
    bytes[n++] = (char)v;
    osc_strbuf_put(out, bytes, n);
}

/* Small numbers of either sign are short. */
static void put_signed(struct osc_strbuf *out, int64_t v)
{
    put(out, (uint64_t)v << 1 ^ (v < 0 ? UINT64_MAX : 0));
}

static void put_step(struct osc_strbuf *out, const struct osc_rank_step *s, int64_t before_ns)
{
    put_signed(out, s->start_ns - before_ns);
    put_signed(out, s->end_ns - s->start_ns);
    for (int k = 0; k < OSC_COST_COUNT; k++)
        put_signed(out, s->cost_ns[k]);
    put(out, s->label);
}

static void put_call(struct osc_strbuf *out, const struct osc_rank_part *p,
                     const struct osc_rank_call *c, int64_t before_ns)
{
    const struct osc_interval *const ranges = &p->ranges[c->first];

    put(out, c->op);
    put_signed(out, c->start_ns - before_ns);
    put(out, c->n_ranges);
    for (uint32_t k = 0; k < c->n_ranges; k++) {
        put_signed(out, ranges[k].start_ns - c->start_ns);
        put_signed(out, ranges[k].end_ns - ranges[k].start_ns);
    }
    put_signed(out, c->seq);
    put_signed(out, c->in_bytes);
    put_signed(out, c->bytes);
    put_signed(out, c->elements);
    put(out, c->name);
    put(out, c->group);
    put(out, c->ranks);
    put(out, c->dtype);
    put(out, c->size);
    put(out, c->step);
    put_signed(out, c->work_ns);
    put(out, c->n_work);
    for (uint32_t k = c->first_work; k < c->first_work + c->n_work; k++) {
        put(out, p->work[k].name);
        put_signed(out, p->work[k].ns);
    }
}

void osc_rank_part_pack(const struct osc_rank_part *p, const struct osc_rank_words *w,
                        struct osc_strbuf *out)
{
    int64_t before_ns = 0;

    put(out, w->words.n_entries);
    for (uint32_t i = 1; i <= w->words.n_entries; i++) {
        const struct osc_str text = osc_rank_text(w, i);

        put(out, text.len);
        osc_strbuf_add(out, text.s, text.len);
    }
    put(out, p->worker);
    put(out, p->host);
    put(out, p->device);
    put(out, p->device_name);
    put(out, p->file);
    put(out, p->world_size);
    put(out, p->n_marked);
    put(out, p->is_cut);
    put_signed(out, p->end_ns);
    put(out, p->n_steps);
    for (size_t i = 0; i < p->n_steps; i++) {
        put_step(out, &p->steps[i], before_ns);
        before_ns = p->steps[i].start_ns;
    }
    put(out, p->n_calls);
    before_ns = 0;
    for (size_t i = 0; i < p->n_calls; i++) {
        put_call(out, p, &p->calls[i], before_ns);
        before_ns = p->calls[i].start_ns;
    }
}

/* --- unpacking -------------------------------------------------------------------------- */

/* The unread bytes. Once there are too few, every read returns 0. */
struct reader {
    const char *at, *end;
    bool is_bad;
    const uint32_t *words; /* ids of the words of the part */
    uint64_t n_words;
};

static uint64_t get(struct reader *r)
{
    uint64_t v = 0;

    for (unsigned shift = 0; shift < 64; shift += 7) {
        if (r->at == r->end)
            break;
        const uint8_t byte = (uint8_t)*r->at++;
        v |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80))
            return v;
    }
    r->is_bad = true;
    return 0;
}

static int64_t get_signed(struct reader *r)
{
    const uint64_t v = get(r);

    return (int64_t)(v >> 1 ^ (v & 1 ? UINT64_MAX : 0));
}

/* A number of things of at least one byte each. */
static size_t get_count(struct reader *r)
{
    const uint64_t n = get(r);

    if (n > (uint64_t)(r->end - r->at))
        r->is_bad = true;
    return r->is_bad ? 0 : (size_t)n;
}

static uint32_t get_u32(struct reader *r)
{
    const uint64_t v = get(r);

    r->is_bad = r->is_bad || v > UINT32_MAX;
    return r->is_bad ? 0 : (uint32_t)v;
}

static uint32_t get_word(struct reader *r)
{
    const uint64_t v = get(r);

    r->is_bad = r->is_bad || v > r->n_words;
    return r->is_bad || v == 0 ? 0 : r->words[v - 1];
}

static osc_status get_words(struct reader *r, struct osc_rank_words *w, uint32_t **ids)
{
    const size_t n = get_count(r);
    osc_status st = OSC_OK;

    *ids = osc_calloc(n + 1, sizeof **ids);
    if (!*ids)
        return OSC_ENOMEM;
    for (size_t i = 0; i < n && !r->is_bad && st == OSC_OK; i++) {
        const size_t len = get_count(r);

        st = osc_rank_word(w, (struct osc_str){r->at, (uint32_t)len}, &(*ids)[i]);
        r->at += len;
    }
    r->words = *ids;
    r->n_words = n;
    return st;
}

static void get_step(struct reader *r, struct osc_rank_step *s, int64_t before_ns)
{
    s->start_ns = before_ns + get_signed(r);
    s->end_ns = s->start_ns + get_signed(r);
    for (int k = 0; k < OSC_COST_COUNT; k++)
        s->cost_ns[k] = get_signed(r);
    s->label = get_word(r);
}

static osc_status get_ranges(struct reader *r, struct osc_rank_part *p, struct osc_rank_call *c)
{
    const size_t n = get_count(r);
    const osc_status st =
        osc_grow(&p->ranges, &p->cap_ranges, p->n_ranges + n, sizeof *p->ranges);

    if (st != OSC_OK || p->n_ranges + n > UINT32_MAX)
        return st != OSC_OK ? st : OSC_ELIMIT;
    c->first = (uint32_t)p->n_ranges;
    c->n_ranges = (uint32_t)n;
    c->end_ns = c->start_ns;
    for (size_t k = 0; k < n; k++) {
        struct osc_interval *const range = &p->ranges[p->n_ranges++];

        range->start_ns = c->start_ns + get_signed(r);
        range->end_ns = range->start_ns + get_signed(r);
        c->end_ns = range->end_ns > c->end_ns ? range->end_ns : c->end_ns;
    }
    r->is_bad = r->is_bad || n == 0;
    return OSC_OK;
}

static osc_status get_work(struct reader *r, struct osc_rank_part *p, struct osc_rank_call *c)
{
    c->work_ns = get_signed(r);
    const size_t n = get_count(r);
    const osc_status st = osc_grow(&p->work, &p->cap_work, p->n_work + n, sizeof *p->work);

    if (st != OSC_OK || p->n_work + n > UINT32_MAX)
        return st != OSC_OK ? st : OSC_ELIMIT;
    r->is_bad = r->is_bad || n > UINT8_MAX;
    c->first_work = (uint32_t)p->n_work;
    c->n_work = r->is_bad ? 0 : (uint8_t)n;
    for (size_t k = 0; k < c->n_work; k++) {
        struct osc_rank_work *const w = &p->work[p->n_work++];

        w->name = get_word(r);
        w->ns = get_signed(r);
    }
    return OSC_OK;
}

static osc_status get_call(struct reader *r, struct osc_rank_part *p, int64_t before_ns)
{
    struct osc_rank_call *const c = &p->calls[p->n_calls];
    const uint64_t op = get(r);

    c->op = (uint8_t)op;
    r->is_bad = r->is_bad || op >= OSC_COLLECTIVE_COUNT;
    c->start_ns = before_ns + get_signed(r);
    osc_status st = get_ranges(r, p, c);
    c->seq = get_signed(r);
    c->in_bytes = get_signed(r);
    c->bytes = get_signed(r);
    c->elements = get_signed(r);
    c->name = get_word(r);
    c->group = get_word(r);
    c->ranks = get_word(r);
    c->dtype = get_word(r);
    c->size = get_u32(r);
    c->step = get_u32(r);
    r->is_bad = r->is_bad || c->step > p->n_steps;
    if (st == OSC_OK)
        st = get_work(r, p, c);
    p->n_calls++;
    return st;
}

static osc_status get_part(struct reader *r, struct osc_rank_part *p)
{
    p->worker = get_word(r);
    p->host = get_word(r);
    p->device = get_word(r);
    p->device_name = get_word(r);
    p->file = get_word(r);
    p->world_size = get_u32(r);
    p->n_marked = get_u32(r);
    p->is_cut = get(r) != 0;
    p->end_ns = get_signed(r);
    const size_t n_steps = get_count(r);
    osc_status st = osc_grow(&p->steps, &p->cap_steps, n_steps, sizeof *p->steps);
    for (size_t i = 0; i < n_steps && st == OSC_OK && !r->is_bad; i++)
        get_step(r, &p->steps[p->n_steps++], i > 0 ? p->steps[i - 1].start_ns : 0);
    const size_t n_calls = get_count(r);
    if (st == OSC_OK)
        st = osc_grow(&p->calls, &p->cap_calls, n_calls, sizeof *p->calls);
    for (size_t i = 0; i < n_calls && st == OSC_OK && !r->is_bad; i++)
        st = get_call(r, p, i > 0 ? p->calls[i - 1].start_ns : 0);
    return st;
}

osc_status osc_rank_part_unpack(struct osc_str bytes, struct osc_rank_words *w,
                                struct osc_rank_part *p)
{
    struct reader r = {.at = bytes.s, .end = bytes.s + bytes.len};
    uint32_t *ids = NULL;
    osc_status st = get_words(&r, w, &ids);

    if (st == OSC_OK)
        st = get_part(&r, p);
    osc_free(ids);
    if (st == OSC_OK && (r.is_bad || r.at != r.end))
        st = OSC_EINVAL;
    return st;
}
