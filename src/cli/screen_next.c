/* SPDX-License-Identifier: Apache-2.0 */
/* What to type next: three commands that fit the trace. */
#include <string.h>

#include "base/utf8.h"
#include "cli/page.h"
#include "cli/screen_read.h"

#define COMMANDS 3

/* WORD as a shell reads it. */
static void add_word(struct osc_strbuf *out, const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "_-./:@%+=,";

    osc_strbuf_addc(out, ' ');
    if (*word && strspn(word, plain) == strlen(word)) {
        osc_strbuf_adds(out, word);
        return;
    }
    osc_strbuf_addc(out, '\'');
    for (const char *p = word; *p; p++) {
        if (*p == '\'')
            osc_strbuf_adds(out, "'\\''");
        else
            osc_utf8_append_terminal(out, (struct osc_str){p, 1});
    }
    osc_strbuf_addc(out, '\'');
}

/* The traces and what was chosen of them. */
static void add_operands(const struct osc_page *p, struct osc_strbuf *out, bool has_steps)
{
    const struct osc_args *const a = p->s->args;
    const struct {
        const char *name, *value;
    } selections[] = {{"--rank", a->ranks},
                      {"--span", a->spans},
                      {"--process", a->selection.process},
                      {"--thread", a->selection.thread},
                      {"--device", a->selection.device},
                      {"--steps", has_steps ? NULL : a->selection.steps}};

    for (int i = 0; i < a->n_operands; i++)
        add_word(out, a->operands[i]);
    for (size_t i = 0; i < sizeof selections / sizeof *selections; i++) {
        if (!selections[i].value)
            continue;
        osc_strbuf_addf(out, " %s", selections[i].name);
        add_word(out, selections[i].value);
    }
    if (a->selection.has_from)
        osc_strbuf_addf(out, " --from %lld", (long long)a->selection.from_ns);
    if (a->selection.has_to)
        osc_strbuf_addf(out, " --to %lld", (long long)a->selection.to_ns);
}

struct commands {
    struct osc_page *p;
    unsigned n;
    unsigned n_lines; /* that they need */
    bool is_dry;      /* count lines only */
};

/* COMMAND with the traces and STEP, if there is room for one more. */
static void propose(struct commands *c, bool is_fit, const char *command, const char *step,
                    const char *why)
{
    struct osc_page *const p = c->p;
    struct osc_strbuf operands = {0};

    if (!is_fit || c->n == COMMANDS)
        return;
    add_operands(p, &operands, step != NULL);
    if (step) {
        osc_strbuf_adds(&operands, " --steps");
        add_word(&operands, step);
    }
    const struct osc_str words = {operands.s ? operands.s : "", (uint32_t)operands.len};
    const size_t width = 2 + strlen(command) + osc_utf8_width(words);
    const bool is_long = width > OSC_PAGE_WIDTH;
    c->n++;
    c->n_lines += 1 + is_long;
    if (!c->is_dry) {
        osc_strbuf_addf(p->out, "  %s", command);
        if (is_long) {
            osc_strbuf_adds(p->out, " \\");
            osc_page_end_line(p);
            osc_strbuf_adds(p->out, "   ");
        }
        osc_strbuf_addstr(p->out, words);
        if (!is_long && width + 4 + strlen(why) <= OSC_PAGE_WIDTH)
            osc_strbuf_addf(p->out, "  # %s", why);
        osc_page_end_line(p);
    }
    p->out->status = p->out->status == OSC_OK ? operands.status : p->out->status;
    osc_strbuf_fini(&operands);
}

/* The label of the step that took the longest of those that grew; NULL: none did. */
static const char *slowest_step(const struct osc_page *p, struct osc_strbuf *label)
{
    const struct osc_answer *const a = osc_screen_answer(p->s, OSC_SCREEN_STEPS);
    int64_t most = 0;

    for (uint32_t b = 0; b < a->n_blocks; b++) {
        const struct osc_result *const r = &a->blocks[b].result;

        for (uint64_t i = 0; i < r->n_rows; i++) {
            const int64_t ns = osc_result_get_int(r, i, osc_screen_column(r, "total_ns"));

            if (!osc_result_has(r, i, osc_screen_column(r, "grew")) || ns <= most)
                continue;
            most = ns;
            osc_strbuf_clear(label);
            osc_strbuf_addstr(label, osc_screen_text(r, i, "label"));
        }
    }
    return most > 0 ? label->s : NULL;
}

/* The first three that fit, those that say more about this trace first. */
static void put_commands(struct commands *c)
{
    const struct osc_page *const p = c->p;
    const struct osc_result *const quality = osc_screen_merged(p->s, OSC_SCREEN_QUALITY);
    const struct osc_result *const operators = osc_screen_merged(p->s, OSC_SCREEN_OPERATORS);
    struct osc_strbuf label = {0};
    const char *const slow = slowest_step(p, &label);
    bool has_error = false;
    uint64_t n, n_kept;
    bool is_whole;

    osc_screen_count_steps(p->s, &n, &n_kept, &is_whole);
    for (uint64_t i = 0; i < quality->n_rows; i++)
        has_error |= osc_str_eq(osc_screen_text(quality, i, "severity"), OSC_STR("error"));
    const bool has_operators = operators->n_rows > 0;
    propose(c, has_error, "opscope info", NULL, "what was lost");
    propose(c, slow != NULL, "opscope table operators", slow, "the slow step");
    propose(c, osc_screen_answer(p->s, OSC_SCREEN_RANKS)->n_blocks > 1,
            "opscope table overview", NULL, "each rank");
    propose(c, osc_screen_has_device(p->s), "opscope table kernels --group-by op", NULL,
            "who launched them");
    propose(c, n > 1, "opscope table steps", NULL, "every step");
    propose(c, has_operators && osc_screen_info_flag(p->s, "record_shapes"),
            "opscope table operators --group-by shape", NULL, "by input shape");
    propose(c, has_operators, "opscope table", NULL, "key_averages()");
    propose(c, !has_error, "opscope info", NULL, "all facts, all findings");
    propose(c, osc_screen_info_count(p->s, "events") > 0, "opscope table events --limit 20",
            NULL, "the first events");
    propose(c, osc_screen_info_count(p->s, "events") > 0, "opscope table threads", NULL,
            "who did what");
    osc_strbuf_fini(&label);
}

unsigned osc_screen_count_command_lines(struct osc_page *p)
{
    struct commands c = {.p = p, .is_dry = true};

    put_commands(&c);
    return c.n_lines;
}

void osc_screen_put_commands(struct osc_page *p)
{
    struct commands c = {.p = p};

    put_commands(&c);
}
