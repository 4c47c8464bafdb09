/* SPDX-License-Identifier: Apache-2.0 */
#include "import/build/builder.h"

#include <stdio.h>

#include "base/hash.h"
#include "model/known_names.h"

/* Whole huge pages; for a short text small ones, which cost nothing until they are touched. */
#define SLAB_BYTES       ((size_t)4 << 20)
#define SMALL_SLAB_BYTES ((size_t)1 << 20)

/* Clearing the whole cache would take longer than reading a text of some kilobytes. */
#define TINY_STRING_CACHE 128u

#define ROW_BYTES   32u
#define FIRST_WORDS 65536u

/* A table copies each text, and escapes long ones into buffers that double as they grow. */
#define LONG_BYTES  65536u
#define LONG_COPIES 6u

static size_t slab_bytes(const struct osc_loading *l)
{
    return l->is_small ? SMALL_SLAB_BYTES : SLAB_BYTES;
}

/* Memory for closing the open chunks: a slab for each store. */
static size_t closing_bytes(const struct osc_loading *l)
{
    return 2 * slab_bytes(l);
}

/* Put into T what every trace has before anything is read. */
static osc_status put_first(struct osc_loading *l, struct osc_trace *t)
{
    osc_status st = osc_strings_init(&t->strings);

    for (unsigned i = 0; st == OSC_OK && i < OSC_ARG_KEY_COUNT; i++)
        st = osc_strings_add(&t->strings, osc_str_c(osc_arg_key_text((enum osc_arg_key)i)),
                             &l->keys[i], NULL);
    /* Form 0 and track 0 mean "none". */
    if (st == OSC_OK)
        st = osc_grow(&t->forms, &l->cap_forms, 1, sizeof *t->forms);
    if (st == OSC_OK)
        st = osc_grow(&t->tracks, &l->cap_tracks, 1, sizeof *t->tracks);
    if (st != OSC_OK)
        return st;
    t->forms[0] = (struct osc_form){0};
    for (unsigned i = 0; i < OSC_ARG_KEY_COUNT; i++)
        t->forms[0].known[i] = -1;
    t->tracks[0] = (struct osc_track){0};
    t->n_forms = t->n_tracks = 1;
    return OSC_OK;
}

osc_status osc_loading_init(struct osc_loading *l, struct osc_trace *t)
{
    *l = (struct osc_loading){.trace = t, .seed = osc_hash_seed(), .min_ts_ns = INT64_MAX};
    pthread_mutex_init(&l->lock, NULL);
    return put_first(l, t);
}

osc_status osc_loading_restart(struct osc_loading *l)
{
    struct osc_trace *const t = l->trace;
    const bool is_windowed = t->is_windowed;
    const struct osc_loading old = *l;

    osc_loading_fini(l);
    osc_trace_fini(t);
    *l = (struct osc_loading){.trace = t,
                              .no_args = old.no_args,
                              .is_small = old.is_small,
                              .is_tiny = old.is_tiny,
                              .keep = old.keep,
                              .reserve = old.reserve,
                              .seed = old.seed,
                              .min_ts_ns = INT64_MAX};
    pthread_mutex_init(&l->lock, NULL);
    t->is_windowed = is_windowed;
    osc_mem_reserve(t->reserved_bytes = l->reserve.fixed_bytes);
    return put_first(l, t);
}

void osc_loading_fini(struct osc_loading *l)
{
    osc_idmap_fini(&l->forms);
    osc_idmap_fini(&l->tracks);
    osc_idmap_fini(&l->processes);
    osc_free(l->devices);
    osc_minutes_fini(&l->minutes);
    pthread_mutex_destroy(&l->lock);
}

void osc_build_reserve(struct osc_builder *b, size_t size)
{
    if (b->status == OSC_OK && osc_mem_room() < size)
        b->status = OSC_ELIMIT;
    osc_mem_reserve(size);
    b->reserved_bytes += size;
}

static void unreserve(struct osc_builder *b, size_t size)
{
    osc_mem_unreserve(size);
    b->reserved_bytes -= size;
}

osc_status osc_build_grow_slowly(void *p_array, size_t *cap, size_t need, size_t size)
{
    /* The array doubles, so there must be memory for NEED more. */
    if (osc_mem_room() / size < need)
        return OSC_ELIMIT;
    return osc_grow(p_array, cap, need, size);
}

osc_status osc_builder_init(struct osc_builder *b, struct osc_loading *l)
{
    *b = (struct osc_builder){.loading = l};
    osc_build_reserve(b, closing_bytes(l));
    b->string_mask = (l->is_tiny ? TINY_STRING_CACHE : OSC_STRING_CACHE) - 1;
    b->strings = osc_calloc((size_t)b->string_mask + 1, sizeof *b->strings);
    b->tracks = osc_calloc(OSC_TRACK_CACHE, sizeof *b->tracks);
    return b->strings && b->tracks ? b->status : OSC_ENOMEM;
}

/* Give back the pages of C's slab, one of T, that were never used. */
static void trim_slab(const struct osc_columns *c, struct osc_trace *t)
{
    for (uint32_t i = t->n_pages; i > 0 && c->slab; i--) {
        struct osc_pages *const pages = &t->pages[i - 1];

        if (pages->p != c->slab)
            continue;
        pages->size = osc_pages_trim(pages->p, pages->size, c->slab_used);
        break;
    }
}

static void columns_fini(struct osc_columns *c)
{
    for (size_t i = 0; i < c->n_done; i++)
        osc_chunk_free(c->done[i]);
    osc_chunk_free(c->chunk);
    osc_free(c->done);
    osc_free(c->args);
    *c = (struct osc_columns){0};
}

void osc_builder_fini(struct osc_builder *b)
{
    struct osc_loading *const l = b->loading;

    if (!l)
        return;
    unreserve(b, closing_bytes(l) +
                     (b->events.cap_args + b->others.cap_args) * sizeof *b->events.args);
    osc_free(b->scratch.slots);
    osc_free(b->scratch.words);
    osc_free(b->strings);
    osc_free(b->tracks);
    osc_idmap_fini(&b->steps);
    osc_minutes_fini(&b->minutes);
    pthread_mutex_lock(&l->lock);
    if (l->is_small) { /* a thread that reads a long text seldom leaves much of its last slab */
        trim_slab(&b->events, l->trace);
        trim_slab(&b->others, l->trace);
    }
    l->trace->reserved_bytes += b->reserved_bytes;
    pthread_mutex_unlock(&l->lock);
    columns_fini(&b->events);
    columns_fini(&b->others);
    *b = (struct osc_builder){0};
}

/* Allocate SIZE zeroed bytes from the slab of C; they live as long as the trace. */
static void *carve(struct osc_builder *b, struct osc_columns *c, size_t size)
{
    const size_t rounded = (size + 63) & ~(size_t)63;

    if (c->slab_size - c->slab_used < rounded) {
        struct osc_loading *l = b->loading;
        struct osc_trace *t = l->trace;
        const size_t least = slab_bytes(l);
        const size_t slab_size = rounded > least ? rounded : least;
        size_t n;

        if (!b->is_closing && osc_mem_room() < slab_size) {
            b->status = OSC_ELIMIT;
            return NULL;
        }
        void *slab = osc_pages_alloc(slab_size);
        if (!slab) {
            b->status = OSC_ENOMEM;
            return NULL;
        }
        pthread_mutex_lock(&l->lock);
        n = t->n_pages;
        const osc_status st = osc_grow(&t->pages, &l->cap_pages, n + 1, sizeof *t->pages);
        if (st == OSC_OK)
            t->pages[t->n_pages++] = (struct osc_pages){.p = slab, .size = slab_size};
        pthread_mutex_unlock(&l->lock);
        if (st != OSC_OK) {
            osc_pages_free(slab, slab_size);
            b->status = st;
            return NULL;
        }
        c->slab = slab;
        c->slab_size = slab_size;
        c->slab_used = 0;
    }
    void *p = c->slab + c->slab_used;
    c->slab_used += rounded;
    return p;
}

/* Point the columns of K into ROOM, each CAP rows long. */
static void lay_columns(struct osc_chunk *k, char *room, size_t cap)
{
    k->ts_ns = (int64_t *)(void *)room;
    k->dur_ns = k->ts_ns + cap;
    k->name = (uint32_t *)(void *)(k->dur_ns + cap);
    k->form = k->name + cap;
    k->track = k->form + cap;
    k->arg_word = k->track + cap;
}

/* Zero those of the SIZE bytes at COLUMN that lie at FROM or behind it. */
static void zero_from(void *column, size_t size, const char *from)
{
    char *const start = column, *const end = start + size;
    char *const first = start + (from > start ? (size_t)(from - start) : 0);

    if (first < end)
        memset(first, 0, (size_t)(end - first));
}

/* Return the unused memory of K, which is not full, to the slab. */
static void compact(struct osc_columns *c, struct osc_chunk *k)
{
    const size_t n = k->n_rows;
    struct osc_chunk old = *k;

    lay_columns(k, (char *)old.ts_ns, n);
    memmove(k->dur_ns, old.dur_ns, n * sizeof *k->dur_ns);
    memmove(k->name, old.name, n * sizeof *k->name);
    memmove(k->form, old.form, n * sizeof *k->form);
    memmove(k->track, old.track, n * sizeof *k->track);
    memmove(k->arg_word, old.arg_word, n * sizeof *k->arg_word);
    const char *end = (const char *)old.ts_ns + (size_t)OSC_CHUNK_ROWS * ROW_BYTES;

    if (end == c->slab + c->slab_used) {
        c->slab_used -= ((size_t)OSC_CHUNK_ROWS - n) * ROW_BYTES & ~(size_t)63;
        /* carve() must return zeroed memory. What no row has reached is zero, and its pages
         * may not even be there. */
        const char *const from = c->slab + c->slab_used;
        zero_from(old.ts_ns, n * sizeof *old.ts_ns, from);
        zero_from(old.dur_ns, n * sizeof *old.dur_ns, from);
        zero_from(old.name, n * sizeof *old.name, from);
        zero_from(old.form, n * sizeof *old.form, from);
        zero_from(old.track, n * sizeof *old.track, from);
        zero_from(old.arg_word, n * sizeof *old.arg_word, from);
    }
}

/* Extend the time span of K by its rows. Meant for events; the span of the other store is not
 * used. */
static void widen_extent(struct osc_chunk *k)
{
    int64_t min = INT64_MAX, max = INT64_MIN;

    for (uint32_t i = 0; i < k->n_rows; i++) {
        const int64_t end =
            k->dur_ns[i] == OSC_NO_DUR ? k->ts_ns[i] : k->ts_ns[i] + k->dur_ns[i];
        min = k->ts_ns[i] < min ? k->ts_ns[i] : min;
        max = end > max ? end : max;
    }
    k->min_ts_ns = min;
    k->max_end_ns = max;
}

/* Bytes to reserve for N rows of C. */
static size_t row_reserve(const struct osc_builder *b, const struct osc_columns *c, size_t n)
{
    const struct osc_import_reserve *const r = &b->loading->reserve;

    return n * (c == &b->events ? r->event_bytes : r->other_bytes);
}

/* Close the open chunk; the last N_PENDING words are kept for the next one. */
static bool close_chunk(struct osc_builder *b, struct osc_columns *c, uint32_t n_pending)
{
    struct osc_chunk *k = c->chunk;

    if (!k)
        return true;
    if (k->n_rows < OSC_CHUNK_ROWS)
        compact(c, k);
    k->args = carve(b, c, (c->n_args + 1) * sizeof *c->args);
    k->kind = carve(b, c, k->n_rows);
    if (!k->args || !k->kind)
        return false;
    if (c->n_args > 0)
        memcpy(k->args, c->args, c->n_args * sizeof *c->args);
    k->n_arg_words = (uint32_t)c->n_args;
    if (c == &b->events)
        widen_extent(k);
    if (osc_grow(&c->done, &c->cap_done, c->n_done + 1, sizeof(void *)) != OSC_OK) {
        b->status = OSC_ENOMEM;
        return false;
    }
    unreserve(b, row_reserve(b, c, OSC_CHUNK_ROWS - k->n_rows));
    c->done[c->n_done++] = k;
    c->n_rows_done += k->n_rows;
    c->chunk = NULL;
    if (n_pending > 0)
        memmove(c->args, c->args + c->n_args, n_pending * sizeof *c->args);
    c->n_args = 0;
    return true;
}

bool osc_build_next_chunk(struct osc_builder *b, struct osc_columns *c, uint32_t n_pending)
{
    if (b->status != OSC_OK || !close_chunk(b, c, n_pending))
        return false;

    osc_build_reserve(b, row_reserve(b, c, OSC_CHUNK_ROWS));
    char *const room =
        b->status == OSC_OK ? carve(b, c, (size_t)OSC_CHUNK_ROWS * ROW_BYTES) : NULL;
    c->chunk = room ? osc_calloc(1, sizeof *c->chunk) : NULL;
    if (!c->chunk) {
        unreserve(b, row_reserve(b, c, OSC_CHUNK_ROWS));
        if (b->status == OSC_OK)
            b->status = OSC_ENOMEM;
        return false;
    }
    lay_columns(c->chunk, room, OSC_CHUNK_ROWS);
    return true;
}

bool osc_build_more_words(struct osc_builder *b, struct osc_columns *c, size_t n)
{
    const size_t need = c->n_args + (n > FIRST_WORDS ? n : FIRST_WORDS), before = c->cap_args;

    if (b->status != OSC_OK)
        return false;
    b->status = osc_build_grow(&c->args, &c->cap_args, need, sizeof *c->args);
    /* The chunk will get a copy when it is closed. */
    osc_build_reserve(b, (c->cap_args - before) * sizeof *c->args);
    return b->status == OSC_OK;
}

osc_status osc_builder_take(struct osc_builder *b, struct osc_batch_of_rows *out)
{
    *out = (struct osc_batch_of_rows){.findings = b->findings, .minutes = b->minutes};
    memset(&b->findings, 0, sizeof b->findings);
    b->minutes = (struct osc_minutes){0};
    b->status = osc_mem_reason(b->status);
    const osc_status st = b->status;
    if (st == OSC_ELIMIT)
        b->status = OSC_OK;
    if (b->status != OSC_OK)
        return b->status;
    b->is_closing = true;
    const bool is_closed = close_chunk(b, &b->events, 0) && close_chunk(b, &b->others, 0);
    b->is_closing = false;
    if (!is_closed)
        return b->status;
    b->status = st;
    out->events = b->events.done;
    out->n_events = (uint32_t)b->events.n_done;
    out->others = b->others.done;
    out->n_others = (uint32_t)b->others.n_done;
    b->events.done = b->others.done = NULL;
    b->events.n_done = b->events.cap_done = b->events.n_rows_done = 0;
    b->others.n_done = b->others.cap_done = b->others.n_rows_done = 0;
    return OSC_OK;
}

void osc_batch_of_rows_fini(struct osc_batch_of_rows *batch)
{
    for (uint32_t i = 0; i < batch->n_events; i++)
        osc_chunk_free(batch->events[i]);
    for (uint32_t i = 0; i < batch->n_others; i++)
        osc_chunk_free(batch->others[i]);
    osc_free(batch->events);
    osc_free(batch->others);
    osc_minutes_fini(&batch->minutes);
    *batch = (struct osc_batch_of_rows){0};
}

osc_status osc_loading_join(struct osc_loading *l, struct osc_batch_of_rows *batch)
{
    struct osc_trace *t = l->trace;
    const uint32_t first_event = t->events.n_rows;
    osc_status st = OSC_OK;

    for (uint32_t i = 0; i < batch->n_others; i++)
        batch->others[i]->first_event = first_event;
    for (uint32_t i = 0; st == OSC_OK && i < batch->n_events; i++) {
        st = osc_store_append(&t->events, batch->events[i]);
        if (st == OSC_OK)
            batch->events[i] = NULL;
    }
    for (uint32_t i = 0; st == OSC_OK && i < batch->n_others; i++) {
        st = osc_store_append(&t->others, batch->others[i]);
        if (st == OSC_OK)
            batch->others[i] = NULL;
    }
    osc_findings_merge(&t->findings, &batch->findings);
    if (st == OSC_OK)
        st = osc_minutes_join(&l->minutes, &batch->minutes);
    osc_batch_of_rows_fini(batch);
    return st;
}

osc_sid osc_build_string_slow(struct osc_builder *b, struct osc_str str,
                              struct osc_cached_string *cached)
{
    struct osc_strings_place place;
    osc_sid id = {0};

    const osc_status st = osc_strings_add(&b->loading->trace->strings, str, &id, &place);
    if (st != OSC_OK) {
        b->status = st;
        return id;
    }
    *cached = (struct osc_cached_string){place.bytes, str.len, id};
    if (place.is_new)
        osc_build_reserve(b, b->loading->reserve.string_bytes +
                                 (size_t)str.len * (str.len < LONG_BYTES ? 1 : LONG_COPIES));
    if (b->loading->keep.is_on && osc_known_is_step(str)) {
        uint32_t *const step = osc_idmap_put(&b->steps, id.v);
        if (step)
            *step = 1;
        else
            b->status = OSC_ENOMEM;
    }
    return id;
}

/* pid or tid as text: a number in decimal. */
static osc_sid who_text(struct osc_builder *b, osc_who who)
{
    char digits[24];

    if (who & OSC_WHO_IS_STRING)
        return (osc_sid){(uint32_t)who};
    const int n = snprintf(digits, sizeof digits, "%llu", (unsigned long long)who);
    const uint32_t len = n > 0 && n < (int)sizeof digits ? (uint32_t)n : 0;
    return osc_build_string(b, digits, len);
}

/* Find or add the process PID and return its index. The caller holds the lock of the loading.
 */
static uint32_t process_of(struct osc_builder *b, osc_sid pid, osc_status *st)
{
    struct osc_loading *const l = b->loading;
    struct osc_trace *const t = l->trace;
    uint32_t *const place = osc_idmap_put(&l->processes, pid.v);

    if (!place) {
        *st = OSC_ENOMEM;
        return 0;
    }
    if (*place == 0) {
        *st = osc_build_grow(&t->processes, &l->cap_processes, (size_t)t->n_processes + 1,
                             sizeof *t->processes);
        if (*st != OSC_OK)
            return 0;
        t->processes[t->n_processes++] = (struct osc_process){.pid = pid};
        *place = t->n_processes;
    }
    return *place - 1;
}

osc_track_id osc_build_track_slow(struct osc_builder *b, osc_who pid, osc_who tid)
{
    const uint64_t h = (pid * 31 + tid) * UINT64_C(0x9e3779b97f4a7c15) >> 56;
    struct osc_cached_track *cached = &b->tracks[h & (OSC_TRACK_CACHE - 1)];
    struct osc_loading *l = b->loading;
    struct osc_trace *t = l->trace;
    const osc_sid pid_text = who_text(b, pid), tid_text = who_text(b, tid);
    osc_status st = OSC_OK;
    osc_track_id id = {0};

    pthread_mutex_lock(&l->lock);
    const uint32_t process = process_of(b, pid_text, &st);
    /* Both ids are 32 bits: the key is exact. */
    uint32_t *place = st == OSC_OK
                          ? osc_idmap_put(&l->tracks, (uint64_t)pid_text.v << 32 | tid_text.v)
                          : NULL;
    if (!place) {
        st = st != OSC_OK ? st : OSC_ENOMEM;
    } else if (*place != 0) {
        id.v = *place;
    } else {
        st = osc_build_grow(&t->tracks, &l->cap_tracks, (size_t)t->n_tracks + 1,
                            sizeof *t->tracks);
        if (st == OSC_OK) {
            osc_build_reserve(b, l->reserve.track_bytes);
            id.v = *place = t->n_tracks;
            t->tracks[t->n_tracks++] =
                (struct osc_track){.pid = pid_text, .tid = tid_text, .process = process};
        }
    }
    pthread_mutex_unlock(&l->lock);
    if (st != OSC_OK)
        b->status = st;
    else
        *cached = (struct osc_cached_track){pid, tid, id};
    return id;
}

static bool same_form(const struct osc_form *f, const struct osc_record *r)
{
    if (f->shape != r->shape || f->kind != r->kind || f->arrow != r->arrow ||
        f->is_device != r->is_device || f->has_args != r->has_args ||
        f->chrome_ph != r->chrome_ph || f->category.v != r->category.v ||
        f->n_slots != r->n_slots)
        return false;
    for (uint32_t i = 0; i < r->n_slots; i++)
        if (f->slots[i].key.v != r->slots[i].key.v || f->slots[i].type != r->slots[i].type ||
            f->slots[i].is_member != r->slots[i].is_member)
            return false;
    return true;
}

static uint64_t hash_form(const struct osc_record *r, uint64_t seed)
{
    uint64_t h = osc_hash_u64(seed ^ (uint64_t)r->category.v << 32 ^
                              (uint64_t)(uint8_t)r->chrome_ph << 24 ^ (uint64_t)r->kind << 16 ^
                              (uint64_t)r->shape << 8 ^ (uint64_t)r->arrow << 4 ^
                              (uint64_t)r->is_device << 1 ^ (uint64_t)r->has_args);

    for (uint32_t i = 0; i < r->n_slots; i++)
        h = osc_hash_u64(h ^ (uint64_t)r->slots[i].key.v << 8 ^
                         (uint64_t)r->slots[i].is_member << 7 ^ r->slots[i].type);
    return h;
}

/* The index of SLOT's key among the keys that analyses use, or -1. */
static int known_key(const struct osc_loading *l, const struct osc_slot *slot)
{
    for (int k = 0; k < OSC_ARG_KEY_COUNT; k++) {
        const bool wants_member = k == OSC_ARG_KEY_FLOW_ID || k == OSC_ARG_KEY_BINDING_POINT ||
                                  k == OSC_ARG_KEY_ID2 || k == OSC_ARG_KEY_ID_SCOPE;

        if (l->keys[k].v == slot->key.v && wants_member == slot->is_member)
            return k;
    }
    return -1;
}

bool osc_loading_needs(const struct osc_loading *l, osc_sid key)
{
    for (unsigned k = 0; k < OSC_ARG_KEY_COUNT; k++) {
        if (l->keys[k].v == key.v)
            return true;
    }
    return false;
}

bool osc_loading_scouts(const struct osc_loading *l, osc_sid key)
{
    return l->keep.has_work && (key.v == l->keys[OSC_ARG_KEY_CORRELATION].v ||
                                key.v == l->keys[OSC_ARG_KEY_CORRELATION_ID].v ||
                                key.v == l->keys[OSC_ARG_KEY_CORRELATION_ID_OLD].v);
}

/* The form of R without its slots. */
static struct osc_form form_head(const struct osc_record *r)
{
    return (struct osc_form){.shape = r->shape,
                             .kind = r->kind,
                             .arrow = r->arrow,
                             .is_device = r->is_device,
                             .is_frame = r->kind == OSC_KIND_PYTHON,
                             .has_args = r->has_args,
                             .chrome_ph = r->chrome_ph,
                             .category = r->category};
}

osc_status osc_loading_make_form(const struct osc_loading *l, const struct osc_record *r,
                                 struct osc_form *f)
{
    *f = form_head(r);
    f->n_words = (uint16_t)r->n_words;
    for (unsigned k = 0; k < OSC_ARG_KEY_COUNT; k++)
        f->known[k] = -1;
    if (osc_form_set_slots(f, r->slots, r->n_slots) != OSC_OK)
        return OSC_ENOMEM;
    for (uint32_t i = 0; i < r->n_slots; i++) {
        const int k = known_key(l, &f->slots[i]);
        if (k >= 0)
            f->known[k] = (int16_t)i;
    }
    /* Other spellings of one key. */
    if (f->known[OSC_ARG_KEY_CORRELATION] < 0)
        f->known[OSC_ARG_KEY_CORRELATION] = f->known[OSC_ARG_KEY_CORRELATION_ID];
    if (f->known[OSC_ARG_KEY_CORRELATION] < 0)
        f->known[OSC_ARG_KEY_CORRELATION] = f->known[OSC_ARG_KEY_CORRELATION_ID_OLD];
    return OSC_OK;
}

static void cache_form(struct osc_cached_form *c, osc_form_id id, const struct osc_record *r)
{
    c->id = id;
    c->form = form_head(r);
    c->form.slots = c->slots; /* not owned: it is no form of a trace */
    c->form.n_slots = (uint16_t)r->n_slots;
    if (r->n_slots > 0)
        memcpy(c->slots, r->slots, r->n_slots * sizeof *c->slots);
}

osc_form_id osc_build_form(struct osc_builder *b, struct osc_record *r)
{
    struct osc_loading *l = b->loading;
    struct osc_trace *t = l->trace;
    uint32_t n_words = 0;
    osc_form_id id = {0};
    osc_status st = OSC_OK;

    for (uint32_t i = 0; i < r->n_slots; i++) {
        r->slots[i].word = (uint16_t)n_words;
        n_words += osc_arg_words((enum osc_arg_type)r->slots[i].type);
    }
    r->n_words = n_words;
    if (b->last_form.id.v != 0 && same_form(&b->last_form.form, r))
        return b->last_form.id;
    uint64_t key = hash_form(r, l->seed);
    pthread_mutex_lock(&l->lock);
    for (;; key++) { /* equal hashes of different forms: try the next key */
        uint32_t *place = osc_idmap_put(&l->forms, key);
        if (!place) {
            st = OSC_ENOMEM;
            break;
        }
        if (*place != 0 && !same_form(&t->forms[*place], r))
            continue;
        if (*place == 0) {
            st = osc_build_grow(&t->forms, &l->cap_forms, (size_t)t->n_forms + 1,
                                sizeof *t->forms);
            if (st == OSC_OK)
                st = osc_loading_make_form(l, r, &t->forms[t->n_forms]);
            if (st != OSC_OK)
                break;
            osc_build_reserve(b, l->reserve.form_bytes);
            *place = t->n_forms++;
        }
        id.v = *place;
        break;
    }
    pthread_mutex_unlock(&l->lock);
    if (st != OSC_OK)
        b->status = st;
    else if (r->n_slots <= OSC_FORM_CACHE_SLOTS)
        cache_form(&b->last_form, id, r);
    return id;
}

bool osc_keep_wants(const struct osc_import_keep *keep, const struct osc_keep_row *row)
{
    if (keep->is_scout && row->is_device)
        return keep->has_work && !row->is_step;
    if (keep->is_scout)
        return row->is_step || (keep->has_work && row->is_call);
    if (row->is_open)
        return true;
    if (row->ts_ns >= (row->is_device ? keep->device_to_ns : keep->host_to_ns))
        return false;
    /* A range that lasts into the window runs in steps that are wanted, and one of the host may
     * contain their calls; earlier steps are only counted. */
    return row->ts_ns >= keep->from_ns || (!row->is_step && row->dur_ns != OSC_NO_DUR &&
                                           row->dur_ns > keep->from_ns - row->ts_ns);
}

bool osc_build_wants(struct osc_builder *b, enum osc_form_shape shape, osc_sid name,
                     struct osc_keep_row row)
{
    if (osc_minutes_add(&b->minutes, row.ts_ns, row.dur_ns) != OSC_OK)
        b->status = OSC_ENOMEM;
    row.is_step = row.is_step || osc_idmap_get(&b->steps, name.v) != 0;
    row.is_open = shape == OSC_SHAPE_BEGIN || shape == OSC_SHAPE_ASYNC;
    return osc_keep_wants(&b->loading->keep, &row);
}

void osc_build_record(struct osc_builder *b, struct osc_record *r)
{
    const enum osc_form_shape shape = (enum osc_form_shape)r->shape;
    struct osc_columns *c = osc_shape_is_event(shape) ? &b->events : &b->others;

    if (b->loading->keep.is_on && c == &b->events &&
        !osc_build_wants(
            b, shape, r->name,
            (struct osc_keep_row){.ts_ns = r->ts_ns,
                                  .dur_ns = r->dur_ns,
                                  .is_device = r->is_device,
                                  .is_step = r->kind == OSC_KIND_STEP,
                                  .is_call = r->is_call ||
                                             osc_kind_is_launch((enum osc_kind)r->kind)}))
        return;
    const osc_form_id form = osc_build_form(b, r);
    const osc_track_id track = r->track.v != 0 ? r->track : osc_build_track(b, r->pid, r->tid);
    if (b->status != OSC_OK)
        return;
    if (c->cap_args - c->n_args < r->n_words && !osc_build_more_words(b, c, r->n_words))
        return;
    if (r->n_words > 0)
        memcpy(c->args + c->n_args, r->words, r->n_words * sizeof *r->words);
    osc_build_append(b, c,
                     &(struct osc_row_values){
                         .ts_ns = r->ts_ns,
                         .dur_ns = c == &b->events ? r->dur_ns : osc_build_events_so_far(b),
                         .name = r->name,
                         .form = form,
                         .track = track,
                         .n_words = r->n_words});
}
