/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Metadata (arguments of tasks) and counters.
 */
#include <stdio.h>
#include <string.h>

#include "sources/itt/itt.h"
#include "sources/itt/itt_clock.h"
#include "sources/itt/itt_thread.h"
#include "sources/source_memory.h"

#define VALUES_MAX 384u
#define TEXT_MAX   3072u

/* --- values of the types that clients declare --------------------------------------- */

static size_t size_of(int type)
{
    static const unsigned char sizes[] = {0, 8, 8, 4, 4, 2, 2, 4, 8};

    return type > 0 && type <= OSC_ITT_DOUBLE ? sizes[type] : 0;
}

/* The integer at P; a u64 beyond the range of int64_t comes out negative. */
static int64_t read_integer(int type, const void *p)
{
    union {
        uint64_t u64;
        int64_t s64;
        uint32_t u32;
        int32_t s32;
        uint16_t u16;
        int16_t s16;
    } x = {0};

    memcpy(&x, p, size_of(type));
    return type == OSC_ITT_U32   ? x.u32
           : type == OSC_ITT_S32 ? x.s32
           : type == OSC_ITT_U16 ? x.u16
           : type == OSC_ITT_S16 ? x.s16
                                 : x.s64;
}

static double read_float(int type, const void *p)
{
    float f;
    double x;

    if (type == OSC_ITT_DOUBLE) {
        memcpy(&x, p, sizeof x);
        return x;
    }
    memcpy(&f, p, sizeof f);
    return (double)f;
}

static bool is_float(int type)
{
    return type == OSC_ITT_FLOAT || type == OSC_ITT_DOUBLE;
}

/* Whether the value at P is a u64 beyond the range of int64_t. */
static bool is_huge(int type, const void *p)
{
    return type == OSC_ITT_U64 && read_integer(type, p) < 0;
}

/* Add several floats, or integers beyond int64_t, as JSON text. */
static void arg_list_text(osc_name key, int type, size_t n, const char *data)
{
    char text[TEXT_MAX];
    size_t at = 0;

    for (size_t i = 0; i < n && at + 32 < sizeof text; i++) {
        const void *const p = data + i * size_of(type);

        text[at++] = i == 0 ? '[' : ',';
        if (is_float(type))
            at += (size_t)snprintf(text + at, 32, "%.17g", read_float(type, p));
        else
            at += osc_itt_decimal(text + at, (uint64_t)read_integer(type, p));
    }
    text[at++] = ']';
    osc_arg_json(key, text, at);
}

static void arg_values(osc_name key, int type, size_t n, const char *data)
{
    int64_t values[VALUES_MAX];
    bool has_huge = false;

    n = n < VALUES_MAX ? n : VALUES_MAX;
    for (size_t i = 0; i < n && !is_float(type); i++) {
        values[i] = read_integer(type, data + i * size_of(type));
        has_huge |= is_huge(type, data + i * size_of(type));
    }
    if (n == 1 && is_float(type)) {
        osc_arg_f64(key, read_float(type, data));
    } else if (n == 1 && has_huge) {
        char digits[20];

        osc_arg_json(key, digits, osc_itt_decimal(digits, (uint64_t)values[0]));
    } else if (n == 1) {
        osc_arg_i64(key, values[0]);
    } else if (is_float(type) || has_huge) {
        arg_list_text(key, type, n, data);
    } else {
        osc_arg_i64s(key, values, n);
    }
}

/* --- metadata ------------------------------------------------------------------------- */

/*
 * Begin metadata about ID, or about the innermost task if ID is none. Metadata about anything
 * but the innermost task becomes an instant called KEY with the id as an argument. Enters if it
 * returns true.
 */
static bool begin_metadata(struct osc_itt_domain *domain, const struct osc_itt_id *id,
                           struct osc_text *key)
{
    struct osc_source_thread *const self = &osc_source_self;

    if (!osc_is_on() || !osc_itt_enter(self))
        return false;
    const struct osc_itt_domain_entry *const d = osc_itt_domain_of(domain);
    if (!d) {
        osc_itt_leave(self);
        return false;
    }
    const bool is_innermost =
        self->depth > 0 &&
        (osc_itt_id_is_none(id) ||
         (osc_itt_last.depth == self->depth && osc_itt_id_key(d, id) == osc_itt_last.key));
    if (is_innermost)
        return true;
    osc_instant(osc_text_name(key));
    osc_itt_arg_domain(d);
    if (!osc_itt_id_is_none(id))
        osc_itt_arg_id(OSC_ITT_KEY_ID, id);
    return true;
}

static void metadata_add(struct osc_itt_domain *domain, struct osc_itt_id id,
                         struct osc_itt_string *key, int type, size_t count, void *data)
{
    if (count == 0 || !data || size_of(type) == 0)
        return;
    struct osc_text *const text = osc_itt_text_of(key);
    if (!begin_metadata(domain, &id, text))
        return;
    arg_values(osc_text_name(text), type, count, data);
    osc_itt_leave(&osc_source_self);
}

static void metadata_str_add(struct osc_itt_domain *domain, struct osc_itt_id id,
                             struct osc_itt_string *key, const char *data, size_t len)
{
    struct osc_text *const text = osc_itt_text_of(key);

    if (!data || !begin_metadata(domain, &id, text))
        return;
    osc_arg_text(osc_text_name(text), data, len > 0 ? len : strlen(data));
    osc_itt_leave(&osc_source_self);
}

/* The scope says whether the value concerns more than the running task. */
static void metadata_add_with_scope(struct osc_itt_domain *domain, int scope,
                                    struct osc_itt_string *key, int type, size_t count,
                                    void *data)
{
    (void)scope;
    metadata_add(domain, (struct osc_itt_id){0}, key, type, count, data);
}

static void metadata_str_add_with_scope(struct osc_itt_domain *domain, int scope,
                                        struct osc_itt_string *key, const char *data,
                                        size_t len)
{
    if (scope != OSC_ITT_SCOPE_GLOBAL && scope != OSC_ITT_SCOPE_GROUP) {
        metadata_str_add(domain, (struct osc_itt_id){0}, key, data, len);
    } else if (data && osc_is_on() && osc_itt_enter(&osc_source_self)) {
        struct osc_text *const value =
            len > 0 ? osc_text_find(data, len) : osc_text_find_c(data);

        osc_metadata(osc_itt_text_of(key)->bytes, value->bytes);
        osc_itt_leave(&osc_source_self);
    }
}

/* --- counters --------------------------------------------------------------------------- */

/* The counter NAME of DOMAIN, recorded as "NAME" or "DOMAIN/NAME". NULL: no memory. */
static struct osc_itt_counter_entry *counter_of(const char *name, const char *domain, int type)
{
    char whole[512];
    const size_t domain_len = domain ? strnlen(domain, sizeof whole / 2) : 0;
    const size_t name_len = name ? strnlen(name, sizeof whole / 2 - 1) : 0;
    const size_t at = domain_len > 0 ? domain_len + 1 : 0;

    if (domain_len > 0) {
        memcpy(whole, domain, domain_len);
        whole[domain_len] = '/';
    }
    if (name_len > 0)
        memcpy(whole + at, name, name_len);
    struct osc_text *const text = osc_text_find(whole, at + name_len);
    struct osc_itt_counter_entry *const c = osc_text_view(text, OSC_TEXT_ITT_COUNTER);
    if (c)
        return c;
    struct osc_itt_counter_entry *const made = osc_source_memory(sizeof *made);
    if (!made)
        return NULL;
    made->text = text;
    made->abi = (struct osc_itt_counter){.name = text->bytes,
                                         .type = size_of(type) > 0 ? type : OSC_ITT_U64,
                                         .extra1 = OSC_ITT_OURS,
                                         .extra2 = made};
    return osc_text_set_view(text, OSC_TEXT_ITT_COUNTER, made);
}

void osc_itt_counter_adopt(struct osc_itt_counter *c)
{
    struct osc_itt_counter_entry *const entry = counter_of(c->name, c->domain, c->type);

    if (entry) {
        c->extra2 = entry;
        c->extra1 = OSC_ITT_OURS;
    }
}

/* The entry of a client's counter. A counter that an old static part made before it loaded us
 * is known by its address only. */
static struct osc_itt_counter_entry *entry_of(struct osc_itt_counter *c)
{
    char name[32] = "counter ";

    if (!c)
        return NULL;
    if (c->extra1 == OSC_ITT_OURS)
        return c->extra2;
    name[8 + osc_itt_hex(name + 8, (uint64_t)(uintptr_t)c)] = '\0';
    return counter_of(name, NULL, OSC_ITT_U64);
}

static void *counter_create_typed(const char *name, const char *domain, int type)
{
    if (!osc_itt_enter(&osc_source_self))
        return NULL;
    struct osc_itt_counter_entry *const c = counter_of(name, domain, type);
    osc_itt_leave(&osc_source_self);
    return c ? &c->abi : NULL;
}

static void *counter_create(const char *name, const char *domain)
{
    return counter_create_typed(name, domain, OSC_ITT_U64);
}

static void *counter_create_v3(const struct osc_itt_domain *domain, const char *name, int type)
{
    return counter_create_typed(name, domain ? domain->name : NULL, type);
}

/* A value that no integer of ours holds becomes a floating-point number rather than a negative
 * one. */
static void counter_set_value_ex(struct osc_itt_counter *counter, struct osc_itt_clock *clock,
                                 uint64_t timestamp, const void *value)
{
    if (!value || !osc_is_on() || !osc_itt_enter(&osc_source_self))
        return;
    struct osc_itt_counter_entry *const c = entry_of(counter);
    const int type = c ? c->abi.type : OSC_ITT_UNKNOWN;
    const uint64_t ticks = osc_itt_clock_ticks(clock, timestamp);

    if (c && is_float(type)) {
        osc_counter_f64_at(osc_text_name(c->text), read_float(type, value), ticks);
    } else if (c && is_huge(type, value)) {
        osc_counter_f64_at(osc_text_name(c->text), (double)(uint64_t)read_integer(type, value),
                           ticks);
    } else if (c) {
        const int64_t x = read_integer(type, value);

        /* Relaxed: concurrent additions have no order. */
        atomic_store_explicit(&c->sum, x, memory_order_relaxed);
        osc_counter_i64_at(osc_text_name(c->text), x, ticks);
    }
    osc_itt_leave(&osc_source_self);
}

static void counter_set_value(struct osc_itt_counter *counter, const void *value)
{
    counter_set_value_ex(counter, NULL, osc_now(), value);
}

static void add_to(struct osc_itt_counter_entry *c, uint64_t delta)
{
    if (!c)
        return;
    /* Relaxed: a sum. The addition is unsigned, so that it wraps. */
    const int64_t before =
        atomic_fetch_add_explicit(&c->sum, (int64_t)delta, memory_order_relaxed);
    osc_counter_i64(osc_text_name(c->text), (int64_t)((uint64_t)before + delta));
}

static void counter_inc_delta(struct osc_itt_counter *counter, uint64_t delta)
{
    if (!osc_is_on() || !osc_itt_enter(&osc_source_self))
        return;
    add_to(entry_of(counter), delta);
    osc_itt_leave(&osc_source_self);
}

static void counter_inc(struct osc_itt_counter *counter)
{
    counter_inc_delta(counter, 1);
}

static void counter_dec_delta(struct osc_itt_counter *counter, uint64_t delta)
{
    counter_inc_delta(counter, 0 - delta);
}

static void counter_dec(struct osc_itt_counter *counter)
{
    counter_inc_delta(counter, (uint64_t)-1);
}

static void counter_inc_delta_v3(struct osc_itt_domain *domain, struct osc_itt_string *name,
                                 uint64_t delta)
{
    if (!osc_is_on() || !osc_itt_enter(&osc_source_self))
        return;
    const struct osc_itt_domain_entry *const d = osc_itt_domain_of(domain);
    add_to(counter_of(osc_itt_text_of(name)->bytes, d ? d->text->bytes : NULL, OSC_ITT_U64),
           delta);
    osc_itt_leave(&osc_source_self);
}

static void counter_inc_v3(struct osc_itt_domain *domain, struct osc_itt_string *name)
{
    counter_inc_delta_v3(domain, name, 1);
}

static void counter_dec_delta_v3(struct osc_itt_domain *domain, struct osc_itt_string *name,
                                 uint64_t delta)
{
    counter_inc_delta_v3(domain, name, 0 - delta);
}

static void counter_dec_v3(struct osc_itt_domain *domain, struct osc_itt_string *name)
{
    counter_inc_delta_v3(domain, name, (uint64_t)-1);
}

/* Store facts about a counter as metadata "COUNTER.FACT" of the recording. */
static void bind_context_metadata_to_counter(struct osc_itt_counter *counter, size_t n,
                                             const struct osc_itt_context *facts)
{
    static const char *const names[] = {NULL,
                                        "name",
                                        "name",
                                        "device",
                                        "device",
                                        "units",
                                        "units",
                                        "pci_addr",
                                        "pci_addr",
                                        "tid",
                                        "max",
                                        "bandwidth",
                                        "latency",
                                        "occupancy",
                                        "on_thread",
                                        "is_absolute",
                                        "cpu_instructions",
                                        "cpu_cycles"};

    if (!facts || !osc_is_on() || !osc_itt_enter(&osc_source_self))
        return;
    const struct osc_itt_counter_entry *const c = entry_of(counter);
    for (size_t i = 0; c && i < n; i++) {
        const uint32_t type = facts[i].type;
        char key[600], value[24];
        uint64_t number;

        if (type == 0 || type >= sizeof names / sizeof *names || !facts[i].value)
            continue;
        (void)snprintf(key, sizeof key, "%s.%s", c->text->bytes, names[type]);
        if (type < 9) {
            /* Even types have wide text, which Linux clients do not use. */
            osc_metadata(key, type % 2 == 1 ? facts[i].value : "?");
            continue;
        }
        memcpy(&number, facts[i].value, sizeof number);
        value[osc_itt_decimal(value, number)] = '\0';
        osc_metadata(key, value);
    }
    osc_itt_leave(&osc_source_self);
}

const struct osc_itt_binding osc_itt_values[] = {
    {"bind_context_metadata_to_counter", (osc_itt_function)bind_context_metadata_to_counter},
    {"counter_create", (osc_itt_function)counter_create},
    {"counter_create_typed", (osc_itt_function)counter_create_typed},
    {"counter_create_v3", (osc_itt_function)counter_create_v3},
    {"counter_dec", (osc_itt_function)counter_dec},
    {"counter_dec_delta", (osc_itt_function)counter_dec_delta},
    {"counter_dec_delta_v3", (osc_itt_function)counter_dec_delta_v3},
    {"counter_dec_v3", (osc_itt_function)counter_dec_v3},
    {"counter_inc", (osc_itt_function)counter_inc},
    {"counter_inc_delta", (osc_itt_function)counter_inc_delta},
    {"counter_inc_delta_v3", (osc_itt_function)counter_inc_delta_v3},
    {"counter_inc_v3", (osc_itt_function)counter_inc_v3},
    {"counter_set_value", (osc_itt_function)counter_set_value},
    {"counter_set_value_ex", (osc_itt_function)counter_set_value_ex},
    {"counter_set_value_v3", (osc_itt_function)counter_set_value},
    {"metadata_add", (osc_itt_function)metadata_add},
    {"metadata_add_with_scope", (osc_itt_function)metadata_add_with_scope},
    {"metadata_str_add", (osc_itt_function)metadata_str_add},
    {"metadata_str_add_with_scope", (osc_itt_function)metadata_str_add_with_scope},
    {NULL, NULL},
};
