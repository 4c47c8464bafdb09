/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/page_export.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "cli/cli.h"
#include "cli/output.h"
#include "export/exporters.h"
#include "table/question.h"

#define REDACTED_NAME "trace.osc"

int osc_page_export_check(void)
{
    const char *why;

    if (osc_page_is_there(&why))
        return OSC_EXIT_DONE;
    osc_cli_error("%s", why);
    return OSC_EXIT_FAILED;
}

static osc_status write_as_it_is(struct osc_set *set, const struct osc_args *args,
                                 struct osc_page *page, struct osc_err *err)
{
    const char *const path = args->operands[0];
    const char *const slash = strrchr(path, '/');
    struct osc_strbuf options = {0};

    page->set = set;
    page->name = slash && slash[1] ? slash + 1 : path;
    page->paths = osc_args_paths(args);
    page->n_paths = (size_t)args->n_operands;
    osc_question_add_view(&options, &args->request.view, "ns");
    page->options = osc_strbuf_str(&options);
    const osc_status st = options.status == OSC_OK ? osc_page_write(page, err) : options.status;
    osc_strbuf_fini(&options);
    return st;
}

/* --- without private texts ------------------------------------------------------- */

static osc_status put(void *ctx, const char *s, size_t len)
{
    FILE *const f = ctx;

    return fwrite(s, 1, len, f) == len ? OSC_OK : OSC_EIO;
}

/* Write what SET has to the file PATH, which only this user can read. */
static osc_status write_columns(const struct osc_set *set, const char *path, unsigned n_threads,
                                struct osc_err *err)
{
    const struct osc_chosen *const c = osc_set_chosen(set);
    FILE *const f = fopen(path, "wxe");
    const struct osc_export x = {.traces = c->traces,
                                 .n_traces = c->n_traces,
                                 .is_redacted = true,
                                 .n_threads = n_threads,
                                 .sink = {.write = put, .ctx = f}};

    if (!f)
        return osc_fail(err, OSC_EIO, "%s: cannot be written: %s", path, strerror(errno));
    osc_status st = osc_export_osc.write(&x, err);
    if (fclose(f) != 0 && st == OSC_OK)
        st = OSC_EIO;
    return st == OSC_EIO ? osc_fail(err, st, "%s: cannot be written: %s", path, strerror(errno))
                         : st;
}

/* Open the file REDACTED_NAME in FOLDER by its name alone: tables tell paths. */
static osc_status open_in(struct osc_set **set, const char *folder, const struct osc_how *how,
                          struct osc_err *err)
{
    const char *const path = REDACTED_NAME;
    const int here = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    osc_status st = here >= 0 && chdir(folder) == 0 ? OSC_OK : OSC_EIO;

    if (st == OSC_OK)
        st = osc_set_open(set, &path, 1, how, err);
    else
        (void)osc_fail(err, st, "%s: %s", folder, strerror(errno));
    if (here >= 0 && fchdir(here) != 0 && st == OSC_OK)
        st = osc_fail(err, OSC_EIO, "the working directory is gone: %s", strerror(errno));
    if (here >= 0)
        (void)close(here);
    return st;
}

/* Write SET, which was redacted, to FOLDER and open it from there. */
static osc_status reopen(struct osc_set **to, const struct osc_set *set, const char *folder,
                         const struct osc_args *args, struct osc_err *err)
{
    struct osc_how how = args->request.how;
    struct osc_strbuf path = {0};

    how.only = NULL;
    osc_strbuf_addf(&path, "%s/%s", folder, REDACTED_NAME);
    osc_status st = path.status;
    if (st == OSC_OK) {
        osc_output_guard_scratch(path.s, folder);
        st = write_columns(set, path.s, how.n_threads, err);
    }
    if (st == OSC_OK)
        st = open_in(to, folder, &how, err);
    if (path.s)
        (void)unlink(path.s); /* what is open stays readable */
    (void)rmdir(folder);
    osc_output_guard_scratch(NULL, NULL);
    osc_strbuf_fini(&path);
    return st;
}

/* Make a directory for this user alone; FOLDER has room for PATH_MAX and receives its absolute
 * name. */
static osc_status make_folder(char *folder, struct osc_err *err)
{
    const char *const parent = getenv("TMPDIR");
    struct osc_strbuf name = {0};

    osc_strbuf_addf(&name, "%s/opscope-XXXXXX", parent && *parent ? parent : "/tmp");
    osc_status st = name.status;
    if (st == OSC_OK && (!mkdtemp(name.s) || !realpath(name.s, folder)))
        st = osc_fail(err, OSC_EIO, "%s: cannot be made: %s", name.s, strerror(errno));
    osc_strbuf_fini(&name);
    return st;
}

static osc_status write_redacted(const struct osc_set *set, const struct osc_args *args,
                                 struct osc_page *page, struct osc_err *err)
{
    static const char *const paths[] = {REDACTED_NAME};
    struct osc_set *redacted = NULL;
    char folder[PATH_MAX];
    osc_status st = make_folder(folder, err);

    if (st == OSC_OK)
        st = reopen(&redacted, set, folder, args, err);
    if (st == OSC_OK) {
        page->set = redacted;
        page->name = "trace";
        page->paths = paths;
        page->n_paths = 1;
        page->options = (struct osc_str){0};
        st = osc_page_write(page, err);
    }
    osc_set_release(redacted);
    return st;
}

osc_status osc_page_export(struct osc_set *set, const struct osc_args *args,
                           const struct osc_page *how, struct osc_err *err)
{
    struct osc_page page = *how;

    return args->is_redacted ? write_redacted(set, args, &page, err)
                             : write_as_it_is(set, args, &page, err);
}
