/* SPDX-License-Identifier: Apache-2.0 */
#include "import/build/filename.h"

#include <string.h>

#include "import/build/reader.h"

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

/* Parse all of S from AT on as a rank. */
static bool is_rank(struct osc_str s, uint32_t at, int32_t *rank)
{
    uint32_t end = at;

    while (end < s.len && is_digit(s.s[end]))
        end++;
    return end == s.len && parse_rank(s, at, rank);
}

/* Find the rank in WORKER, of a log directory: "worker3" at its start, as in torch's examples,
 * or a final "-3" after what PyTorch Lightning does. */
static bool find_worker_rank(struct osc_str worker, int32_t *rank)
{
    static const char *const stages[] = {"fit-", "test-", "validate-", "predict-"};
    const struct osc_str word = OSC_STR("worker");
    uint32_t at = worker.len;

    if (osc_str_starts(worker, word) && parse_rank(worker, word.len, rank))
        return true;
    while (at > 0 && is_digit(worker.s[at - 1]))
        at--;
    for (size_t i = 0; i < sizeof stages / sizeof *stages; i++) {
        const struct osc_str stage = osc_str_c(stages[i]);

        if (at > stage.len && worker.s[at - 1] == '-' && osc_str_starts(worker, stage))
            return is_rank(worker, at, rank);
    }
    return false;
}

/* Find the last "rank-3", "rank3" or "rank_3" in STEM. */
static bool find_named_rank(struct osc_str stem, int32_t *rank)
{
    for (uint32_t i = stem.len; i-- > 0;) {
        const struct osc_str rest = {stem.s + i, stem.len - i};

        if (!osc_str_starts(rest, OSC_STR("rank")))
            continue;
        const uint32_t sep = rest.len > 4 && (rest.s[4] == '-' || rest.s[4] == '_') ? 1 : 0;
        if (parse_rank(rest, 4 + sep, rank))
            return true;
    }
    return false;
}

/* Find a final "_3" in STEM. Longer numbers are process ids (host_12345) or times. */
static bool find_last_number(struct osc_str stem, int32_t *rank)
{
    uint32_t at = stem.len;

    while (at > 0 && is_digit(stem.s[at - 1]))
        at--;
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

/* The length of S without a last ".NUMBER" of at least MIN digits; 0: there is none. */
static uint32_t before_number(struct osc_str s, uint32_t min)
{
    uint32_t at = s.len;

    while (at > 0 && is_digit(s.s[at - 1]))
        at--;
    return at > 1 && s.s[at - 1] == '.' && s.len - at >= min ? at - 1 : 0;
}

/* Whether STEM is a name that the recorder chose, HOST.PID.SECONDS.N, whose number tells
 * recordings apart and no parts of one. */
static bool is_chosen_name(struct osc_str stem)
{
    static const uint32_t digits[] = {1, 10, 1}; /* of the numbers, from the end on */

    for (size_t i = 0; i < sizeof digits / sizeof *digits && stem.len > 0; i++)
        stem.len = before_number(stem, digits[i]);
    return stem.len > 0;
}

/* Cut the last part off PATH, with the slashes around it, and return it. */
static struct osc_str cut_last(struct osc_str *path)
{
    struct osc_str last;

    while (path->len > 0 && path->s[path->len - 1] == '/')
        path->len--;
    last = *path;
    while (path->len > 0 && path->s[path->len - 1] != '/')
        path->len--;
    last.s += path->len;
    last.len -= path->len;
    return last;
}

bool osc_filename_folder_rank(struct osc_str path, int32_t *rank)
{
    const struct osc_str name = cut_last(&path), above = cut_last(&path);
    const struct osc_str word = OSC_STR("rank"), attempt = OSC_STR("attempt_");
    int32_t number;

    if (osc_str_starts(name, word)) {
        const bool has_sep =
            name.len > word.len && (name.s[word.len] == '-' || name.s[word.len] == '_');

        return is_rank(name, word.len + has_sep, rank);
    }
    /* torchrun makes a directory for each rank of each attempt to run the program. */
    return osc_str_starts(above, attempt) && is_rank(above, attempt.len, &number) &&
           is_rank(name, 0, rank);
}

/* The reader one of whose suffixes NAME has, and loses; NULL: there is none. */
static const struct osc_reader *drop_format(struct osc_str *name)
{
    for (size_t i = 0; osc_readers[i]; i++) {
        for (const char *p = osc_readers[i]->suffixes; p && *p; p += *p == ' ') {
            const struct osc_str suffix = {p, (uint32_t)strcspn(p, " ")};

            p += suffix.len;
            if (osc_str_ends(*name, suffix)) {
                name->len -= suffix.len;
                return osc_readers[i];
            }
        }
    }
    return NULL;
}

struct osc_filename osc_filename_parse(const char *name)
{
    const char *slash = strrchr(name, '/');
    struct osc_str stem = osc_str_c(slash ? slash + 1 : name);
    struct osc_filename f = {0};

    if (!drop_suffix(&stem, ".gz"))
        drop_suffix(&stem, ".zst");
    const bool is_logged = osc_str_ends(stem, OSC_STR(".pt.trace.json"));

    f.reader = drop_format(&stem);
    f.is_recording = f.reader == &osc_reader_records;
    f.stem = (struct osc_str){name, (uint32_t)(stem.s - name) + stem.len};
    if (f.is_recording) {
        f.worker = stem;
        if (!is_chosen_name(stem))
            split_number(&f, stem);
        stem = f.worker;
    } else if (is_logged && drop_suffix(&stem, ".pt.trace")) {
        f.is_logdir = true;
        split_number(&f, stem);
        stem = f.worker;
    }
    const struct osc_str folder = {name, slash ? (uint32_t)(slash - name) : 0};
    f.has_rank = find_named_rank(stem, &f.rank) || osc_filename_folder_rank(folder, &f.rank) ||
                 (f.is_logdir && find_worker_rank(stem, &f.rank)) ||
                 find_last_number(stem, &f.rank);
    return f;
}

int osc_filename_compare_numbers(struct osc_str a, struct osc_str b)
{
    if (a.len != b.len)
        return a.len < b.len ? -1 : 1;
    return osc_str_cmp(a, b);
}
