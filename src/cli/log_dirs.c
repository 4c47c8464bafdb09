/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/log_dirs.h"

#include <string.h>
#include <sys/stat.h>

#include "analysis/table_registry.h"
#include "base/mem.h"
#include "base/note.h"
#include "cli/remote_files.h"
#include "table/nearest.h"

bool osc_log_dirs_are_named(const struct osc_args *args)
{
    return args->logdir || args->logdir_spec || args->run_name;
}

static int out_of_memory(void)
{
    osc_cli_error("out of memory");
    return OSC_EXIT_FAILED;
}

/* Add the runs of ROOT. What is skipped is told when the run is read. */
static int add_root(struct osc_logdir *d, const struct osc_log_root *root)
{
    struct osc_strbuf notes = {0};
    struct osc_err err = {0};
    const osc_status st = osc_logdir_find(d, root, &notes, &err);

    osc_strbuf_fini(&notes);
    return st == OSC_OK ? OSC_EXIT_DONE : osc_cli_fail(st, &err);
}

/* Add the run in directory PATH, unless IS_DEEP, or else those below it. */
static int add_folder(struct osc_logdir *d, const char *path, bool is_deep)
{
    const struct osc_log_root alone = {.path = path, .is_alone = true}, all = {.path = path};
    struct osc_logdir one = {0};
    const int failed = is_deep ? OSC_EXIT_DONE : add_root(&one, &alone);
    const bool is_run = one.files.n > 0;

    osc_logdir_fini(&one);
    return failed ? failed : add_root(d, is_run ? &alone : &all);
}

static int add_entry_root(struct osc_logdir *d, const char *path, const char *label)
{
    const char *local = NULL;
    const int failed = osc_remote_files_get(path, &local);

    return failed ? failed : add_root(d, &(struct osc_log_root){local, label, false});
}

/* Add the runs of one ENTRY of --logdir_spec, NAME:DIR or DIR, of LEN bytes. */
static int add_entry(struct osc_logdir *d, const char *entry, size_t len)
{
    char *const text = osc_malloc(len + 1);
    int failed = OSC_EXIT_DONE;

    if (!text)
        return out_of_memory();
    memcpy(text, entry, len);
    text[len] = '\0';
    char *const at = strchr(text, ':');
    char *const colon = at && strncmp(at, "://", 3) != 0 ? at : NULL; /* not of a URL */
    if (colon)
        *colon = '\0';
    const char *const path = colon ? colon + 1 : text;
    if (*path == '\0' || text[0] == '\0')
        failed = osc_cli_misuse("--logdir_spec: '%.*s' is not NAME:DIR", (int)len, entry);
    else
        failed = add_entry_root(d, path, colon ? text : NULL);
    osc_free(text);
    return failed;
}

static bool is_folder(const char *path)
{
    struct stat info;

    return strcmp(path, "-") != 0 && !osc_folder_is_live(path) && stat(path, &info) == 0 &&
           S_ISDIR(info.st_mode);
}

/* Whether operand I of ARGS is a directory to search. The first one may name a table. */
static bool is_searched(const struct osc_args *args, int i)
{
    const bool is_table = i == 0 && args->command->bit == OSC_COMMAND_TABLE &&
                          osc_table_find(args->operands[i]) != NULL;

    return !is_table && is_folder(args->operands[i]);
}

int osc_log_dirs_find(struct osc_logdir *d, const struct osc_args *args)
{
    int failed = OSC_EXIT_DONE;

    if (args->logdir)
        failed = add_root(d, &(struct osc_log_root){.path = args->logdir});
    for (const char *p = args->logdir_spec; p && !failed;) {
        const size_t len = strcspn(p, ",");

        failed = add_entry(d, p, len);
        p = p[len] == ',' ? p + len + 1 : NULL;
    }
    for (int i = 0; i < args->n_operands && !args->logdir && !args->logdir_spec && !failed; i++)
        if (is_searched(args, i))
            failed = add_folder(d, args->operands[i], args->run_name != NULL);
    return failed;
}

/* Replace the operands of ARGS that were searched by the runs of D that IS_CHOSEN marks. */
static int set_operands(struct osc_args *args, const struct osc_logdir *d,
                        const bool *is_chosen)
{
    const bool is_searching = !args->logdir && !args->logdir_spec;
    char **const all = osc_calloc((size_t)args->n_operands + d->n_runs + 2, sizeof *all);
    struct osc_path_list *const own = &args->own_operands;
    osc_status st = all ? OSC_OK : OSC_ENOMEM;
    int n = 0;

    for (int i = 0; i < args->n_operands && all; i++)
        if (!is_searching || !is_searched(args, i))
            all[n++] = args->operands[i];
    for (uint32_t i = 0; i < d->n_runs && st == OSC_OK; i++) {
        if (!is_chosen[i])
            continue;
        /* With a slash it is not taken for a table. */
        st = osc_path_list_add(own, strchr(d->runs[i].path, '/') ? NULL : ".", d->runs[i].path);
        if (st == OSC_OK)
            all[n++] = own->all[own->n - 1];
    }
    if (st != OSC_OK) {
        osc_free(all);
        return out_of_memory();
    }
    args->operands = args->operand_array = all;
    args->n_operands = n;
    return OSC_EXIT_DONE;
}

/* Report that no run is called as ARGS says. */
static int no_run(const struct osc_args *args, const struct osc_logdir *d)
{
    struct osc_nearest near = {.word = args->run_name};
    struct osc_strbuf names = {0};

    for (uint32_t i = 0; i < d->n_runs; i++)
        osc_nearest_try(&near, d->runs[i].name);
    osc_logdir_add_names(d, false, &names);
    if (near.best)
        osc_cli_error("no run is called '%s'; did you mean '%s'?", args->run_name, near.best);
    else
        osc_cli_error("no run is called '%s'; there %s %s", args->run_name,
                      d->n_runs == 1 ? "is" : "are", names.s ? names.s : "none");
    osc_strbuf_fini(&names);
    return OSC_EXIT_MISUSED;
}

/* Report that there are several runs and none is chosen. */
static int several_runs(const struct osc_logdir *d)
{
    struct osc_strbuf names = {0};

    osc_logdir_add_names(d, false, &names);
    osc_cli_error("there are %u runs, %s; choose one with --run NAME; opscope info lists them",
                  d->n_runs, names.s ? names.s : "");
    osc_strbuf_fini(&names);
    return OSC_EXIT_MISUSED;
}

int osc_log_dirs_choose_of(struct osc_args *args, const struct osc_logdir *d)
{
    bool *const is_chosen = osc_calloc((size_t)d->n_runs + 1, sizeof *is_chosen);
    uint32_t n = 0;
    int failed = OSC_EXIT_DONE;

    if (!is_chosen)
        return out_of_memory();
    for (uint32_t i = 0; i < d->n_runs; i++) {
        is_chosen[i] = !args->run_name || strcmp(d->runs[i].name, args->run_name) == 0;
        n += is_chosen[i];
    }
    if (d->n_runs == 0) {
        osc_cli_error("%s: no runs are in it or below it: no .osc or .json that is a trace",
                      args->logdir        ? args->logdir
                      : args->logdir_spec ? args->logdir_spec
                                          : "--run");
        failed = OSC_EXIT_FAILED;
    } else if (n == 0) {
        failed = no_run(args, d);
    } else if (n > 1 && !args->run_name) {
        failed = several_runs(d);
    } else {
        failed = set_operands(args, d, is_chosen);
    }
    osc_free(is_chosen);
    return failed;
}

int osc_log_dirs_choose(struct osc_args *args)
{
    struct osc_logdir d = {0};
    int failed = OSC_EXIT_DONE;

    if (!osc_log_dirs_are_named(args))
        return OSC_EXIT_DONE;
    failed = osc_log_dirs_find(&d, args);
    if (!failed)
        failed = osc_log_dirs_choose_of(args, &d);
    osc_logdir_fini(&d);
    return failed;
}

void osc_log_dirs_fini(struct osc_args *args)
{
    osc_free(args->operand_array);
    args->operand_array = NULL;
    osc_path_list_fini(&args->own_operands);
}
