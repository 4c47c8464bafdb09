/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/advice/advice_words.h"

#include <string.h>

#include "base/percent.h"
#include "model/known_names.h"

/* Most columns of a name of device work in a sentence, as in tables. */
#define WORK_WIDTH 80

void osc_words_percent(struct osc_strbuf *out, int64_t part, int64_t whole, int n_digits)
{
    osc_percent_add(out, whole > 0 ? (double)part / (double)whole : 0, n_digits);
}

void osc_words_share(struct osc_strbuf *out, const struct osc_advice_numbers *n)
{
    osc_words_percent(out, n->part, n->whole, 1);
    osc_strbuf_adds(out, " of the step time (");
    osc_words_time(out, n->impact_ns);
    osc_strbuf_adds(out, ")");
}

osc_status osc_words_show_names(struct osc_advice_numbers *n, bool is_work,
                                struct osc_labels *labels)
{
    osc_sid subject, grew = {0};
    osc_status st = osc_labels_add(labels, n->subject, is_work, &subject);

    if (st == OSC_OK)
        st = osc_labels_add(labels, n->grew, false, &grew);
    if (st == OSC_OK)
        st = osc_labels_compose(labels, OSC_WORDS_NAME_WIDTH, WORK_WIDTH);
    if (st == OSC_OK) {
        n->subject_shown = osc_labels_get(labels, subject);
        n->grew_shown = osc_labels_get(labels, grew);
    }
    return st;
}

bool osc_words_has_name(const struct osc_advice_numbers *n, struct osc_str name)
{
    return n->n_parts == 1 && name.len > 0;
}

/* The first word of the traits: the device, or the family of several. */
static struct osc_str device_of(const struct osc_advice_numbers *n)
{
    const char *const end = n->traits.len > 0 ? memchr(n->traits.s, ' ', n->traits.len) : NULL;

    return (struct osc_str){n->traits.s, end ? (uint32_t)(end - n->traits.s) : n->traits.len};
}

bool osc_words_has_trait(const struct osc_advice_numbers *n, const char *word)
{
    return osc_str_has(n->traits, osc_str_c(word));
}

bool osc_words_has_device(const struct osc_advice_numbers *n)
{
    return n->traits.len > 0 && n->traits.s[0] != '-';
}

void osc_words_torch_call(struct osc_strbuf *out, const struct osc_advice_numbers *n,
                          const char *call)
{
    struct osc_str family =
        osc_words_has_name(n, n->subject) ? osc_known_call_device(n->subject) : OSC_STR("");

    if (family.len == 0 && osc_words_has_device(n)) {
        family = device_of(n);
        (void)osc_device_split(family, &family);
    }
    struct osc_str word = osc_known_device_word(family);

    if (osc_known_device_number(word) == osc_known_device_number(OSC_STR("privateuse1")))
        word = family; /* a backend of its own name has a module of that name */
    if (word.len > 0)
        osc_strbuf_addf(out, "torch.%.*s.", (int)word.len, word.s);
    osc_strbuf_adds(out, call);
}

void osc_words_idle(struct osc_strbuf *out, const struct osc_advice_numbers *n)
{
    osc_words_time(out, n->impact_ns);
    osc_strbuf_adds(out, " of the ");
    osc_words_time(out, n->more[0]);
    osc_strbuf_adds(out, " in which ");
    if (n->n_parts == 1 && osc_str_has(device_of(n), OSC_STR(":"))) {
        osc_strbuf_addstr(out, device_of(n));
        osc_strbuf_adds(out, " has no work");
    } else {
        osc_strbuf_adds(out, "no device works");
    }
    osc_strbuf_adds(out, " (");
    osc_words_percent(out, n->part, n->whole, 1);
    osc_strbuf_adds(out, " of the step time)");
}

void osc_words_functions_cost(struct osc_strbuf *out, const struct osc_advice_numbers *n)
{
    if (osc_words_has_trait(n, " functions"))
        osc_strbuf_adds(out, " Functions of the program were recorded, which makes the host "
                             "slower than it is without.");
}

/* The word for graphs of kernels, if the program launches none; "": there is none. */
static struct osc_str graphs_of(const struct osc_advice_numbers *n)
{
    struct osc_str family = device_of(n);

    (void)osc_device_split(family, &family);
    return osc_words_has_trait(n, " graphs") ? OSC_STR("") : osc_known_graphs(family);
}

void osc_words_fewer_launches(struct osc_strbuf *out, const struct osc_advice_numbers *n)
{
    const struct osc_str graphs = graphs_of(n);

    if (osc_words_has_trait(n, " jax")) {
        osc_strbuf_adds(out, "Put more into one jax.jit, or give each call more to do.");
    } else if (osc_words_has_trait(n, " tensorflow")) {
        osc_strbuf_adds(out, "Compile with XLA (tf.function(jit_compile=True)), or use larger "
                             "batches.");
    } else if (osc_words_has_trait(n, " torch")) {
        osc_strbuf_adds(out, "Launch less often: ");
        osc_strbuf_adds(out, osc_words_has_trait(n, " compile") ? "" : "torch.compile, ");
        osc_strbuf_addstr(out, graphs);
        osc_strbuf_adds(out, graphs.len > 0 ? ", " : "");
        if (osc_words_has_trait(n, " graphs"))
            osc_strbuf_adds(out, "more of the work inside graphs, ");
        osc_strbuf_adds(out, "larger batches.");
    } else {
        osc_strbuf_adds(out, "Launch fewer and larger kernels.");
    }
}
