/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events that do not nest: ranges with an id, frames, events, and instants.
 */
#include "sources/itt/itt.h"
#include "sources/itt/itt_clock.h"
#include "sources/itt/itt_thread.h"

#define NUMBERS_MAX 4096

/* Texts that clients know by number: events and marks. */
static _Atomic(struct osc_text *) numbered[NUMBERS_MAX];
static _Atomic int32_t n_numbered;

static enum osc_scope_kind kind_of(const struct osc_itt_domain_entry *d)
{
    return d->is_pytorch ? OSC_SCOPE_ANNOTATION : OSC_SCOPE_PLAIN;
}

static const struct osc_itt_domain_entry *enter_domain(struct osc_itt_domain *domain)
{
    if (!osc_itt_enter(&osc_source_self))
        return NULL;
    const struct osc_itt_domain_entry *const d = osc_itt_domain_of(domain);
    if (!d || !osc_is_on()) {
        osc_itt_leave(&osc_source_self);
        return NULL;
    }
    return d;
}

static void record_ids(const struct osc_itt_domain_entry *d, const struct osc_itt_id *id,
                       const struct osc_itt_id *parent)
{
    osc_itt_arg_domain(d);
    if (!osc_itt_id_is_none(id))
        osc_itt_arg_id(OSC_ITT_KEY_ID, id);
    if (!osc_itt_id_is_none(parent))
        osc_itt_arg_id(OSC_ITT_KEY_PARENT, parent);
}

/* Clients of oneTBB omit the name: use the domain's. */
static void range_begin_ex(struct osc_itt_domain *domain, struct osc_itt_clock *clock,
                           uint64_t timestamp, struct osc_itt_id id, struct osc_itt_id parent,
                           struct osc_itt_string *name)
{
    const struct osc_itt_domain_entry *const d = enter_domain(domain);

    if (!d)
        return;
    osc_async_begin_at(kind_of(d), osc_text_name(name ? osc_itt_text_of(name) : d->text),
                       osc_itt_id_key(d, &id), osc_itt_clock_ticks(clock, timestamp));
    record_ids(d, &id, &parent);
    osc_itt_leave(&osc_source_self);
}

static void range_end_ex(struct osc_itt_domain *domain, struct osc_itt_clock *clock,
                         uint64_t timestamp, struct osc_itt_id id)
{
    const struct osc_itt_domain_entry *const d = enter_domain(domain);

    if (!d)
        return;
    osc_async_end_at(kind_of(d), 0, osc_itt_id_key(d, &id),
                     osc_itt_clock_ticks(clock, timestamp));
    osc_itt_leave(&osc_source_self);
}

static void range_begin(struct osc_itt_domain *domain, struct osc_itt_id id,
                        struct osc_itt_id parent, struct osc_itt_string *name)
{
    range_begin_ex(domain, NULL, osc_now(), id, parent, name);
}

static void range_end(struct osc_itt_domain *domain, struct osc_itt_id id)
{
    range_end_ex(domain, NULL, osc_now(), id);
}

/* --- frames: named by their domain ------------------------------------------------- */

static uint64_t frame_key(const struct osc_itt_domain_entry *d, const struct osc_itt_id *id)
{
    /* Differs from the key of a range with the same id. */
    return osc_itt_id_key(d, id ? id : &(const struct osc_itt_id){0}) ^ 1;
}

static void record_frame(const struct osc_itt_id *id)
{
    osc_arg_bool(osc_itt_key(OSC_ITT_KEY_FRAME), 1);
    if (id && !osc_itt_id_is_none(id))
        osc_itt_arg_id(OSC_ITT_KEY_ID, id);
}

static void frame_begin_v3(struct osc_itt_domain *domain, const struct osc_itt_id *id)
{
    const struct osc_itt_domain_entry *const d = enter_domain(domain);

    if (!d)
        return;
    osc_async_begin(OSC_SCOPE_PLAIN, osc_text_name(d->text), frame_key(d, id));
    record_frame(id);
    osc_itt_leave(&osc_source_self);
}

static void frame_end_v3(struct osc_itt_domain *domain, const struct osc_itt_id *id)
{
    const struct osc_itt_domain_entry *const d = enter_domain(domain);

    if (!d)
        return;
    osc_async_end(OSC_SCOPE_PLAIN, osc_text_name(d->text), frame_key(d, id));
    osc_itt_leave(&osc_source_self);
}

/* A frame that is over. OpenMP reports its parallel regions this way, with our
 * get_timestamp(). */
static void frame_submit_v3(struct osc_itt_domain *domain, const struct osc_itt_id *id,
                            uint64_t begin, uint64_t end)
{
    const struct osc_itt_domain_entry *const d = enter_domain(domain);

    if (!d)
        return;
    osc_complete_at(OSC_SCOPE_PLAIN, osc_text_name(d->text), begin,
                    end == UINT64_MAX ? osc_now() : end);
    record_frame(id);
    osc_itt_leave(&osc_source_self);
}

/* --- instants -------------------------------------------------------------------------- */

static void record_scope(int scope)
{
    static const char *const texts[] = {"", "global", "process", "thread", "task", "marker"};

    if (scope > 0 && scope <= OSC_ITT_SCOPE_MARKER)
        osc_arg_name(osc_itt_key(OSC_ITT_KEY_SCOPE),
                     osc_text_name(osc_text_find_c(texts[scope])));
}

static void marker_ex(struct osc_itt_domain *domain, struct osc_itt_clock *clock,
                      uint64_t timestamp, struct osc_itt_id id, struct osc_itt_string *name,
                      int scope)
{
    const struct osc_itt_domain_entry *const d = enter_domain(domain);

    if (!d)
        return;
    osc_instant_at(osc_text_name(osc_itt_text_of(name)), osc_itt_clock_ticks(clock, timestamp));
    record_ids(d, &id, &(const struct osc_itt_id){0});
    record_scope(scope);
    osc_itt_leave(&osc_source_self);
}

static void marker(struct osc_itt_domain *domain, struct osc_itt_id id,
                   struct osc_itt_string *name, int scope)
{
    marker_ex(domain, NULL, osc_now(), id, name, scope);
}

/* Gives an id a name: nothing runs, but other events refer to it. */
static void task_group(struct osc_itt_domain *domain, struct osc_itt_id id,
                       struct osc_itt_id parent, struct osc_itt_string *name)
{
    const struct osc_itt_domain_entry *const d = enter_domain(domain);

    if (!d)
        return;
    osc_instant(osc_text_name(osc_itt_text_of(name)));
    record_ids(d, &id, &parent);
    osc_itt_leave(&osc_source_self);
}

/* --- events and marks: older calls of ITT, with numbers instead of names ------------------ */

/* The number of the text at NAME: LEN bytes, or up to its NUL if LEN is not positive. */
static int number_of(const char *name, int len)
{
    if (!osc_itt_enter(&osc_source_self))
        return 0;
    struct osc_text *const text =
        len > 0 ? osc_text_find(name, (size_t)len) : osc_text_find_c(name);
    /* Acquire and release pair with each other: the text is in the table before its number is
     * seen. */
    int32_t number = atomic_load_explicit(&text->number, memory_order_acquire);

    if (number == 0) {
        int32_t mine = atomic_load_explicit(&n_numbered, memory_order_relaxed);

        while (mine < NUMBERS_MAX &&
               !atomic_compare_exchange_weak_explicit(
                   &n_numbered, &mine, mine + 1, memory_order_relaxed, memory_order_relaxed))
            ;
        if (mine < NUMBERS_MAX) {
            atomic_store_explicit(&numbered[mine], text, memory_order_release);
            /* If another thread was first, its number counts. */
            if (atomic_compare_exchange_strong_explicit(&text->number, &number, mine + 1,
                                                        memory_order_release,
                                                        memory_order_acquire))
                number = mine + 1;
        }
    }
    osc_itt_leave(&osc_source_self);
    return number;
}

/* The text that NUMBER stands for, and the thread entered; NULL, not entered, if there is
 * none. */
static struct osc_text *enter_number(int number)
{
    if (number < 1 || number > NUMBERS_MAX || !osc_is_on() || !osc_itt_enter(&osc_source_self))
        return NULL;
    /* Acquire pairs with the release in number_of(). */
    struct osc_text *const text =
        atomic_load_explicit(&numbered[number - 1], memory_order_acquire);
    if (!text)
        osc_itt_leave(&osc_source_self);
    return text;
}

/* An event belongs to a thread: two threads may have the same one open. */
static uint64_t event_key(const struct osc_text *text)
{
    return text->hash ^ (uint64_t)(uintptr_t)&osc_source_self;
}

static int event_create(const char *name, int len)
{
    return number_of(name, len);
}

static int event_start(int event)
{
    struct osc_text *const text = enter_number(event);

    if (!text)
        return event > 0 ? 0 : -1;
    osc_async_begin(OSC_SCOPE_PLAIN, osc_text_name(text), event_key(text));
    osc_itt_leave(&osc_source_self);
    return 0;
}

static int event_end(int event)
{
    struct osc_text *const text = enter_number(event);

    if (!text)
        return event > 0 ? 0 : -1;
    osc_async_end(OSC_SCOPE_PLAIN, osc_text_name(text), event_key(text));
    osc_itt_leave(&osc_source_self);
    return 0;
}

static int mark_create(const char *name)
{
    return number_of(name, 0);
}

static int mark_scoped(int mark, const char *parameter, int scope)
{
    struct osc_text *const text = enter_number(mark);

    if (!text)
        return mark > 0 ? 0 : -1;
    osc_instant(osc_text_name(text));
    if (parameter)
        osc_arg_name(osc_itt_key(OSC_ITT_KEY_TEXT), osc_text_name(osc_text_find_c(parameter)));
    record_scope(scope);
    osc_itt_leave(&osc_source_self);
    return 0;
}

static int mark(int type, const char *parameter)
{
    return mark_scoped(type, parameter, OSC_ITT_SCOPE_TRACK);
}

static int mark_global(int type, const char *parameter)
{
    return mark_scoped(type, parameter, OSC_ITT_SCOPE_GLOBAL);
}

const struct osc_itt_binding osc_itt_ranges[] = {
    {"event_create", (osc_itt_function)event_create},
    {"event_end", (osc_itt_function)event_end},
    {"event_start", (osc_itt_function)event_start},
    {"frame_begin_v3", (osc_itt_function)frame_begin_v3},
    {"frame_end_v3", (osc_itt_function)frame_end_v3},
    {"frame_submit_v3", (osc_itt_function)frame_submit_v3},
    {"mark", (osc_itt_function)mark},
    {"mark_create", (osc_itt_function)mark_create},
    {"mark_global", (osc_itt_function)mark_global},
    {"marker", (osc_itt_function)marker},
    {"marker_ex", (osc_itt_function)marker_ex},
    {"region_begin", (osc_itt_function)range_begin},
    {"region_end", (osc_itt_function)range_end},
    {"task_begin_overlapped", (osc_itt_function)range_begin},
    {"task_begin_overlapped_ex", (osc_itt_function)range_begin_ex},
    {"task_end_overlapped", (osc_itt_function)range_end},
    {"task_end_overlapped_ex", (osc_itt_function)range_end_ex},
    {"task_group", (osc_itt_function)task_group},
    {NULL, NULL},
};
