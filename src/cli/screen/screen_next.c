/* SPDX-License-Identifier: Apache-2.0 */
/* The next commands to type: three that suit the trace. */
#include <stdio.h>
#include <string.h>

#include "analysis/table_columns.h"
#include "cli/screen/page.h"
#include "cli/screen/screen_late.h"
#include "cli/screen/screen_ranges.h"
#include "cli/screen/screen_read.h"
#include "table/question.h"

#define COMMANDS 3
#define OUTLIERS 2 /* as many as the page shows */
#define FEW      4 /* ranks and spans of which tables are shown one below the other */

/* The step to examine, and its rank or span. */
struct slow_step {
    const char *label;  /* NULL: no such step */
    const char *option; /* to choose its rank or span; NULL: there is only one */
    int32_t number;
    bool is_operator; /* operators grew in it, not the wait for data */
};

/* What to type: a command of a table or of none, with one option or none. The value of a switch
 * is NULL. */
struct proposal {
    const char *command, *table, *option, *value;
    const char *output; /* the file that it writes, or NULL */
};

static struct proposal table(const char *name, const char *option, const char *value)
{
    return (struct proposal){"table", name, option, value, NULL};
}

/* Append each option of Q on a line: quoted for a shell, a word contains no line feed. */
static void add_options(struct osc_strbuf *out, const struct osc_strbuf *q)
{
    struct osc_str rest = osc_strbuf_str(q), word = rest;
    struct osc_question_word unused;

    for (; osc_question_next(&rest, &unused); word = rest) {
        osc_question_print_options(out, (struct osc_str){word.s, word.len - rest.len});
        osc_strbuf_addc(out, '\n');
    }
    out->status = out->status == OSC_OK ? q->status : out->status;
}

/* Append to Q what is selected: SLOW, or else what the screen shows. */
static void add_selection(const struct osc_page *p, struct osc_strbuf *q,
                          const struct slow_step *slow)
{
    struct osc_view rest = p->s->args->request.view;
    struct osc_view traces = {.ranks = rest.ranks, .spans = rest.spans};
    char number[16];

    (void)snprintf(number, sizeof number, "%d", slow ? slow->number : 0);
    if (slow && slow->option)
        *(strcmp(slow->option, "rank") == 0 ? &traces.ranks : &traces.spans) = number;
    if (slow)
        rest.steps = slow->label;
    rest.ranks = rest.spans = NULL;
    osc_question_add_view(q, &traces, "");
    osc_question_add_view(q, &rest, "");
}

struct commands {
    struct osc_page *p;
    unsigned n;
};

/* End a line of COLUMNS; it counts as several if a long path makes it wider than the
 * terminal. */
static void end_command_line(struct osc_page *p, size_t columns)
{
    p->n_lines += columns > p->width ? (unsigned)((columns - 1) / p->width) : 0;
    osc_page_end_line(p);
}

/* Print COMMAND and WORDS, each behind a blank and before a line feed, on as many lines as they
 * need, if the page has that many left. */
static void put_command(struct commands *c, const char *command, const struct osc_strbuf *words,
                        const char *why)
{
    struct osc_page *const p = c->p;
    const size_t start = p->out->len;
    const unsigned first = p->n_lines;
    size_t column = 2 + strlen(command);

    osc_strbuf_addf(p->out, "  %s", command);
    for (const char *word = words->len > 0 ? words->s : ""; *word;) {
        const uint32_t len = (uint32_t)strcspn(word, "\n");
        const size_t width = osc_page_columns((struct osc_str){word, len}); /* with the blank */
        const bool is_last = !word[len + 1];

        /* " \\" follows each word but the last. */
        if (column + width + (is_last ? 0 : 2) > p->width) {
            osc_strbuf_adds(p->out, " \\");
            end_command_line(p, column + 2);
            osc_strbuf_adds(p->out, "   ");
            column = 3;
        }
        osc_strbuf_add(p->out, word, len);
        column += width;
        word += len + 1;
    }
    if (column + 4 + strlen(why) <= p->width)
        osc_strbuf_addf(p->out, "  # %s", why);
    end_command_line(p, column);
    if (p->n_lines > OSC_PAGE_LINES && p->out->status == OSC_OK) {
        p->n_lines = first;
        p->out->len = start;
        p->out->s[start] = '\0';
    } else {
        c->n++;
    }
    p->out->status = p->out->status == OSC_OK ? words->status : p->out->status;
}

/* Whether there are so many ranks and spans that a table of each is too much to read. */
static bool are_many(const struct osc_screen *s)
{
    return osc_screen_answer(s, OSC_SCREEN_RANKS)->n_blocks > FEW;
}

/* Print WHAT with the traces and SLOW, if there is space for one more. A table is one of all
 * ranks if there are many. */
static void propose(struct commands *c, bool is_fit, struct proposal what,
                    const struct slow_step *slow, const char *why)
{
    const struct osc_args *const a = c->p->s->args;
    const bool is_of_each = what.option && strcmp(what.option, "limit") == 0,
               compares = what.table && strcmp(what.table, "stragglers") == 0;
    struct osc_strbuf q = {0}, command = {0}, words = {0};

    if (!is_fit || c->n == COMMANDS)
        return;
    osc_question_begin(&q, what.command, what.table);
    if (what.option)
        osc_question_add(&q, what.option, what.value);
    if (what.output)
        osc_question_add(&q, "o", what.output);
    osc_question_print(&command, osc_strbuf_str(&q));
    osc_strbuf_clear(&q);
    if (are_many(c->p->s) && !slow && strcmp(what.command, "table") == 0 && !is_of_each &&
        !compares)
        osc_strbuf_adds(&words, " --merge\n");
    for (int i = 0; i < a->n_operands; i++) {
        osc_strbuf_addc(&words, ' ');
        osc_operands_add_trace(&words, a->operands[i]);
        osc_strbuf_addc(&words, '\n');
    }
    add_selection(c->p, &q, slow);
    add_options(&words, &q);
    words.status = command.status != OSC_OK ? command.status : words.status;
    put_command(c, command.s ? command.s : "", &words, why);
    osc_strbuf_fini(&q);
    osc_strbuf_fini(&command);
    osc_strbuf_fini(&words);
}

/* Print COMMAND without operands. */
static void propose_plain(struct commands *c, const char *command, const char *why)
{
    if (c->n < COMMANDS)
        put_command(c, command, &(struct osc_strbuf){0}, why);
}

static bool is_operator(const struct osc_screen *s, struct osc_str name)
{
    const struct osc_result *const r = osc_screen_merged(s, OSC_SCREEN_OPERATORS);

    for (uint64_t i = 0; i < r->n_rows; i++) {
        if (osc_str_eq(osc_result_get_str(r, i, osc_column_operators_name), name))
            return true;
    }
    return false;
}

/* Find the step that stands out the most among those in which something grew. */
static struct slow_step find_slow(const struct osc_page *p, struct osc_strbuf *label)
{
    const struct osc_answer *const a = osc_screen_answer(p->s, OSC_SCREEN_STEPS);
    struct osc_outlier found[OUTLIERS];
    struct slow_step slow = {0};
    const uint64_t n = osc_screen_outliers(p->s, found, OUTLIERS);

    for (uint64_t i = 0; i < n && i < OUTLIERS && !slow.label; i++) {
        const struct osc_answer_block *const b = found[i].block;
        const struct osc_result *const r = &b->result;

        if (!osc_result_has(r, found[i].row, osc_column_steps_grew))
            continue;
        osc_screen_add_step(r, found[i].row, label);
        slow.label = label->s;
        slow.is_operator =
            is_operator(p->s, osc_result_get_str(r, found[i].row, osc_column_steps_grew));
        if (osc_screen_has_ranks(a)) {
            slow.option = "rank";
            slow.number = b->rank;
        } else if (a->n_blocks > 1) {
            slow.option = "span";
            slow.number = b->span;
        }
    }
    return slow;
}

/* Whether users of what wrote the trace know torch's tables. */
static bool is_torch(const struct osc_screen *s)
{
    static const char *const words[] = {"kineto", "torch_legacy", "torch_npu", "opscope"};
    const struct osc_str producer = osc_screen_info(s, "producer");

    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (osc_str_eq(producer, osc_str_c(words[i])))
            return true;
    }
    return false;
}

/* Propose to sum the kernels by what launched the most of them, as far as that is known. */
static void propose_kernels(struct commands *c)
{
    const struct osc_screen *const s = c->p->s;
    const struct osc_screen_owners w = osc_screen_find_owners(s);
    const bool has_causes = w.rest_ns > w.own_ns && (w.own_ns > 0 || w.n_causes > 1);

    if (!osc_screen_has_device(s))
        return;
    propose(c, has_causes, table("kernels", "group-by", "cause"), NULL, "what launched them");
    propose(c, w.own_ns >= w.rest_ns && w.own_ns > 0, table("kernels", "group-by", "op"), NULL,
            "who launched them");
    propose(c, w.own_ns == 0, table("kernels", NULL, NULL), NULL, "every kernel");
}

/* The grouping of `ranges` that tells the most about traces of the producer of S. */
static struct proposal ranges_of(const struct osc_screen *s)
{
    static const char *const by_category[] = {"bazel", "chrome", "perfetto", "ray"};
    const struct osc_str producer = osc_screen_info(s, "producer");

    for (size_t i = 0; i < sizeof by_category / sizeof *by_category; i++) {
        if (osc_str_eq(producer, osc_str_c(by_category[i])))
            return table("ranges", "group-by", "category");
    }
    return osc_screen_info_count(s, "threads") > 1 ? table("ranges", "group-by", "thread")
                                                   : table("ranges", NULL, NULL);
}

/* Propose to look closer at the ranges of a trace that has no operators. */
static void propose_ranges(struct commands *c, bool has_operators)
{
    const struct osc_screen *const s = c->p->s;
    const struct osc_str name = osc_screen_find_repeated(s);
    uint64_t n_ranges = osc_screen_merged(s, OSC_SCREEN_RANGES)->n_rows;

    if (has_operators || n_ranges == 0)
        return;
    propose(c, true, ranges_of(s), NULL, "all that has a duration");
    if (name.len > 0) {
        char text[256];

        (void)snprintf(text, sizeof text, "%.*s", (int)name.len, name.s);
        propose(c, true, table("durations", "name", text), NULL, "a histogram of its calls");
    }
    propose(c, osc_screen_info_count(s, "threads") > 1, table("tracks", NULL, NULL), NULL,
            "who was busy");
}

void osc_screen_put_commands(struct osc_page *p)
{
    const struct osc_result *const quality = osc_screen_merged(p->s, OSC_SCREEN_QUALITY);
    const bool has_events = osc_screen_info_count(p->s, "events") > 0;
    struct osc_strbuf label = {0};
    const struct slow_step slow = find_slow(p, &label);
    struct commands all = {.p = p}, *const c = &all;
    bool has_error = false, has_samples = false;
    uint64_t n, n_kept, n_whole;

    osc_screen_count_steps(p->s, &n, &n_kept, &n_whole);
    for (uint64_t i = 0; i < quality->n_rows; i++) {
        has_error |= osc_str_eq(osc_result_get_str(quality, i, osc_column_quality_severity),
                                OSC_STR("error"));
        has_samples |= osc_str_eq(osc_result_get_str(quality, i, osc_column_quality_code),
                                  OSC_STR("call_samples"));
    }
    const bool has_operators = osc_screen_has_operators(p->s);
    /* Print the first three that apply; the most specific for this trace come first. */
    propose(c, has_error, (struct proposal){.command = "info"}, NULL, "what was lost");
    propose(c, has_samples,
            (struct proposal){"export", NULL, "stack", "sample", "samples.folded"}, NULL,
            "what was sampled");
    propose(c, slow.label,
            slow.is_operator ? table("operators", NULL, NULL)
            : has_operators  ? table("averages", NULL, NULL)
                             : table("ranges", NULL, NULL),
            &slow, "the slow step");
    propose(c, osc_screen_advice(p->s, NULL, NULL) > 0, table("advice", NULL, NULL), NULL,
            "what could be changed");
    propose(c, osc_screen_late_rank(p->s) >= 0, table("stragglers", NULL, NULL), NULL,
            "who lets others wait");
    propose(c, are_many(p->s), table("overview", "limit", "1"), NULL, "the step of each rank");
    propose(c, osc_screen_answer(p->s, OSC_SCREEN_RANKS)->n_blocks > 1 && !are_many(p->s),
            table("overview", NULL, NULL), NULL, "each by itself");
    propose_kernels(c);
    propose(c, n > 1, table("steps", NULL, NULL), NULL, "every step");
    propose(c, osc_screen_merged(p->s, OSC_SCREEN_MODULES)->n_rows > 0,
            table("modules", NULL, NULL), NULL, "every module");
    propose(c, has_operators && osc_screen_info_flag(p->s, "record_shapes"),
            table("operators", "group-by", "shape"), NULL, "by input shape");
    propose(c, has_operators && is_torch(p->s), table(NULL, NULL, NULL), NULL,
            "key_averages()");
    propose(c, has_operators && !is_torch(p->s), table("operators", NULL, NULL), NULL,
            "every operator");
    propose_ranges(c, has_operators);
    propose(c,
            osc_screen_merged(p->s, OSC_SCREEN_RANGES)->n_rows == 0 &&
                osc_screen_merged(p->s, OSC_SCREEN_POINTS)->n_rows > 0,
            table("points", NULL, NULL), NULL, "all that has no duration");
    propose(c, !has_error, (struct proposal){.command = "info"}, NULL,
            "all facts, all findings");
    propose(c, has_events, table("events", "limit", "20"), NULL, "the first events");
    propose(c, has_events, table("tracks", NULL, NULL), NULL, "who did what");
    propose_plain(c, "opscope table --list", "what else there is");
    propose_plain(c, "opscope --help", "what a trace can be");
    osc_strbuf_fini(&label);
}
