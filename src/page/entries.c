/* SPDX-License-Identifier: Apache-2.0 */
#include "page/entries.h"

#include <string.h>

#include "base/fields.h"

#define ANSWER_MAX (UINT32_C(1) << 30)

osc_status osc_pack_begin(struct osc_pack *p)
{
    char head[OSC_DEFLATE_HEADER_BYTES];
    const osc_status st = osc_deflate_new(OSC_DEFLATE_SMALL, &p->z);

    if (st != OSC_OK)
        return st;
    osc_deflate_header(head);
    osc_strbuf_add(&p->out, head, sizeof head);
    return p->out.status;
}

void osc_pack_fini(struct osc_pack *p)
{
    osc_deflate_free(p->z);
    osc_strbuf_fini(&p->entry);
    osc_strbuf_fini(&p->out);
    *p = (struct osc_pack){.z = NULL};
}

static void put_padded(struct osc_strbuf *out, const char *s, size_t n)
{
    osc_strbuf_add(out, s, n);
    osc_strbuf_pad(out, '\0', (8 - n % 8) % 8);
}

osc_status osc_pack_add(struct osc_pack *p, const char *key, const char *bytes, size_t n,
                        size_t most, bool *is_taken)
{
    const char *block = NULL;
    size_t n_block = 0;

    *is_taken = false;
    if (n > ANSWER_MAX)
        return OSC_OK;
    osc_strbuf_clear(&p->entry);
    osc_put_u32(&p->entry, (uint32_t)strlen(key));
    osc_put_u32(&p->entry, (uint32_t)n);
    put_padded(&p->entry, key, strlen(key));
    put_padded(&p->entry, bytes, n);
    osc_status st = p->entry.status;
    if (st == OSC_OK)
        st = osc_deflate_block(p->z, p->entry.s, p->entry.len, &block, &n_block);
    if (st == OSC_ELIMIT || (st == OSC_OK && p->out.len + n_block > most))
        return OSC_OK;
    if (st == OSC_OK) {
        osc_deflate_sum_add(&p->sum, p->entry.s, p->entry.len);
        osc_strbuf_add(&p->out, block, n_block);
        st = p->out.status;
    }
    *is_taken = st == OSC_OK;
    return st;
}

osc_status osc_pack_end(struct osc_pack *p)
{
    char tail[OSC_DEFLATE_TRAILER_BYTES];

    osc_deflate_trailer(&p->sum, tail);
    osc_strbuf_add(&p->out, tail, sizeof tail);
    return p->out.status;
}
