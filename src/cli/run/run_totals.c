/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/run/run_totals.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"
#include "cli/run/fold_losses.h"
#include "cli/run/part_files.h"
#include "import/osc/live_dir.h"
#include "import/osc/open_input.h"
#include "import/osc/osc_file.h"
#include "recording/part_writer.h"
#include "wire/chunk.h"
#include "wire/write_error.h"

enum { PATH_ROOM = PATH_MAX + NAME_MAX + 16 };

struct counting {
    struct osc_run_totals *totals;
    const char *directory, *run_id;
};

enum whose { OF_NO_RUN, OF_THIS_RUN, OF_OTHER_RUN };

static enum whose whose_is(const char *run_id, const char *text, size_t len)
{
    if (len == 0)
        return OF_NO_RUN;
    return len == strlen(run_id) && memcmp(text, run_id, len) == 0 ? OF_THIS_RUN : OF_OTHER_RUN;
}

/* Which run the N bytes of facts at P name. */
static enum whose read_facts(const unsigned char *p, size_t n, const char *run_id)
{
    static const char key[] = "run_id";
    struct osc_wire_fact head;

    for (size_t at = 0; n - at >= sizeof head; at += head.key_bytes + head.value_bytes) {
        memcpy(&head, p + at, sizeof head);
        at += sizeof head;
        if (head.key_bytes > n - at || head.value_bytes > n - at - head.key_bytes)
            break;
        if (head.key_bytes == sizeof key - 1 && memcmp(p + at, key, sizeof key - 1) == 0)
            return whose_is(run_id, (const char *)p + at + head.key_bytes, head.value_bytes);
    }
    return OF_NO_RUN;
}

/* Which run the file at PATH is of, and in *PART the number of the part. */
static enum whose read_file(const char *path, const char *run_id, uint32_t *part)
{
    struct osc_file file = {0};
    struct osc_input in;
    unsigned char *payload = NULL;
    enum whose whose = OF_NO_RUN;
    size_t cap = 0, i = 0;

    if (osc_input_open(&in, path, NULL) == OSC_OK &&
        osc_file_open(&file, &in, OSC_INFLATE_NONE, NULL) == OSC_OK) {
        *part = file.header_is_good ? file.header.part : 1;
        while (i < file.n_chunks && file.chunks[i].header.type != OSC_CHUNK_PROCESS)
            i++;
        if (i < file.n_chunks && osc_file_payload(&file, i, &payload, &cap) == OSC_OK)
            whose = read_facts(payload, (size_t)file.chunks[i].header.payload_bytes, run_id);
    }
    osc_free(payload);
    osc_file_close(&file);
    osc_input_close(&in);
    return whose;
}

/* Add what the part at PATH says about losses, unless it has a live directory. */
static void add_losses(struct osc_run_totals *h, const char *path, uint32_t part)
{
    struct osc_fold_losses losses = {0};
    char *const live = osc_live_dir_path(path, part);
    const bool is_complete = live && access(live, F_OK) != 0;

    osc_free(live);
    if (is_complete && osc_fold_losses_add(&losses, path) == OSC_OK) {
        for (unsigned k = 0; k < OSC_LOSS_COUNT; k++) {
            h->lost[k] += losses.lost[k];
            for (size_t i = 0; i < losses.n; i++)
                h->lost[k] += losses.threads[i].lost[k];
        }
    }
    h->n_harmed += losses.is_harmed;
    if (losses.write_error != 0)
        h->write_error = losses.write_error;
    osc_fold_losses_fini(&losses);
}

/* The losses of a file count for this run only if it names the run. */
static void count_file(const struct counting *c, const char *name)
{
    struct osc_run_totals *const h = c->totals;
    char path[PATH_ROOM];
    struct stat st;
    uint32_t part = 1;

    snprintf(path, sizeof path, "%s/%s", c->directory, name);
    if (stat(path, &st) != 0 || !S_ISREG(st.st_mode))
        return;
    const enum whose whose = read_file(path, c->run_id, &part);

    if (whose == OF_OTHER_RUN) {
        h->n_others++;
        return;
    }
    h->n_files++;
    h->bytes += (uint64_t)st.st_size;
    if (whose == OF_THIS_RUN)
        add_losses(h, path, part);
}

/* Add the losses in FD, the file `blocks` of a live directory, with the header L, but not those
 * in TOLD. */
static void add_live_losses(struct osc_run_totals *h, int fd, const struct osc_live_header *l,
                            const struct osc_fold_losses *told)
{
    const uint32_t n = l->n_threads < OSC_LIVE_THREADS ? l->n_threads : OSC_LIVE_THREADS;
    struct osc_live_thread t;

    if (l->write_error && !osc_write_error_is_harm(l->write_error))
        h->write_error = l->write_error;
    for (unsigned k = 0; k < OSC_LOSS_COUNT; k++)
        h->lost[k] += l->lost[k] + l->lost_gone[k];
    for (uint32_t i = 0; i < n; i++) {
        if (pread(fd, &t, sizeof t, (off_t)(OSC_LIVE_THREADS_AT + i * sizeof t)) !=
            (ssize_t)sizeof t)
            return;
        if (t.state == OSC_THREAD_UNUSED)
            continue;
        osc_fold_losses_subtract(told, t.ordinal, t.lost);
        for (unsigned k = 0; k < OSC_LOSS_COUNT; k++)
            h->lost[k] += t.lost[k];
    }
}

/* Read into TOLD what the last part of RECORDING, which writes to OUT in DIRECTORY, tells of
 * threads. */
static void read_told(struct osc_fold_losses *told, const char *directory, const char *out,
                      const uint64_t recording[2])
{
    const uint32_t part = osc_part_files_last(directory, out, recording);
    char path[OSC_PARTS_PATH_BYTES];

    if (part > 0 && osc_parts_name(out, part, path) &&
        osc_fold_losses_add_last(told, path) != OSC_OK)
        told->n = 0;
}

/* Count the live directory NAME; its file, if there is one, was counted. */
static void count_live(const struct counting *c, const char *name)
{
    char live[PATH_ROOM], path[PATH_ROOM];
    struct osc_live_header l = {0};

    snprintf(live, sizeof live, "%s/%s", c->directory, name);
    if (osc_live_is_blank(live))
        return;
    snprintf(path, sizeof path, "%.*s", (int)(strlen(live) - strlen(OSC_LIVE_SUFFIX)), live);
    const bool has_file = access(path, F_OK) == 0;

    const int dir_fd = open(live, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    const int fd = openat(dir_fd, "blocks", O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    const bool is_good =
        fd >= 0 && pread(fd, &l, sizeof l, 0) == (ssize_t)sizeof l && l.magic == OSC_LIVE_MAGIC;
    const enum whose whose =
        is_good ? whose_is(c->run_id, l.run_id, strnlen(l.run_id, sizeof l.run_id)) : OF_NO_RUN;

    c->totals->n_others += !has_file && whose == OF_OTHER_RUN;
    c->totals->n_files += !has_file && whose != OF_OTHER_RUN;
    if (whose == OF_THIS_RUN) {
        struct osc_fold_losses told = {0};

        read_told(&told, c->directory, path, l.recording);
        add_live_losses(c->totals, fd, &l, &told);
        for (size_t i = 0; i < told.n; i++)
            for (unsigned k = 0; k < OSC_LOSS_COUNT; k++)
                c->totals->lost[k] += told.threads[i].lost[k];
        osc_fold_losses_fini(&told);
    }
    if (fd >= 0)
        close(fd);
    if (dir_fd >= 0)
        close(dir_fd);
}

void osc_run_totals_count(struct osc_run_totals *h, const char *directory, const char *run_id)
{
    const struct counting c = {.totals = h, .directory = directory, .run_id = run_id};
    DIR *const dir = opendir(directory);

    *h = (struct osc_run_totals){0};
    for (const struct dirent *e; dir && (e = readdir(dir));) {
        const struct osc_str name = osc_str_c(e->d_name);

        if (osc_str_ends(name, OSC_STR(".osc")))
            count_file(&c, e->d_name);
        else if (osc_str_ends(name, OSC_STR(".osc" OSC_LIVE_SUFFIX)))
            count_live(&c, e->d_name);
    }
    if (dir)
        closedir(dir);
}
