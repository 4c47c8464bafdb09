/* SPDX-License-Identifier: Apache-2.0 */
#include "ask/folders/paths.h"

#include <string.h>
#include <sys/stat.h>

#include "ask/folders/logdir.h"
#include "base/mem.h"

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

    osc_logdir_add_names(d, true, &names);
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
    const struct osc_left *other = NULL;

    for (uint32_t i = 0; i < left->n && !other; i++)
        other = left->all[i].why == OSC_LEFT_CONTENT ? &left->all[i] : NULL;

    if (left->by_why[OSC_LEFT_LIMIT] > 0)
        return osc_fail(err, OSC_EIO,
                        "%s: it contains no traces and more than 10,000 directories; name one "
                        "that contains some",
                        path);
    if (n > 0)
        return osc_fail(err, OSC_EIO, "%s: it contains no traces yet: %s", path,
                        n == 1 ? "the one in it is empty" : "all that are in it are empty");
    if (other)
        return osc_fail(err, OSC_EIO, "%s: it contains no traces: %s holds no trace events%s",
                        path, other->path,
                        left->by_why[OSC_LEFT_CONTENT] > 1 ? ", nor do others" : "");
    return osc_fail(
        err, OSC_EIO,
        "%s: it contains no traces: no .osc, .json, .json.gz or .json.zst in it, "
        "no WORKER[.NUMBER].pt.trace.json[.gz] below it; pass a file of another name "
        "by itself",
        path);
}

/* Add the files of the run in directory ROOT, or else of the one run below it. *IS_RUN: there
 * is one, though it may have no files yet. */
static osc_status add_run(const struct finding *f, const struct osc_log_root *root,
                          bool *is_run)
{
    struct osc_strbuf notes = {0};
    struct osc_logdir d = {0};
    osc_status st = osc_logdir_find(&d, root, &notes, f->err);

    *is_run = d.files.n > 0;
    if (st == OSC_OK && d.n_runs > 1)
        st = refuse_runs(&d, root->path, f->err);
    if (st == OSC_OK && d.files.n == 0 && !root->is_alone)
        st = refuse_none(&d.left, root->path, f->err);
    if (st == OSC_OK)
        st = take_files(f->paths, &d.files);
    if (st == OSC_OK && *is_run && notes.len > 0)
        osc_strbuf_add(f->notes, notes.s, notes.len);
    if (st == OSC_OK)
        st = notes.status;
    if (*is_run)
        osc_left_out_take(&f->paths->left, &d.left);
    osc_strbuf_fini(&notes);
    osc_logdir_fini(&d);
    return st == OSC_OK ? f->paths->left.status : st;
}

static osc_status add_directory(const struct finding *f, const char *path)
{
    bool is_run = false;
    const osc_status st =
        add_run(f, &(struct osc_log_root){.path = path, .is_alone = true}, &is_run);

    if (st != OSC_OK || is_run)
        return st;
    return add_run(f, &(struct osc_log_root){.path = path}, &is_run);
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
