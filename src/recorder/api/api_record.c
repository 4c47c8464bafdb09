/* SPDX-License-Identifier: Apache-2.0 */
/* The calls that programs make for every event: see opscope/record.h. */
#include "opscope/record.h"

#include <string.h>

#include "recorder/live/categories.h"
#include "recorder/live/names.h"
#include "recorder/put.h"
#include "recorder/session.h"
#include "recorder/thread/losses.h"
#include "recorder/thread/sampling.h"
#include "recorder/thread/thread_list.h"
#include "recorder/thread/ticks.h"

/* --- names ------------------------------------------------------------------------- */

osc_name osc_name_of(const char *s, size_t len)
{
    uint64_t n_full = 0, n_too_big = 0;

    /* Before the first recording, too: a constructor often makes names. The threads' memory
     * shows a child of a fork that it is one, where the log must first leave the parent's file.
     */
    if (osc_threads_init() != OSC_OK || !osc_session_is_ours())
        return 0;
    const uint32_t name = osc_names_add(s, len, &n_full, &n_too_big);

    if (n_full > 0)
        osc_losses_add(OSC_LOSS_FULL, n_full);
    if (n_too_big > 0)
        osc_losses_add(OSC_LOSS_TOO_BIG, n_too_big);
    return name;
}

osc_category osc_category_of(const char *name)
{
    const size_t len = name ? strlen(name) : 0;
    uint64_t n_full = 0;

    if (len == 0 || osc_threads_init() != OSC_OK || !osc_session_is_ours())
        return 0;
    const uint32_t category = osc_categories_find(name, len, &n_full);

    if (n_full > 0)
        osc_losses_add(OSC_LOSS_FULL, n_full);
    return category;
}

osc_name osc_name_in(osc_category category, const char *s, size_t len)
{
    const uint32_t in = osc_categories_name(category);
    uint64_t n_full = 0;

    if (in == 0 || !s || len == 0 || len > OSC_NAME_IN_CATEGORY_MAX)
        return osc_name_of(s, len);
    if (osc_threads_init() != OSC_OK || !osc_session_is_ours())
        return 0;
    const uint32_t name = osc_names_add_in(in, s, len, &n_full);

    if (n_full > 0)
        osc_losses_add(OSC_LOSS_FULL, n_full);
    return name;
}

osc_name osc_name_c(const char *s)
{
    return osc_name_of(s, s ? strlen(s) : 0);
}

/* --- scopes ------------------------------------------------------------------------ */

uint64_t osc_now(void)
{
    return osc_ticks();
}

/*
 * The fast path. Unusual cases go to a function of their own that is called last, so that no
 * register must be saved across it. The clock is read before the slots are reserved; otherwise
 * a signal handler could record a later time in an earlier slot.
 */
static inline struct osc_record_slot *try_slots_of(struct osc_writer *w, uint32_t n_slots,
                                                   uint64_t *now)
{
    /* relaxed: as in osc_put_reserve() */
    if (__builtin_expect(w->epoch != __atomic_load_n(&osc_epoch_counter, __ATOMIC_RELAXED), 0))
        return NULL;
    *now = osc_ticks_counter();
    return osc_writer_try(w, n_slots);
}

/* The same of this thread's writer. */
static inline struct osc_record_slot *try_slots(uint32_t n_slots, uint64_t *now)
{
    return try_slots_of(osc_writer_self, n_slots, now);
}

/* Record KIND, which stands for N_CALLS, at NOW: its argument follows at once, so that none of
 * a handler comes between. Returns NOW; 0: it was not recorded. */
static uint64_t put_sampled(uint32_t kind, osc_name name, enum osc_role role, uint64_t now,
                            uint32_t n_calls)
{
    struct osc_record_slot *s = osc_put_reserve(n_calls > 1 ? 2 : 1, role, now);

    if (!s)
        return 0;
    s->value = now;
    osc_writer_finish(s, name, kind, 1);
    if (n_calls > 1) {
        s[1].value = n_calls;
        osc_writer_finish(&s[1], osc_sampling_key(), OSC_RECORD_ARG_I64, 1);
    }
    return now;
}

__attribute__((noinline, cold)) static uint64_t put_slowly(uint32_t kind, osc_name name,
                                                           enum osc_role role)
{
    uint32_t n_calls = 1;

    if (osc_slow_drop(role) ||
        (kind == OSC_RECORD_BEGIN + OSC_SCOPE_PLAIN && osc_sampling_is_on() &&
         !osc_slow_samples(name, role, &n_calls)))
        return 0;
    const uint64_t now = osc_ticks();

    return put_sampled(kind, name, role, now, n_calls);
}

/* The way of all while names are sampled, which leads on to the slow one. Returns when it was
 * recorded; 0: it was not. */
__attribute__((noinline)) static uint64_t put_otherwise(uint32_t kind, osc_name name,
                                                        enum osc_role role)
{
    uint32_t n_calls = 1;

    /* relaxed: as in osc_put_reserve() */
    if (role == OSC_ROLE_END && osc_slow_end_skipped())
        return 0;
    if (osc_writer_self->epoch != __atomic_load_n(&osc_epoch_sampled, __ATOMIC_RELAXED))
        return put_slowly(kind, name, role);
    if (kind == OSC_RECORD_BEGIN + OSC_SCOPE_PLAIN && !osc_slow_samples(name, role, &n_calls))
        return 0;
    const uint64_t now = osc_ticks_counter();

    return put_sampled(kind, name, role, now, n_calls);
}

/* Record KIND with the current time. */
static inline void put_now(uint32_t kind, osc_name name, enum osc_role role)
{
    uint64_t now;
    struct osc_record_slot *s = try_slots(1, &now);

    if (__builtin_expect(!s, 0)) {
        (void)put_otherwise(kind, name, role);
        return;
    }
    s->value = now;
    osc_writer_finish(s, name, kind, 1);
}

void osc_scope_begin(enum osc_scope_kind kind, osc_name name)
{
    put_now(OSC_RECORD_BEGIN + (kind & 31), name, OSC_ROLE_BEGIN);
}

/* More arguments than this are not reserved together. */
#define ARGS_MAX 14u

_Static_assert((int)OSC_SCOPE_ARG_I64 == (int)OSC_RECORD_ARG_I64 &&
                   (int)OSC_SCOPE_ARG_NAME == (int)OSC_RECORD_ARG_NAME &&
                   (int)OSC_SCOPE_ARG_PAIRS == (int)OSC_RECORD_ARGS,
               "kinds of arguments are those of their records");

__attribute__((noinline, cold)) static void begin_with_slowly(uint32_t kind, osc_name name,
                                                              const struct osc_scope_arg *args,
                                                              uint32_t n_args)
{
    (void)put_otherwise(kind, name, OSC_ROLE_BEGIN);
    for (uint32_t i = 0; i < n_args; i++)
        osc_put_one(args[i].kind & 0x3f, args[i].key, args[i].value, OSC_ROLE_ARG, 0);
}

void osc_scope_begin_with(enum osc_scope_kind kind, osc_name name,
                          const struct osc_scope_arg *args, uint32_t n_args)
{
    const uint32_t record = OSC_RECORD_BEGIN + (kind & 31);
    uint64_t now;
    struct osc_record_slot *s = n_args <= ARGS_MAX ? try_slots(1 + n_args, &now) : NULL;

    if (__builtin_expect(!s, 0)) {
        begin_with_slowly(record, name, args, n_args);
        return;
    }
    s->value = now;
    osc_writer_finish(s, name, record, 1);
    for (uint32_t i = 0; i < n_args; i++) {
        s[1 + i].value = args[i].value;
        osc_writer_finish(&s[1 + i], args[i].key, args[i].kind & 0x3f, 1);
    }
}

void osc_scope_end(void)
{
    put_now(OSC_RECORD_END, 0, OSC_ROLE_END);
}

/* In the token of a scope that the writer may account for, as it, or one around it, was not
 * recorded: in no level, so osc_scope_close() takes its slow way. */
#define UNUSUAL (1ull << 63)

/* What osc_scope_close() needs of a scope that W's thread begins at NOW; 0: it is not recorded.
 * The low half finds its record, the high half, its level, tells whether it is the innermost.
 */
static inline uint64_t token_of(struct osc_writer *w, uint64_t now)
{
    const uint32_t level = osc_level_next(w->level);

    w->level = level;
    return (uint64_t)level << 32 | (uint32_t)now;
}

__attribute__((noinline, cold)) static uint64_t open_slowly(uint32_t kind, osc_name name)
{
    const uint64_t now = put_otherwise(kind, name, OSC_ROLE_BEGIN);
    struct osc_writer *const w = osc_writer_self;

    if (w == osc_writer_nobody())
        return 0;
    return token_of(w, now) | (now == 0 || osc_writer_has_runs(w) ? UNUSUAL : 0);
}

uint64_t osc_scope_open(enum osc_scope_kind kind, osc_name name)
{
    const uint32_t record = OSC_RECORD_BEGIN + (kind & 31);
    struct osc_writer *const w = osc_writer_self;
    uint64_t now;
    struct osc_record_slot *s = try_slots_of(w, 1, &now);

    if (__builtin_expect(!s, 0))
        return open_slowly(record, name);
    s->value = now;
    osc_writer_finish(s, name, record, 1);
    return token_of(w, now);
}

/* End the innermost scope of this thread. */
__attribute__((noinline)) static void close_slowly(void)
{
    if (osc_is_on())
        (void)put_otherwise(OSC_RECORD_END, 0, OSC_ROLE_END);
}

/* End a scope of another thread, one that is not the innermost of this one, or one that is
 * UNUSUAL. */
__attribute__((noinline)) static void close_other(uint64_t token)
{
    struct osc_writer *const w = osc_writer_self;
    const uint32_t level = (uint32_t)((token & ~UNUSUAL) >> 32);
    const bool is_innermost = w->level == level, is_recorded = (uint32_t)token != 0;

    w->level -= is_innermost;
    if (is_innermost && is_recorded) {
        close_slowly();
        return;
    }
    if (!osc_is_on() ||
        (is_innermost && (osc_slow_end_skipped() || osc_slow_drop(OSC_ROLE_END))))
        return;
    if (is_recorded)
        put_now(OSC_RECORD_END_OF, (uint32_t)token, OSC_ROLE_FACT);
    if (token & UNUSUAL)
        osc_slow_forget(level);
}

void osc_scope_close(uint64_t token)
{
    struct osc_writer *const w = osc_writer_self;
    uint64_t now;

    if (__builtin_expect(w->level != token >> 32, 0)) {
        close_other(token);
        return;
    }
    w->level--;
    struct osc_record_slot *s = try_slots_of(w, 1, &now);

    if (__builtin_expect(!s, 0)) {
        close_slowly();
        return;
    }
    s->value = now;
    osc_writer_finish(s, 0, OSC_RECORD_END, 1);
}

void osc_scope_skip(void)
{
    if (osc_is_on())
        osc_slow_skip();
}

void osc_scope_instant(osc_name name)
{
    put_now(OSC_RECORD_INSTANT, name, OSC_ROLE_EVENT);
}

__attribute__((noinline, cold)) static void complete_slowly(uint32_t kind, osc_name name,
                                                            uint64_t start_ticks)
{
    uint32_t n_calls = 1;

    if (osc_slow_drop(OSC_ROLE_EVENT) ||
        (kind == OSC_RECORD_COMPLETE + OSC_SCOPE_PLAIN && osc_sampling_is_on() &&
         !osc_slow_samples(name, OSC_ROLE_EVENT, &n_calls)))
        return;
    const uint64_t now = osc_ticks();
    struct osc_record_slot *s = osc_put_reserve(n_calls > 1 ? 3 : 2, OSC_ROLE_EVENT, now);

    if (!s)
        return;
    s[0].value = start_ticks;
    osc_writer_fill(&s[1], now - start_ticks, 0);
    osc_writer_finish(s, name, kind, 2);
    if (n_calls > 1) {
        s[2].value = n_calls;
        osc_writer_finish(&s[2], osc_sampling_key(), OSC_RECORD_ARG_I64, 1);
    }
}

void osc_scope_complete(enum osc_scope_kind kind, osc_name name, uint64_t start_ticks)
{
    const uint32_t record = OSC_RECORD_COMPLETE + (kind & 31);
    uint64_t now;
    struct osc_record_slot *s = try_slots(2, &now);

    if (__builtin_expect(!s, 0)) {
        complete_slowly(record, name, start_ticks);
        return;
    }
    s[0].value = start_ticks;
    s[1] = (struct osc_record_slot){now - start_ticks, 0};
    osc_writer_finish(s, name, record, 2);
}

/* --- memory ------------------------------------------------------------------------ */

__attribute__((noinline, cold)) static void put_memory_slowly(uint32_t kind, uint32_t device,
                                                              uint64_t addr, uint64_t bytes)
{
    if (!osc_slow_drop(OSC_ROLE_EVENT))
        OSC_PUT(kind, device, osc_ticks(), OSC_ROLE_EVENT, addr, bytes);
}

static inline void put_memory(uint32_t kind, uint32_t device, uint64_t addr, uint64_t bytes)
{
    uint64_t now;

    if (!osc_is_on())
        return;
    struct osc_record_slot *s = try_slots(2, &now);
    if (__builtin_expect(!s, 0)) {
        put_memory_slowly(kind, device, addr, bytes);
        return;
    }
    s[0].value = now;
    osc_writer_fill(&s[1], addr, bytes);
    osc_writer_finish(s, device, kind, 2);
}

void osc_memory_alloc(uint32_t device, uint64_t addr, uint64_t bytes)
{
    put_memory(OSC_RECORD_ALLOC, device, addr, bytes);
}

void osc_memory_free(uint32_t device, uint64_t addr, uint64_t bytes)
{
    put_memory(OSC_RECORD_FREE, device, addr, bytes);
}

/* --- at given times ---------------------------------------------------------------- */

void osc_begin_at(enum osc_scope_kind kind, osc_name name, uint64_t ticks)
{
    if (osc_is_on())
        osc_put_one(OSC_RECORD_BEGIN + osc_kind_known(kind), name, ticks, OSC_ROLE_BEGIN,
                    ticks);
}

void osc_end_at(uint64_t ticks)
{
    if (osc_is_on())
        osc_put_one(OSC_RECORD_END, 0, ticks, OSC_ROLE_END, ticks);
}

void osc_complete_at(enum osc_scope_kind kind, osc_name name, uint64_t start_ticks,
                     uint64_t end_ticks)
{
    if (osc_is_on())
        OSC_PUT(OSC_RECORD_COMPLETE + osc_kind_known(kind), name, start_ticks, OSC_ROLE_EVENT,
                end_ticks - start_ticks, 0);
}

void osc_instant_at(osc_name name, uint64_t ticks)
{
    if (osc_is_on())
        osc_put_one(OSC_RECORD_INSTANT, name, ticks, OSC_ROLE_EVENT, ticks);
}
