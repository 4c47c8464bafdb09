/* SPDX-License-Identifier: Apache-2.0 */
/*
 * builder.h - how readers put records into a trace.
 *
 *   loading   what the threads that load one trace share: strings, forms, tracks
 *   builder   belongs to one thread: receives records in order and makes chunks of them
 *   batch     the chunks and findings of one stretch of text; batches are joined to the
 *             trace in the order of the text, whichever thread made them
 *
 * A reader describes each record once (struct osc_record and slots). If its fast path knows
 * form and track already, it calls only osc_build_append().
 *
 *   - Rows of one batch lie in chunks of their own: joining copies nothing.
 *   - Frequent strings are found in a cache of the builder, without a lock.
 *   - All statuses are sticky: check osc_builder.status once per event.
 *   - Before anything grows, the available memory is checked. So a load stops at the memory
 *     limit with everything it has read, and with memory left to close and seal it.
 *
 * Threading: functions of a loading are thread-safe where they say so; a builder is not
 * locked.
 */
#pragma once

#include <pthread.h>
#include <string.h>

#include "base/idmap.h"
#include "base/mem.h"
#include "import/build/options.h"
#include "import/build/wild_times.h"
#include "model/trace.h"

/* pid or tid as a reader found it: a number below 2^63, or 2^63 + the id of a string. */
typedef uint64_t osc_who;

#define OSC_WHO_IS_STRING (UINT64_C(1) << 63)

/* A device as memory records and queues refer to it. */
struct osc_build_device {
    osc_sid family, name;
    int64_t index;
    int32_t type; /* argument Device Type */
};

struct osc_loading {
    struct osc_trace *trace; /* borrowed; being filled */
    bool no_args;
    bool is_small;    /* the text is short, so columns are allocated in small pieces */
    bool is_tiny;     /* it has few strings, too */
    int64_t since_us; /* not 0: times are so far from 0 that they count from here */
    struct osc_import_keep keep;
    struct osc_import_reserve reserve;
    osc_sid keys[OSC_ARG_KEY_COUNT]; /* ids of the texts of enum osc_arg_key */

    pthread_mutex_t lock;    /* protects everything below, and everything in trace except rows
                              * and strings */
    struct osc_idmap forms;  /* hash of a form -> its id */
    struct osc_idmap tracks; /* hash of (pid, tid) -> its id */
    struct osc_idmap processes; /* pid -> its index + 1 */
    size_t cap_forms, cap_tracks, cap_processes, cap_pages, cap_devices, cap_metas;
    uint64_t seed;
    struct osc_build_device *devices; /* owned; see typed.h */
    uint32_t n_devices;
    uint64_t n_arrows;          /* arrows with both ends */
    struct osc_minutes minutes; /* of the starts of all events, if keep.is_on */
    int64_t min_ts_ns; /* over all events, known when sealed, if keep.is_on; else INT64_MAX */
};

OSC_MUST_USE osc_status osc_loading_init(struct osc_loading *l, struct osc_trace *t);
/* Forget all that was read, from strings to findings, and begin again; no builder is left. */
OSC_MUST_USE osc_status osc_loading_restart(struct osc_loading *l);
void osc_loading_fini(struct osc_loading *l);

/* A record and its slots, in the order of the file; the builder assigns places of words. */
struct osc_record {
    uint8_t shape;  /* enum osc_form_shape */
    uint8_t kind;   /* enum osc_kind; NONE: the reader determines it after reading
                     * everything */
    uint8_t arrow;  /* enum osc_arrow_kind */
    bool is_device; /* happens on a device; Chrome's reader sets it only if something is left
                     * out */
    bool is_call;   /* of a runtime or driver, by its category; only if something is left out */
    bool has_args;
    char chrome_ph;   /* as in struct osc_form; most readers have none */
    osc_sid category; /* as in struct osc_form */
    osc_sid name;
    osc_track_id track; /* none: the track of pid and tid */
    osc_who pid, tid;
    int64_t ts_ns, dur_ns;
    struct osc_slot *slots; /* borrowed; the builder fills in word */
    uint32_t n_slots;
    const uint32_t *words; /* borrowed; the values */
    uint32_t n_words;
};

/* Arguments collected for a row. Zeroed, there are none. */
struct osc_arguments {
    struct osc_slot *slots; /* owned */
    uint32_t *words;        /* owned */
    size_t n_slots, cap_slots, n_words, cap_words;
};

struct osc_cached_string {
    const char *s;
    uint32_t len;
    osc_sid id;
};

struct osc_cached_track {
    osc_who pid, tid;
    osc_track_id id;
};

/* Caches the last form, if it has at most this many slots. */
#define OSC_FORM_CACHE_SLOTS 8u

struct osc_cached_form {
    osc_form_id id; /* 0: none */
    struct osc_form form;
    struct osc_slot slots[OSC_FORM_CACHE_SLOTS];
};

#define OSC_STRING_CACHE 8192u /* most elements; a power of two */
#define OSC_TRACK_CACHE  256u

/* A store that is being filled: the open chunk, and scratch memory for words. */
struct osc_columns {
    struct osc_chunk *chunk; /* open; columns OSC_CHUNK_ROWS long; or NULL */
    uint32_t *args;          /* owned scratch */
    size_t n_args, cap_args; /* words */
    struct osc_chunk **done; /* owned: full chunks of this batch */
    size_t n_done, cap_done;
    uint32_t n_rows_done; /* rows in those */
    char *slab;           /* pages from which columns are allocated; owned by the trace */
    size_t slab_used, slab_size;
};

struct osc_builder {
    struct osc_loading *loading; /* borrowed */
    struct osc_columns events, others;
    struct osc_findings findings;
    struct osc_idmap steps;     /* names of steps seen so far, if keep.is_on */
    struct osc_minutes minutes; /* of this batch, including events left out; if keep.is_on */
    osc_status status;          /* sticky */
    bool is_closing;            /* chunks may be closed with the reserved memory */
    size_t reserved_bytes; /* for the rows and strings of this builder; later for the trace */
    osc_who last_pid, last_tid;
    osc_track_id last_track;
    struct osc_cached_string *strings; /* owned; STRING_MASK + 1, fewer for a short text */
    uint32_t string_mask;
    struct osc_cached_track *tracks; /* owned; OSC_TRACK_CACHE */
    struct osc_cached_form last_form;
    struct osc_arguments scratch; /* owned; for rows made by typed.c */
};

OSC_MUST_USE osc_status osc_builder_init(struct osc_builder *b, struct osc_loading *l);
void osc_builder_fini(struct osc_builder *b);

/* The rows that a builder made from one part of a text. */
struct osc_batch_of_rows {
    struct osc_chunk **events, **others; /* owned */
    uint32_t n_events, n_others;
    struct osc_findings findings;
    struct osc_minutes minutes; /* owned; empty unless something was to be left out */
};

/*
 * Close the open chunks and move everything built since the last call to OUT; after OSC_ELIMIT
 * everything built before the limit.
 */
OSC_MUST_USE osc_status osc_builder_take(struct osc_builder *b, struct osc_batch_of_rows *out);

/* Join BATCH to the trace and empty it. Batches must be joined in the order of the text. */
OSC_MUST_USE osc_status osc_loading_join(struct osc_loading *l,
                                         struct osc_batch_of_rows *batch);
void osc_batch_of_rows_fini(struct osc_batch_of_rows *batch);

/*
 * Reserve SIZE bytes for derivations. If they are not available, the status becomes
 * OSC_ELIMIT.
 */
void osc_build_reserve(struct osc_builder *b, size_t size);

/* The slow path of osc_build_grow(). */
OSC_MUST_USE osc_status osc_build_grow_slowly(void *p_array, size_t *cap, size_t need,
                                              size_t size);

/* osc_grow(), but only with memory that is not reserved; else OSC_ELIMIT. */
OSC_MUST_USE static inline osc_status osc_build_grow(void *p_array, size_t *cap, size_t need,
                                                     size_t size)
{
    return need <= *cap ? OSC_OK : osc_build_grow_slowly(p_array, cap, need, size);
}

/* The id of STR; 0, with a sticky status, if memory is exhausted. */
osc_sid osc_build_string_slow(struct osc_builder *b, struct osc_str str,
                              struct osc_cached_string *cached);

/* The track of (PID, TID). */
osc_track_id osc_build_track_slow(struct osc_builder *b, osc_who pid, osc_who tid);

/* Find or add the form of R, and assign the places of words in its slots. */
osc_form_id osc_build_form(struct osc_builder *b, struct osc_record *r);

/* Whether analyses need arguments with KEY even if the user wants none. */
bool osc_loading_needs(const struct osc_loading *l, osc_sid key);

/* Whether a scout keeps arguments with KEY. */
bool osc_loading_scouts(const struct osc_loading *l, osc_sid key);

/* Make *F, the form of R, whose slots have their places. F owns its slots. */
OSC_MUST_USE osc_status osc_loading_make_form(const struct osc_loading *l,
                                              const struct osc_record *r, struct osc_form *f);

/* Add R to its store, with its form and track. */
void osc_build_record(struct osc_builder *b, struct osc_record *r);

/*
 * The open chunk of C is missing or full: begin another one and move the N_PENDING words at
 * the end of C's scratch to it. False: see B->status.
 */
bool osc_build_next_chunk(struct osc_builder *b, struct osc_columns *c, uint32_t n_pending);

/* Make room for N more words in C's scratch. False: see B->status. */
bool osc_build_more_words(struct osc_builder *b, struct osc_columns *c, size_t n);

static inline uint64_t osc_build_load8(const char *p)
{
    uint64_t v;

    memcpy(&v, p, sizeof v);
    return v;
}

/* A cheap hash of both ends and the length of a string; only for a cache. */
static inline uint32_t osc_build_cache_place(const struct osc_builder *b, const char *s,
                                             uint32_t len)
{
    uint64_t h;

    if (len >= 8) {
        h = osc_build_load8(s) * UINT64_C(0x9e3779b97f4a7c15) ^
            osc_build_load8(s + len - 8) * UINT64_C(0xff51afd7ed558ccd);
    } else {
        h = 0;
        memcpy(&h, s, len);
        h *= UINT64_C(0x9e3779b97f4a7c15);
    }
    if (len >= 32) /* shapes and stacks are equal at both ends */
        h ^= (osc_build_load8(s + len / 2) ^ osc_build_load8(s + len / 4)) *
                 UINT64_C(0xd6e8feb86659fd93) ^
             osc_build_load8(s + (len - len / 4) - 8) * UINT64_C(0xa0761d6478bd642f);
    h ^= len * UINT64_C(0xc4ceb9fe1a85ec53);
    return (uint32_t)(h >> 40) & b->string_mask;
}

/* 16 or 32 bytes as the compiler's own vectors: one instruction or a few. */
typedef uint64_t osc_build_16 __attribute__((vector_size(16)));

static inline bool osc_build_equal16(const char *a, const char *b)
{
    osc_build_16 x, y;

    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    x ^= y;
    return (x[0] | x[1]) == 0;
}

/* Compare LEN bytes; reads nothing after them. */
static inline bool osc_build_equal(const char *a, const char *b, uint32_t len)
{
    if (len < 8)
        return memcmp(a, b, len) == 0;
    if (len <= 16)
        return osc_build_load8(a) == osc_build_load8(b) &&
               osc_build_load8(a + len - 8) == osc_build_load8(b + len - 8);
    for (uint32_t i = 0; i + 16 < len; i += 16)
        if (!osc_build_equal16(a + i, b + i))
            return false;
    return osc_build_equal16(a + len - 16, b + len - 16);
}

static inline osc_sid osc_build_string(struct osc_builder *b, const char *s, uint32_t len)
{
    if (len == 0)
        return (osc_sid){0};

    struct osc_cached_string *c = &b->strings[osc_build_cache_place(b, s, len)];
    if (c->len == len && osc_build_equal(c->s, s, len))
        return c->id;
    return osc_build_string_slow(b, (struct osc_str){s, len}, c);
}

static inline osc_track_id osc_build_track(struct osc_builder *b, osc_who pid, osc_who tid)
{
    if (pid == b->last_pid && tid == b->last_tid && b->last_track.v != 0)
        return b->last_track;

    const uint64_t h = (pid * 31 + tid) * UINT64_C(0x9e3779b97f4a7c15) >> 56;
    const struct osc_cached_track *c = &b->tracks[h & (OSC_TRACK_CACHE - 1)];
    b->last_pid = pid;
    b->last_tid = tid;
    if (c->pid == pid && c->tid == tid && c->id.v != 0)
        b->last_track = c->id;
    else
        b->last_track = osc_build_track_slow(b, pid, tid);
    return b->last_track;
}

/* Number of events in this batch so far. */
static inline int64_t osc_build_events_so_far(const struct osc_builder *b)
{
    return (int64_t)b->events.n_rows_done + (b->events.chunk ? b->events.chunk->n_rows : 0);
}

/* The properties of an event that decide whether it is stored while some are left out. */
struct osc_keep_row {
    int64_t ts_ns, dur_ns; /* OSC_NO_DUR: none, or unknown yet */
    bool is_open;          /* its end may come later: always store it */
    bool is_device, is_step, is_call;
};

/* Whether to store ROW by KEEP, which is on. */
bool osc_keep_wants(const struct osc_import_keep *keep, const struct osc_keep_row *row);

/*
 * Whether to store an event of SHAPE called NAME, which may be the name of a step. The event
 * counts for the start of the trace even if it is not stored.
 */
bool osc_build_wants(struct osc_builder *b, enum osc_form_shape shape, osc_sid name,
                     struct osc_keep_row row);

/* The values that osc_build_append() writes. */
struct osc_row_values {
    int64_t ts_ns, dur_ns;
    osc_sid name;
    osc_form_id form;
    osc_track_id track;
    uint32_t n_words; /* already at C->args + C->n_args */
};

/* Append a row whose words are at the end of C's words already. */
static inline void osc_build_append(struct osc_builder *b, struct osc_columns *c,
                                    const struct osc_row_values *v)
{
    struct osc_chunk *k = c->chunk;

    if (__builtin_expect(!k || k->n_rows == OSC_CHUNK_ROWS, 0)) {
        if (!osc_build_next_chunk(b, c, v->n_words))
            return;
        k = c->chunk;
    }
    const uint32_t i = k->n_rows++;
    k->ts_ns[i] = v->ts_ns;
    k->dur_ns[i] = v->dur_ns;
    k->name[i] = v->name.v;
    k->form[i] = v->form.v;
    k->track[i] = v->track.v;
    k->arg_word[i] = (uint32_t)(c->n_args);
    c->n_args += v->n_words;
}
