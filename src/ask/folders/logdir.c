/* SPDX-License-Identifier: Apache-2.0 */
#include "ask/folders/logdir.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "base/hash.h"
#include "base/idmap.h"
#include "base/mem.h"
#include "base/note.h"
#include "base/sort.h"
#include "import/build/filename.h"

/* So that a user who names the root of a file system does not wait for a search of it all. */
#define FOLDERS_MAX 10000u
#define RUNS_NAMED  4u /* in a message */

/* A directory that was found. */
struct found {
    char *path; /* owned */
    struct osc_folder folder;
    dev_t device;
    ino_t node;
    uint32_t above; /* index + 1; 0: it is the root */
    uint32_t same;  /* of another one with the same hash of device and node: index + 1 */
    uint32_t run;   /* index of the directory whose run it belongs to */
    int32_t rank;   /* as its name says; -1: none */
};

/* A search through the directories below one, breadth first, each once. */
struct walk {
    struct found *all; /* owned; the first is the root */
    size_t cap;
    uint32_t n;
    struct osc_idmap of_node; /* hash of device and node -> index + 1 of the last such */
    struct osc_left_out *left;
    struct osc_strbuf *notes;
};

static void finish_walk(struct walk *w)
{
    for (uint32_t i = 0; i < w->n; i++) {
        osc_free(w->all[i].path);
        osc_folder_fini(&w->all[i].folder);
    }
    osc_free(w->all);
    osc_idmap_fini(&w->of_node);
}

static char *copy(const char *s)
{
    const size_t size = strlen(s) + 1;
    char *const c = osc_malloc(size);

    if (c)
        memcpy(c, s, size);
    return c;
}

/* Add PATH, in directory ABOVE (index + 1; 0: it is the root), to the directories to search,
 * unless it is there already. */
static osc_status add_found(struct walk *w, const char *path, uint32_t above)
{
    struct found f = {.above = above, .run = w->n, .rank = -1};
    struct stat st;

    if (stat(path, &st) != 0) {
        osc_left_out_add(w->left, OSC_LEFT_FAILED, path, strerror(errno));
        return OSC_OK;
    }
    f.device = st.st_dev;
    f.node = st.st_ino;
    uint32_t *const last =
        osc_idmap_put(&w->of_node, osc_hash_u64((uint64_t)f.node) ^ (uint64_t)f.device);
    if (!last || osc_grow(&w->all, &w->cap, (size_t)w->n + 1, sizeof *w->all) != OSC_OK)
        return OSC_ENOMEM;
    for (uint32_t i = *last; i > 0; i = w->all[i - 1].same) {
        if (w->all[i - 1].node == f.node && w->all[i - 1].device == f.device) {
            osc_left_out_add(w->left, OSC_LEFT_AGAIN, path, w->all[i - 1].path);
            return OSC_OK;
        }
    }
    f.same = *last;
    f.path = copy(path);
    if (!f.path)
        return OSC_ENOMEM;
    if (above > 0)
        (void)osc_filename_folder_rank(osc_str_c(path), &f.rank);
    w->all[w->n++] = f;
    *last = w->n;
    return OSC_OK;
}

/* Read directory I, and add those in it to the search if it GOES_ON. */
static osc_status look_into(struct walk *w, uint32_t i, bool goes_on, struct osc_err *err)
{
    struct osc_folder f = {.is_run = false};
    osc_status st = osc_folder_read(&f, w->all[i].path, w->left, w->notes, err);

    if (st == OSC_EIO && i > 0) {
        const char *const why = strerror(errno);

        if (w->left->by_why[OSC_LEFT_FAILED] < OSC_LEFT_NAMES)
            osc_note(w->notes, "%s: skipped: %s", w->all[i].path, why);
        osc_left_out_add(w->left, OSC_LEFT_FAILED, w->all[i].path, why);
        st = OSC_OK;
    }
    for (uint32_t k = 0; k < f.below.n && st == OSC_OK; k++) {
        int32_t rank;

        if (w->n >= FOLDERS_MAX)
            osc_left_out_add(w->left, OSC_LEFT_LIMIT, f.below.all[k], NULL);
        else if (goes_on || osc_filename_folder_rank(osc_str_c(f.below.all[k]), &rank))
            st = add_found(w, f.below.all[k], i + 1);
    }
    osc_path_list_fini(&f.below);
    w->all[i].folder = f;
    return st;
}

/* Find the run of each directory: those that are called after a rank belong to the one above.
 */
static void join_ranks(struct walk *w)
{
    for (uint32_t i = 0; i < w->n; i++) { /* the one above comes first */
        struct found *const f = &w->all[i];

        if (f->rank >= 0 && f->folder.is_run) {
            f->run = w->all[f->above - 1].run;
            w->all[f->run].folder.is_run = true;
        }
    }
}

/* Compare by name of the run, then by rank, then by path. */
static int compare_found(const void *a, const void *b, void *ctx)
{
    const struct walk *const w = ctx;
    const struct found *const x = &w->all[*(const uint32_t *)a];
    const struct found *const y = &w->all[*(const uint32_t *)b];
    const int order = strcmp(w->all[x->run].path, w->all[y->run].path);

    if (order != 0)
        return order;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    return strcmp(x->path, y->path);
}

/* The directories of runs, by run; the caller frees them. NULL: out of memory. */
static uint32_t *sort_found(struct walk *w, uint32_t *n)
{
    uint32_t *const order = osc_calloc((size_t)w->n + 1, sizeof *order);

    *n = 0;
    for (uint32_t i = 0; i < w->n && order; i++) {
        if (w->all[i].folder.is_run)
            order[(*n)++] = i;
    }
    if (order)
        osc_sort_with(order, *n, sizeof *order, compare_found, w);
    return order;
}

/* Move the files of directory F to FILES. */
static osc_status move_files(struct osc_path_list *files, struct osc_folder *f)
{
    const size_t n = (size_t)files->n + f->files.n;

    if (osc_grow(&files->all, &files->cap, n, sizeof *files->all) != OSC_OK)
        return OSC_ENOMEM;
    if (f->files.n > 0)
        memcpy(files->all + files->n, f->files.all, f->files.n * sizeof *f->files.all);
    files->n = (uint32_t)n;
    f->files.n = 0;
    return OSC_OK;
}

/* --- names ------------------------------------------------------------------------ */

/* The last part of PATH, without slashes at its end. */
static struct osc_str base_name(const char *path)
{
    struct osc_str s = osc_str_c(path);
    uint32_t from;

    while (s.len > 1 && s.s[s.len - 1] == '/')
        s.len--;
    for (from = s.len; from > 0 && s.s[from - 1] != '/';)
        from--;
    return from < s.len ? (struct osc_str){s.s + from, s.len - from} : s;
}

/* The name of the run at PATH, below or at ROOT; NULL: out of memory. */
static char *name_of(const char *path, const char *root, const char *label)
{
    const size_t len = strlen(root);
    struct osc_strbuf name = {0};
    const char *rest = strcmp(path, root) == 0 ? "" : path + len;

    rest += strspn(rest, "/");
    if (label)
        osc_strbuf_adds(&name, label);
    if (label && *rest)
        osc_strbuf_addc(&name, '/');
    if (*rest)
        osc_strbuf_adds(&name, rest);
    else if (!label)
        osc_strbuf_addstr(&name, base_name(root));
    if (name.status == OSC_OK && name.s)
        return name.s;
    osc_strbuf_fini(&name);
    return NULL;
}

/* Begin a run of D at PATH. */
static osc_status add_run(struct osc_logdir *d, const char *path, const char *root,
                          const char *label)
{
    if (osc_grow(&d->runs, &d->cap, (size_t)d->n_runs + 1, sizeof *d->runs) != OSC_OK)
        return OSC_ENOMEM;
    struct osc_log_run *const r = &d->runs[d->n_runs];
    *r = (struct osc_log_run){
        .name = name_of(path, root, label), .path = copy(path), .first_file = d->files.n};
    d->n_runs++;
    return r->name && r->path ? OSC_OK : OSC_ENOMEM;
}

/* Add the runs that W has found below ROOT to D. */
static osc_status add_runs(struct osc_logdir *d, struct walk *w,
                           const struct osc_log_root *root)
{
    uint32_t n, last = UINT32_MAX;
    uint32_t *const order = sort_found(w, &n);
    osc_status st = order ? OSC_OK : OSC_ENOMEM;

    for (uint32_t i = 0; i < n && st == OSC_OK; i++) {
        struct found *const f = &w->all[order[i]];

        if (root->is_alone && f->run != 0)
            continue;
        if (f->run != last)
            st = add_run(d, w->all[f->run].path, root->path, root->label);
        last = f->run;
        if (st == OSC_OK)
            st = move_files(&d->files, &f->folder);
        if (st == OSC_OK)
            d->runs[d->n_runs - 1].n_files = d->files.n - d->runs[d->n_runs - 1].first_file;
    }
    osc_free(order);
    return st;
}

osc_status osc_logdir_find(struct osc_logdir *d, const struct osc_log_root *root,
                           struct osc_strbuf *notes, struct osc_err *err)
{
    struct walk w = {.left = &d->left, .notes = notes};
    osc_status st = add_found(&w, root->path, 0);

    for (uint32_t i = 0; i < w.n && st == OSC_OK; i++)
        st = look_into(&w, i, !root->is_alone, err);
    if (st == OSC_OK && w.n == 0)
        st = osc_fail(err, OSC_EIO, "%s: %s", root->path, strerror(errno));
    if (st == OSC_OK) {
        join_ranks(&w);
        st = add_runs(d, &w, root);
    }
    finish_walk(&w);
    return st == OSC_ENOMEM ? osc_fail(err, st, "out of memory") : st;
}

void osc_logdir_add_names(const struct osc_logdir *d, bool as_paths, struct osc_strbuf *out)
{
    uint32_t n = 0;

    for (; n < d->n_runs && n < RUNS_NAMED; n++)
        osc_strbuf_addf(out, "%s%s", n > 0 ? ", " : "",
                        as_paths ? d->runs[n].path : d->runs[n].name);
    if (d->n_runs > n)
        osc_strbuf_addf(out, " and %u more", d->n_runs - n);
}

void osc_logdir_fini(struct osc_logdir *d)
{
    for (uint32_t i = 0; i < d->n_runs; i++) {
        osc_free(d->runs[i].name);
        osc_free(d->runs[i].path);
    }
    osc_free(d->runs);
    osc_path_list_fini(&d->files);
    osc_left_out_fini(&d->left);
    *d = (struct osc_logdir){0};
}
