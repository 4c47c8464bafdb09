/* SPDX-License-Identifier: Apache-2.0 */
/* `opscope view`: the web viewer. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "ask/files/budget.h"
#include "ask/folders/paths.h"
#include "ask/request.h"
#include "base/mem.h"
#include "base/parse.h"
#include "cli/commands.h"
#include "cli/log_dirs.h"
#include "cli/remote_files.h"
#include "serve/serve.h"
#include "table/nearest.h"

extern char **environ;

/* The state of the traces is looked at so often. */
#define LOOK_NS 200000000

/* --- which runs ------------------------------------------------------------------ */

/* The time at which the newest file of run I of D was changed last. */
static int64_t newest_of(const struct osc_logdir *d, uint32_t i)
{
    const struct osc_log_run *const run = &d->runs[i];
    int64_t newest = INT64_MIN;
    struct stat info;

    for (uint32_t f = run->first_file; f < run->first_file + run->n_files; f++)
        if (stat(d->files.all[f], &info) == 0 && info.st_mtime > newest)
            newest = info.st_mtime;
    return newest;
}

/* Choose the run of D that the page opens with: the one that ARGS names, else the newest. */
static int choose_first(const struct osc_args *args, const struct osc_logdir *d,
                        uint32_t *first)
{
    struct osc_nearest near = {.word = args->run_name};
    int64_t newest = INT64_MIN;

    for (uint32_t i = 0; i < d->n_runs; i++) {
        const int64_t at = args->run_name ? 0 : newest_of(d, i);

        if (args->run_name && strcmp(d->runs[i].name, args->run_name) == 0) {
            *first = i;
            return OSC_EXIT_DONE;
        }
        if (args->run_name)
            osc_nearest_try(&near, d->runs[i].name);
        else if (at > newest || i == 0)
            *first = i;
        newest = at > newest ? at : newest;
    }
    if (!args->run_name)
        return OSC_EXIT_DONE;
    return near.best ? osc_cli_misuse("no run is called '%s'; did you mean '%s'?",
                                      args->run_name, near.best)
                     : osc_cli_misuse("no run is called '%s'; opscope info lists them",
                                      args->run_name);
}

/* The runs that the server shows. */
struct shown {
    struct osc_logdir dirs;
    struct osc_keeper_run *runs; /* owned */
    uint32_t n_runs, first;
};

/* Report what is not there before anything listens. */
static int find_files(const struct osc_args *args)
{
    struct osc_paths files = {0};
    struct osc_strbuf notes = {0};
    struct osc_err err = {0};
    osc_status st =
        osc_paths_find(&files, osc_args_paths(args), (size_t)args->n_operands, &notes, &err);

    for (uint32_t i = 0; i < files.n && st == OSC_OK; i++)
        if (strcmp(files.all[i], "-") != 0 && access(files.all[i], R_OK) != 0)
            st = osc_fail(&err, OSC_EIO, "%s: cannot be opened: %s", files.all[i],
                          strerror(errno));
    osc_paths_fini(&files);
    osc_strbuf_fini(&notes);
    return st == OSC_OK ? OSC_EXIT_DONE : osc_cli_fail(st, &err);
}

/* All operands of ARGS are one run. */
static int show_operands(struct shown *s, const struct osc_args *args)
{
    const char *const path = args->operands[0];
    const char *const slash = strrchr(path, '/');
    const char *name = slash && slash[1] ? slash + 1 : path;

    if (s->dirs.n_runs == 1)
        name = s->dirs.runs[0].name;
    s->runs[0] = (struct osc_keeper_run){
        .name = name, .paths = osc_args_paths(args), .n_paths = (size_t)args->n_operands};
    s->n_runs = 1;
    return find_files(args);
}

/* Each run of the directories is one, and its directory is its only path. */
static int show_dirs(struct shown *s, const struct osc_args *args)
{
    for (uint32_t i = 0; i < s->dirs.n_runs; i++)
        s->runs[i] = (struct osc_keeper_run){
            .name = s->dirs.runs[i].name,
            .paths = (const char *const *)&s->dirs.runs[i].path,
            .n_paths = 1,
        };
    s->n_runs = s->dirs.n_runs;
    return choose_first(args, &s->dirs, &s->first);
}

static int find_runs(struct shown *s, struct osc_args *args)
{
    const bool is_named = osc_log_dirs_are_named(args);
    int failed = osc_log_dirs_find(&s->dirs, args);

    if (failed)
        return failed;
    s->runs = osc_calloc((size_t)s->dirs.n_runs + 1, sizeof *s->runs);
    if (!s->runs)
        return osc_cli_fail(OSC_ENOMEM, &(struct osc_err){0});
    if (s->dirs.n_runs > 1 && (is_named || args->n_operands == 1))
        return show_dirs(s, args);
    if (is_named)
        failed = osc_log_dirs_choose_of(args, &s->dirs);
    return failed ? failed : show_operands(s, args);
}

/* --- the server ------------------------------------------------------------------ */

static void say(void *ctx, const char *line)
{
    (void)ctx;
    osc_cli_error("%s", line); /* whole: it may have an address */
}

/* Show URL in a browser. */
static void open_browser(const char *url)
{
    char program[] = "xdg-open";
    char *const copy = osc_malloc(strlen(url) + 1);
    char *words[] = {program, copy, NULL};
    pid_t pid;

    if (copy)
        memcpy(copy, url, strlen(url) + 1);
    if (!copy || posix_spawnp(&pid, program, NULL, NULL, words, environ) != 0)
        osc_cli_say("xdg-open is not there; open the address yourself");
    osc_free(copy);
}

/* Tell what there is to say about run FIRST once it is loaded. Returns the exit status if the
 * server has nothing to show. */
static int tell_loaded(struct osc_keeper *k, uint32_t first, bool *is_told)
{
    struct osc_keeping now;

    osc_keeper_look(k, first, &now);
    if (*is_told || (now.state != OSC_KEEPER_READY && now.state != OSC_KEEPER_FAILED))
        return OSC_EXIT_DONE;
    *is_told = true;
    if (now.state == OSC_KEEPER_READY)
        return OSC_EXIT_DONE;
    osc_cli_error("%s", now.message);
    return osc_keeper_n(k) == 1 ? OSC_EXIT_FAILED : OSC_EXIT_DONE;
}

/* Whether standard input has ended; what it has is dropped. */
static bool has_input_ended(void)
{
    struct pollfd p = {.fd = STDIN_FILENO, .events = POLLIN};
    char dropped[256];

    return poll(&p, 1, 0) > 0 && read(STDIN_FILENO, dropped, sizeof dropped) <= 0;
}

/* Wait for one of the signals in SET, for the end of standard input if it ENDS_WITH that, or
 * until there is nothing to show. */
static int wait_for_end(struct osc_keeper *k, uint32_t first, const sigset_t *set,
                        bool ends_with_input)
{
    const struct timespec pause = {.tv_nsec = LOOK_NS};
    bool is_told = false;
    int failed = OSC_EXIT_DONE;

    while (!failed && sigtimedwait(set, NULL, &pause) < 0 &&
           (errno == EAGAIN || errno == EINTR) && !(ends_with_input && has_input_ended()))
        failed = tell_loaded(k, first, &is_told);
    return failed;
}

/* Read the port of ARGS into L. */
static int read_port(struct osc_listen_how *l, const struct osc_args *args)
{
    int64_t port;

    if (!args->view.port)
        return OSC_EXIT_DONE;
    if (!osc_parse_whole(args->view.port, 0, 65535, &port))
        return osc_cli_misuse("--port: '%s' is not a port from 0 (any) to 65535",
                              args->view.port);
    l->has_port = true;
    l->port = (unsigned)port;
    return OSC_EXIT_DONE;
}

/* Serve S until a signal of SET comes. */
static int serve(const struct shown *s, const struct osc_args *args, const sigset_t *set)
{
    const struct osc_api_config config = {
        .keeper = {.runs = s->runs, .n_runs = s->n_runs, .how = args->request.how},
        .first = s->first,
        .dirs = s->dirs.n_runs > 0 ? &s->dirs : NULL,
    };
    struct osc_server_config how = {
        .listen = {.path = args->view.socket,
                   .host = args->view.host,
                   .binds_all = args->view.binds_all},
        .prefix = args->view.prefix,
        .hosts = args->view.hosts,
        .say = say,
    };
    struct osc_server *server = NULL;
    struct osc_err err = {0};
    int failed = read_port(&how.listen, args);

    if (failed)
        return failed;
    osc_status st = osc_api_new(&how.api, &config);
    if (st == OSC_OK)
        st = osc_server_start(&server, &how, &err);
    if (st == OSC_OK) {
        if (osc_server_is_moved(server))
            osc_cli_say("port %u is taken, so it is another one", OSC_LISTEN_PORT);
        say(NULL, osc_server_url(server));
        if (args->view.opens)
            open_browser(osc_server_url(server));
        failed =
            wait_for_end(osc_api_keeper(how.api), s->first, set, args->view.ends_with_input);
    } else {
        failed = osc_cli_fail(st, &err);
    }
    if (server ? osc_server_stop(server) : !how.api || osc_api_stop(how.api)) {
        osc_api_free(how.api);
        return failed;
    }
    osc_remote_files_remove();
    _exit(failed); /* a thread still waits for a file */
}

static int run(struct osc_args *args)
{
    struct shown s = {.runs = NULL};
    sigset_t set;

    if (args->n_operands == 0 && !args->logdir && !args->logdir_spec)
        return osc_cli_misuse(
            "no trace was named; try 'opscope view trace.json' or see 'opscope view --help'");
    if (args->view.host && args->view.binds_all)
        return osc_cli_misuse("--host and --bind_all exclude each other");
    if (args->view.socket && (args->view.host || args->view.binds_all || args->view.port ||
                              args->view.hosts || args->view.opens))
        return osc_cli_misuse(
            "--socket excludes --port, --host, --bind_all, --hosts and --open");
    args->request.how.only = &args->request.view;
    osc_mem_set_limit(osc_budget_limit(args->request.how.max_memory_bytes));
    /* All threads inherit this, and so only wait_for_end() gets these signals. */
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGHUP);
    int failed = find_runs(&s, args);
    if (!failed) {
        (void)pthread_sigmask(SIG_BLOCK, &set, NULL);
        failed = serve(&s, args, &set);
    }
    osc_free(s.runs);
    osc_logdir_fini(&s.dirs);
    return failed;
}

const struct osc_command osc_command_view = {
    .name = "view",
    .bit = OSC_COMMAND_VIEW,
    .operands = "[OPTION...] TRACE...",
    .summary = "look at traces in a browser",
    .text =
        "Starts a web server for the traces and prints its address, at once: the page shows\n"
        "how far they are loaded. Of a directory with several runs all can be chosen on the\n"
        "page; it opens with the newest, or the one that --run names. Files that grow or\n"
        "change are read again, also those of a recording that still runs. Only this user\n"
        "on this machine gets an answer; others need the token in the address that is\n"
        "printed with --bind_all or --host. Ctrl-C ends it.\n",
    .examples =
        "  opscope view trace.json.gz\n"
        "  opscope view --logdir log/ --open          all runs of a log directory\n"
        "  opscope view run.osc --port 0              at any port that is free\n"
        "  opscope view run.osc --bind_all            from other machines, with a token\n"
        "  ssh -L 6006:localhost:6006 HOST opscope view run.osc\n"
        "  curl 'http://127.0.0.1:6006/api/v1/table/kernels?format=csv&limit=5'\n",
    .run = run,
    .chooses_run = true,
};
