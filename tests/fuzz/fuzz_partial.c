/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A part of a table with changed bytes. The first byte says whether its length and hash are
 * corrected afterwards, as an attacker would do; then each three bytes are an offset and a new
 * value. The part must be read completely or rejected.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/table_registry.h"
#include "base/hash.h"
#include "derive/derive.h"
#include "import/import.h"
#include "import/run.h"
#include "table/query.h"

#define PART_MAX 8192

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char text[] =
    "{\"schemaVersion\":1,\"host_name\":\"h\",\"traceEvents\":["
    "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"pid\":0,\"tid\":7,\"ts\":5,\"dur\":2,"
    "\"args\":{\"device\":0,\"stream\":7,\"correlation\":1,\"blocks per SM\":0.5}},"
    "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"l\",\"pid\":0,\"tid\":7,\"ts\":8,\"dur\":2}]}";

static const struct osc_options options;

/* Write a part of DEF for a small trace to TO. Returns its bytes, or 0 on failure. */
static size_t make_part(const struct osc_table_def *def, unsigned char *to)
{
    const struct osc_import_options how = {.n_threads = 1};
    const struct osc_query q = {.def = def, .options = &options};
    const struct osc_partial_question of = {.def = def, .options = &options};
    struct osc_trace t = {0};
    struct osc_strbuf out = {0};
    struct osc_identity id;
    size_t len = 0;

    if (osc_import_memory(&t, "t.json", osc_str_c(text), &how, NULL) == OSC_OK &&
        osc_derive(&t, osc_table_facts(def), 1, NULL) == OSC_OK) {
        osc_run_identity(&id, &t, "t.json");
        if (osc_query_map(&q, &t, &of, &id, &out, NULL) == OSC_OK && out.len <= PART_MAX) {
            len = out.len;
            memcpy(to, out.s, len);
        }
    }
    osc_strbuf_fini(&out);
    osc_trace_fini(&t);
    return len;
}

static void put_u64(unsigned char *to, uint64_t v)
{
    for (int i = 0; i < 8; i++)
        to[i] = (unsigned char)(v >> 8 * i);
}

static void read_part(const struct osc_table_def *def, const unsigned char *part, size_t len)
{
    const struct osc_partial_question of = {.def = def, .options = &options};
    struct osc_str rest = {(const char *)part, (uint32_t)len}, one;
    struct osc_partial p;
    struct osc_result r;

    if (osc_partial_next(&rest, &one, NULL) != OSC_OK ||
        osc_partial_open(&p, one, &of, NULL) != OSC_OK)
        return;
    p.identity.among.origin_ns -= 5;
    osc_result_init(&r, def);
    if (osc_partial_read(&p, &r, NULL) == OSC_OK) {
        for (uint64_t i = 0; i < r.n_rows; i++)
            for (uint32_t c = 0; c < def->n_columns; c++)
                if (def->columns[c].type == OSC_TYPE_STRING &&
                    osc_result_get_str(&r, i, c).len > PART_MAX)
                    abort();
    }
    osc_result_fini(&r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct osc_table_def *const defs[] = {&osc_table_kernels, &osc_table_quality};
    static unsigned char wholes[2][PART_MAX];
    static size_t lens[2];
    unsigned char part[PART_MAX];

    if (size == 0)
        return 0;
    const unsigned which = data[0] & 1;
    if (lens[which] == 0)
        lens[which] = make_part(defs[which], wholes[which]);
    size_t len = lens[which];
    if (len == 0)
        abort();
    memcpy(part, wholes[which], len);
    for (size_t i = 1; i + 2 < size; i += 3) {
        const size_t at = (size_t)data[i] << 8 | data[i + 1];

        if (at < len)
            part[at] = data[i + 2];
        else
            len = data[0] & 4 && at % PART_MAX < len ? at % PART_MAX : len;
    }
    if (data[0] & 2 && len > OSC_PARTIAL_HEAD_BYTES) {
        const size_t n = len - OSC_PARTIAL_HEAD_BYTES;

        put_u64(part + 16, n);
        put_u64(part + 24, osc_hash(part + OSC_PARTIAL_HEAD_BYTES, n, OSC_PARTIAL_SEED));
    }
    read_part(defs[which], part, len);
    return 0;
}
