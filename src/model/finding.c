/* SPDX-License-Identifier: Apache-2.0 */
#include "model/finding.h"

#include <stddef.h>

#include "base/status.h"

struct finding_text {
    const char *code, *message, *remedy;
    enum osc_severity severity;
};

static const struct finding_text texts[] = {
#define OSC_FINDING_TEXT(code, severity, message, remedy) \
    [OSC_FINDING_##code] = {#code, message, remedy, OSC_##severity},
    OSC_FINDING_LIST(OSC_FINDING_TEXT)
#undef OSC_FINDING_TEXT
};

static void add(struct osc_finding *one, uint64_t offset, int64_t time_ns)
{
    if (one->count++ == 0) {
        one->first_offset = offset;
        one->first_ns = time_ns;
        one->last_ns = OSC_NO_TIME;
    }
}

/* FROM comes later in the input than TO. */
static void merge(struct osc_finding *to, const struct osc_finding *from)
{
    if (from->count == 0)
        return;
    if (to->count == 0) {
        *to = *from;
        return;
    }
    to->count += from->count;
    if (from->last_ns > to->last_ns)
        to->last_ns = from->last_ns;
}

void osc_findings_add(struct osc_findings *f, enum osc_finding_code code, uint64_t offset,
                      int64_t time_ns)
{
    add(&f->by_code[code], offset, time_ns);
}

void osc_findings_add_phase(struct osc_findings *f, unsigned char phase, uint64_t offset)
{
    add(&f->by_code[OSC_FINDING_unknown_phase], offset, OSC_NO_TIME);
    if (phase > 0 && phase < OSC_PHASES)
        add(&f->phases[phase], offset, OSC_NO_TIME);
}

void osc_findings_merge(struct osc_findings *f, const struct osc_findings *from)
{
    for (unsigned i = 0; i < OSC_PHASES; i++)
        merge(&f->phases[i], &from->phases[i]);
    for (unsigned i = 0; i < OSC_FINDING_COUNT; i++)
        merge(&f->by_code[i], &from->by_code[i]);
}

bool osc_findings_say_cut(const struct osc_findings *f)
{
    static const enum osc_finding_code codes[] = {
        OSC_FINDING_truncated, OSC_FINDING_corrupt, OSC_FINDING_unclosed_list,
        OSC_FINDING_limit_reached, OSC_FINDING_lost_records};

    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
        if (f->by_code[codes[i]].count > 0)
            return true;
    }
    return false;
}

const char *osc_finding_code_text(enum osc_finding_code code)
{
    return texts[code].code;
}

enum osc_severity osc_finding_severity(enum osc_finding_code code)
{
    return texts[code].severity;
}

const char *osc_finding_message(enum osc_finding_code code)
{
    return texts[code].message;
}

const char *osc_finding_remedy(enum osc_finding_code code)
{
    return texts[code].remedy;
}

void osc_findings_add_tally(struct osc_findings *f, enum osc_finding_code code,
                            const struct osc_tally *t)
{
    if (t->n == 0)
        return;
    osc_findings_add(f, code, OSC_NO_OFFSET, t->first_ns);
    f->by_code[code].count += t->n - 1;
}
