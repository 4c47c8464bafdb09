/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/plain_page.h"

#include "opscope/trace.h"

/* Append TEXT so that it is text in HTML, too. */
static void add_text(struct osc_strbuf *out, const char *text)
{
    for (; *text; text++) {
        switch (*text) {
        case '<':
            osc_strbuf_adds(out, "&lt;");
            break;
        case '>':
            osc_strbuf_adds(out, "&gt;");
            break;
        case '&':
            osc_strbuf_adds(out, "&amp;");
            break;
        case '"':
            osc_strbuf_adds(out, "&quot;");
            break;
        default:
            osc_strbuf_addc(out, *text);
        }
    }
}

void osc_plain_page_add(struct osc_strbuf *out)
{
    static const char *const forms[] = {"text", "csv", "json", "jsonl", "md"};
    const char *name;

    osc_strbuf_adds(
        out, "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
             "<title>opscope</title></head><body>\n<h1>opscope " OSC_VERSION "</h1>\n"
             "<p>This opscope was built without the pages of the viewer: where it was built, "
             "Node.js "
             "18 and npm were missing. Install both and build it again (<code>apt-get install "
             "nodejs "
             "npm</code>, then <code>make</code>). All tables are here without them.</p>\n"
             "<p><a href=\"api/v1/session\">session</a> (how far the traces are loaded), "
             "<a href=\"api/v1/runs\">runs</a>, "
             "<a href=\"api/v1/catalog\">catalog</a> (what every column means)</p>\n"
             "<table>\n<tr><th>table</th><th>as</th><th>what it shows</th></tr>\n");
    for (size_t i = 0; (name = osc_catalog_name(i)); i++) {
        osc_strbuf_addf(out,
                        "<tr><td><a href=\"api/v1/table/%s?format=text&amp;limit=100\">%s</a>",
                        name, name);
        osc_strbuf_adds(out, "</td><td>");
        for (size_t k = 1; k < sizeof forms / sizeof *forms; k++)
            osc_strbuf_addf(out, "<a href=\"api/v1/table/%s?format=%s\">%s</a> ", name,
                            forms[k], forms[k]);
        osc_strbuf_adds(out, "</td><td>");
        add_text(out, osc_catalog_help(i));
        osc_strbuf_adds(out, "</td></tr>\n");
    }
    osc_strbuf_adds(
        out, "</table>\n<p>The addresses take the options of <code>opscope table</code>, such "
             "as <code>?format=csv&amp;sort=calls&amp;steps=5-7</code>.</p>\n</body></html>\n");
}
