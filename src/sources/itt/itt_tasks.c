/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tasks that nest: a stack for each thread. PyTorch begins and ends a task without ids for
 * every operator, so these calls take the shortest path.
 */
#include <dlfcn.h>
#include <link.h>
#include <string.h>

#include "sources/itt/itt.h"
#include "sources/itt/itt_clock.h"
#include "sources/itt/itt_thread.h"

/* torch::profiler::itt_mark(char const*), whose begin and end are one instant. */
#define MARK_SYMBOL "_ZN5torch8profiler8itt_markEPKc"

/* Address and size of its code; size 0 if it is not known. */
static _Atomic uintptr_t mark_code;
static _Atomic uintptr_t mark_bytes;

void osc_itt_find_mark(const struct osc_itt_global *g)
{
    Dl_info where;
    ElfW(Sym) *symbol = NULL;
    void *library = NULL, *mark = dlsym(RTLD_DEFAULT, MARK_SYMBOL);

    /* Python loads libraries with local symbols: look in the library of the static part. */
    if (!mark && dladdr(g, &where) != 0 && where.dli_fname)
        library = dlopen(where.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
    if (library)
        mark = dlsym(library, MARK_SYMBOL);
    if (mark && dladdr1(mark, &where, (void **)&symbol, RTLD_DL_SYMENT) != 0 && symbol) {
        /* Release pairs with the acquire in is_mark(). */
        atomic_store_explicit(&mark_code, (uintptr_t)mark, memory_order_relaxed);
        atomic_store_explicit(&mark_bytes, symbol->st_size, memory_order_release);
    }
    if (library)
        dlclose(library);
}

/* Whether the caller at CALLER is PyTorch's mark(). */
static inline bool is_mark(const void *caller)
{
    const uintptr_t bytes = atomic_load_explicit(&mark_bytes, memory_order_acquire);

    return (uintptr_t)caller - atomic_load_explicit(&mark_code, memory_order_relaxed) < bytes;
}

static enum osc_scope_kind kind_of(const struct osc_itt_domain_entry *d,
                                   const struct osc_text *name)
{
    if (!d->is_pytorch)
        return OSC_SCOPE_PLAIN;
    return name->is_operator ? OSC_SCOPE_OPERATOR : OSC_SCOPE_ANNOTATION;
}

/* Ids that tasks have had, in a hash of 65,536 bits: an arrow from anything else (a region, a
 * group) would have no start. */
static _Atomic uint64_t had_tasks[1024];

static void store_task(uint64_t key)
{
    /* Relaxed, here and below: programs that relate tasks order the calls themselves. */
    atomic_fetch_or_explicit(&had_tasks[key >> 6 & 1023], UINT64_C(1) << (key & 63),
                             memory_order_relaxed);
}

static bool had_task(uint64_t key)
{
    return atomic_load_explicit(&had_tasks[key >> 6 & 1023], memory_order_relaxed) >>
               (key & 63) &
           1;
}

/* Record arrows and arguments of a task with an ID or a PARENT. */
static void record_ids(struct osc_source_thread *self, const struct osc_itt_domain_entry *d,
                       const struct osc_itt_id *id, const struct osc_itt_id *parent)
{
    if (!osc_itt_id_is_none(id)) {
        osc_itt_arg_id(OSC_ITT_KEY_ID, id);
        osc_itt_last = (struct osc_itt_last){osc_itt_id_key(d, id), self->depth};
    }
    if (!osc_itt_id_is_none(parent)) {
        const uint64_t key = osc_itt_id_key(d, parent);

        osc_itt_arg_id(OSC_ITT_KEY_PARENT, parent);
        if (had_task(key))
            osc_flow_end(key);
    }
    if (!osc_itt_id_is_none(id)) {
        store_task(osc_itt_last.key);
        osc_flow_begin(osc_itt_last.key);
    }
}

/* The hot path: PyTorch calls it for each operator. What is rare is said to be so to the
 * compiler. */
static void task_begin(struct osc_itt_domain *domain, struct osc_itt_id id,
                       struct osc_itt_id parent, struct osc_itt_string *name)
{
    struct osc_source_thread *const self = &osc_source_self;

    if (!osc_itt_enter(self))
        return;
    const struct osc_itt_domain_entry *const d = osc_itt_domain_of(domain);
    if (__builtin_expect(d != NULL, 1)) {
        struct osc_text *const text = osc_itt_text_of(name);
        const enum osc_scope_kind kind = kind_of(d, text);

        osc_source_push(self, d->number);
        if (__builtin_expect(d->is_pytorch && is_mark(__builtin_return_address(0)), 0)) {
            self->mark_depth = self->depth;
            osc_instant(osc_text_name(text));
        } else {
            osc_begin(kind, osc_text_name(text));
            osc_itt_arg_domain(d);
        }
        if (__builtin_expect(!osc_itt_id_is_none(&id) || !osc_itt_id_is_none(&parent), 0))
            record_ids(self, d, &id, &parent);
    }
    osc_itt_leave(self);
}

static void pop(struct osc_source_thread *self)
{
    if (osc_itt_last.depth >= self->depth)
        osc_itt_last.depth = 0;
    osc_source_pop(self);
}

/*
 * Record the end of a task of D that this thread has not begun. It must not end a scope that
 * belongs to others, so it is the end of a range that never begins: readers find no begin for
 * it and count it.
 */
static void record_unmatched(const struct osc_itt_domain_entry *d)
{
    /* Differs from the keys of ranges and of frames. */
    const uint64_t key = osc_itt_id_key(d, &(const struct osc_itt_id){0}) ^ 2;

    if (osc_is_on())
        osc_async_end(OSC_SCOPE_PLAIN, osc_text_name(d->text), key);
}

/* Whether the innermost scope is a task of D, or becomes so. */
static bool owns(struct osc_source_thread *self, const struct osc_itt_domain_entry *d)
{
    if (__builtin_expect(osc_source_owns(self, d->number), 1))
        return true;
    record_unmatched(d);
    return false;
}

static void task_end(struct osc_itt_domain *domain)
{
    struct osc_source_thread *const self = &osc_source_self;

    if (!osc_itt_enter(self))
        return;
    const struct osc_itt_domain_entry *const d = osc_itt_domain_of(domain);
    if (__builtin_expect(d != NULL, 1) && owns(self, d)) {
        osc_source_end_scope(self);
        pop(self);
    }
    osc_itt_leave(self);
}

/* Begin a task at a time that the client gives. */
static void begin_at(struct osc_itt_domain *domain, uint64_t ticks, const struct osc_itt_id *id,
                     const struct osc_itt_id *parent, struct osc_text *text)
{
    struct osc_source_thread *const self = &osc_source_self;
    const struct osc_itt_domain_entry *const d = osc_itt_domain_of(domain);

    if (!d)
        return;
    osc_source_push(self, d->number);
    if (!osc_is_on())
        return;
    osc_begin_at(kind_of(d, text), osc_text_name(text), ticks);
    osc_itt_arg_domain(d);
    record_ids(self, d, id, parent);
}

static void task_begin_ex(struct osc_itt_domain *domain, struct osc_itt_clock *clock,
                          uint64_t timestamp, struct osc_itt_id id, struct osc_itt_id parent,
                          struct osc_itt_string *name)
{
    if (!osc_itt_enter(&osc_source_self))
        return;
    begin_at(domain, osc_itt_clock_ticks(clock, timestamp), &id, &parent,
             osc_itt_text_of(name));
    osc_itt_leave(&osc_source_self);
}

static void task_end_ex(struct osc_itt_domain *domain, struct osc_itt_clock *clock,
                        uint64_t timestamp)
{
    struct osc_source_thread *const self = &osc_source_self;

    if (!osc_itt_enter(self))
        return;
    const struct osc_itt_domain_entry *const d = osc_itt_domain_of(domain);
    if (d && owns(self, d)) {
        if (osc_is_on())
            osc_end_at(osc_itt_clock_ticks(clock, timestamp));
        pop(self);
    }
    osc_itt_leave(self);
}

/* Append S to *AT, which may grow up to END. */
static void append(char **at, const char *end, const char *s)
{
    while (*s && *at < end)
        *(*at)++ = *s++;
}

/* A name for the function at FN: its symbol, else file and offset, else the address. */
static struct osc_text *name_of_function(void *fn)
{
    char text[512];
    char *at = text;
    const char *const end = text + sizeof text - 18;
    uint64_t offset = (uint64_t)(uintptr_t)fn;
    Dl_info where;

    if (dladdr(fn, &where) != 0) {
        const char *const slash = where.dli_fname ? strrchr(where.dli_fname, '/') : NULL;

        if (where.dli_sname && where.dli_saddr == fn)
            return osc_text_find_c(where.dli_sname);
        append(&at, end, slash ? slash + 1 : where.dli_fname ? where.dli_fname : "");
        append(&at, end, "+");
        offset -= (uint64_t)(uintptr_t)where.dli_fbase;
    }
    at += osc_itt_hex(at, offset);
    return osc_text_find(text, (size_t)(at - text));
}

static void task_begin_fn_ex(struct osc_itt_domain *domain, struct osc_itt_clock *clock,
                             uint64_t timestamp, struct osc_itt_id id, struct osc_itt_id parent,
                             void *fn)
{
    if (!osc_itt_enter(&osc_source_self))
        return;
    begin_at(domain, osc_itt_clock_ticks(clock, timestamp), &id, &parent, name_of_function(fn));
    osc_itt_leave(&osc_source_self);
}

static void task_begin_fn(struct osc_itt_domain *domain, struct osc_itt_id id,
                          struct osc_itt_id parent, void *fn)
{
    task_begin_fn_ex(domain, NULL, osc_now(), id, parent, fn);
}

/* --- relations: arrows if one end is the running task, else instants ------------- */

enum relation { DEPENDS_ON = 1, CONTINUATION_OF = 4, CHILD_OF = 5 };

static void store_relation(const struct osc_itt_domain_entry *d, const struct osc_itt_id *head,
                           int relation, const struct osc_itt_id *tail)
{
    static const char *const texts[] = {"related to",   "depends on",      "sibling of",
                                        "parent of",    "continuation of", "child of",
                                        "continued by", "predecessor of"};
    const size_t n = sizeof texts / sizeof *texts;

    osc_instant(osc_text_name(
        osc_text_find_c(texts[relation > 0 && (size_t)relation < n ? relation : 0])));
    osc_itt_arg_domain(d);
    if (!osc_itt_id_is_none(head))
        osc_itt_arg_id(OSC_ITT_KEY_HEAD, head);
    osc_itt_arg_id(OSC_ITT_KEY_TAIL, tail);
}

/* HEAD, or the innermost task if HEAD is none, stands in RELATION to TAIL. */
static void relate(struct osc_itt_domain *domain, const struct osc_itt_id *head, int relation,
                   const struct osc_itt_id *tail)
{
    const struct osc_source_thread *const self = &osc_source_self;
    const struct osc_itt_domain_entry *const d = osc_itt_domain_of(domain);

    if (!d || !osc_is_on())
        return;
    const bool is_own = self->depth > 0 && osc_itt_last.depth == self->depth &&
                        osc_itt_id_key(d, head) == osc_itt_last.key;
    const bool is_here = self->depth > 0 && (osc_itt_id_is_none(head) || is_own);
    const bool comes_here =
        relation == DEPENDS_ON || relation == CONTINUATION_OF || relation == CHILD_OF;

    /* A task with an id began an arrow in record_ids(), so one may end here. */
    if (is_here && comes_here && had_task(osc_itt_id_key(d, tail)))
        osc_flow_end(osc_itt_id_key(d, tail));
    else
        store_relation(d, head, relation, tail);
}

static void relation_add(struct osc_itt_domain *domain, struct osc_itt_id head, int relation,
                         struct osc_itt_id tail)
{
    if (!osc_itt_enter(&osc_source_self))
        return;
    relate(domain, &head, relation, &tail);
    osc_itt_leave(&osc_source_self);
}

static void relation_add_to_current(struct osc_itt_domain *domain, int relation,
                                    struct osc_itt_id tail)
{
    relation_add(domain, (struct osc_itt_id){0}, relation, tail);
}

static void relation_add_ex(struct osc_itt_domain *domain, struct osc_itt_clock *clock,
                            uint64_t timestamp, struct osc_itt_id head, int relation,
                            struct osc_itt_id tail)
{
    (void)clock, (void)timestamp; /* a relation has no time */
    relation_add(domain, head, relation, tail);
}

static void relation_add_to_current_ex(struct osc_itt_domain *domain,
                                       struct osc_itt_clock *clock, uint64_t timestamp,
                                       int relation, struct osc_itt_id tail)
{
    (void)clock, (void)timestamp;
    relation_add(domain, (struct osc_itt_id){0}, relation, tail);
}

const struct osc_itt_binding osc_itt_tasks[] = {
    {"relation_add", (osc_itt_function)relation_add},
    {"relation_add_ex", (osc_itt_function)relation_add_ex},
    {"relation_add_to_current", (osc_itt_function)relation_add_to_current},
    {"relation_add_to_current_ex", (osc_itt_function)relation_add_to_current_ex},
    {"task_begin", (osc_itt_function)task_begin},
    {"task_begin_ex", (osc_itt_function)task_begin_ex},
    {"task_begin_fn", (osc_itt_function)task_begin_fn},
    {"task_begin_fn_ex", (osc_itt_function)task_begin_fn_ex},
    {"task_end", (osc_itt_function)task_end},
    {"task_end_ex", (osc_itt_function)task_end_ex},
    {NULL, NULL},
};
