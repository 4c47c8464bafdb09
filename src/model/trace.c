/* SPDX-License-Identifier: Apache-2.0 */
#include "model/trace.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/idmap.h"
#include "base/mem.h"
#include "codec/json.h"

static void store_fini(struct osc_store *s)
{
    for (uint32_t i = 1; i < s->n_chunks; i++)
        osc_chunk_free(s->chunks[i]);
    osc_free(s->chunks);
    *s = (struct osc_store){0};
}

void osc_chunk_free(struct osc_chunk *c)
{
    if (!c)
        return;
    osc_pages_free(c->derived_pages, c->derived_bytes);
    osc_free(c->more);
    osc_free(c);
}

osc_status osc_chunk_replace_words(struct osc_chunk *c, uint32_t i, const uint32_t *words,
                                   uint32_t n)
{
    if (n == 0) { /* not behind MORE: a chunk that has none is written as it lies */
        c->arg_word[i] = 0;
        return OSC_OK;
    }
    if (c->n_more + n >= OSC_ARG_WORD_MORE)
        return OSC_ELIMIT;
    if (osc_grow(&c->more, &c->cap_more, c->n_more + n + 1, sizeof *c->more) != OSC_OK)
        return OSC_ENOMEM;
    memcpy(c->more + c->n_more, words, n * sizeof *words);
    c->arg_word[i] = (uint32_t)c->n_more | OSC_ARG_WORD_MORE;
    c->n_more += n;
    return OSC_OK;
}

/* Move row FROM of C to TO, which is not after it. */
static void move_row(struct osc_chunk *c, uint32_t to, uint32_t from)
{
    if (to == from)
        return;
    c->ts_ns[to] = c->ts_ns[from];
    if (c->dur_ns)
        c->dur_ns[to] = c->dur_ns[from];
    c->name[to] = c->name[from];
    c->form[to] = c->form[from];
    c->track[to] = c->track[from];
    c->arg_word[to] = c->arg_word[from];
    if (c->kind)
        c->kind[to] = c->kind[from];
}

void osc_chunk_squeeze(struct osc_chunk *c, const uint8_t *wanted)
{
    uint32_t n = 0;

    c->min_ts_ns = INT64_MAX;
    c->max_end_ns = INT64_MIN;
    for (uint32_t i = 0; i < c->n_rows; i++) {
        if (!wanted[i])
            continue;
        move_row(c, n, i);
        c->min_ts_ns = c->ts_ns[n] < c->min_ts_ns ? c->ts_ns[n] : c->min_ts_ns;
        c->max_end_ns = osc_row_end(c, n) > c->max_end_ns ? osc_row_end(c, n) : c->max_end_ns;
        n++;
    }
    c->n_rows = n;
    if (n == 0)
        c->min_ts_ns = c->max_end_ns = 0;
}

osc_status osc_store_append(struct osc_store *s, struct osc_chunk *c)
{
    size_t cap = s->cap_chunks;

    if (s->n_chunks >= UINT32_MAX >> OSC_CHUNK_SHIFT)
        return OSC_ELIMIT;
    if (osc_grow(&s->chunks, &cap, (size_t)s->n_chunks + 2, sizeof(void *)) != OSC_OK)
        return OSC_ENOMEM;
    s->cap_chunks = (uint32_t)cap;
    if (s->n_chunks == 0)
        s->chunks[s->n_chunks++] = NULL;
    c->index = s->n_chunks;
    c->first_row = s->n_rows;
    s->chunks[s->n_chunks++] = c;
    s->n_rows += c->n_rows;
    return OSC_OK;
}

void osc_store_number(struct osc_store *s)
{
    s->n_rows = 0;
    for (uint32_t c = 1; c < s->n_chunks; c++) {
        s->chunks[c]->first_row = s->n_rows;
        s->n_rows += s->chunks[c]->n_rows;
    }
}

/* Free what views of T borrow. */
static void fini_shared(struct osc_trace *t)
{
    for (uint32_t i = 0; i < t->n_forms; i++)
        osc_free(t->forms[i].slots);
    osc_free(t->forms);
    osc_strings_fini(&t->strings);
    osc_arena_fini(&t->arena);
}

void osc_trace_mirror(struct osc_trace *m, struct osc_trace *t)
{
    osc_trace_read(t);
    *m = *t;
    osc_trace_read_end(t);
    m->original = t;
}

void osc_trace_follow(struct osc_trace *m)
{
    const struct osc_trace *const t = m->original;
    const struct osc_finding unaligned = m->findings.by_code[OSC_FINDING_unaligned];

    m->steps = t->steps;
    m->n_steps = t->n_steps;
    m->derived = t->derived;
    m->facts = t->facts;
    m->findings = t->findings;
    m->findings.by_code[OSC_FINDING_unaligned] = unaligned; /* it goes by its place */
}

void osc_trace_fini(struct osc_trace *t)
{
    struct osc_mem_account *const here = osc_mem_account_here();

    if (t->original) { /* nothing of it is its own */
        memset(t, 0, sizeof *t);
        return;
    }
    (void)osc_mem_enter(t->lock ? t->account : here);
    if (t->derived_free)
        t->derived_free(t->derived);
    if (t->unchecked_free)
        t->unchecked_free(t->unchecked);
    store_fini(&t->events);
    store_fini(&t->others);
    for (uint32_t i = 0; i < t->n_pages; i++)
        osc_pages_free(t->pages[i].p, t->pages[i].size);
    osc_free(t->pages);
    if (!t->base)
        fini_shared(t);
    osc_free(t->tracks);
    osc_free(t->processes);
    osc_free(t->steps);
    osc_free(t->step_ordinals);
    osc_free(t->step_bounds);
    osc_free(t->bystanders);
    osc_free(t->collectives);
    osc_free(t->metas);
    if (t->lock)
        pthread_rwlock_destroy(t->lock);
    osc_free(t->lock);
    osc_free(t->devices);
    osc_mem_unreserve(t->reserved_bytes);
    (void)osc_mem_enter(here);
    memset(t, 0, sizeof *t);
}

#ifndef NDEBUG
/* Whether each form of T has slots of its own, or none. */
static bool forms_own_slots(const struct osc_trace *t)
{
    struct osc_idmap owners = {0};
    bool is_good = true;

    for (uint32_t i = 0; i < t->n_forms && is_good; i++) {
        const struct osc_form *const f = &t->forms[i];
        uint32_t *const owner = f->slots ? osc_idmap_put(&owners, (uintptr_t)f->slots) : NULL;

        is_good = (f->slots != NULL) == (f->n_slots > 0) && (!owner || *owner == 0);
        if (owner) /* otherwise there is no memory to tell */
            *owner = i + 1;
    }
    osc_idmap_fini(&owners);
    return is_good;
}

/* Whether the bytes that the strings of T have adopted lie in its pages. */
static bool strings_are_held(const struct osc_trace *t)
{
    const struct osc_strings *const s = &t->strings;
    const uintptr_t at = (uintptr_t)s->bytes;
    bool is_held = s->n_adopted == 0;

    for (uint32_t i = 0; i < t->n_pages && !is_held; i++)
        is_held = at >= (uintptr_t)t->pages[i].p &&
                  at + s->starts[s->n_adopted] <= (uintptr_t)t->pages[i].p + t->pages[i].size;
    return is_held;
}

/* Whether the ids in the tracks of T are those of texts and processes. */
static bool tracks_are_whole(const struct osc_trace *t)
{
    const uint32_t bound = osc_strings_bound(&t->strings);
    bool is_good = true;

    for (uint32_t i = 1; i < t->n_tracks && is_good; i++) {
        const struct osc_track *const k = &t->tracks[i];

        is_good = k->process < t->n_processes && k->pid.v < bound && k->tid.v < bound &&
                  k->name.v < bound && k->device.v < bound;
    }
    return is_good;
}
#endif

osc_status osc_trace_share(struct osc_trace *t)
{
    pthread_rwlockattr_t how;

    assert(t->base || (forms_own_slots(t) && strings_are_held(t)));
    assert(tracks_are_whole(t));
    if (t->lock)
        return OSC_OK;
    t->lock = osc_malloc(sizeof *t->lock);
    if (!t->lock)
        return OSC_ENOMEM;
    t->account = osc_mem_account_here();
    /* None of these calls can fail on Linux. */
    pthread_rwlockattr_init(&how);
#ifdef PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP
    /* By default, overlapping readers can keep a writer waiting forever. */
    pthread_rwlockattr_setkind_np(&how, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
#endif
    pthread_rwlock_init(t->lock, &how);
    pthread_rwlockattr_destroy(&how);
    return OSC_OK;
}

void osc_trace_read(const struct osc_trace *t)
{
    if (t->lock)
        pthread_rwlock_rdlock(t->lock);
}

void osc_trace_read_end(const struct osc_trace *t)
{
    if (t->lock)
        pthread_rwlock_unlock(t->lock);
}

void osc_trace_write(struct osc_trace *t)
{
    if (t->lock)
        pthread_rwlock_wrlock(t->lock);
}

void osc_trace_write_end(struct osc_trace *t)
{
    if (t->lock)
        pthread_rwlock_unlock(t->lock);
}

void osc_device_limits_init(struct osc_device_limits *l)
{
    memset(l, -1, sizeof *l);
}

int64_t osc_device_split(struct osc_str name, struct osc_str *family)
{
    const char *const colon = name.len > 0 ? memrchr(name.s, ':', name.len) : NULL;
    int64_t index;

    if (!colon)
        return -1;
    const uint32_t before = (uint32_t)(colon - name.s);
    const struct osc_str digits = {colon + 1, name.len - before - 1};
    if (!osc_json_int(digits, &index) || index < 0)
        return -1;
    *family = (struct osc_str){name.s, before};
    return index;
}

const struct osc_device *osc_trace_device(const struct osc_trace *t, struct osc_str name,
                                          int64_t index)
{
    const struct osc_device *second = NULL;

    for (uint32_t i = 0; i < t->n_devices; i++) {
        const struct osc_device *const d = &t->devices[i];

        if (osc_str_eq(osc_trace_str(t, d->name), name))
            return d;
        if (!second && index >= 0 && d->index == index)
            second = d;
    }
    return second;
}

osc_status osc_trace_touch(struct osc_trace *t, unsigned n_threads, struct osc_err *err)
{
    osc_status (*const check)(struct osc_trace *, unsigned, struct osc_err *) = t->check;
    const osc_status st = check ? check(t, n_threads, err) : OSC_OK;

    if (check && st == OSC_OK) {
        t->check = NULL;
        t->unchecked_free(t->unchecked);
        t->unchecked_free = NULL;
        t->unchecked = NULL;
    }
    return st;
}

void osc_trace_recount(struct osc_trace *t)
{
    uint32_t n_rows = 0, n_seen = 0;
    bool is_first = true;

    for (uint32_t k = 0; k < t->n_tracks; k++) {
        t->tracks[k].n_events = 0;
        t->tracks[k].first_event.v = 0;
    }
    t->min_ts_ns = t->max_end_ns = 0;
    for (uint32_t k = 1; k < t->events.n_chunks; k++) {
        struct osc_chunk *const c = t->events.chunks[k];

        c->first_row = n_rows;
        n_rows += c->n_rows;
        for (uint32_t i = 0, end = 0; i < c->n_rows; i = end) {
            struct osc_track *const track = &t->tracks[c->track[i]];

            /* Consecutive rows often have the same track. */
            while (end < c->n_rows && c->track[end] == c->track[i])
                end++;
            if (track->n_events == 0) {
                track->first_event = osc_row_at(c, i);
                track->order = n_seen++;
            }
            track->n_events += end - i;
        }
        if (c->n_rows == 0)
            continue;
        if (is_first || c->min_ts_ns < t->min_ts_ns)
            t->min_ts_ns = c->min_ts_ns;
        if (is_first || c->max_end_ns > t->max_end_ns)
            t->max_end_ns = c->max_end_ns;
        is_first = false;
    }
    t->events.n_rows = n_rows;
}

struct osc_arg osc_slot_value(const struct osc_slot *slot, const uint32_t *words)
{
    struct osc_arg arg = {.type = (enum osc_arg_type)slot->type};
    const uint32_t *const w = words + slot->word;

    switch (arg.type) {
    case OSC_ARG_NULL:
    case OSC_ARG_TRUE:
    case OSC_ARG_FALSE:
        break;
    case OSC_ARG_INT32:
        arg.i = (int32_t)w[0];
        break;
    case OSC_ARG_INT64:
        arg.i = (int64_t)((uint64_t)w[1] << 32 | w[0]);
        break;
    case OSC_ARG_DOUBLE: {
        const uint64_t bits = (uint64_t)w[1] << 32 | w[0];
        memcpy(&arg.d, &bits, sizeof arg.d);
        break;
    }
    case OSC_ARG_STRING:
    case OSC_ARG_TEXT:
    case OSC_ARG_NUMTEXT:
        arg.sid.v = w[0];
        break;
    }
    return arg;
}

struct osc_arg osc_row_slot(const struct osc_trace *t, const struct osc_chunk *c, uint32_t i,
                            uint32_t slot)
{
    return osc_slot_value(&t->forms[c->form[i]].slots[slot], osc_row_words(c, i));
}

bool osc_row_arg(const struct osc_trace *t, const struct osc_chunk *c, uint32_t i,
                 enum osc_arg_key key, struct osc_arg *arg)
{
    const int16_t slot = t->forms[c->form[i]].known[key];

    if (slot < 0)
        return false;
    *arg = osc_row_slot(t, c, i, (uint32_t)slot);
    return true;
}

bool osc_row_arg_int(const struct osc_trace *t, const struct osc_chunk *c, uint32_t i,
                     enum osc_arg_key key, int64_t *value)
{
    struct osc_arg arg;

    if (!osc_row_arg(t, c, i, key, &arg))
        return false;
    switch (arg.type) {
    case OSC_ARG_INT32:
    case OSC_ARG_INT64:
        *value = arg.i;
        return true;
    case OSC_ARG_DOUBLE:
        if (arg.d != floor(arg.d) || fabs(arg.d) >= 9007199254740992.0)
            return false;
        *value = (int64_t)arg.d;
        return true;
    case OSC_ARG_STRING:
        return osc_json_int(osc_trace_str(t, arg.sid), value);
    case OSC_ARG_NULL:
    case OSC_ARG_TRUE:
    case OSC_ARG_FALSE:
    case OSC_ARG_TEXT:
    case OSC_ARG_NUMTEXT:
        break;
    }
    return false;
}

bool osc_arg_double(const struct osc_trace *t, const struct osc_arg *arg, double *value)
{
    struct osc_json_number n;

    switch (arg->type) {
    case OSC_ARG_INT32:
    case OSC_ARG_INT64:
        *value = (double)arg->i;
        return true;
    case OSC_ARG_DOUBLE:
        *value = arg->d;
        return true;
    case OSC_ARG_STRING:
    case OSC_ARG_NUMTEXT: {
        const struct osc_str s = osc_trace_str(t, arg->sid);
        if (!osc_json_number(s.s, s.s + s.len, &n) || n.end != s.s + s.len)
            return false;
        *value = osc_json_double(s.s, s.s + s.len);
        return isfinite(*value);
    }
    case OSC_ARG_NULL:
    case OSC_ARG_TRUE:
    case OSC_ARG_FALSE:
    case OSC_ARG_TEXT:
        break;
    }
    return false;
}

bool osc_row_arg_double(const struct osc_trace *t, const struct osc_chunk *c, uint32_t i,
                        enum osc_arg_key key, double *value)
{
    struct osc_arg arg;

    return osc_row_arg(t, c, i, key, &arg) && osc_arg_double(t, &arg, value);
}

bool osc_row_arg_str(const struct osc_trace *t, const struct osc_chunk *c, uint32_t i,
                     enum osc_arg_key key, struct osc_str *value)
{
    struct osc_arg arg;

    if (!osc_row_arg(t, c, i, key, &arg) || arg.type < OSC_ARG_STRING)
        return false;
    *value = osc_trace_str(t, arg.sid);
    return true;
}

osc_sid osc_row_module(const struct osc_trace *t, const struct osc_chunk *c, uint32_t i)
{
    struct osc_arg path;

    if (osc_row_arg(t, c, i, OSC_ARG_KEY_MODULE_PATH, &path) && path.type >= OSC_ARG_STRING &&
        path.sid.v != 0)
        return path.sid;
    return (osc_sid){c->name[i]};
}

bool osc_trace_meta(const struct osc_trace *t, const char *key, struct osc_str *value)
{
    const struct osc_str wanted = osc_str_c(key);

    for (uint32_t i = 0; i < t->n_metas; i++) {
        if (osc_str_eq(osc_trace_str(t, t->metas[i].key), wanted)) {
            *value = osc_trace_str(t, t->metas[i].value);
            return true;
        }
    }
    return false;
}

struct osc_str osc_trace_torch_version(const struct osc_trace *t)
{
    static const char *const keys[] = {"torch_version", "pytorch_version", "source.torch"};
    struct osc_str version = {0};

    for (size_t i = 0; i < sizeof keys / sizeof *keys && version.len == 0; i++)
        (void)osc_trace_meta(t, keys[i], &version);
    return version;
}
