/* SPDX-License-Identifier: Apache-2.0 */
/* `opscope merge`: print one table of parts that several processes made. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "cli/commands.h"
#include "cli/parts.h"

/* The content of the files that the operands name. */
struct contents {
    struct osc_strbuf *all; /* owned; one for each operand */
    int n;
};

static void free_contents(struct contents *c)
{
    for (int i = 0; i < c->n; i++)
        osc_strbuf_fini(&c->all[i]);
    osc_free(c->all);
}

/* Append all that FD gives to OUT. OSC_EIO: errno says why. */
static osc_status read_all(int fd, struct osc_strbuf *out)
{
    char buffer[1 << 16];

    for (;;) {
        const ssize_t n = read(fd, buffer, sizeof buffer);

        if (n > 0)
            osc_strbuf_add(out, buffer, (size_t)n);
        else if (n == 0 || errno != EINTR)
            return n == 0 ? out->status : OSC_EIO;
        if (out->status != OSC_OK)
            return out->status;
    }
}

static int read_file(const char *path, struct osc_strbuf *out)
{
    const bool is_input = strcmp(path, "-") == 0;
    const int fd = is_input ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    struct osc_err err = {0};
    osc_status st = fd >= 0 ? read_all(fd, out) : OSC_EIO;

    if (st == OSC_EIO)
        st = osc_fail(&err, st, "%s: %s", path, strerror(errno));
    else if (st != OSC_OK)
        st = osc_fail(&err, st, "%s: %s", path, osc_status_text(st));
    if (fd >= 0 && !is_input)
        close(fd);
    return st == OSC_OK ? OSC_EXIT_DONE : osc_cli_fail(st, &err);
}

/* Add the parts in C, of the file PATH, to J. A file that is none, or cut, is left out. */
static int add(struct osc_joined *j, const char *path, const struct osc_strbuf *c)
{
    struct osc_err err = {0};
    const osc_status st = osc_joined_add(j, path, c->s ? c->s : "", c->len, &err);

    if (st == OSC_EFORMAT) {
        const size_t n = strlen(path) + strlen(": ");

        osc_cli_error("%s", err.message);
        osc_left_out_add(&j->left, OSC_LEFT_FAILED, path,
                         strlen(err.message) > n ? err.message + n : NULL);
        j->has_failed = true;
    }
    return st == OSC_OK || st == OSC_EFORMAT ? OSC_EXIT_DONE : osc_cli_fail(OSC_EIO, &err);
}

static int run(struct osc_args *args)
{
    struct contents c = {.n = 0};
    struct osc_joined j = {0};
    struct osc_err err = {0};
    int failed = OSC_EXIT_DONE;

    if (args->n_operands == 0)
        return osc_cli_misuse(
            "no parts were named; 'opscope table operators --partial -o 1.part "
            "TRACE...' makes some, and 'opscope merge *.part' joins them");
    c.all = osc_calloc((size_t)args->n_operands, sizeof *c.all);
    if (!c.all)
        return osc_cli_fail(OSC_ENOMEM, &err);
    for (int i = 0; i < args->n_operands && !failed; i++) {
        c.n++;
        failed = read_file(args->operands[i], &c.all[i]);
        failed = failed ? failed : add(&j, args->operands[i], &c.all[i]);
    }
    if (!failed && j.n_files == 0)
        failed = OSC_EXIT_FAILED; /* each was named */
    if (!failed)
        failed = osc_parts_show(&j, args);
    osc_joined_fini(&j);
    free_contents(&c);
    return failed;
}

const struct osc_command osc_command_merge = {
    .name = "merge",
    .bit = OSC_COMMAND_MERGE,
    .operands = "X.part...",
    .summary = "print one table of parts that several processes made",
    .text =
        "Prints the table whose parts are in the files that 'opscope table NAME --partial\n"
        "-o X.part' has made, in other processes or on other machines: the same bytes as one\n"
        "process prints for all traces. Options of the table are given when parts are made.\n"
        "A share that is missing and a part that is cut are named, the rest is printed, and\n"
        "the exit status is 1.\n",
    .examples = "  opscope table ranks --partial --share 1/2 -o 1.part runs/ddp/\n"
                "  opscope table ranks --partial --share 2/2 -o 2.part runs/ddp/\n"
                "  opscope merge 1.part 2.part                the table of all ranks\n"
                "  cat *.part | opscope merge -               from standard input\n",
    .run = run,
};
