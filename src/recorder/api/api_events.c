/* SPDX-License-Identifier: Apache-2.0 */
/* The less frequent calls: arguments, counters, memory, flows, names; see opscope/record.h. */
#include <string.h>

#include "opscope/record.h"
#include "recorder/put.h"
#include "recorder/thread/losses.h"
#include "recorder/thread/ticks.h"

enum { TEXT_BYTES_MAX = 3072, INTS_MAX = 384 };

/* --- ranges with an id, and arrows --------------------------------------------------- */

/* Numbers that programs choose are small. */
#define FIRST_ID ((uint64_t)1 << 40)

uint64_t osc_unique_id(void)
{
    static uint64_t n;

    /* relaxed: the numbers need only differ. */
    return FIRST_ID + __atomic_fetch_add(&n, 1, __ATOMIC_RELAXED);
}

void osc_async_begin_at(enum osc_scope_kind kind, osc_name name, uint64_t id, uint64_t ticks)
{
    if (osc_is_on())
        OSC_PUT(OSC_RECORD_ASYNC_BEGIN, name, ticks, OSC_ROLE_EVENT, id, osc_kind_known(kind));
}

void osc_async_end_at(enum osc_scope_kind kind, osc_name name, uint64_t id, uint64_t ticks)
{
    if (osc_is_on())
        OSC_PUT(OSC_RECORD_ASYNC_END, name, ticks, OSC_ROLE_FACT, id, osc_kind_known(kind));
}

void osc_async_begin(enum osc_scope_kind kind, osc_name name, uint64_t id)
{
    if (osc_is_on())
        osc_async_begin_at(kind, name, id, osc_ticks());
}

void osc_async_end(enum osc_scope_kind kind, osc_name name, uint64_t id)
{
    if (osc_is_on())
        osc_async_end_at(kind, name, id, osc_ticks());
}

void osc_flow_begin(uint64_t id)
{
    if (osc_is_on())
        OSC_PUT(OSC_RECORD_FLOW_BEGIN, 0, osc_ticks(), OSC_ROLE_EVENT, id, 0);
}

void osc_flow_end(uint64_t id)
{
    if (osc_is_on())
        OSC_PUT(OSC_RECORD_FLOW_END, 0, osc_ticks(), OSC_ROLE_EVENT, id, 0);
}

/* --- arguments ------------------------------------------------------------------------ */

static uint64_t bits_of(double v)
{
    uint64_t bits;

    memcpy(&bits, &v, sizeof bits);
    return bits;
}

/* Record an argument whose value fits in its slot. */
static void put_arg(uint32_t kind, osc_name key, uint64_t value)
{
    if (osc_is_on())
        osc_put_one(kind, key, value, OSC_ROLE_ARG, 0);
}

void osc_arg_i64(osc_name key, int64_t value)
{
    put_arg(OSC_RECORD_ARG_I64, key, (uint64_t)value);
}

void osc_arg_f64(osc_name key, double value)
{
    put_arg(OSC_RECORD_ARG_F64, key, bits_of(value));
}

void osc_arg_bool(osc_name key, int value)
{
    put_arg(OSC_RECORD_ARG_BOOL, key, value != 0);
}

void osc_arg_name(osc_name key, osc_name value)
{
    put_arg(OSC_RECORD_ARG_NAME, key, value);
}

void osc_args_json(osc_name pairs)
{
    put_arg(OSC_RECORD_ARGS, 0, pairs);
}

/* Record VALUE in slot 0, then the BYTES at P, padded with zeroes to the end of the last
 * slot. */
static void put_bytes(uint32_t kind, osc_name key, uint64_t value, const void *p, size_t bytes)
{
    const uint32_t n_slots =
        1 + (uint32_t)((bytes + OSC_RECORD_SLOT_BYTES - 1) / OSC_RECORD_SLOT_BYTES);
    struct osc_record_slot *s = osc_put_reserve(n_slots, OSC_ROLE_ARG, 0);

    if (!s)
        return;
    s[0].value = value;
    for (uint32_t i = 1; i < n_slots; i++) {
        const size_t at = (i - 1) * sizeof *s, left = bytes - at;
        struct osc_record_slot slot = {0};

        memcpy(&slot, (const char *)p + at, left < sizeof slot ? left : sizeof slot);
        osc_writer_fill(&s[i], slot.value, slot.word);
    }
    osc_writer_finish(s, key, kind, n_slots);
}

static void put_text(uint32_t kind, osc_name key, const char *s, size_t len)
{
    if (!osc_is_on())
        return;
    if (!s)
        len = 0;
    if (len > TEXT_BYTES_MAX) {
        len = TEXT_BYTES_MAX;
        osc_losses_add(OSC_LOSS_TOO_BIG, 1); /* it is there, if shorter: no gap */
    }
    put_bytes(kind, key, len, s, len);
}

void osc_arg_text(osc_name key, const char *s, size_t len)
{
    put_text(OSC_RECORD_ARG_TEXT, key, s, len);
}

void osc_arg_json(osc_name key, const char *json, size_t len)
{
    put_text(OSC_RECORD_ARG_JSON, key, json, len);
}

void osc_arg_i64s(osc_name key, const int64_t *values, size_t n)
{
    if (!osc_is_on())
        return;
    if (!values)
        n = 0;
    if (n > INTS_MAX) {
        n = INTS_MAX;
        osc_losses_add(OSC_LOSS_TOO_BIG, 1); /* it is there, if shorter: no gap */
    }
    put_bytes(OSC_RECORD_ARG_I64S, key, n, values, n * sizeof *values);
}

/* --- counters and memory -------------------------------------------------------------- */

void osc_counter_i64_at(osc_name name, int64_t value, uint64_t ticks)
{
    if (osc_is_on())
        OSC_PUT(OSC_RECORD_COUNTER_I64, name, ticks, OSC_ROLE_EVENT, (uint64_t)value, 0);
}

void osc_counter_f64_at(osc_name name, double value, uint64_t ticks)
{
    if (osc_is_on())
        OSC_PUT(OSC_RECORD_COUNTER_F64, name, ticks, OSC_ROLE_EVENT, bits_of(value), 0);
}

void osc_counter_i64(osc_name name, int64_t value)
{
    if (osc_is_on())
        osc_counter_i64_at(name, value, osc_ticks());
}

void osc_counter_total(osc_name name, int64_t value)
{
    if (osc_is_on())
        OSC_PUT(OSC_RECORD_COUNTER_I64, name, osc_ticks(), OSC_ROLE_FACT, (uint64_t)value, 0);
}

void osc_counter_f64(osc_name name, double value)
{
    if (osc_is_on())
        osc_counter_f64_at(name, value, osc_ticks());
}

void osc_memory_alloc_at(uint32_t device, uint64_t addr, uint64_t bytes, uint64_t ticks)
{
    if (osc_is_on())
        OSC_PUT(OSC_RECORD_ALLOC, device, ticks, OSC_ROLE_EVENT, addr, bytes);
}

void osc_memory_free_at(uint32_t device, uint64_t addr, uint64_t bytes, uint64_t ticks)
{
    if (osc_is_on())
        OSC_PUT(OSC_RECORD_FREE, device, ticks, OSC_ROLE_EVENT, addr, bytes);
}

void osc_memory_alloc_total(uint32_t device, uint64_t addr, uint64_t bytes,
                            uint64_t allocated_bytes, uint64_t reserved_bytes)
{
    if (osc_is_on())
        OSC_PUT(OSC_RECORD_ALLOC_TOTAL, device, osc_ticks(), OSC_ROLE_EVENT, addr, bytes,
                allocated_bytes, reserved_bytes);
}

void osc_memory_free_total(uint32_t device, uint64_t addr, uint64_t bytes,
                           uint64_t allocated_bytes, uint64_t reserved_bytes)
{
    if (osc_is_on())
        OSC_PUT(OSC_RECORD_FREE_TOTAL, device, osc_ticks(), OSC_ROLE_EVENT, addr, bytes,
                allocated_bytes, reserved_bytes);
}

/* --- names of threads and processes --------------------------------------------------- */

/* Record the name NAME, which holds from now on. */
static void put_name(uint32_t kind, const char *name)
{
    if (!osc_is_on())
        return;
    const osc_name id = osc_name_c(name);
    const uint64_t now = osc_ticks();

    osc_put_one(kind, id, now, OSC_ROLE_FACT, now);
}

void osc_thread_name(const char *name)
{
    put_name(OSC_RECORD_THREAD_NAME, name);
}

void osc_process_name(const char *name)
{
    put_name(OSC_RECORD_PROCESS_NAME, name);
}

void osc_metadata(const char *key, const char *value)
{
    if (!osc_is_on())
        return;
    const osc_name id = osc_name_c(key);

    osc_put_one(OSC_RECORD_METADATA, id, osc_name_c(value), OSC_ROLE_FACT, osc_ticks());
}
