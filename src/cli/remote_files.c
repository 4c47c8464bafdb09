/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/remote_files.h"

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/output.h"
#include "cli/progress.h"
#include "import/build/filename.h"
#include "remote/remote.h"

static struct osc_path_list urls, copies; /* copy I is of URL I */
static char folder[256];                  /* of all copies; "": none was made */

static bool wants(const char *name)
{
    return name[0] != '.' && osc_filename_parse(name).reader != NULL;
}

/* The line of progress of the file that is being copied, if any. */
struct copying {
    struct osc_progress progress;
    bool is_on;
};

static bool tick(void *ctx, const char *name, uint64_t done, uint64_t total)
{
    struct copying *const c = ctx;

    if (c->is_on && !name)
        osc_progress_stop(&c->progress);
    else if (!c->is_on && name)
        osc_progress_start(&c->progress, "copying", name);
    c->is_on = name != NULL;
    c->progress.path = name;
    return !name || osc_progress_tick(&c->progress, done, total);
}

static void tell_failed(void *ctx, const char *message)
{
    struct copying *const c = ctx;

    (void)tick(c, NULL, 0, 0);
    osc_cli_error("%s", message);
}

/* Make the directory of copy N, and append its path to DIR. */
static osc_status make_folder(struct osc_strbuf *dir, uint32_t n, struct osc_err *err)
{
    const char *const parent = getenv("TMPDIR");

    if (folder[0] == '\0') {
        snprintf(folder, sizeof folder, "%s/opscope-remote-XXXXXX",
                 parent && parent[0] && strlen(parent) < 200 ? parent : "/tmp");
        if (!mkdtemp(folder)) {
            folder[0] = '\0';
            return osc_fail(err, OSC_EIO, "%s: %s", parent ? parent : "/tmp", strerror(errno));
        }
        osc_output_guard_tree(folder);
    }
    osc_strbuf_addf(dir, "%s/%u", folder, n);
    if (dir->status == OSC_OK && mkdir(dir->s, 0700) != 0)
        return osc_fail(err, OSC_EIO, "%s: %s", dir->s, strerror(errno));
    return dir->status;
}

/* Copy URL; the copy becomes the last of the list. */
static osc_status copy(const char *url, struct osc_err *err)
{
    struct copying c = {.is_on = false};
    const struct osc_remote_how how = {
        .wants = wants, .failed = tell_failed, .progress = tick, .ctx = &c};
    struct osc_strbuf dir = {0}, path = {0};
    osc_status st = make_folder(&dir, copies.n, err);

    if (st == OSC_OK)
        st = osc_remote_get(&path, url, dir.s, &how, err);
    if (st == OSC_OK)
        st = osc_path_list_add(&urls, NULL, url);
    if (st == OSC_OK)
        st = osc_path_list_add(&copies, NULL, path.s ? path.s : "");
    osc_strbuf_fini(&dir);
    osc_strbuf_fini(&path);
    return st;
}

int osc_remote_files_get(const char *path, const char **local)
{
    struct osc_err err = {0};
    osc_status st = OSC_OK;
    uint32_t i = 0;

    *local = path;
    if (!osc_remote_is_url(path))
        return OSC_EXIT_DONE;
    while (i < copies.n && strcmp(urls.all[i], path) != 0)
        i++;
    if (i == copies.n)
        st = copy(path, &err);
    if (st != OSC_OK)
        return osc_cli_fail(st, &err);
    *local = copies.all[i];
    return OSC_EXIT_DONE;
}

int osc_remote_files_replace(struct osc_args *args)
{
    const char *local = NULL;
    int failed = OSC_EXIT_DONE;

    for (int i = 0; i < args->n_operands && !failed; i++) {
        if (!osc_remote_is_url(args->operands[i]))
            continue;
        failed = osc_remote_files_get(args->operands[i], &local);
        for (uint32_t k = 0; k < copies.n && !failed; k++)
            if (copies.all[k] == local)
                args->operands[i] = copies.all[k];
    }
    if (args->logdir && !failed)
        failed = osc_remote_files_get(args->logdir, &args->logdir);
    return failed;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st, (void)type, (void)ftw;
    (void)remove(path);
    return 0;
}

void osc_remote_files_remove(void)
{
    if (folder[0])
        (void)nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    osc_output_guard_tree(NULL);
    folder[0] = '\0';
    osc_path_list_fini(&urls);
    osc_path_list_fini(&copies);
}
