/* SPDX-License-Identifier: Apache-2.0 */
#include "import/bytes/filename.h"

#include <string.h>

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool drop_suffix(struct osc_str *s, const char *suffix)
{
    const struct osc_str end = osc_str_c(suffix);

    if (!osc_str_ends(*s, end))
        return false;
    s->len -= end.len;
    return true;
}

/* Parse the digits of S from AT on as a rank. */
static bool parse_rank(struct osc_str s, uint32_t at, int32_t *rank)
{
    int32_t value = 0;
    uint32_t i = at;

    for (; i < s.len && is_digit(s.s[i]); i++) {
        if (value > 99999999)
            return false; /* a process id or a time, not a rank */
        value = value * 10 + (s.s[i] - '0');
    }
    *rank = value;
    return i > at;
}

/* Find the last "rank-3", "rank3" or "rank_3" in STEM, or else a final "_3". */
static bool find_rank(struct osc_str stem, int32_t *rank)
{
    for (uint32_t i = stem.len; i-- > 0;) {
        const struct osc_str rest = {stem.s + i, stem.len - i};

        if (!osc_str_starts(rest, OSC_STR("rank")))
            continue;
        const uint32_t sep = rest.len > 4 && (rest.s[4] == '-' || rest.s[4] == '_') ? 1 : 0;
        if (parse_rank(rest, 4 + sep, rank))
            return true;
    }

    uint32_t at = stem.len;
    while (at > 0 && is_digit(stem.s[at - 1]))
        at--;
    /* Longer numbers are process ids (host_12345) or times. */
    return at > 0 && stem.s[at - 1] == '_' && stem.len - at <= 3 && parse_rank(stem, at, rank);
}

static void split_number(struct osc_filename *f, struct osc_str stem)
{
    uint32_t at = stem.len;

    while (at > 0 && is_digit(stem.s[at - 1]))
        at--;
    f->worker = stem;
    if (at == stem.len || at == 0 || stem.s[at - 1] != '.')
        return;
    f->worker.len = at - 1;
    while (at + 1 < stem.len && stem.s[at] == '0')
        at++;
    f->number = (struct osc_str){stem.s + at, stem.len - at};
}

struct osc_filename osc_filename_parse(const char *name)
{
    const char *slash = strrchr(name, '/');
    struct osc_str stem = osc_str_c(slash ? slash + 1 : name);
    struct osc_filename f = {0};

    if (!drop_suffix(&stem, ".gz"))
        drop_suffix(&stem, ".zst");
    f.is_recording = drop_suffix(&stem, ".osc");
    f.is_trace = f.is_recording || drop_suffix(&stem, ".json");
    if (f.is_recording) {
        split_number(&f, stem);
        stem = f.worker;
    } else if (f.is_trace && drop_suffix(&stem, ".pt.trace")) {
        f.is_logdir = true;
        split_number(&f, stem);
        stem = f.worker;
    }
    f.has_rank = find_rank(stem, &f.rank);
    return f;
}

int osc_filename_compare_numbers(struct osc_str a, struct osc_str b)
{
    if (a.len != b.len)
        return a.len < b.len ? -1 : 1;
    return osc_str_cmp(a, b);
}
