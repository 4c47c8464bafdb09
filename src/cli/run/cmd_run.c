/* SPDX-License-Identifier: Apache-2.0 */
/* `opscope run`: record an unchanged program. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/strbuf.h"
#include "cli/commands.h"
#include "cli/run/child.h"
#include "cli/run/empty_recording.h"
#include "cli/run/fold_killed.h"
#include "cli/run/list_sources.h"
#include "cli/run/python_program.h"
#include "cli/run/report_recorded.h"
#include "cli/run/run_identity.h"
#include "cli/run/run_totals.h"
#include "cli/run/source_list.h"
#include "cli/run/source_notes.h"
#include "cli/run/unrecorded.h"
#include "recording/growing_map.h"
#include "recording/open_failure.h"

/* PROGRAM without its directory, for the name of the output directory. */
static const char *name_of(const char *program)
{
    const char *const slash = strrchr(program, '/');

    return slash && slash[1] ? slash + 1 : program;
}

static int cannot_make(const char *path, int why)
{
    osc_cli_error(
        "%s: cannot create the directory: %s; nothing is recorded; name another with -o", path,
        strerror(why));
    return OSC_EXIT_FAILED;
}

/* Before the program starts, check that PATH has space for the smallest recording. */
static int check_room(const char *path)
{
    enum { LEAST = 3 << 20, PAGE = 4096 };
    const int dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    unsigned char *const base = osc_growing_map_addresses(LEAST, PAGE);
    struct osc_fd file = {0};
    char name[48];
    osc_status st = dir >= 0 && base ? OSC_OK : OSC_EIO;

    if (dir < 0)
        osc_open_failure_store(errno);
    snprintf(name, sizeof name, ".opscope-run.%d", (int)getpid());
    if (st == OSC_OK)
        st = osc_growing_map_create(&file, dir, name);
    if (st == OSC_OK) {
        st = osc_growing_map_reserve_cold(&file, 0, LEAST, base);
        (void)unlinkat(dir, name, 0);
        osc_fd_close(&file);
    }
    if (base)
        munmap(base, LEAST);
    if (dir >= 0)
        close(dir);
    if (st == OSC_OK)
        return OSC_EXIT_DONE;
    osc_cli_error("%s: cannot record into it: %s; nothing is recorded; %s", path,
                  strerror(osc_open_failure_get()),
                  osc_unrecorded_way_out(osc_open_failure_get()));
    return OSC_EXIT_FAILED;
}

/* Create a new directory: opscope-PROGRAM-DATE-TIME, or with -2, -3, ... */
static int make_new(const char *program, char *path, size_t room)
{
    const time_t now = time(NULL);
    struct tm local;
    char stamp[32];

    if (!localtime_r(&now, &local) || !strftime(stamp, sizeof stamp, "%Y%m%d-%H%M%S", &local))
        snprintf(stamp, sizeof stamp, "%lld", (long long)now);
    for (int i = 1; i < 1000; i++) {
        char suffix[16] = "";

        if (i > 1)
            snprintf(suffix, sizeof suffix, "-%d", i);
        snprintf(path, room, "opscope-%.100s-%s%s", name_of(program), stamp, suffix);
        if (mkdir(path, 0700) == 0)
            return OSC_EXIT_DONE;
        if (errno != EEXIST)
            break;
    }
    return cannot_make(path, errno);
}

/* Create PATH and missing parents; *IS_NEW: it did not exist. */
static int make_all(const char *path, bool *is_new)
{
    char part[PATH_MAX];
    const int len = snprintf(part, sizeof part, "%s", path);

    if (len >= (int)sizeof part)
        return cannot_make(path, ENAMETOOLONG);
    for (char *p = part + 1; *p; p++) {
        if (*p != '/')
            continue;
        *p = '\0';
        if (mkdir(part, 0777) != 0 && errno != EEXIST)
            return cannot_make(part, errno);
        *p = '/';
    }
    *is_new = mkdir(part, 0700) == 0;
    return *is_new || errno == EEXIST ? OSC_EXIT_DONE : cannot_make(path, errno);
}

/* Create the directory to record into; PATH becomes absolute. *IS_NEW: it did not exist. */
static int make_directory(const struct osc_args *args, char *path, bool *is_new)
{
    char given[PATH_MAX];
    int failed;

    if (args->output) {
        snprintf(given, sizeof given, "%s", args->output);
        failed = make_all(args->output, is_new);
    } else {
        *is_new = true;
        failed =
            make_new(args->n_operands ? args->operands[0] : "program", given, sizeof given);
    }
    if (!failed && !realpath(given, path))
        return cannot_make(given, errno);
    if (failed)
        return failed;
    failed = check_room(path);
    if (failed && *is_new)
        rmdir(path);
    return failed;
}

/* PATH, relative if it is below the working directory. */
static const char *shorten(const char *path)
{
    char cwd[PATH_MAX];
    const size_t len = getcwd(cwd, sizeof cwd) ? strlen(cwd) : 0;

    return len > 1 && strncmp(path, cwd, len) == 0 && path[len] == '/' ? path + len + 1 : path;
}

/* Report in one line that nothing was recorded from SOURCES. LACKS_TORCH as below. */
static void report_nothing(unsigned sources, bool lacks_torch)
{
    struct osc_strbuf why = {0};

    if (sources == 0) {
        osc_strbuf_adds(&why, "no source was selected");
    } else {
        osc_strbuf_adds(&why, "the program called none of ");
        osc_sources_add_titles(&why, OSC_SOURCE_API | OSC_SOURCES_COLLECTED);
    }
    osc_cli_error("nothing was recorded: %s%s", why.status == OSC_OK ? why.s : "out of memory",
                  lacks_torch ? "; 'opscope run --torch' records what PyTorch does" : "");
    osc_strbuf_fini(&why);
}

/* At the end, print on standard error what was recorded from SOURCES and what to type next.
 * LACKS_TORCH: nothing was recorded of a Python program, which may use PyTorch. */
static void summarize(const char *path, const struct osc_run_totals *t, unsigned sources,
                      bool lacks_torch)
{
    struct osc_strbuf word = {0};
    char others[64] = "";

    if (t->n_files == 0) {
        report_nothing(sources, lacks_torch);
        return;
    }
    if (t->n_others > 0)
        snprintf(others, sizeof others, " beside %u of other runs, which are other spans",
                 t->n_others);
    path = shorten(path);
    osc_operands_add_trace(&word, path);
    if (word.status == OSC_OK) {
        osc_cli_error("%u recording%s, %.1f MB, in %s%s; next:", t->n_files,
                      t->n_files == 1 ? "" : "s", (double)t->bytes / 1e6, path, others);
        /* Without torch, that table may well be empty; whatever was recorded has ranges. */
        fprintf(stderr, "  opscope %s\n  opscope table %s %s\n", word.s,
                sources & OSC_SOURCES_TORCH ? "operators" : "ranges", word.s);
    }
    osc_strbuf_fini(&word);
}

/* If the run lost anything, report in one line how much, and why; if somebody harmed its files,
 * in another. */
static void report_losses(const char *path, const struct osc_run_totals *t)
{
#define CAUSE(cause, member, words) [OSC_LOSS_##cause] = (words),
    static const char *const causes[OSC_LOSS_COUNT] = {OSC_LOSS_LIST(CAUSE)};
    struct osc_strbuf why = {0}, word = {0};
    uint64_t n = 0;

    for (unsigned k = 0; k < OSC_LOSS_COUNT; k++) {
        if (t->lost[k] == 0)
            continue;
        osc_strbuf_addf(&why, "%s%" PRIu64 " %s", n > 0 ? ", " : "", t->lost[k], causes[k]);
        n += t->lost[k];
    }
    osc_operands_add_trace(&word, shorten(path));
    if (n > 0 && why.status == OSC_OK && word.status == OSC_OK)
        osc_cli_error("%" PRIu64 " record%s lost (%s)%s%s; see 'opscope table quality %s'", n,
                      n == 1 ? " was" : "s were", why.s,
                      t->write_error ? ", because a file could not be written: " : "",
                      t->write_error ? strerror((int)t->write_error) : "", word.s);
    if (t->n_harmed > 0 && word.status == OSC_OK)
        osc_cli_error("%" PRIu32 " file%s removed, moved or cut while the program ran, and may "
                      "lack records; see 'opscope table quality %s'",
                      t->n_harmed, t->n_harmed == 1 ? " was" : "s were", word.s);
    osc_strbuf_fini(&why);
    osc_strbuf_fini(&word);
}

/* Report in one line why the program was not started. */
static void report_not_started(const char *program, const struct osc_child_end *end)
{
    if (end->exec_errno == ENOENT && !strchr(program, '/'))
        osc_cli_error("%s: program not found in PATH", program);
    else
        osc_cli_error("%s: %s", program, strerror(end->exec_errno));
}

/* Add to ASKED the sources of which the recordings should have events. IS_WHOLE: every process
 * was recorded. IS_TOLD: somebody reads what is said. */
static void ask_of_sources(struct osc_recorded_asked *asked, const struct osc_args *args,
                           const struct osc_sources *s, bool is_whole, bool is_told)
{
    const unsigned collected = s->wanted & OSC_SOURCES_COLLECTED;

    asked->named = args->run.sources ? collected : 0;
    asked->sources = (is_whole ? s->wanted & OSC_SOURCES_TORCH & ~s->failed : 0) |
                     asked->named | (is_told ? collected : 0);
}

/* Write a recording of what has none to PATH. */
static void write_empty(const struct osc_args *args, const struct osc_sources *s,
                        const char *path, const struct osc_unrecorded *u,
                        const struct osc_child_end *end)
{
    const pid_t pid = u->n > 0 ? u->pid : end->pid;

    if (osc_empty_recording_write(path, pid, args->operands, s) != OSC_OK && u->n == 0)
        osc_cli_error("%s: the recording cannot be written", path);
}

/* After the program has ended with END, complete its recordings in PATH and report. */
static void conclude(const struct osc_args *args, struct osc_sources *s, const char *path,
                     bool is_new, const struct osc_unrecorded *u,
                     const struct osc_child_end *end)
{
    const struct osc_fold_killed_guest guest = {.pid = end->pid,
                                                .start_unix_ns = end->start_unix_ns,
                                                .has_ended_well = end->signal == 0,
                                                .argv = args->operands,
                                                .sources = s};

    /* The limit on file size, which the program may have, must not end this process: from here
     * on it is an error to report. */
    (void)signal(SIGXFSZ, SIG_IGN);
    osc_unrecorded_report(u);
    if (access(path, F_OK) != 0 && errno == ENOENT) {
        osc_cli_error("%s: it was removed while the program ran, with what was recorded", path);
        return;
    }
    char why_idle[OSC_SOURCE_NOTE_BYTES];

    osc_source_notes_take_idle(path, why_idle);
    const unsigned failed = osc_source_notes_report(path);
    s->failed |= s->wanted & (failed & OSC_SOURCE_TORCH ? failed | OSC_SOURCES_TORCH : failed);
    osc_fold_killed_all(path, &guest);

    struct osc_run_totals t;
    const bool is_told = args->run.wants_summary || isatty(STDERR_FILENO);

    osc_run_totals_count(&t, path, s->run_id);
    report_losses(path, &t);
    if (u->n > 0)
        s->failed |= OSC_SOURCE_API;
    const bool is_elsewhere = t.n_files == 0 && u->n_elsewhere > 0;
    const bool is_reported = u->n > 0 || is_elsewhere; /* why there is no recording */
    const bool lacks_torch = t.n_files == 0 && !is_reported && !args->run.sources &&
                             !args->run.torch && !(s->wanted & OSC_SOURCES_TORCH) &&
                             osc_python_program_is((const char *const *)args->operands);
    s->is_idle = t.n_files == 0 && why_idle[0] != '\0';
    if (!s->is_idle && (t.n_files > 0 || !is_reported) && (is_told || lacks_torch))
        summarize(path, &t, s->wanted, lacks_torch);
    struct osc_recorded_asked asked = {.run_id = s->run_id,
                                       .pid = end->pid,
                                       .why_idle = why_idle[0] != '\0' ? why_idle : NULL,
                                       .sample = !is_reported ? args->run.sample : NULL};

    if (!is_elsewhere)
        ask_of_sources(&asked, args, s, u->n == 0, is_told);
    osc_report_recorded(path, &asked);
    if (is_elsewhere && is_new)
        (void)rmdir(path); /* if it is empty */
    if (u->n > 0 || (t.n_files == 0 && !is_elsewhere))
        write_empty(args, s, path, u, end);
}

/* Run the program and record it into PATH, which is new or not; NULL: do not record. */
static int record(const struct osc_args *args, struct osc_sources *s, const char *path,
                  bool is_new)
{
    struct osc_unrecorded u;
    struct osc_child_end end;

    osc_unrecorded_open(&u, path ? s->run_id : NULL);
    if (path)
        osc_run_identity_show(s->run_id, path);
    const osc_status st = osc_child_run(args->operands, s->variables, s->n_variables, &end);
    const int why = errno;
    osc_unrecorded_close(&u);

    if (st != OSC_OK) {
        osc_cli_error("cannot create a process: %s", strerror(why));
        return OSC_EXIT_FAILED;
    }
    if (end.exec_errno != 0) {
        report_not_started(args->operands[0], &end);
        if (path && is_new)
            rmdir(path);
    } else if (path) {
        conclude(args, s, path, is_new, &u, &end);
    }
    osc_child_exit_as(&end);
}

/* Where nothing can be recorded the program runs all the same, unless --strict is given. */
static int run(struct osc_args *args)
{
    struct osc_sources s = {0};
    char path[PATH_MAX] = "";
    const char *to = path;
    bool is_new = false;
    int failed;

    if (args->run.lists_sources)
        return osc_list_sources();
    if (args->n_operands == 0 && !args->run.prints_env)
        return osc_cli_misuse("no program was named; try 'opscope run -- python train.py' or "
                              "see 'opscope run --help'");
    if (args->output && !args->output[0])
        return osc_cli_misuse("--output: the name of the directory is empty");
    failed = osc_sources_choose(&s, args, path);
    if (!failed && make_directory(args, path, &is_new) != OSC_EXIT_DONE) {
        /* Run the program unrecorded, unless the options forbid that. */
        failed = args->run.is_strict || args->run.prints_env ? OSC_EXIT_FAILED : OSC_EXIT_DONE;
        osc_sources_switch_off(&s);
        to = NULL;
    }
    if (!failed)
        failed = args->run.prints_env ? osc_sources_print(&s) : record(args, &s, to, is_new);
    osc_sources_fini(&s);
    return failed;
}

const struct osc_command osc_command_run = {
    .name = "run",
    .bit = OSC_COMMAND_RUN,
    .operands = "[OPTION...] [--] PROGRAM [ARGUMENT...]",
    .summary = "record an unmodified program and its children",
    .text =
        "Runs PROGRAM and records what it and its children report: calls of libopscope,\n"
        "tasks of ITT (PyTorch's emit_itt(), oneDNN, oneTBB, OpenVINO), ranges of NVTX, and\n"
        "what runtimes do on devices (--list-sources). Each process writes a file into DIR.\n"
        "PROGRAM finds its terminal, signals and descriptors unchanged. opscope ends with the\n"
        "status of PROGRAM or by the same signal, with 127 if it was not found and with 126\n"
        "if it cannot be executed.\n",
    .examples =
        "  opscope run -- python train.py          into opscope-python-DATE-TIME/\n"
        "  opscope run -o rec -- ./convnet         into rec/\n"
        "  opscope run --schedule wait=1,active=3 ./convnet\n"
        "                                          three of every four steps\n"
        "  opscope run --torch -- python train.py  every operator, with shapes and memory\n"
        "  opscope run --torch=stack -- python train.py\n"
        "                                          also calls of Python and modules\n"
        "  opscope run --torch=replace -- python train.py\n"
        "                                          opscope in place of torch.profiler\n"
        "  opscope run --flight 10s,slow=2 ./serve\n"
        "                                          the last ten seconds, whenever a step\n"
        "                                          takes twice the median\n"
        "  eval \"$(opscope run -o rec --print-env)\"\n"
        "                                          for programs started elsewhere\n",
    .run = run,
    .takes_program = true,
};
