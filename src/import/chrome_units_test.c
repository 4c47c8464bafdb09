/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Damaged texts that are cut into units anywhere: the trace, and what quality counts, are those
 * of one thread that reads from start to end.
 */
#include "import/import.h"
#include "support/fingerprint.h"
#include "support/unit.h"

#include "base/strbuf.h"

#define N_TEXTS (8000 / (int)(UNIT_SLOWNESS * UNIT_SLOWNESS))

/* Pieces that change where the reader is, or look as if they did. */
static const char *const pieces[] = {
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    " ",
    "\n",
    "\"",
    "{}",
    "[]",
    "},\n{",
    "},{",
    "}]}",
    "]}",
    "], ",
    "}],",
    "\"traceEvents\": [",
    "{\"traceEvents\": [\n",
    "{\"schemaVersion\": 1, \"traceEvents\": [",
    "\"distributedInfo\": {\"rank\": 1}, ",
    "\"displayTimeUnit\": \"ms\"}",
    "\"traceName\": \"a\"",
    "{\"a\": 1}",
    ("{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"mm\", \"pid\": 1, \"tid\": 1, \"ts\": "
     "1, "
     "\"dur\": 2}"),
    ("{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"mm\", \"pid\": 1, \"tid\": 1, \"ts\": "
     "5, "
     "\"dur\": 2, \"args\": {\"External id\": 7, \"Ev Idx\": 3}},"),
    "{\"ph\": \"X\", \"name\": \"no end\", \"ts\": 9, \"args\": {\"a\": [1, [2, ",
    "{\n  \"ph\": \"i\", \"name\": \"i\", \"pid\": 1, \"tid\": 1, \"ts\": 3, \"s\": \"t\"\n},",
    "{\"ph\": \"M\", \"name\": \"process_name\", \"pid\": 1, \"args\": {\"name\": \"p\"}},",
    ("{\"ph\": \"X\", \"name\": \"a \"quoted\" name\", \"pid\": 1, \"tid\": 1, \"ts\": 2, "
     "\"dur\": 1},"),
    "nonsense",
    "\xef\xbb\xbf",
    "{hemaVersio \"evx\": 1 } },\n{\"pid\": 701, \"args\": {} },",
    /* Within a text that is no list, words that name a producer. */
    ("\"a\": [{\"b\": 1},\n{\"ph\": \"X\", \"cat\": \"ray.wait\", \"name\": \"m\", \"pid\": 5, "
     "\"tid\": 6, \"ts\": 1, \"dur\": 2}], "),
};

static uint32_t random_below(uint64_t *seed, uint32_t n)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*seed >> 33) % n;
}

/* What T has besides rows: nothing of it may come from units that did not count. */
static uint64_t rest(const struct osc_trace *t)
{
    uint64_t h = osc_hash_u64(t->producer);

    h = osc_hash_u64(h ^ t->n_forms);
    h = osc_hash_u64(h ^ t->n_tracks);
    return osc_hash_u64(h ^ t->n_processes);
}

/* What loading TEXT gives. */
static uint64_t load(struct osc_str text, const struct osc_import_options *o)
{
    struct osc_trace t = {0};
    const osc_status st = osc_import_memory(&t, "made", text, o, NULL);
    const uint64_t print = st == OSC_OK ? fingerprint(&t) ^ rest(&t) : (uint64_t)st;

    osc_trace_fini(&t);
    return print;
}

static void make_text(struct osc_strbuf *text, uint64_t *seed)
{
    const uint32_t n = 1 + random_below(seed, 24);
    struct osc_strbuf part = {0};

    for (uint32_t i = 0; i < n; i++)
        osc_strbuf_adds(&part, pieces[random_below(seed, sizeof pieces / sizeof *pieces)]);
    osc_strbuf_clear(text);
    if (random_below(seed, 2))
        osc_strbuf_adds(text, "{\"traceEvents\": [");
    for (uint32_t i = 1 + random_below(seed, 3); i > 0; i--)
        osc_strbuf_add(text, part.s, part.len);
    osc_strbuf_fini(&part);
}

TEST(units_of_any_text_give_what_one_thread_gives)
{
    static const struct osc_import_options ways[] = {
        {.n_threads = 1, .unit_bytes = 37},
        {.n_threads = 1, .unit_bytes = 101, .kernel = "none"},
        {.n_threads = 1, .unit_bytes = 331, .block_bytes = 64},
    };
    struct osc_strbuf text = {0};
    uint64_t seed = 34;
    uint32_t n_loaded = 0;

    for (int i = 0; i < N_TEXTS; i++) {
        make_text(&text, &seed);
        const struct osc_str s = {text.s, (uint32_t)text.len};
        const uint64_t expected = load(s, &(struct osc_import_options){.n_threads = 1});

        n_loaded += expected > 1000;
        for (size_t k = 0; k < sizeof ways / sizeof *ways; k++)
            if (load(s, &ways[k]) != expected)
                fail_msg("text %d, units of %u bytes: %s", i, (unsigned)ways[k].unit_bytes,
                         text.s);
    }
    assert_true(n_loaded > N_TEXTS / 4);
    osc_strbuf_fini(&text);
}

UNIT_MAIN("chrome_units")
