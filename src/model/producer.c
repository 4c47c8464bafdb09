/* SPDX-License-Identifier: Apache-2.0 */
#include "model/producer.h"

static const struct {
    const char *text, *title;
    enum osc_dialect dialect;
} producers[OSC_PRODUCER_COUNT] = {
#define OSC_PRODUCER_ENTRY(name, text, dialect, title) {text, title, OSC_DIALECT_##dialect},
    OSC_PRODUCER_LIST(OSC_PRODUCER_ENTRY)
#undef OSC_PRODUCER_ENTRY
};

enum osc_dialect osc_producer_dialect(enum osc_producer p)
{
    return producers[p].dialect;
}

const char *osc_producer_text(enum osc_producer p)
{
    return producers[p].text;
}

void osc_producer_say(enum osc_producer p, struct osc_strbuf *out)
{
    osc_strbuf_addf(out, "%s/%s", producers[p].text, osc_dialect_text(producers[p].dialect));
}

enum osc_producer osc_producer_said(struct osc_str said)
{
    for (unsigned p = OSC_PRODUCER_UNKNOWN + 1; p < OSC_PRODUCER_COUNT; p++) {
        const struct osc_str text = osc_str_c(producers[p].text),
                             dialect = osc_str_c(osc_dialect_text(producers[p].dialect));

        if (said.len == text.len + 1 + dialect.len && said.s[text.len] == '/' &&
            osc_str_starts(said, text) && osc_str_ends(said, dialect))
            return (enum osc_producer)p;
    }
    return OSC_PRODUCER_UNKNOWN;
}

const char *osc_producer_title_of(struct osc_str text)
{
    for (size_t p = 0; p < OSC_PRODUCER_COUNT; p++) {
        if (osc_str_eq(text, osc_str_c(producers[p].text)))
            return producers[p].title;
    }
    return NULL;
}

const char *osc_dialect_text(enum osc_dialect d)
{
    static const char *const texts[] = {
#define OSC_DIALECT_ENTRY(name, text) text,
        OSC_DIALECT_LIST(OSC_DIALECT_ENTRY)
#undef OSC_DIALECT_ENTRY
    };

    return texts[d];
}

bool osc_producer_is_torch(enum osc_producer p)
{
    return p == OSC_PRODUCER_KINETO || p == OSC_PRODUCER_TORCH_NPU ||
           p == OSC_PRODUCER_TORCH_LEGACY;
}
