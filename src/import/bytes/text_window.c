/* SPDX-License-Identifier: Apache-2.0 */
#include "import/bytes/text_window.h"

#include <string.h>

#include "base/mem.h"

static char empty_text[OSC_TEXT_PADDING]; /* the content of a window before its first block */

void osc_text_init(struct osc_text *t, struct osc_blocks *blocks, uint64_t offset)
{
    *t = (struct osc_text){
        .blocks = blocks, .p = empty_text, .end = empty_text, .end_offset = offset};
}

void osc_text_fini(struct osc_text *t)
{
    osc_free(t->big);
    *t = (struct osc_text){0};
}

/* Copy the KEPT bytes at KEEP and the block that follows them into the big buffer. */
static char *join_in_big(struct osc_text *t, const char *keep, size_t kept, const char *data,
                         size_t len)
{
    const size_t need = kept + len + OSC_TEXT_PADDING;

    if (need > t->big_cap) {
        /* Doubled, so that a long token is copied a few times, not once per block. */
        const size_t most = OSC_TEXT_KEPT_MAX + len + OSC_TEXT_PADDING;
        const size_t cap = need < most / 2 ? need * 2 : most;
        char *big = osc_malloc(cap);
        if (!big) {
            t->status = osc_fail(&t->err, OSC_ENOMEM, "out of memory for a long text");
            return NULL;
        }
        memcpy(big, keep, kept);
        osc_free(t->big);
        t->big = big;
        t->big_cap = cap;
    } else {
        memmove(t->big, keep, kept);
    }
    memcpy(t->big + kept, data, len);
    return t->big;
}

char *osc_text_more(struct osc_text *t, char *keep)
{
    const size_t kept = (size_t)(t->end - keep);
    const size_t behind = (size_t)(t->p - keep);
    char *data, *start;
    size_t len;

    if (t->at_end || kept > OSC_TEXT_KEPT_MAX)
        return NULL;
    t->status = t->blocks->next(t->blocks, &data, &len, &t->err);
    if (t->status != OSC_OK || len == 0) {
        t->at_end = true;
        return NULL;
    }
    if (kept <= OSC_TEXT_HEADROOM) {
        start = data - kept;
        memmove(start, keep, kept);
        t->end = data + len;
    } else {
        start = join_in_big(t, keep, kept, data, len);
        if (!start) {
            t->at_end = true;
            return NULL;
        }
        t->end = start + kept + len;
    }
    memset(t->end, 0, OSC_TEXT_PADDING);
    t->end_offset += len;
    t->p = start + behind;
    t->n_moves++;
    return start;
}
