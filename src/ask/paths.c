/* SPDX-License-Identifier: Apache-2.0 */
#include "ask/paths.h"

#include <string.h>
#include <sys/stat.h>

#include "ask/logdir.h"
#include "base/mem.h"

#define RUNS_NAMED 4u /* in a message */

/* A search: its results and its messages. */
struct finding {
    struct osc_paths *paths;
    struct osc_strbuf *notes;
    struct osc_err *err;
};

static osc_status reserve(struct osc_paths *p, size_t n)
{
    const osc_status st = osc_grow(&p->all, &p->cap_all, n, sizeof *p->all);

    return st == OSC_OK ? osc_grow(&p->is_named, &p->cap_named, n, sizeof *p->is_named) : st;
}

/* Add the operand PATH. */
static osc_status add_named(struct osc_paths *p, const char *path)
{
    struct osc_path_list one = {0};
    osc_status st = reserve(p, (size_t)p->n + 1);

    if (st == OSC_OK)
        st = osc_path_list_add(&one, NULL, path);
    if (st == OSC_OK) {
        p->all[p->n] = one.all[0];
        p->is_named[p->n++] = true;
        one.n = 0;
    }
    osc_path_list_fini(&one);
    return st;
}

/* Take over the paths of FILES, which were found in directories. */
static osc_status take_files(struct osc_paths *p, struct osc_path_list *files)
{
    const osc_status st = reserve(p, (size_t)p->n + files->n);

    for (uint32_t i = 0; i < files->n && st == OSC_OK; i++) {
        p->all[p->n] = files->all[i];
        p->is_named[p->n++] = false;
        files->all[i] = NULL;
    }
    return st;
}

/* Fail with a message that names the runs of D, which are below PATH. */
static osc_status refuse_runs(const struct osc_logdir *d, const char *path, struct osc_err *err)
{
    struct osc_strbuf names = {0};
    osc_status st = OSC_EINVAL;
    uint32_t n = 0;

    for (; n < d->n_runs && n < RUNS_NAMED; n++)
        osc_strbuf_addf(&names, "%s%s", n > 0 ? ", " : "", d->runs[n].path);
    if (d->n_runs > n)
        osc_strbuf_addf(&names, " and %u more", d->n_runs - n);
    if (names.status == OSC_OK)
        (void)osc_fail(err, st,
                       "%s: there are %u runs below it, %s; name one of them, or several to "
                       "read them as one",
                       path, d->n_runs, names.s);
    else
        st = names.status;
    osc_strbuf_fini(&names);
    return st;
}

/* Fail with a message that says why nothing in PATH, of which LEFT was left out, is a run. */
static osc_status refuse_none(const struct osc_left_out *left, const char *path,
                              struct osc_err *err)
{
    const unsigned long long n = left->by_why[OSC_LEFT_EMPTY] + left->by_why[OSC_LEFT_BLANK];

    if (left->by_why[OSC_LEFT_LIMIT] > 0)
        return osc_fail(err, OSC_EIO,
                        "%s: it contains no traces and more than 10,000 directories; name one "
                        "that contains some",
                        path);
    if (n > 0)
        return osc_fail(err, OSC_EIO, "%s: it contains no traces yet: %s", path,
                        n == 1 ? "the one in it is empty" : "all that are in it are empty");
    return osc_fail(
        err, OSC_EIO,
        "%s: it contains no traces: no .osc, .json, .json.gz or .json.zst in it, "
        "no WORKER[.NUMBER].pt.trace.json[.gz] below it; pass a file of another name "
        "by itself",
        path);
}

/* Add the files of the one run below directory PATH, which has no traces itself. */
static osc_status add_run_below(const struct finding *f, const char *path)
{
    struct osc_strbuf notes = {0};
    struct osc_logdir d = {0};
    osc_status st = osc_logdir_find(&d, path, NULL, &notes, f->err);

    if (st == OSC_OK && d.n_runs > 1)
        st = refuse_runs(&d, path, f->err);
    if (st == OSC_OK && d.files.n == 0)
        st = refuse_none(&d.left, path, f->err);
    if (st == OSC_OK)
        st = take_files(f->paths, &d.files);
    if (st == OSC_OK && notes.len > 0)
        osc_strbuf_add(f->notes, notes.s, notes.len);
    if (st == OSC_OK)
        st = notes.status;
    osc_strbuf_fini(&notes);
    osc_left_out_take(&f->paths->left, &d.left);
    osc_logdir_fini(&d);
    return st == OSC_OK ? f->paths->left.status : st;
}

static osc_status add_directory(const struct finding *f, const char *path)
{
    struct osc_path_list files = {0};
    struct osc_left_out left = {0};
    osc_status st = osc_logdir_run(&files, path, &left, f->notes, f->err);
    const bool is_run = files.n > 0;

    if (st == OSC_OK)
        st = take_files(f->paths, &files);
    if (is_run)
        osc_left_out_take(&f->paths->left, &left);
    osc_left_out_fini(&left);
    osc_path_list_fini(&files);
    if (st != OSC_OK || is_run)
        return st;
    return add_run_below(f, path);
}

/* Whether the directory PATH is a live directory, whatever its name; then it is a trace. */
static bool holds_blocks(const char *path)
{
    struct osc_path_list blocks = {0};
    struct stat st;
    const bool holds = osc_path_list_add(&blocks, path, "blocks") == OSC_OK &&
                       stat(blocks.all[0], &st) == 0 && S_ISREG(st.st_mode);

    osc_path_list_fini(&blocks);
    return holds;
}

osc_status osc_paths_find(struct osc_paths *p, const char *const *operands, size_t n,
                          struct osc_strbuf *notes, struct osc_err *err)
{
    const struct finding f = {p, notes, err};
    osc_status st = OSC_OK;

    for (size_t i = 0; i < n && st == OSC_OK; i++) {
        const char *const path = operands[i];
        struct stat info;

        if (path[0] == '\0')
            st = osc_fail(err, OSC_EINVAL, "an operand is empty; a trace was expected");
        else if (strcmp(path, "-") != 0 && stat(path, &info) == 0 && S_ISDIR(info.st_mode) &&
                 !osc_folder_is_live(path) && !holds_blocks(path))
            st = add_directory(&f, path);
        else
            st = add_named(p, path);
    }
    return st == OSC_ENOMEM ? osc_fail(err, st, "out of memory") : st;
}

void osc_paths_fini(struct osc_paths *p)
{
    for (uint32_t i = 0; i < p->n; i++)
        osc_free(p->all[i]);
    osc_free(p->all);
    osc_free(p->is_named);
    osc_left_out_fini(&p->left);
    *p = (struct osc_paths){0};
}
