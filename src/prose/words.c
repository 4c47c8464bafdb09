/* SPDX-License-Identifier: Apache-2.0 */
#include "prose/words.h"

#include <math.h>

#include "base/percent.h"
#include "base/utf8.h"
#include "names/elide.h"
#include "names/labels.h"

#define SYMBOL_WIDTH 60
#define HEAD_BYTES   96u

/* Write V, which is not negative, with three digits. */
static void add_digits(struct osc_strbuf *out, double v, const char *unit)
{
    osc_strbuf_addf(out, "%.*f %s", v < 9.995 ? 2 : v < 99.95 ? 1 : 0, v, unit);
}

void osc_words_time(struct osc_strbuf *out, int64_t ns)
{
    const double v = (double)ns;

    if (ns < 1000)
        osc_strbuf_addf(out, "%lld ns", (long long)ns);
    else if (v < 999.5e3)
        add_digits(out, v / 1e3, "us");
    else if (v < 999.5e6)
        add_digits(out, v / 1e6, "ms");
    else
        add_digits(out, v / 1e9, "s");
}

void osc_words_bytes(struct osc_strbuf *out, int64_t n)
{
    const double kib = 1024, v = (double)n;

    if (v < kib)
        osc_strbuf_addf(out, "%lld bytes", (long long)n);
    else if (v < kib * kib)
        add_digits(out, v / kib, "KiB");
    else if (v < kib * kib * kib)
        add_digits(out, v / kib / kib, "MiB");
    else
        add_digits(out, v / kib / kib / kib, "GiB");
}

void osc_words_growth(struct osc_strbuf *out, double base, double now)
{
    if (now > 2 * base) {
        osc_strbuf_addf(out, now / base < 100 ? "%.1f x" : "%.0f x", now / base);
        return;
    }
    osc_strbuf_addc(out, now < base ? '-' : '+');
    osc_percent_add(out, fabs(now - base) / base, 1);
}

/* Whether NAME has letters, blanks and hyphens alone. */
static bool is_words(struct osc_str name)
{
    for (uint32_t i = 0; i < name.len; i++) {
        const char c = name.s[i];

        if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == ' ' || c == '-'))
            return false;
    }
    return true;
}

void osc_words_quoted(struct osc_strbuf *out, struct osc_str name)
{
    const char *const quote = is_words(name) ? "'" : "";

    osc_strbuf_adds(out, quote);
    osc_words_name(out, name);
    osc_strbuf_adds(out, quote);
}

void osc_words_name(struct osc_strbuf *out, struct osc_str name)
{
    struct osc_strbuf clean = {0};

    osc_utf8_append_terminal(&clean, name);
    osc_elide(out, (struct osc_str){clean.s ? clean.s : "", (uint32_t)clean.len},
              OSC_WORDS_NAME_WIDTH, NULL);
    if (clean.status != OSC_OK)
        out->status = clean.status;
    osc_strbuf_fini(&clean);
}

void osc_words_symbol(struct osc_strbuf *out, struct osc_str name, bool has_full_names)
{
    struct osc_labels labels = {0};
    osc_sid id;
    osc_status st = osc_labels_add(&labels, name, !has_full_names, &id);

    if (st == OSC_OK)
        st = osc_labels_compose(&labels, SYMBOL_WIDTH, SYMBOL_WIDTH);
    if (st == OSC_OK)
        osc_strbuf_addstr(out, osc_labels_get(&labels, id));
    else
        out->status = st;
    osc_labels_fini(&labels);
}

void osc_words_head(struct osc_strbuf *out, struct osc_str name)
{
    const bool is_long = name.len > HEAD_BYTES;

    osc_strbuf_add(out, name.s, is_long ? osc_utf8_head(name, HEAD_BYTES) : name.len);
    osc_strbuf_adds(out, is_long ? "..." : "");
}
