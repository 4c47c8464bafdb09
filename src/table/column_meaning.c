/* SPDX-License-Identifier: Apache-2.0 */
#include "table/column_meaning.h"

#include <string.h>
#include <strings.h>

#define MOST_PARTS 8

/* What users call the parts of names, and how columns call them. */
static const struct {
    const char *said, *is;
} words[] = {
    {"time", "ns"},       {"times", "ns"},     {"duration", "ns"},    {"dur", "ns"},
    {"elapsed", "ns"},    {"latency", "ns"},   {"us", "ns"},          {"ms", "ns"},
    {"size", "bytes"},    {"memory", "bytes"}, {"mem", "bytes"},      {"share", "ratio"},
    {"percent", "ratio"}, {"pct", "ratio"},    {"fraction", "ratio"}, {"count", "calls"},
    {"counts", "calls"},  {"number", "calls"}, {"num", "calls"},      {"average", "mean"},
    {"avg", "mean"},      {"cpu", "host"},     {"gpu", "device"},     {"stdev", "std"},
    {"maximum", "max"},   {"minimum", "min"},  {"sum", "total"},
};

/* The parts of a name, between underscores, blanks and hyphens. */
struct parts {
    struct osc_str part[MOST_PARTS];
    uint32_t n; /* 0 also of a name with more parts */
};

static bool is_same(struct osc_str a, const char *b)
{
    return a.len == strlen(b) && strncasecmp(a.s, b, a.len) == 0;
}

static struct parts split(const char *name)
{
    struct parts p = {.n = 0};

    while (*(name += strspn(name, "_- "))) {
        const size_t len = strcspn(name, "_- ");
        struct osc_str part = {name, (uint32_t)len};

        if (p.n == MOST_PARTS)
            return (struct parts){.n = 0};
        for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
            if (is_same(part, words[i].said)) {
                part = osc_str_c(words[i].is);
                break;
            }
        }
        p.part[p.n++] = part;
        name += len;
    }
    return p;
}

static bool has(const struct parts *p, struct osc_str part)
{
    for (uint32_t i = 0; i < p->n; i++) {
        if (p->part[i].len == part.len && strncasecmp(p->part[i].s, part.s, part.len) == 0)
            return true;
    }
    return false;
}

static bool is_unit(struct osc_str part)
{
    return is_same(part, "ns") || is_same(part, "bytes") || is_same(part, "ratio");
}

/* Whether the parts of WORD are those of NAME in any order, but for its unit. */
static bool is_name(const struct parts *word, const char *name)
{
    const struct parts p = split(name);

    for (uint32_t i = 0; i < p.n; i++) {
        if (!has(word, p.part[i]) && !is_unit(p.part[i]))
            return false;
    }
    for (uint32_t i = 0; i < word->n; i++) {
        if (!has(&p, word->part[i]))
            return false;
    }
    return p.n > 0;
}

static bool is_shown(const struct osc_column *c)
{
    return !(c->flags & (OSC_COLUMN_HIDDEN | OSC_COLUMN_OPTIONAL));
}

/* NAME, or if it is of devices and DEF has the same of the host, that: each trace has it. */
static const char *on_host(const struct osc_table_def *def, const char *name)
{
    static const char device[] = "device_", host[] = "host_";

    for (uint32_t c = 0; c < def->n_columns; c++) {
        const char *const other = def->columns[c].name;

        if (strncmp(name, device, strlen(device)) == 0 &&
            strncmp(other, host, strlen(host)) == 0 &&
            strcmp(name + strlen(device), other + strlen(host)) == 0)
            return other;
    }
    return name;
}

/* The column with UNIT that says most: the one that rows are sorted by, else the duration of an
 * event, else the first that is no moment. */
static const char *main_of_unit(const struct osc_table_def *def, struct osc_str unit)
{
    const struct osc_column *best = NULL;

    for (uint32_t c = 0; c < def->n_columns; c++) {
        const struct osc_column *const column = &def->columns[c];

        if (!is_shown(column) || !column->unit || !is_same(unit, column->unit) ||
            (column->flags & OSC_COLUMN_MOMENT))
            continue;
        if (def->sorted_by == c + 1)
            return on_host(def, column->name);
        if (!best || strcmp(column->name, "dur_ns") == 0)
            best = column;
    }
    return best ? best->name : NULL;
}

const char *osc_column_meant(const struct osc_table_def *def, const char *word)
{
    const struct parts p = split(word);

    if (p.n == 1 && is_unit(p.part[0]))
        return main_of_unit(def, p.part[0]);
    for (uint32_t c = 0; c < def->n_columns && p.n > 0; c++) {
        if (is_shown(&def->columns[c]) && is_name(&p, def->columns[c].name))
            return def->columns[c].name;
    }
    return NULL;
}
