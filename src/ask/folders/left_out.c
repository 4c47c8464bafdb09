/* SPDX-License-Identifier: Apache-2.0 */
#include "ask/folders/left_out.h"

#include <string.h>

#include "base/mem.h"
#include "base/note.h"

#define DESCRIBED 3u /* names in a sentence of `quality` */

static const struct {
    const char *text;
    enum osc_finding_code code;
} whys[OSC_LEFT_WHYS] = {
    [OSC_LEFT_FAILED] = {"it cannot be read", OSC_FINDING_file_failed},
    [OSC_LEFT_LIMIT] = {"there are more directories than are searched",
                        OSC_FINDING_folder_limit},
    [OSC_LEFT_EMPTY] = {"it is empty", OSC_FINDING_file_empty},
    [OSC_LEFT_BEGUN] = {"it ends before its first event", OSC_FINDING_file_empty},
    [OSC_LEFT_BLANK] = {"nothing was recorded into it", OSC_FINDING_file_empty},
    [OSC_LEFT_COPY] = {"it is the same trace as", OSC_FINDING_file_copy},
    [OSC_LEFT_BESIDE] = {"it is beside WORKER.pt.trace.json files, and is not called so",
                         OSC_FINDING_file_other},
    [OSC_LEFT_CONTENT] = {"it holds no trace events", OSC_FINDING_file_other},
    [OSC_LEFT_NAME] = {"it is not called like a trace", OSC_FINDING_file_other},
    [OSC_LEFT_KIND] = {"it is neither a file nor a directory", OSC_FINDING_file_other},
    [OSC_LEFT_AGAIN] = {"it was searched under another name", OSC_FINDING_folder_again},
};

const char *osc_left_why_text(enum osc_left_why why)
{
    return whys[why].text;
}

static void free_one(struct osc_left *one)
{
    osc_free(one->path);
    osc_free(one->detail);
}

static char *copy(const char *s)
{
    const size_t size = s ? strlen(s) + 1 : 0;
    char *const c = s ? osc_malloc(size) : NULL;

    if (c)
        memcpy(c, s, size);
    return c;
}

void osc_left_out_add(struct osc_left_out *l, enum osc_left_why why, const char *path,
                      const char *detail)
{
    struct osc_left one = {.why = why};

    if (l->status != OSC_OK || l->by_why[why]++ >= OSC_LEFT_NAMES)
        return;
    l->status = osc_grow(&l->all, &l->cap, (size_t)l->n + 1, sizeof *l->all);
    if (l->status != OSC_OK)
        return;
    one.path = copy(path);
    one.detail = copy(detail);
    if (!one.path || (detail && !one.detail)) {
        free_one(&one);
        l->status = OSC_ENOMEM;
        return;
    }
    l->all[l->n++] = one;
}

static bool is_failure(enum osc_left_why why)
{
    return why == OSC_LEFT_FAILED || why == OSC_LEFT_BEGUN;
}

void osc_left_out_add_all(struct osc_left_out *l, const struct osc_left_out *from,
                          bool only_failed)
{
    uint64_t rest[OSC_LEFT_WHYS]; /* those without a name */

    memcpy(rest, from->by_why, sizeof rest);
    for (uint32_t i = 0; i < from->n; i++) {
        const struct osc_left *const one = &from->all[i];

        rest[one->why] -= rest[one->why] > 0;
        if (!only_failed || is_failure(one->why))
            osc_left_out_add(l, one->why, one->path, one->detail);
    }
    for (int i = 0; i < OSC_LEFT_WHYS; i++)
        l->by_why[i] += !only_failed || is_failure((enum osc_left_why)i) ? rest[i] : 0;
    if (l->status == OSC_OK)
        l->status = from->status;
}

void osc_left_out_put(const struct osc_left_out *l, struct osc_strbuf *out)
{
    for (int i = 0; i < OSC_LEFT_WHYS; i++)
        osc_put_u64(out, l->by_why[i]);
    osc_put_u32(out, l->n);
    for (uint32_t i = 0; i < l->n; i++) {
        osc_put_u32(out, (uint32_t)l->all[i].why);
        osc_put_c_text(out, l->all[i].path);
        osc_put_c_text(out, l->all[i].detail);
    }
    if (l->status != OSC_OK)
        out->status = l->status;
}

void osc_left_out_get(struct osc_left_out *l, struct osc_fields *from)
{
    uint64_t by_why[OSC_LEFT_WHYS];

    for (int i = 0; i < OSC_LEFT_WHYS; i++)
        by_why[i] = osc_get_u64(from);
    const uint32_t n = osc_get_u32(from);
    from->is_bad = from->is_bad || n > OSC_LEFT_WHYS * OSC_LEFT_NAMES;
    for (uint32_t i = 0; i < n && !from->is_bad; i++) {
        const uint32_t why = osc_get_u32(from);
        const struct osc_str path = osc_get_text(from), detail = osc_get_text(from);

        from->is_bad = from->is_bad || why >= OSC_LEFT_WHYS || !path.s;
        if (!from->is_bad)
            osc_left_out_add(l, (enum osc_left_why)why, path.s, detail.s);
    }
    if (!from->is_bad)
        memcpy(l->by_why, by_why, sizeof by_why);
}

void osc_left_out_take(struct osc_left_out *l, struct osc_left_out *from)
{
    osc_left_out_add_all(l, from, false);
    osc_left_out_fini(from);
}

void osc_left_out_fini(struct osc_left_out *l)
{
    for (uint32_t i = 0; i < l->n; i++)
        free_one(&l->all[i]);
    osc_free(l->all);
    *l = (struct osc_left_out){0};
}

void osc_left_out_note(const struct osc_left_out *l, struct osc_strbuf *notes)
{
    static const enum osc_left_why noted[] = {OSC_LEFT_COPY, OSC_LEFT_BLANK, OSC_LEFT_FAILED};
    uint64_t n = 0;

    for (size_t i = 0; i < sizeof noted / sizeof *noted; i++)
        if (l->by_why[noted[i]] > OSC_LEFT_NAMES)
            n += l->by_why[noted[i]] - OSC_LEFT_NAMES;
    if (n > 0)
        osc_note(notes, "%llu more files are skipped; table quality counts them by reason",
                 (unsigned long long)n);
}

/* Append "; PATH: it is empty", for the first names. */
static void add_name(const struct osc_left *one, struct osc_strbuf *out, uint32_t n)
{
    osc_strbuf_addf(out, "%s%s: ", n == 0 ? ": " : "; ", one->path);
    if (one->why == OSC_LEFT_FAILED && one->detail)
        osc_strbuf_adds(out, one->detail);
    else
        osc_strbuf_adds(out, whys[one->why].text);
    if (one->why != OSC_LEFT_FAILED && one->detail)
        osc_strbuf_addf(out, " %s", one->detail);
}

/* Put ONE among the N least of LEAST by path. Returns how many there are now. */
static uint32_t put_least(const struct osc_left *least[DESCRIBED], uint32_t n,
                          const struct osc_left *one)
{
    uint32_t at = n;

    while (at > 0 && strcmp(least[at - 1]->path, one->path) > 0)
        at--;
    if (at == DESCRIBED)
        return n;
    n = n < DESCRIBED ? n + 1 : n;
    for (uint32_t k = n - 1; k > at; k--)
        least[k] = least[k - 1];
    least[at] = one;
    return n;
}

uint64_t osc_left_out_describe(const struct osc_left_out *l, enum osc_finding_code code,
                               struct osc_strbuf *out)
{
    const struct osc_left *least[DESCRIBED];
    uint64_t count = 0;
    uint32_t n = 0;

    for (int i = 0; i < OSC_LEFT_WHYS; i++)
        count += whys[i].code == code ? l->by_why[i] : 0;
    if (count == 0)
        return 0;
    for (uint32_t i = 0; i < l->n; i++) {
        if (whys[l->all[i].why].code == code)
            n = put_least(least, n, &l->all[i]);
    }
    osc_strbuf_adds(out, osc_finding_message(code));
    for (uint32_t i = 0; i < n; i++)
        add_name(least[i], out, i);
    if (count > n)
        osc_strbuf_addf(out, "; and %llu more", (unsigned long long)(count - n));
    return count;
}
