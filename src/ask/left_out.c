/* SPDX-License-Identifier: Apache-2.0 */
#include "ask/left_out.h"

#include <string.h>

#include "ask/note.h"
#include "base/mem.h"

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
    [OSC_LEFT_AGAIN] = {"it was searched under another name", OSC_FINDING_folder_again},
};

const char *osc_left_why_text(enum osc_left_why why)
{
    return whys[why].text;
}

enum osc_finding_code osc_left_why_code(enum osc_left_why why)
{
    return whys[why].code;
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

void osc_left_out_take(struct osc_left_out *l, struct osc_left_out *from)
{
    for (uint32_t i = 0; i < from->n; i++) {
        const struct osc_left *const one = &from->all[i];

        osc_left_out_add(l, one->why, one->path, one->detail);
        from->by_why[one->why]--;
    }
    for (int i = 0; i < OSC_LEFT_WHYS; i++) /* those without a name */
        l->by_why[i] += from->by_why[i];
    if (l->status == OSC_OK)
        l->status = from->status;
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

uint64_t osc_left_out_describe(const struct osc_left_out *l, enum osc_finding_code code,
                               struct osc_strbuf *out)
{
    uint64_t count = 0;
    uint32_t n = 0;

    for (int i = 0; i < OSC_LEFT_WHYS; i++)
        count += whys[i].code == code ? l->by_why[i] : 0;
    if (count == 0)
        return 0;
    osc_strbuf_adds(out, osc_finding_message(code));
    for (uint32_t i = 0; i < l->n && n < DESCRIBED; i++) {
        if (whys[l->all[i].why].code == code)
            add_name(&l->all[i], out, n++);
    }
    if (count > n)
        osc_strbuf_addf(out, "; and %llu more", (unsigned long long)(count - n));
    return count;
}
