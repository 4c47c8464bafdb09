/* SPDX-License-Identifier: Apache-2.0 */
/*
 * opscope-mpi: `opscope table`, shared out over the processes of an MPI job.
 *
 * Each process lists the files that the operands stand for, and makes parts (cli/parts.h) of
 * its share of them. The parts are passed on along a binomial tree to the first process, which
 * prints the table. A process that fails is named, and the parts of the others are printed.
 */
#include <mpi.h>
#include <string.h>

#include "ask/files/budget.h"
#include "base/thread.h"
#include "cli/commands.h"
#include "cli/log_dirs.h"
#include "cli/parts.h"
#include "cli/remote_files.h"
#include "cli/table_run.h"

/* MPI counts in int: bytes are sent in pieces. */
#define PIECE_BYTES (1 << 20)

/* A process of the job. */
struct process {
    int number, n;
    int n_beside; /* processes on its machine, itself included */
    char machine[MPI_MAX_PROCESSOR_NAME];
    struct osc_strbuf said; /* owned; messages, which the first process prints */
};

/* --- passing bytes ------------------------------------------------------------------ */

static void send_all(const struct osc_strbuf *b, int to)
{
    uint64_t left = b->len;
    const char *at = b->s;

    MPI_Send(&left, 1, MPI_UINT64_T, to, 0, MPI_COMM_WORLD);
    while (left > 0) {
        const int n = left > PIECE_BYTES ? PIECE_BYTES : (int)left;

        MPI_Send(at, n, MPI_BYTE, to, 0, MPI_COMM_WORLD);
        at += n;
        left -= (uint64_t)n;
    }
}

/* Append what process FROM sends to B. */
static void receive_all(struct osc_strbuf *b, int from)
{
    static char piece[PIECE_BYTES];
    uint64_t left = 0;

    MPI_Recv(&left, 1, MPI_UINT64_T, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    while (left > 0) {
        const int n = left > PIECE_BYTES ? PIECE_BYTES : (int)left;

        MPI_Recv(piece, n, MPI_BYTE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        osc_strbuf_add(b, piece, (size_t)n); /* without memory, the rest is received, too */
        left -= (uint64_t)n;
    }
}

/* What one process tells the first one. */
struct report {
    int number, failed; /* of the process; its exit code */
    struct osc_str machine, said;
    const char *parts; /* of N_BYTES */
    size_t n_bytes;
};

/* Append a report of P, which ended with FAILED and made PARTS, to OUT. */
static void put_report(struct osc_strbuf *out, const struct process *p, int failed,
                       const struct osc_strbuf *parts)
{
    osc_put_u32(out, (uint32_t)p->number);
    osc_put_u32(out, (uint32_t)failed);
    osc_put_c_text(out, p->machine);
    osc_put_c_text(out, p->said.s ? p->said.s : "");
    osc_put_u64(out, failed ? 0 : parts->len);
    if (!failed && parts->len > 0)
        osc_strbuf_add(out, parts->s, parts->len);
}

static struct report get_report(struct osc_fields *from)
{
    struct report r = {.number = (int)osc_get_u32(from)};

    r.failed = (int)osc_get_u32(from);
    r.machine = osc_get_text(from);
    r.said = osc_get_text(from);
    r.n_bytes = (size_t)osc_get_u64(from);
    r.parts = osc_get_bytes(from, r.n_bytes);
    return r;
}

/* Join the reports ALL of every process in the first one: in each round half of those that are
 * left pass theirs on. */
static void gather(const struct process *p, struct osc_strbuf *all)
{
    for (int step = 1; step < p->n; step *= 2) {
        if (p->number & step) {
            if (all->status != OSC_OK) /* an empty report is missing */
                osc_strbuf_clear(all);
            send_all(all, p->number - step);
            return;
        }
        if (p->number + step < p->n)
            receive_all(all, p->number + step);
    }
}

/* --- the first process -------------------------------------------------------------- */

/* Print each line that R says: as it is if all processes failed, else with the process. */
static void print_report(const struct report *r, bool all_failed)
{
    for (const char *line = r->said.s; line && *line;) {
        const char *const end = strchrnul(line, '\n');
        const int len = (int)(end - line);

        if (all_failed)
            osc_cli_error("%.*s", len, line);
        else
            osc_cli_error("process %d on %s: %.*s", r->number, r->machine.s, len, line);
        line = *end ? end + 1 : end;
    }
}

/* The state of the first process while it reads reports. */
struct reading {
    struct osc_joined joined;
    int failed; /* exit code of the first process that failed */
    int n_failed, n;
};

/* Count the reports ALL and those of processes that failed. */
static void count(struct reading *r, const struct osc_strbuf *all)
{
    struct osc_fields from = {all->s, all->s + all->len, false};

    for (; from.at < from.end && !from.is_bad; r->n++) {
        const struct report one = get_report(&from);

        r->n_failed += one.failed != OSC_EXIT_DONE;
        r->failed = r->failed ? r->failed : one.failed;
    }
}

/* Add the parts in the reports ALL to R, and print what processes that failed said. */
static int read_reports(struct reading *r, const struct osc_strbuf *all)
{
    struct osc_fields from = {all->s, all->s + all->len, false};
    struct osc_str before = {NULL, 0};
    struct osc_err err = {0};

    count(r, all);
    const bool all_failed = r->n_failed == r->n;
    while (from.at < from.end && !from.is_bad) {
        const struct report one = get_report(&from);

        if (one.failed && !(all_failed && before.s && osc_str_eq(one.said, before)))
            print_report(&one, all_failed);
        before = one.said;
        if (!one.failed && !from.is_bad &&
            osc_joined_add(&r->joined, one.machine.s, one.parts, one.n_bytes, &err) != OSC_OK)
            return osc_cli_fail(OSC_EIO, &err);
    }
    return all_failed ? r->failed : OSC_EXIT_DONE;
}

/* Join the reports that all processes make of FAILED and PARTS. Returns OSC_EXIT_DONE with the
 * parts in R in the first process; in the others *IS_FIRST becomes false. */
static int join(const struct process *p, int failed, const struct osc_strbuf *parts,
                struct osc_strbuf *all, struct reading *r)
{
    put_report(all, p, failed, parts);
    gather(p, all);
    if (p->number > 0)
        return OSC_EXIT_DONE;
    osc_cli_capture(NULL);
    if (all->status != OSC_OK)
        return osc_cli_fail(all->status, &(struct osc_err){0});
    return read_reports(r, all);
}

/* --- all processes ------------------------------------------------------------------ */

/* Give each process that shares a machine its part of the processors and the memory. */
static struct osc_args divide(const struct process *p, const struct osc_args *args)
{
    struct osc_args own = *args;
    struct osc_how *const how = &own.request.how;
    const unsigned n_cpus = osc_cpu_count(), n = (unsigned)p->n_beside;

    if (how->n_threads == 0)
        how->n_threads = n_cpus / n > 0 ? n_cpus / n : 1;
    if (how->max_memory_bytes == 0)
        how->max_memory_bytes = osc_budget_limit(0) / n;
    return own;
}

/* Find the origins of all traces in every process: each places its share, and the first one
 * passes on what follows from all. *ORIGINS is empty in all if one fails. */
static int find_origins(struct process *p, const struct osc_args *args, struct osc_share share,
                        struct osc_origins *origins)
{
    struct osc_strbuf parts = {0}, all = {0};
    struct reading r = {.failed = OSC_EXIT_DONE};
    int failed = osc_parts_make_places(args, share, &parts);
    uint32_t n = 0;

    failed = join(p, failed, &parts, &all, &r);
    if (p->number == 0 && !failed)
        failed = osc_parts_origins(&r.joined, origins);
    n = failed ? 0 : origins->n;
    osc_joined_fini(&r.joined);
    osc_strbuf_fini(&parts);
    osc_strbuf_fini(&all);
    MPI_Bcast(&failed, 1, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Bcast(&n, 1, MPI_UINT32_T, 0, MPI_COMM_WORLD);
    if (failed)
        return failed;
    if (p->number > 0)
        origins->all = osc_calloc((size_t)n + 1, sizeof *origins->all);
    origins->n = n;
    if (!origins->all)
        MPI_Abort(MPI_COMM_WORLD, OSC_EXIT_FAILED);
    for (uint32_t i = 0, most = PIECE_BYTES / sizeof *origins->all; i < n; i += most)
        MPI_Bcast(&origins->all[i], (int)((n - i < most ? n - i : most) * sizeof *origins->all),
                  MPI_BYTE, 0, MPI_COMM_WORLD);
    if (p->number == 0)
        osc_cli_capture(&p->said);
    return OSC_EXIT_DONE;
}

static int show(void *ctx, const struct osc_args *args, struct osc_asked *k)
{
    struct process *const p = ctx;
    const struct osc_share share = {(uint32_t)p->number, (uint32_t)p->n};
    const struct osc_args own = divide(p, args);
    const bool is_timed = osc_request_names_time(&args->request);
    struct osc_strbuf parts = {0}, all = {0};
    struct osc_origins origins = {NULL, 0};
    struct reading r = {.failed = OSC_EXIT_DONE};
    bool has_failed = false;
    int failed = OSC_EXIT_DONE;

    if (!k->def->mapping) {
        osc_cli_capture(NULL);
        return p->number > 0
                   ? OSC_EXIT_DONE
                   : osc_cli_misuse("%s has no parts to share out: %s; 'opscope table' prints "
                                    "it",
                                    k->def->name, osc_table_why_whole(k->def));
    }
    osc_cli_capture(&p->said);
    if (is_timed)
        failed = find_origins(p, &own, share, &origins);
    if (failed) {
        osc_free(origins.all);
        return p->number > 0 ? OSC_EXIT_DONE : failed;
    }
    k->request.how = own.request.how;
    failed = osc_parts_make(&own, k, share, is_timed ? &origins : NULL, &parts, &has_failed);
    failed = join(p, failed, &parts, &all, &r);
    if (p->number == 0 && !failed)
        failed = osc_parts_show(&r.joined, args);
    osc_joined_fini(&r.joined);
    osc_strbuf_fini(&parts);
    osc_strbuf_fini(&all);
    osc_free(origins.all);
    return p->number > 0 ? OSC_EXIT_DONE : failed;
}

static void print_help(void)
{
    (void)osc_show_text(
        "Usage: mpirun -n N opscope-mpi table [NAME] [OPTION...] TRACE...\n"
        "\n"
        "Prints one table of the traces, as 'opscope table' does and to the byte the same. "
        "Each\n"
        "process reads a share of the files, by size; the first one prints. All must see the\n"
        "same files. If a process fails, it is named, the rest is printed, and the exit "
        "status\n"
        "is 1. Options are those of 'opscope table' (see 'opscope table --help').\n"
        "\n"
        "Examples:\n"
        "  mpirun -n 8 opscope-mpi table operators runs/ddp/\n"
        "  srun opscope-mpi table steps --format csv runs/ddp/ > steps.csv\n");
}

/* Print what WORD, --help or --version, asks for. */
static int print_about(const char *word)
{
    if (strcmp(word, "--version") == 0)
        return osc_show_text("opscope-mpi " OSC_VERSION "\n");
    print_help();
    return OSC_EXIT_DONE;
}

/* Run `opscope table` with ARGS, which were parsed, in process P. */
static int run_table(struct process *p, struct osc_args *args)
{
    const bool is_first = p->number == 0;

    for (int i = 0; i < args->n_operands && p->n > 1; i++)
        if (strcmp(args->operands[i], "-") == 0)
            return osc_cli_misuse("standard input cannot be shared out; name the file");
    if (!args->wants_help && !args->wants_list && !args->explain)
        return osc_table_run(args, show, p);
    if (!is_first)
        return OSC_EXIT_DONE;
    return args->wants_help ? osc_help_show(&osc_command_table)
                            : osc_table_run(args, NULL, NULL);
}

/* Run the command line in process P. */
static int run(struct process *p, int argc, char **argv)
{
    struct osc_args args;
    const char *const word = argc > 1 ? argv[1] : "";
    const bool is_first = p->number == 0;

    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0 ||
        strcmp(word, "--version") == 0)
        return is_first ? print_about(word) : OSC_EXIT_DONE;
    if (strcmp(word, "table") != 0)
        return is_first
                   ? osc_cli_misuse("opscope-mpi shares out one command: 'opscope-mpi table "
                                    "[NAME] TRACE...'; see 'opscope-mpi --help'")
                   : OSC_EXIT_DONE;
    osc_cli_set_command("table");
    if (!is_first)
        osc_cli_capture(&p->said); /* all processes find the same errors */
    int failed = osc_args_parse(&args, &osc_command_table, argc - 1, argv + 1);
    if (!failed && !args.wants_help)
        failed = osc_log_dirs_choose(&args);
    if (!failed)
        failed = run_table(p, &args);
    osc_log_dirs_fini(&args);
    osc_remote_files_remove();
    return is_first ? failed : OSC_EXIT_DONE;
}

int main(int argc, char **argv)
{
    struct process p = {.number = 0};
    MPI_Comm beside;
    int len = 0;

    MPI_Init(&argc, &argv);
    osc_cli_start();
    osc_cli_be_plain();
    MPI_Comm_rank(MPI_COMM_WORLD, &p.number);
    MPI_Comm_size(MPI_COMM_WORLD, &p.n);
    MPI_Get_processor_name(p.machine, &len);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, p.number, MPI_INFO_NULL, &beside);
    MPI_Comm_size(beside, &p.n_beside);
    MPI_Comm_free(&beside);
    const int failed = run(&p, argc, argv);
    osc_strbuf_fini(&p.said);
    MPI_Finalize();
    return failed;
}
