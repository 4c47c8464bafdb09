/* SPDX-License-Identifier: Apache-2.0 */
/* opscope/trace.h: what `opscope table` does, for programs. */
#include "opscope/trace.h"

#include <string.h>

#include "analysis/table_registry.h"
#include "base/mem.h"
#include "cli/ask.h"
#include "cli/budget.h"
#include "cli/frame.h"
#include "cli/show.h"
#include "table/nearest.h"

/* What options name is read; the others are about a table. */
#define BIT(option) (UINT64_C(1) << OSC_OPTION_##option)
#define READING                                                                      \
    (BIT(RANK) | BIT(SPAN) | BIT(PROCESS) | BIT(THREAD) | BIT(DEVICE) | BIT(STEPS) | \
     BIT(FROM) | BIT(TO) | BIT(MAX_MEMORY) | BIT(NO_ARGS))
#define SPEAKING (BIT(LIST) | BIT(EXPLAIN) | BIT(HELP))

/* Words of a program, apart from those that say which of them are meant. */
struct words {
    const char *const *all; /* borrowed */
    size_t n;
};

/* Where text goes. */
struct writer {
    int (*write)(void *ctx, const char *s, size_t len);
    void *ctx;
};

struct osc_traces {
    struct osc_loaded loaded;
    struct osc_arena arena;      /* of the texts that follow */
    struct words paths, options; /* as it was opened */
    int (*progress)(void *ctx, uint64_t done_bytes, uint64_t total_bytes);
    void *progress_ctx;
    struct osc_strbuf said;
    struct osc_cli_host host;
    const struct writer *writer; /* of the text that is being made; or NULL */
};

/* Options as `opscope table` reads them, and what they borrow. */
struct line {
    struct osc_args args;
    struct osc_arena arena;
    struct osc_where *where;
};

/* Words are those of this command, whatever becomes of them. */
static const struct osc_command command = {.name = "table", .bit = OSC_COMMAND_TABLE};

const char *osc_catalog_name(size_t i)
{
    return osc_tables[i] ? osc_tables[i]->name : NULL;
}

const char *osc_catalog_help(size_t i)
{
    return osc_tables[i] ? osc_tables[i]->help : NULL;
}

static void hear(void *ctx, const char *message)
{
    struct osc_traces *t = ctx;

    if (t->said.len > 0)
        osc_strbuf_addc(&t->said, '\n');
    osc_strbuf_adds(&t->said, message);
}

/* From here to finish() messages are for the program. */
static void begin(struct osc_traces *t)
{
    osc_strbuf_clear(&t->said);
    t->host = (struct osc_cli_host){.hear = hear, .ctx = t};
    osc_cli_serve(&t->host);
}

/* What the program gets for FAILED, an exit status. */
static osc_status finish(struct osc_traces *t, int failed)
{
    osc_cli_serve(NULL);
    if (failed == OSC_EXIT_DONE)
        return OSC_OK;
    if (t->host.reason != OSC_OK)
        return t->host.reason;
    return failed == OSC_EXIT_MISUSED ? OSC_EINVAL : OSC_EIO;
}

static int no_memory(void)
{
    return osc_cli_fail(OSC_ENOMEM, &(struct osc_err){0});
}

static int copy(struct osc_arena *arena, char **to, struct words from)
{
    for (size_t i = 0; i < from.n; i++) {
        to[i] = osc_arena_dup(arena, from.all[i], strlen(from.all[i]));
        if (!to[i])
            return no_memory();
    }
    return OSC_EXIT_DONE;
}

static void close_line(struct line *l)
{
    osc_where_close(l->where);
    osc_arena_fini(&l->arena);
}

/*
 * Read the words that T was opened with and those of WORDS into L, behind them the paths.
 * *GIVEN: which options are among WORDS.
 */
static int read_line(struct line *l, const struct osc_traces *t, struct words words,
                     uint64_t *given)
{
    const size_t n = t->options.n + words.n + t->paths.n;
    char **argv = osc_arena_calloc(&l->arena, 2 * n + 6, sizeof *argv);
    int failed = OSC_EXIT_DONE;

    if (!argv || n > INT32_MAX)
        return no_memory();
    char **const alone = argv + n + 3;
    argv[0] = alone[0] = osc_arena_dup(&l->arena, "", 0);
    argv[1 + t->options.n + words.n] = osc_arena_dup(&l->arena, "--", 2);
    if (!argv[0] || !argv[1 + t->options.n + words.n])
        return no_memory();
    failed = copy(&l->arena, argv + 1, t->options);
    if (!failed)
        failed = copy(&l->arena, argv + 1 + t->options.n, words);
    if (!failed)
        failed = copy(&l->arena, argv + 2 + t->options.n + words.n, t->paths);
    if (failed)
        return failed;
    memcpy(alone + 1, argv + 1 + t->options.n, words.n * sizeof *argv);
    failed = osc_args_parse(&l->args, &command, (int)words.n + 1, alone);
    if (failed)
        return failed;
    if (l->args.n_operands > 0)
        return osc_cli_misuse("'%s' is no option", l->args.operands[0]);
    *given = l->args.given;
    if (*given & SPEAKING)
        return osc_cli_misuse("--list, --explain and --help are for the command alone");
    failed = osc_args_parse(&l->args, &command, (int)n + 2, argv);
    l->args.renderer = *given & BIT(FORMAT) ? l->args.renderer : osc_renderer_find("text");
    return failed;
}

/* --- opening --------------------------------------------------------------------- */

static bool tick(void *ctx, uint64_t done_bytes, uint64_t total_bytes)
{
    const struct osc_traces *const t = ctx;

    return !t->progress || t->progress(t->progress_ctx, done_bytes, total_bytes) == 0;
}

/* Load what L says, with an eye on the program that waits. */
static int load(struct osc_loaded *to, struct line *l, struct osc_traces *t,
                const struct osc_table_def *def)
{
    l->args.import.progress = tick;
    l->args.import.progress_ctx = t;
    return def ? osc_ask_load(to, &l->args, def)
               : osc_load(to, &l->args, osc_budget_for_frames(&l->args));
}

/* Keep WORDS in T. */
static int keep(struct osc_traces *t, struct words *to, const char *const *words, size_t n)
{
    char **const all = osc_arena_calloc(&t->arena, n + 1, sizeof *all);

    if (!all)
        return no_memory();
    *to = (struct words){(const char *const *)all, n};
    return copy(&t->arena, all, (struct words){words, n});
}

static void forget(struct osc_traces *t)
{
    osc_loaded_fini(&t->loaded);
    osc_arena_fini(&t->arena);
    t->paths = t->options = (struct words){0};
}

static int open_all(struct osc_traces *t, const struct osc_traces_options *o)
{
    struct line l = {0};
    uint64_t given = 0;
    int failed = keep(t, &t->paths, o->paths, o->n_paths);

    if (!failed)
        failed = read_line(&l, t, (struct words){o->words, o->n_words}, &given);
    if (!failed && given & ~(READING | BIT(THREADS)))
        failed = osc_cli_misuse("options of a table are given when it is asked for");
    if (!failed && l.args.n_operands == 0)
        failed = osc_cli_misuse("which trace?");
    if (!failed)
        failed = load(&t->loaded, &l, t, NULL);
    /* For messages: what it borrowed of the line that is closed now. */
    t->loaded.operand = t->paths.n == 1 ? t->paths.all[0] : NULL;
    close_line(&l);
    return failed ? failed : keep(t, &t->options, o->words, o->n_words);
}

struct osc_traces *osc_traces_new(void)
{
    return osc_calloc(1, sizeof(struct osc_traces));
}

void osc_traces_free(struct osc_traces *t)
{
    if (!t)
        return;
    forget(t);
    osc_strbuf_fini(&t->said);
    osc_free(t);
}

osc_status osc_traces_open(struct osc_traces *t, const struct osc_traces_options *o)
{
    int failed = OSC_EXIT_DONE;

    begin(t);
    t->progress = o->progress;
    t->progress_ctx = o->ctx;
    failed = t->paths.n > 0 ? osc_cli_misuse("they are open already") : open_all(t, o);
    if (failed)
        forget(t);
    return finish(t, failed);
}

const char *osc_traces_said(const struct osc_traces *t)
{
    return t->said.s && t->said.len > 0 ? t->said.s : "";
}

/* --- asking ---------------------------------------------------------------------- */

static const struct osc_table_def *find_table(const char *name)
{
    const struct osc_table_def *const def = osc_table_find(name);
    struct osc_nearest near = {.word = name};

    for (size_t i = 0; !def && osc_tables[i]; i++)
        osc_nearest_try(&near, osc_tables[i]->name);
    if (!def && near.best)
        osc_cli_error("there is no table '%s'; did you mean '%s'?", name, near.best);
    else if (!def)
        osc_cli_error("there is no table '%s'", name);
    return def;
}

/* How a question becomes what the program wants. */
struct asker {
    bool wants_text;
    int (*take)(void *ctx, struct osc_loaded *l, const struct osc_args *args,
                const struct osc_table_def *def);
    void *ctx;
};

/* Answer L of what T holds, or of what is loaded for it alone. */
static int answer(struct osc_traces *t, struct line *l, const struct osc_table_def *def,
                  bool is_elsewhere, const struct asker *asker)
{
    struct osc_loaded own = {0};
    const bool is_late = (def->takes & OSC_TAKES_SELECTION) != 0;
    int failed = OSC_EXIT_DONE;

    if (!is_elsewhere && (!is_late || osc_selection_is_all(&l->args.selection))) {
        l->args.table.selection = &l->args.selection;
        return asker->take(asker->ctx, &t->loaded, &l->args, def);
    }
    failed = load(&own, l, t, def);
    if (!failed)
        failed = asker->take(asker->ctx, &own, &l->args, def);
    osc_loaded_fini(&own);
    return failed;
}

static int ask(struct osc_traces *t, const char *name, struct words words,
               const struct asker *asker)
{
    const struct osc_table_def *const def = find_table(name);
    struct line l = {0};
    uint64_t given = 0;
    int failed = def ? OSC_EXIT_DONE : OSC_EXIT_MISUSED;

    if (!failed && t->loaded.n_traces == 0)
        failed = osc_cli_misuse("no trace is open");
    if (!failed)
        failed = read_line(&l, t, words, &given);
    if (!failed && !asker->wants_text) {
        if (given & BIT(FORMAT))
            failed = osc_cli_misuse("--format is for text; columns have none");
        l.args.renderer = osc_renderer_find("csv");
    }
    if (!failed)
        failed = osc_ask_check(&l.args, def, &l.where);
    if (!failed)
        failed = answer(t, &l, def, (given & READING) != 0, asker);
    close_line(&l);
    return failed;
}

static int take_frame(void *ctx, struct osc_loaded *l, const struct osc_args *args,
                      const struct osc_table_def *def)
{
    struct osc_asked k = {0};
    struct osc_err err = {0};
    int failed = osc_ask(&k, l, args, def);

    if (!failed) {
        const osc_status st = osc_frame_make(ctx, &k, &err);

        failed = st == OSC_OK ? failed : osc_load_fail(l, NULL, st, &err, "making a table");
    }
    osc_asked_fini(&k);
    return failed;
}

osc_status osc_traces_table(struct osc_traces *t, const char *name, const char *const *words,
                            size_t n_words, struct osc_frame **f)
{
    const struct asker asker = {.take = take_frame, .ctx = f};

    *f = NULL;
    begin(t);
    return finish(t, ask(t, name, (struct words){words, n_words}, &asker));
}

static int take_text(void *ctx, struct osc_loaded *l, const struct osc_args *args,
                     const struct osc_table_def *def)
{
    (void)ctx;
    return osc_show_table(l, args, def);
}

static osc_status write_on(void *ctx, const char *s, size_t len)
{
    const struct osc_traces *const t = ctx;
    const struct writer *const to = t->writer;

    return to->write(to->ctx, s, len) == 0 ? OSC_OK : OSC_EIO;
}

osc_status osc_traces_text(struct osc_traces *t, const char *name, const char *const *words,
                           size_t n_words, int (*write)(void *ctx, const char *s, size_t len),
                           void *ctx)
{
    const struct asker asker = {.wants_text = true, .take = take_text};
    const struct writer to = {write, ctx};

    begin(t);
    t->writer = &to;
    t->host.write = write_on;
    const osc_status st = finish(t, ask(t, name, (struct words){words, n_words}, &asker));
    t->writer = NULL;
    return st;
}
