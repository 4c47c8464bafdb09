/* SPDX-License-Identifier: Apache-2.0 */
/*
 * phrase.h - sentences as data.
 *
 * A phrase is a text with slots for facts, which have names:
 *
 *   {NAME}              the fact, written as its kind says
 *   {NAME?YES|NO}       YES if there is such a fact, else NO; "|NO" may be left out
 *   {NAME|ONE|OTHER}    ONE if the fact, a count, is 1, else OTHER
 *
 * YES, NO, ONE and OTHER are phrases. So what a sentence may say stands in one text that can be
 * read, and code decides only which facts there are:
 *
 *   "{count} {count|copy|copies}{name?, above all {name}}: {time} ({share} of all)"
 *
 * All facts that the sentences of one subject may have are a list, from which their numbers are
 * made, too (OSC_PROSE), so that code that sets an unknown fact does not compile.
 * Phrases name facts in a text: the unit test of the subject calls osc_prose_check().
 *
 * Threading: pure functions.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"
#include "base/strbuf.h"
#include "base/wide.h"

enum osc_prose_kind {
    OSC_PROSE_FLAG,    /* is there or not, and has no value */
    OSC_PROSE_NS,      /* 12.3 ms */
    OSC_PROSE_TIME,    /* 12.346 ms, of a mean: osc_units_time() */
    OSC_PROSE_DELTA,   /* +12.346 ms */
    OSC_PROSE_GROWTH,  /* +3.7 %, from one mean to another: osc_words_growth() */
    OSC_PROSE_DECIMAL, /* 12.34: four digits */
    OSC_PROSE_BYTES,   /* 15.2 GiB */
    OSC_PROSE_COUNT,   /* 3,456 */
    OSC_PROSE_INTEGER, /* 3456, of what is numbered */
    OSC_PROSE_SHARE,   /* 12.3 % */
    OSC_PROSE_PERCENT, /* 12 % */
    OSC_PROSE_TEXT,    /* as it is */
    OSC_PROSE_CLEAN,   /* made safe for terminals: osc_utf8_append_terminal() */
    OSC_PROSE_HEAD,    /* its beginning: osc_words_head() */
    OSC_PROSE_NAME,    /* a text that is shortened: osc_words_name() */
    OSC_PROSE_QUOTED,  /* and in quotes if it would read as words: osc_words_quoted() */
    OSC_PROSE_PHRASE   /* always there: a sentence, or a part of several */
};

/* A fact that phrases may name. */
struct osc_prose_def {
    const char *name;
    enum osc_prose_kind kind;
    const char *phrase; /* of a PHRASE; names only facts that stand before it */
};

struct osc_prose_fact {
    bool is_there;
    int64_t n;           /* of NS, BYTES, COUNT, INTEGER */
    double real;         /* of SHARE, PERCENT, a ratio; of TIME, DELTA, GROWTH, DECIMAL */
    double base;         /* of GROWTH: where it began */
    struct osc_str text; /* of TEXT, CLEAN, HEAD, NAME, QUOTED; borrowed */
};

/* Most facts of one subject. */
#define OSC_PROSE_MOST 112

/* The facts and phrases of one subject. */
struct osc_prose {
    const struct osc_prose_def *defs;
    unsigned n;
};

/* What is known for a phrase of PROSE; the rest zeroed: nothing yet. */
struct osc_prose_facts {
    const struct osc_prose *prose;
    struct osc_prose_fact v[OSC_PROSE_MOST]; /* by number */
};

/* Define NAME, the prose of a file, by LIST(X), which has X(NAME, KIND, PHRASE) for each fact
 * and phrase: their numbers are FACT_NAME. */
#define OSC_PROSE(name, LIST)                                                         \
    enum { LIST(OSC_PROSE_FACT_NUMBER) N_FACTS };                                     \
    _Static_assert(N_FACTS <= OSC_PROSE_MOST, "facts of one subject");                \
    static const struct osc_prose_def facts_of_##name[] = {LIST(OSC_PROSE_FACT_DEF)}; \
    const struct osc_prose name = {facts_of_##name, N_FACTS}
#define OSC_PROSE_FACT_NUMBER(name, kind, phrase) FACT_##name,
#define OSC_PROSE_FACT_DEF(name, kind, phrase)    {#name, OSC_PROSE_##kind, phrase},

static inline void osc_prose_flag(struct osc_prose_facts *f, unsigned fact, bool is_there)
{
    f->v[fact].is_there = is_there;
}

static inline void osc_prose_number(struct osc_prose_facts *f, unsigned fact, int64_t n)
{
    f->v[fact] = (struct osc_prose_fact){.is_there = true, .n = n};
}

static inline void osc_prose_real(struct osc_prose_facts *f, unsigned fact, double real)
{
    f->v[fact] = (struct osc_prose_fact){.is_there = true, .real = real};
}

/* Growth from BASE, unless that is nothing. */
static inline void osc_prose_growth(struct osc_prose_facts *f, unsigned fact, double base,
                                    double real)
{
    f->v[fact] = (struct osc_prose_fact){.is_there = base > 0, .real = real, .base = base};
}

/* PART / WHOLE, or 0 if WHOLE is not positive. */
static inline void osc_prose_share(struct osc_prose_facts *f, unsigned fact, osc_wide part,
                                   osc_wide whole)
{
    osc_prose_real(f, fact, whole > 0 ? (double)part / (double)whole : 0);
}

static inline void osc_prose_text(struct osc_prose_facts *f, unsigned fact, struct osc_str text)
{
    f->v[fact] = (struct osc_prose_fact){.is_there = true, .text = text};
}

/* Append FACT, which is a PHRASE. A slot whose fact is not there makes the status of
 * OUT OSC_EINVAL. */
void osc_prose_say(struct osc_strbuf *out, const struct osc_prose_facts *facts, unsigned fact);

/* The same of PHRASE, which is none of the facts. */
void osc_phrase_add(struct osc_strbuf *out, const char *phrase,
                    const struct osc_prose_facts *facts);

/* NULL if PHRASE can be read, and each of its slots is a fact of PROSE that can be written so;
 * else the place that is wrong. */
const char *osc_phrase_check(const char *phrase, const struct osc_prose *prose);

/* The same of all phrases of PROSE. */
const char *osc_prose_check(const struct osc_prose *prose);
