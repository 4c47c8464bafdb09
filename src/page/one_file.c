/* SPDX-License-Identifier: Apache-2.0 */
#include "page/one_file.h"

#include <string.h>

#include "api/api.h"
#include "page/entries.h"
#include "page/questions.h"
#include "page/template.h"

/* Room for the title and what is not counted. */
#define SPARE_BYTES 20000u

bool osc_page_is_there(const char **why)
{
    *why = NULL;
    if (osc_template_bytes == 0)
        *why = "this opscope was built without the pages of the viewer: where it was built, "
               "Node.js 18 and npm were missing; install both (apt-get install nodejs npm) and "
               "build it again";
    else if (!osc_deflate_is_there())
        *why = "this opscope was built without ISA-L, which compresses the page; install "
               "libisal-dev and build it again";
    return *why == NULL;
}

/* Append TEXT so that it is text in HTML, too. */
static void add_text(struct osc_strbuf *out, const char *text)
{
    for (; *text; text++) {
        const unsigned char c = (unsigned char)*text;

        if (c == '<' || c == '>' || c == '&' || c < ' ')
            osc_strbuf_addf(out, "&#%u;", c < ' ' ? 0xfffdu : c);
        else
            osc_strbuf_addc(out, *text);
    }
}

/* Write BYTES in base 64. */
static osc_status write_base64(const struct osc_page *page, const struct osc_strbuf *bytes)
{
    static const char digits[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=";
    const unsigned char *const s = (const unsigned char *)bytes->s;
    struct osc_strbuf out = {0};

    for (size_t i = 0; i < bytes->len; i += 3) {
        const size_t n = bytes->len - i;
        const unsigned v = (unsigned)s[i] << 16 | (n > 1 ? (unsigned)s[i + 1] << 8 : 0) |
                           (n > 2 ? s[i + 2] : 0u);
        const char four[] = {digits[v >> 18], digits[v >> 12 & 63],
                             digits[n > 1 ? v >> 6 & 63 : 64], digits[n > 2 ? v & 63 : 64]};

        osc_strbuf_add(&out, four, sizeof four);
    }
    const osc_status st =
        out.status == OSC_OK ? page->write(page->ctx, out.s, out.len) : out.status;
    osc_strbuf_fini(&out);
    return st;
}

/* Write the template up to MARK, which must be in its rest *AT, and move *AT behind it. */
static osc_status write_until(const struct osc_page *page, struct osc_str *at, const char *mark)
{
    const size_t len = strlen(mark);
    const char *const found = memmem(at->s, at->len, mark, len);

    if (!found)
        return OSC_EINVAL;
    const size_t n = (size_t)(found - at->s);
    const osc_status st = page->write(page->ctx, at->s, n);
    *at = (struct osc_str){found + len, (uint32_t)(at->len - n - len)};
    return st;
}

static osc_status write_file(const struct osc_page *page, const struct osc_pack *p)
{
    struct osc_str rest = {(const char *)osc_template, (uint32_t)osc_template_bytes};
    struct osc_strbuf title = {0};

    add_text(&title, page->name);
    osc_status st = title.status;
    if (st == OSC_OK)
        st = write_until(page, &rest, OSC_TEMPLATE_TITLE);
    if (st == OSC_OK && title.len > 0)
        st = page->write(page->ctx, title.s, title.len);
    if (st == OSC_OK)
        st = write_until(page, &rest, OSC_TEMPLATE_DATA);
    if (st == OSC_OK)
        st = write_base64(page, &p->out);
    if (st == OSC_OK)
        st = page->write(page->ctx, rest.s, rest.len);
    osc_strbuf_fini(&title);
    return st;
}

osc_status osc_page_write(const struct osc_page *page, struct osc_err *err)
{
    const struct osc_keeper_run run = {page->name, page->paths, page->n_paths, page->options};
    const struct osc_api_config config = {
        .keeper = {.runs = &run, .n_runs = 1, .held = page->set}};
    const size_t most = (OSC_PAGE_BYTES - SPARE_BYTES - osc_template_bytes) / 4 * 3;
    struct osc_pack p = {.z = NULL};
    struct osc_api *api = NULL;
    osc_status st = osc_api_new(&api, &config);

    if (st == OSC_OK)
        st = osc_pack_begin(&p);
    if (st == OSC_OK)
        st = osc_questions_ask(page, api, &p, most, err);
    if (st == OSC_OK)
        st = osc_pack_end(&p);
    if (st == OSC_OK)
        st = write_file(page, &p);
    osc_pack_fini(&p);
    if (api && osc_api_stop(api))
        osc_api_free(api);
    return st;
}
