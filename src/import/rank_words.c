/* SPDX-License-Identifier: Apache-2.0 */
#include "import/rank_words.h"

#include <ctype.h>
#include <string.h>

#include "base/mem.h"
#include "base/sort.h"

enum { N_WORDS = 5 };

/* Of the nearest ranks first, as launchers number them. */
static const char words[N_WORDS][3] = {"tp", "dp", "ep", "pp", "cp"};

/* A file, and its place in each way that its name tells; -1: not told. */
struct place {
    struct osc_identity *id;
    int32_t of[N_WORDS];
};

static bool is_of_word(char c)
{
    return isalnum((unsigned char)c) != 0;
}

/* The word of two letters at AT of NAME, which has at least three bytes there; -1: none. */
static int word_at(struct osc_str name, uint32_t at)
{
    /* In small letters; what is no letter does not become one of these. */
    const char small[] = {(char)(name.s[at] | 0x20), (char)(name.s[at + 1] | 0x20)};

    for (int word = 0; word < N_WORDS; word++) {
        if (memcmp(small, words[word], sizeof small) == 0)
            return word;
    }
    return -1;
}

/* Read "tp1", "TP-1" or "tp_1" at AT of NAME, which has at least three bytes there; *END
 * becomes where it ends. */
static int find_word(struct osc_str name, uint32_t at, uint32_t *end, int32_t *value,
                     bool *has_hyphen)
{
    const int word = word_at(name, at);

    if (word < 0)
        return -1;
    at += 2;
    *has_hyphen = name.s[at] == '-';
    at += name.s[at] == '-' || name.s[at] == '_';
    const uint32_t from = at;
    for (*value = 0; at < name.len && isdigit((unsigned char)name.s[at]) && at - from < 6; at++)
        *value = *value * 10 + (name.s[at] - '0');
    *end = at;
    return at > from && (at == name.len || !is_of_word(name.s[at])) ? word : -1;
}

/* Read the places in the name of P's file. False: it tells none. One word alone may be a size,
 * as in "model_tp8", unless it is written "-TP-3". */
static bool find_place(struct place *p)
{
    struct osc_str name = p->id->path;
    const char *const slash = name.len > 0 ? memrchr(name.s, '/', name.len) : NULL;
    unsigned n = 0;
    bool is_certain = false;

    if (slash)
        name = (struct osc_str){slash + 1, (uint32_t)(name.s + name.len - slash - 1)};
    for (int i = 0; i < N_WORDS; i++)
        p->of[i] = -1;
    for (uint32_t at = 0; at + 3 <= name.len; at++) {
        int32_t value;
        uint32_t end;
        bool has_hyphen;

        if (at > 0 && is_of_word(name.s[at - 1]))
            continue;
        const int word = find_word(name, at, &end, &value, &has_hyphen);
        if (word < 0 || p->of[word] >= 0)
            continue;
        p->of[word] = value;
        is_certain |= has_hyphen && isupper((unsigned char)name.s[at]);
        n++;
        at = end - 1;
    }
    return n > 1 || is_certain;
}

/* The last word counts most. */
static int compare_places(const void *a, const void *b)
{
    const struct place *const x = a, *const y = b;

    for (int i = N_WORDS; i-- > 0;) {
        if (x->of[i] != y->of[i])
            return x->of[i] < y->of[i] ? -1 : 1;
    }
    return 0;
}

static int compare_values(const void *a, const void *b)
{
    const int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;

    return (x > y) - (x < y);
}

/* Whether WORD is told of each of the N places and tells those that differ apart; V has room
 * for N. */
static bool tells_apart(const struct place *sorted, uint32_t n, int word, int32_t *v)
{
    uint32_t n_values = 0;

    for (uint32_t i = 0; i < n; i++) {
        if (sorted[i].of[word] < 0)
            return false;
        if (i == 0 || compare_places(&sorted[i - 1], &sorted[i]) != 0)
            v[n_values++] = sorted[i].of[word];
    }
    osc_sort(v, n_values, sizeof *v, compare_values);
    for (uint32_t i = 1; i < n_values; i++) {
        if (v[i] == v[i - 1])
            return false;
    }
    return true;
}

static void set_ranks(const struct place *sorted, uint32_t n, int word)
{
    int32_t number = 0;

    for (uint32_t i = 0; i < n; i++) {
        number += i > 0 && compare_places(&sorted[i - 1], &sorted[i]) != 0;
        sorted[i].id->among.rank = word < N_WORDS ? sorted[i].of[word] : number;
        sorted[i].id->has_rank = true;
    }
}

osc_status osc_rank_words_apply(struct osc_identity *const *ids, uint32_t n)
{
    struct place *const places = osc_calloc((size_t)n + 1, sizeof *places);
    int32_t *const values = osc_calloc((size_t)n + 1, sizeof *values);
    const osc_status st = places && values ? OSC_OK : OSC_ENOMEM;
    uint32_t n_places = 0;
    int word = 0;

    for (uint32_t i = 0; i < n && st == OSC_OK; i++) {
        places[n_places].id = ids[i];
        n_places += !ids[i]->has_rank && find_place(&places[n_places]);
    }
    if (n_places > 0) {
        osc_sort(places, n_places, sizeof *places, compare_places);
        while (word < N_WORDS && !tells_apart(places, n_places, word, values))
            word++;
        set_ranks(places, n_places, word);
    }
    osc_free(places);
    osc_free(values);
    return st;
}
