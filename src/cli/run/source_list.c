/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/run/source_list.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/shell.h"
#include "base/strbuf.h"
#include "cli/show.h"
#include "recording/schedule.h"
#include "recording/switches.h"
#include "sources/source_files.h"
#include "table/nearest.h"

#define WORD(name, folder, word) word ", "
#define WORDS                    OSC_SOURCE_LIST(WORD)

static int no_source(const char *name, size_t len)
{
    char word[32];
    struct osc_nearest near = {.word = word};

    snprintf(word, sizeof word, "%.*s", (int)(len < 31 ? len : 31), name);
    for (size_t i = 0; i < OSC_SOURCE_COUNT; i++)
        osc_nearest_try(&near, osc_source_entries[i].word);
    if (near.best)
        return osc_cli_misuse("--sources: unknown source '%s'; did you mean '%s'?", word,
                              near.best);
    return osc_cli_misuse("--sources: unknown source '%s'; the sources are " WORDS "none",
                          word);
}

/* Parse LIST, such as "api,itt", into bits of sources; NULL: none. */
static int parse_sources(const char *list, unsigned *bits)
{
    *bits = 0;
    if (list && strcmp(list, "none") == 0)
        return OSC_EXIT_DONE;
    for (const char *p = list; p;) {
        const size_t len = strcspn(p, ",");
        const unsigned before = *bits;

        for (size_t i = 0; i < OSC_SOURCE_COUNT; i++) {
            const struct osc_source_entry *const source = &osc_source_entries[i];

            if (strlen(source->word) == len && memcmp(source->word, p, len) == 0)
                *bits |= source->bit;
        }
        if (*bits == before)
            return no_source(p, len);
        p = p[len] == ',' ? p + len + 1 : NULL;
    }
    return OSC_EXIT_DONE;
}

/* The value of --torch as the bit of a source. */
static int parse_torch(const char *value, unsigned *bit)
{
    const bool replaces = strstr(value, "replace"), has_stack = strstr(value, "stack");

    if (replaces && has_stack)
        return osc_cli_misuse(
            "--torch: 'stack' records the whole program and 'replace' only its "
            "own profiles, whose stacks are recorded by with_stack=True; use "
            "one of them");
    *bit = replaces ? OSC_SOURCE_TORCH_REPLACE
                    : (has_stack ? OSC_SOURCE_TORCH_STACK : OSC_SOURCE_TORCH);
    if (*value && strcmp(value, replaces ? "replace" : "stack") != 0)
        return osc_cli_misuse("--torch: '%s' is neither 'stack' nor 'replace'", value);
    return OSC_EXIT_DONE;
}

/* The sources that are recorded if nobody names some. */
static unsigned by_default(const struct osc_run_args *run)
{
    unsigned bits = OSC_SOURCE_API | (OSC_SOURCES_COLLECTED & osc_sources_built());

    for (size_t i = 0; i < OSC_SOURCE_COUNT; i++) {
        const struct osc_source_entry *const source = &osc_source_entries[i];

        if (!(bits & source->bit))
            continue;
        if ((run->torch && source->kind->yields_to_torch) ||
            (source->kind->is_left_out && source->kind->is_left_out()))
            bits &= ~source->bit;
    }
    return bits;
}

/* Set the bits of the sources that RUN asks for. */
static int parse_wanted(const struct osc_run_args *run, unsigned *bits)
{
    unsigned torch = 0;
    int failed = parse_sources(run->sources, bits);

    if (!failed && run->torch)
        failed = parse_torch(run->torch, &torch);
    if (failed)
        return failed;
    if (!run->sources)
        *bits = by_default(run);
    *bits |= torch;
    if ((*bits & OSC_SOURCE_TORCH_REPLACE) && (*bits & OSC_SOURCE_TORCH_STACK))
        return osc_cli_misuse("--sources: torch=replace and torch=stack cannot be combined");
    if (*bits & OSC_SOURCE_TORCH_STACK)
        *bits &= ~(unsigned)OSC_SOURCE_TORCH; /* which is a part of it */
    if (*bits & OSC_SOURCE_TORCH_REPLACE)
        *bits &= ~(unsigned)OSC_SOURCE_TORCH; /* it says in which way torch is recorded */
    if ((*bits & OSC_SOURCE_TORCH_REPLACE) && (run->schedule || run->flight))
        return osc_cli_misuse("--schedule and --flight cannot be used with --torch=replace: "
                              "the program's own profiler decides when to record");
    return OSC_EXIT_DONE;
}

static void add_variable(struct osc_sources *s, const char *name, const char *value)
{
    s->variables[s->n_variables++] = (struct osc_child_variable){name, value};
}

/* The same with TEXT, whose bytes S owns from then on. */
static int add_text(struct osc_sources *s, const char *name, struct osc_strbuf *text)
{
    if (text->status != OSC_OK) {
        osc_strbuf_fini(text);
        return osc_cli_fail(text->status, &(struct osc_err){0});
    }
    s->texts[s->n_texts++] = text->s;
    add_variable(s, name, text->s);
    return OSC_EXIT_DONE;
}

/* Remove the variable NAME if it was set by an `opscope run` around this one. */
static int drop_stale(struct osc_sources *s, const char *name)
{
    if (getenv("OPSCOPE_RUN_ID"))
        add_variable(s, name, NULL);
    return OSC_EXIT_DONE;
}

/* SOURCES cannot be used. If ARGS are strict, fail; otherwise the program runs without them and
 * its recordings say so. */
static int do_without(struct osc_sources *s, const struct osc_args *args, unsigned sources)
{
    s->failed |= sources;
    return args->run.is_strict ? OSC_EXIT_FAILED : OSC_EXIT_DONE;
}

/* Obey OPSCOPE=0 rather than the command line: the user may have set it for all programs. */
static int heed_forbidden(struct osc_sources *s, const struct osc_args *args, unsigned bits)
{
    const char *const said = getenv("OPSCOPE");

    if (bits == 0 || !said || strcmp(said, "0") != 0)
        return OSC_EXIT_DONE;
    osc_cli_error("OPSCOPE=0 is set: nothing is recorded; unset it to record");
    return do_without(s, args, bits);
}

unsigned osc_sources_add_titles(struct osc_strbuf *text, unsigned bits)
{
    unsigned rest = bits, n = 0;

    for (size_t i = 0; i < OSC_SOURCE_COUNT; i++) {
        const struct osc_source_entry *const source = &osc_source_entries[i];

        if (!(rest & source->bit))
            continue;
        rest &= ~source->bit;
        osc_strbuf_addf(text, "%s%s", n == 0 ? "" : rest ? ", " : " and ", source->kind->title);
        n++;
    }
    return n;
}

/* Find the collector, for the sources BITS, and store its PATH; "": it cannot be used. */
static int check_collector(struct osc_sources *s, const struct osc_args *args, unsigned bits,
                           char *path, size_t room)
{
    struct osc_strbuf text = {0};
    char why[256];

    osc_strbuf_adds(&text, osc_sources_add_titles(&text, bits) == 1 ? " is" : " are");
    if (text.status != OSC_OK) {
        path[0] = '\0';
    } else if (!osc_find_collector(path, room)) {
        osc_cli_error(OSC_COLLECTOR " is neither beside opscope nor installed; %s not recorded",
                      text.s);
        path[0] = '\0';
    } else if (!osc_is_loadable(path, why, sizeof why)) {
        osc_cli_error("cannot load %s: %s; %s not recorded", path, why, text.s);
        path[0] = '\0';
    }
    osc_strbuf_fini(&text);
    return path[0] ? OSC_EXIT_DONE : do_without(s, args, bits);
}

/* VARIABLE is a list: let VALUE be in it, before or after what is there. */
static int add_to_list(struct osc_sources *s, const char *variable, const char *value,
                       bool is_first)
{
    const char *const others = getenv(variable);
    const bool has_others = others && *others && strcmp(others, value) != 0;
    struct osc_strbuf text = {0};

    if (has_others && !is_first)
        osc_strbuf_addf(&text, "%s:", others);
    osc_strbuf_adds(&text, value);
    if (has_others && is_first)
        osc_strbuf_addf(&text, ":%s", others);
    return add_text(s, variable, &text);
}

/* Let the variable of SOURCE name the collector at PATH: before others if it is a list, else
 * unless it names the library of another tool. */
static int choose_variable(struct osc_sources *s, const struct osc_args *args,
                           const struct osc_source_entry *source, const char *path)
{
    const struct osc_source_kind *const kind = source->kind;
    const char *const other = getenv(kind->variable);
    struct osc_strbuf text = {0};

    if (kind->is_list)
        return add_to_list(s, kind->variable, path, true);
    if (other && *other && strcmp(other, path) != 0 && !args->run.is_forced) {
        osc_cli_error("[%s] %s is already set to %s; that would replace another tool: unset "
                      "it or use --force; %s is not recorded",
                      source->word, kind->variable, other, kind->title);
        return do_without(s, args, source->bit);
    }
    osc_strbuf_adds(&text, path);
    return add_text(s, kind->variable, &text);
}

/* Preload the collector at PATH if one of BITS needs it. It comes after the libraries of
 * others: a sanitizer's must be the first. One that a program is linked with cannot be, and the
 * program would end if it minded. */
static int choose_preload(struct osc_sources *s, const struct osc_args *args, unsigned bits,
                          const char *path)
{
    const bool is_named = args->run.sources != NULL;
    unsigned preloaded = 0;
    int failed;

    for (size_t i = 0; i < OSC_SOURCE_COUNT; i++) {
        const struct osc_source_kind *const kind = osc_source_entries[i].kind;
        const unsigned bit = osc_source_entries[i].bit;

        if (!(bits & bit) || !kind->is_preloaded || !kind->is_preloaded(is_named))
            continue;
        preloaded |= bit;
        if (kind->switch_variable)
            add_variable(s, kind->switch_variable, "1");
    }
    if (!preloaded)
        return OSC_EXIT_DONE;
    failed = add_to_list(s, "LD_PRELOAD", path, false);
    return failed ? failed : add_to_list(s, "ASAN_OPTIONS", "verify_asan_link_order=0", true);
}

/* What KIND lacks to be recorded; NULL: nothing that is known. Without --strict a program may
 * find a driver that we do not, and says itself that it has none. */
static const char *lack_of(const struct osc_source_kind *kind, const struct osc_args *args)
{
    if (kind->missing)
        return kind->missing;
    return args->run.is_strict && args->run.sources && kind->lack ? kind->lack() : NULL;
}

/* Choose those of BITS that the collector records. */
static int choose_collected(struct osc_sources *s, const struct osc_args *args, unsigned bits)
{
    char path[PATH_MAX];
    int failed = OSC_EXIT_DONE;

    for (size_t i = 0; i < OSC_SOURCE_COUNT && !failed; i++) {
        const struct osc_source_entry *const source = &osc_source_entries[i];
        const char *const lack = bits & source->bit ? lack_of(source->kind, args) : NULL;

        if (!lack)
            continue;
        osc_cli_error("[%s] %s; %s is not recorded", source->word, lack, source->kind->title);
        failed = do_without(s, args, source->bit);
    }
    bits &= ~s->failed;
    if (!failed && bits)
        failed = check_collector(s, args, bits, path, sizeof path);
    bits &= ~s->failed;
    for (size_t i = 0; i < OSC_SOURCE_COUNT && !failed; i++) {
        const struct osc_source_entry *const source = &osc_source_entries[i];

        if (bits & source->bit && source->kind->variable)
            failed = choose_variable(s, args, source, path);
    }
    return failed ? failed : choose_preload(s, args, bits & ~s->failed, path);
}

/* Python imports what is in PYTHONPATH first: our module is there, and waits for torch. */
static int choose_torch(struct osc_sources *s, const struct osc_args *args, unsigned bits)
{
    const char *const others = getenv("PYTHONPATH");
    struct osc_strbuf text = {0};
    char path[PATH_MAX];

    if (!osc_find_torch_hook(path, sizeof path)) {
        osc_cli_error("[torch] this opscope does not belong to the Python package, which 'pip "
                      "install .' builds from the sources; torch is not recorded");
        return do_without(s, args, bits & OSC_SOURCES_TORCH);
    }
    osc_strbuf_adds(&text, path);
    if (others && *others)
        osc_strbuf_addf(&text, ":%s", others);
    return add_text(s, "PYTHONPATH", &text);
}

/* Check that TEXT, the value of OPTION, is a schedule that the recorder accepts. TEXT begins
 * with KEY if the option stands for it, else KEY is "". */
static int check_schedule(const char *option, const char *key, const char *text)
{
    static const char begin[] = "schedule: \"";
    const size_t n_begin = sizeof begin - 1, n_key = strlen(key);
    struct osc_schedule_text said;
    struct osc_err err = {0};

    if (osc_schedule_parse(text, &said, &err) == OSC_OK)
        return OSC_EXIT_DONE;
    /* The user wrote the option, not the key. */
    const bool is_keyed = n_key > 0 && strncmp(err.message, begin, n_begin) == 0 &&
                          strncmp(err.message + n_begin, key, n_key) == 0;
    return osc_cli_misuse("%s: %s%s", option, is_keyed ? "\"" : "",
                          err.message + (is_keyed ? n_begin + n_key : 0));
}

/* The same for --flight, whose value is preceded by a key. */
static int check_flight(const char *value)
{
    static const char key[] = "flight=";
    struct osc_strbuf text = {0};

    osc_strbuf_addf(&text, "%s%s", key, value);
    const int failed = text.status == OSC_OK ? check_schedule("--flight", key, text.s)
                                             : osc_cli_fail(text.status, &(struct osc_err){0});
    osc_strbuf_fini(&text);
    return failed;
}

/* Join --schedule, --flight and --limit-size to one text for OPSCOPE_SCHEDULE. */
static int choose_schedule(struct osc_sources *s, const struct osc_run_args *run)
{
    struct osc_strbuf text = {0};
    int failed =
        run->schedule ? check_schedule("--schedule", "", run->schedule) : OSC_EXIT_DONE;

    if (!failed && run->flight)
        failed = check_flight(run->flight);
    if (failed)
        return failed;
    if (run->schedule && !run->schedule[0])
        return osc_cli_misuse("--schedule is empty; an example is wait=1,active=3");
    if (run->schedule)
        osc_strbuf_adds(&text, run->schedule);
    if (run->flight)
        osc_strbuf_addf(&text, "%sflight=%s", text.len > 0 ? "," : "", run->flight);
    if (run->limit_bytes)
        osc_strbuf_addf(&text, "%slimit_size=%" PRIu64, text.len > 0 ? "," : "",
                        run->limit_bytes);
    if (text.status == OSC_OK && text.len == 0)
        return drop_stale(s, "OPSCOPE_SCHEDULE");
    /* Each is valid by itself, but together they may repeat a key. */
    if (text.status == OSC_OK)
        failed = check_schedule("--schedule, --flight, --limit-size", "", text.s);
    if (failed) {
        osc_strbuf_fini(&text);
        return failed;
    }
    return add_text(s, "OPSCOPE_SCHEDULE", &text);
}

/* Set VARIABLE to the LIST of OPTION, which is of KIND. */
static int choose_switches(struct osc_sources *s, const char *option, const char *variable,
                           const char *list, const struct osc_switch_kind *kind)
{
    struct osc_strbuf text = {0};
    struct osc_switch_rule rule;
    const char *at = list, *item;
    size_t len;

    if (!list)
        return drop_stale(s, variable);
    while (osc_switch_next(&at, &item, &len))
        if (!kind->read(item, len, &rule))
            return osc_cli_misuse("%s: '%.*s' is not %s", option, (int)len, item, kind->what);
    osc_strbuf_adds(&text, list);
    return add_text(s, variable, &text);
}

void osc_sources_add_names(struct osc_strbuf *text, unsigned bits, const char *prefix)
{
    for (size_t i = 0; i < OSC_SOURCE_COUNT; i++) {
        const struct osc_source_entry *const source = &osc_source_entries[i];

        if (bits & source->bit)
            osc_strbuf_addf(text, "%s%s%s", text->len > 0 ? "," : "", prefix, source->word);
    }
}

/* Set OPSCOPE_SOURCES to the usable and the unusable sources of BITS. */
static int print_sources(struct osc_sources *s, const struct osc_args *args, unsigned bits)
{
    const unsigned by_default = args->run.sources ? 0 : OSC_SOURCES_COLLECTED;
    struct osc_strbuf text = {0};

    s->wanted = bits & ~s->failed;
    if (!args->run.sources && !args->run.torch && s->failed == 0)
        return drop_stale(s, "OPSCOPE_SOURCES");
    osc_sources_add_names(&text, s->wanted & ~by_default, "");
    osc_sources_add_names(&text, s->wanted & by_default, "?");
    osc_sources_add_names(&text, s->failed, "-");
    if (bits == 0)
        osc_strbuf_adds(&text, "none");
    s->asked = text.s;
    return add_text(s, "OPSCOPE_SOURCES", &text);
}

/* Tell programs that load libopscope themselves where it is. */
static int name_library(struct osc_sources *s)
{
    struct osc_strbuf text = {0};
    char path[PATH_MAX];

    if (!osc_find_library(path, sizeof path))
        return OSC_EXIT_DONE; /* they find it as other programs do, or not */
    osc_strbuf_adds(&text, path);
    return add_text(s, "OPSCOPE_LIBRARY", &text);
}

int osc_sources_choose(struct osc_sources *s, const struct osc_args *args, const char *out)
{
    struct osc_strbuf id = {0};
    unsigned bits;
    int failed = parse_wanted(&args->run, &bits);

    if (failed)
        return failed;
    osc_strbuf_addf(&id, "%016" PRIx64, osc_hash_seed());
    failed = add_text(s, "OPSCOPE_RUN_ID", &id);
    s->run_id = id.s;
    add_variable(s, "OPSCOPE_OUT", out);
    if (!failed)
        failed = name_library(s);
    if (bits == 0)
        add_variable(s, "OPSCOPE", "0");
    if (!failed)
        failed = choose_schedule(s, &args->run);
    if (!failed)
        failed = choose_switches(s, "--enable", "OPSCOPE_ENABLE", args->run.enable,
                                 &osc_switch_levels);
    if (!failed)
        failed = choose_switches(s, "--sample", "OPSCOPE_SAMPLE", args->run.sample,
                                 &osc_switch_samples);
    if (!failed)
        failed = heed_forbidden(s, args, bits);
    if (!failed)
        failed = choose_collected(s, args, bits & ~s->failed & OSC_SOURCES_COLLECTED);
    if (!failed && (bits & ~s->failed & OSC_SOURCES_TORCH))
        failed = choose_torch(s, args, bits);
    return failed ? failed : print_sources(s, args, bits);
}

void osc_sources_switch_off(struct osc_sources *s)
{
    s->n_variables = 0;
    add_variable(s, "OPSCOPE", "0");
}

void osc_sources_fini(struct osc_sources *s)
{
    for (uint32_t i = 0; i < s->n_texts; i++)
        osc_free(s->texts[i]);
    *s = (struct osc_sources){0};
}

int osc_sources_print(const struct osc_sources *s)
{
    struct osc_strbuf out = {0};
    int failed = OSC_EXIT_DONE;

    for (uint32_t i = 0; i < s->n_variables; i++) {
        const struct osc_child_variable *const v = &s->variables[i];

        osc_strbuf_addf(&out, v->value ? "export %s=" : "unset %s", v->name);
        if (v->value)
            osc_shell_add_word(&out, v->value);
        osc_strbuf_addc(&out, '\n');
    }
    failed = out.status == OSC_OK ? osc_show_text(out.s)
                                  : osc_cli_fail(out.status, &(struct osc_err){0});
    osc_strbuf_fini(&out);
    return failed;
}
