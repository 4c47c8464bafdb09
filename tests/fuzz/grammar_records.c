/* SPDX-License-Identifier: Apache-2.0 */
/* Made-up recordings: every kind of record, with ids that are known, repeated or wrong. */
#include "grammar.h"

#include "opscope/record.h"
#include "support/small_recording.h"

/* What each kind of record has behind its first slot, and whether that one has a time. */
static const struct {
    uint32_t kind, n_words;
    bool is_timed;
} kinds[] = {
#define KIND(number, name, timed, id, words, what) {number, words, timed},
    OSC_RECORD_KIND_LIST(KIND)
#undef KIND
};

static const char *const names[] = {"a",
                                    "aten::mm",
                                    "[memory]",
                                    "nccl:all_reduce",
                                    "",
                                    "device_limits.1",
                                    "open_scopes_end_ticks",
                                    "gemm",
                                    "cuda",
                                    "1",
                                    "sampled calls",
                                    "[1, 2, -1]",
                                    "rank",
                                    "External id",
                                    "\xff"};

#define N_NAMES (sizeof names / sizeof *names)

/* A word of a record: a small number, mostly. */
static uint64_t word(struct grammar *g)
{
    static const uint64_t odd[] = {
        UINT64_MAX,         INT64_MAX, UINT64_C(1) << 63, 0x3ff0000000000000, UINT64_C(1) << 32,
        0x7ff8000000000000, 4096};

    return grammar_once_in(g, 12) ? odd[grammar_below(g, 7)] : grammar_below(g, 6);
}

static void add_record(struct small_recording *r, struct grammar *g, const uint32_t *ids)
{
    const uint32_t at = grammar_below(g, (uint32_t)(sizeof kinds / sizeof *kinds) + 30);
    const uint32_t id =
        grammar_once_in(g, 20) ? (uint32_t)word(g) : ids[grammar_below(g, N_NAMES)];
    uint64_t words[8];

    for (uint32_t i = 0; i < 8; i++)
        words[i] = grammar_once_in(g, 6) ? ids[grammar_below(g, N_NAMES)] : word(g);
    if (at >= sizeof kinds / sizeof *kinds) { /* mostly scopes */
        const uint32_t kind = grammar_below(g, OSC_SCOPE_KIND_COUNT);
        const uint64_t ticks = 10 + grammar_below(g, 40) * UINT64_C(100);

        if (grammar_once_in(g, 2))
            recording_add(r, OSC_RECORD_COMPLETE + kind, id, ticks, words, 2);
        else if (grammar_once_in(g, 2))
            recording_add(r, OSC_RECORD_BEGIN + kind, id, ticks, NULL, 0);
        else if (grammar_once_in(g, 2))
            recording_add(r, OSC_RECORD_END, 0, ticks, NULL, 0);
        else /* names a scope by its start; some may have begun then */
            recording_add(r, OSC_RECORD_END_OF, 10 + grammar_below(g, 40) * 100, ticks, NULL,
                          0);
        return;
    }
    uint64_t value = kinds[at].is_timed ? 10 + grammar_below(g, 40) * UINT64_C(100) : word(g);
    uint32_t n = kinds[at].n_words;

    if (kinds[at].kind == OSC_RECORD_METADATA || kinds[at].kind == OSC_RECORD_ARG_NAME ||
        kinds[at].kind == OSC_RECORD_ARGS)
        value = ids[grammar_below(g, N_NAMES)];
    if (kinds[at].kind == OSC_RECORD_ARG_I64S || kinds[at].kind == OSC_RECORD_ARG_STACK) {
        value = grammar_below(g, 5);
        n = ((uint32_t)value + 1) & ~1u;
    }
    if (kinds[at].kind == OSC_RECORD_ARG_TEXT || kinds[at].kind == OSC_RECORD_ARG_JSON) {
        memcpy(words, grammar_once_in(g, 2) ? "[1,2]\0\0" : "{\"a\":1}", 8);
        value = grammar_below(g, 8);
        n = 2;
    }
    recording_add(r, kinds[at].kind, grammar_once_in(g, 4) ? (uint32_t)word(g) : id, value,
                  words, n);
}

void grammar_recording(struct osc_strbuf *out, uint64_t seed)
{
    static struct small_recording r;
    struct grammar g = {seed * 2 + 1};
    uint32_t ids[N_NAMES];

    for (int i = 0; i < 4; i++)
        (void)grammar_below(&g, 2);
    recording_begin(&r);
    for (uint32_t i = 0; i < N_NAMES; i++)
        ids[i] = recording_name(&r, names[i]);
    for (uint32_t i = 0, n = 1 + grammar_below(&g, 12); i < n; i++) {
        if (i > 0 && grammar_once_in(&g, 6)) {
            recording_flush(&r);
            r.block.thread = 1 + grammar_below(&g, 3);
        }
        add_record(&r, &g, ids);
    }
    recording_flush(&r);
    recording_end_for(&r, grammar_once_in(&g, 4) ? 0 : OSC_END_STOPPED);
    osc_strbuf_add(out, (const char *)r.bytes, r.n_bytes);
}
