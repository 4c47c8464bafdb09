/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/run/fold_killed.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "cli/run/empty_recording.h"
#include "cli/run/fold_losses.h"
#include "cli/run/part_files.h"
#include "cli/run/source_list.h"
#include "import/osc/live_dir.h"
#include "import/osc/open_input.h"
#include "import/osc/osc_file.h"
#include "import/records/segment_order.h"
#include "recording/name_log.h"
#include "recording/part_writer.h"
#include "recording/process_facts.h"

/* A live directory and the file that it belongs to. */
struct fold {
    const struct osc_fold_killed_guest *guest;
    char live_path[PATH_MAX], out[PATH_MAX]; /* NAME.osc.live, NAME.osc */
    int live_fd, blocks_fd;
    struct osc_live_dir live;
    struct osc_input in;
    struct osc_file file; /* the last part; zeroed: none */
    uint32_t part;        /* its number, or 0 */
    bool has_end;
    bool is_next;                   /* the rest goes to the part after the last one */
    struct osc_wire_end end;        /* if has_end */
    struct osc_segment_order order; /* the segments of blocks that are in the file */
    struct osc_fold_losses losses;  /* reported by the parts before the last */
    struct osc_parts parts;         /* the writer */
};

/* --- reading ----------------------------------------------------------------------------- */

/* Add up the losses that windows and dumps before the last part report. */
static bool read_losses(struct fold *f, const char *directory)
{
    DIR *const dir = opendir(directory);
    char path[PATH_MAX + NAME_MAX + 2];
    bool is_good = dir != NULL;
    uint32_t part;

    for (const struct dirent *e; is_good && (e = readdir(dir));) {
        if (!osc_part_files_is(f->out, f->live.header.recording, dirfd(dir), e->d_name,
                               &part) ||
            part >= f->part)
            continue;
        snprintf(path, sizeof path, "%s/%s", directory, e->d_name);
        is_good = osc_fold_losses_add(&f->losses, path) == OSC_OK;
    }
    if (dir)
        closedir(dir);
    return is_good;
}

/* Store which slots of blocks chunk I has; false: it is damaged. */
static bool read_chunk(struct fold *f, size_t i)
{
    const size_t len = (size_t)f->file.chunks[i].header.payload_bytes;
    unsigned char *payload = NULL;
    size_t cap = 0;
    bool is_good = osc_file_payload(&f->file, i, &payload, &cap) == OSC_OK;
    struct osc_segment s = {0};
    size_t at = 0;

    while (is_good && osc_pack_next_segment(payload, len, &at, &s.head))
        is_good = osc_segment_order_add(&f->order, &s) == OSC_OK;
    osc_free(payload);
    return is_good && at == len;
}

/*
 * Store which slots the file has of blocks whose written_slots does not say so yet. They are in
 * the last chunk of records that the process wrote or, if an earlier fold was interrupted, in
 * the one after it.
 */
static bool read_written(struct fold *f)
{
    unsigned n_left = 2;
    bool is_good = true;

    for (size_t i = f->file.n_chunks; i > 0 && n_left > 0 && is_good; i--) {
        if (f->file.chunks[i - 1].header.type == OSC_CHUNK_RECORDS) {
            is_good = read_chunk(f, i - 1);
            n_left--;
        }
    }
    return is_good;
}

/* Whether the file has no gap except the chunk that was being written last. */
static bool is_whole(const struct osc_file *file)
{
    const struct osc_file_gap *const gap = file->gaps;

    return file->n_gaps == 0 ||
           (file->n_gaps == 1 && gap->next == file->n_chunks && osc_file_is_torn(file, gap));
}

/* Read the end of the file, if it has one, and remove it from the list of chunks. */
static bool read_end(struct fold *f)
{
    const struct osc_wire_index_entry *const last =
        f->file.n_chunks > 0 ? &f->file.chunks[f->file.n_chunks - 1] : NULL;

    if (!last || last->header.type != OSC_CHUNK_END)
        return true;
    f->has_end = true;
    f->file.n_chunks--;
    return last->header.payload_bytes == sizeof f->end &&
           osc_file_read(&f->file, last->offset + sizeof last->header, &f->end,
                         sizeof f->end) == OSC_OK &&
           osc_wire_hash(&f->end, sizeof f->end) == last->header.payload_hash;
}

/* Open the last part, which must be undamaged and belong to this recording. */
static bool open_part(struct fold *f, const char *path)
{
    struct osc_err ignored = {0};

    if (osc_input_open(&f->in, path, &ignored) != OSC_OK)
        return false;
    if (!f->in.can_seek || f->in.is_live ||
        osc_file_open(&f->file, &f->in, OSC_INFLATE_NONE, &ignored) != OSC_OK)
        return false;
    return f->file.header_is_good && is_whole(&f->file) && !osc_file_has_columns(&f->file) &&
           read_end(f) && read_written(f);
}

/* Whether the recording began during this run. */
static bool is_of_run(const struct fold *f)
{
    const struct osc_live_header *const h = &f->live.header;

    return h->n_anchors > 0 && h->anchors[0].realtime_ns >= f->guest->start_unix_ns;
}

static bool is_guest(const struct fold *f)
{
    return f->live.header.pid == (uint32_t)f->guest->pid && is_of_run(f);
}

static bool has_ended_well(const struct fold *f)
{
    return is_guest(f) && f->guest->has_ended_well;
}

/* Lock FD. A reader that is looking whether the lock is held has it for a moment. */
static bool lock(int fd)
{
    enum { TRIES = 5 };
    const struct timespec moment = {.tv_nsec = 1000000};

    for (int i = 0; i < TRIES; i++) {
        if (flock(fd, LOCK_EX | LOCK_NB) == 0)
            return true;
        nanosleep(&moment, NULL);
    }
    return false;
}

/* How the process ended, as far as it is known. */
static uint32_t reason_of(const struct fold *f)
{
    if (f->live.header.state == OSC_LIVE_STOPPED || has_ended_well(f))
        return OSC_END_STOPPED;
    return f->guest->has_ended_well && is_of_run(f) ? OSC_END_LEFT : OSC_END_KILLED;
}

/* Whether F can be folded: its process has ended, and nothing is damaged. */
static bool look(struct fold *f, const char *directory)
{
    char path[OSC_PARTS_PATH_BYTES];
    struct osc_err ignored = {0};

    if (f->live_fd >= 0)
        f->blocks_fd =
            openat(f->live_fd, "blocks", O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (f->blocks_fd < 0 || !lock(f->blocks_fd) ||
        osc_live_dir_open(&f->live, f->live_path, &ignored) != OSC_OK || !f->live.is_there ||
        f->live.is_cut || f->live.names_are_cut || f->live.names_are_bad ||
        f->live.n_bad_blocks > 0)
        return false;
    f->part = osc_part_files_last(directory, f->out, f->live.header.recording);
    f->parts = (struct osc_parts){.out = f->out};
    memcpy(f->parts.recording, f->live.header.recording, sizeof f->parts.recording);
    if (f->part == 0) /* another file must not have the name either */
        return access(f->out, F_OK) != 0;
    return osc_parts_name(f->out, f->part, path) && open_part(f, path) &&
           read_losses(f, directory);
}

/* Whether nothing was recorded into the live directory and no process is about to do so: a
 * process that makes one holds a lock on it (recorder/live/output_paths.c). */
static bool is_blank(const struct fold *f)
{
    return f->live_fd >= 0 && flock(f->live_fd, LOCK_EX | LOCK_NB) == 0 &&
           osc_live_is_blank(f->live_path);
}

/* --- writing ----------------------------------------------------------------------------- */

/* No part was written, which would have the facts of the process: say what is known of it from
 * outside. */
static osc_status put_facts(struct fold *f)
{
    unsigned char facts[OSC_PROCESS_FACTS_BYTES];
    struct osc_process_facts_out to = {.out = facts};
    struct osc_wire_header header = {.type = OSC_CHUNK_PROCESS};
    const char *const run_id =
        f->live.header.run_id[0] ? f->live.header.run_id : f->guest->sources->run_id;
    const osc_status st = osc_empty_recording_facts(&to, (pid_t)f->live.header.pid,
                                                    is_guest(f) ? f->guest->argv : NULL, run_id,
                                                    f->guest->sources);

    header.n_items = to.n;
    header.payload_bytes = to.len;
    return st == OSC_OK ? osc_parts_append(&f->parts, header, facts) : st;
}

/* Copy the last chunk of TYPE in the last part, if any. */
static osc_status copy_chunk(struct fold *f, uint16_t type)
{
    unsigned char *payload = NULL;
    osc_status st = OSC_OK;
    size_t cap = 0, i = f->file.n_chunks;

    while (i > 0 && f->file.chunks[i - 1].header.type != type)
        i--;
    if (i > 0)
        st = osc_file_payload(&f->file, i - 1, &payload, &cap);
    if (i > 0 && st == OSC_OK)
        st = osc_parts_append(&f->parts, f->file.chunks[i - 1].header, payload);
    osc_free(payload);
    return st;
}

/* Write the losses of threads that no part reports. */
static osc_status put_gone(struct fold *f)
{
    static const struct osc_wire_before nothing;
    struct osc_wire_before before = {0};
    const struct osc_wire_header header = {
        .type = OSC_CHUNK_BEFORE, .payload_bytes = sizeof before, .n_items = 1};

    memcpy(before.lost, f->live.header.lost_gone, sizeof before.lost);
    return memcmp(&before, &nothing, sizeof nothing) == 0
               ? OSC_OK
               : osc_parts_append(&f->parts, header, &before);
}

/* The clocks of the live directory, for those of the file end before it. */
static osc_status put_anchors(struct fold *f)
{
    const struct osc_live_header *const h = &f->live.header;
    const uint64_t n = h->n_anchors < OSC_LIVE_ANCHORS ? h->n_anchors : OSC_LIVE_ANCHORS;
    struct osc_wire_header header = {.type = OSC_CHUNK_CLOCK,
                                     .payload_bytes = n * sizeof *h->anchors,
                                     .n_items = n,
                                     .first_ticks = h->anchors[0].ticks};

    for (uint64_t i = 0; i < n; i++) {
        if (h->anchors[i].ticks > header.last_ticks)
            header.last_ticks = h->anchors[i].ticks;
    }
    return n > 0 ? osc_parts_append(&f->parts, header, h->anchors) : OSC_OK;
}

static osc_status put_names(struct fold *f)
{
    struct osc_name_log names;
    osc_status st = osc_name_log_open(&names, f->live_fd);

    if (st == OSC_OK)
        st = osc_name_log_append(&names, &f->parts);
    osc_name_log_close(&names);
    return st;
}

/* Write the table of threads, with those that are named only in blocks. */
static osc_status put_threads(struct fold *f)
{
    const size_t n_max = f->live.n_threads + f->live.n_blocks;
    struct osc_wire_thread *const threads = osc_calloc(n_max + 1, sizeof *threads);
    struct osc_wire_header header = {.type = OSC_CHUNK_THREADS};
    size_t n = 0;

    if (!threads)
        return OSC_ENOMEM;
    for (size_t i = 0; i < f->live.n_threads; i++) {
        const struct osc_live_thread *const t = &f->live.threads[i];

        if (t->state == OSC_THREAD_UNUSED)
            continue;
        threads[n] = (struct osc_wire_thread){
            .ordinal = t->ordinal, .tid = t->tid, .state = OSC_THREAD_EXITED};
        memcpy(threads[n].lost, t->lost, sizeof t->lost);
        osc_fold_losses_subtract(&f->losses, t->ordinal, threads[n++].lost);
    }
    for (size_t i = 0; i < f->live.n_blocks; i++)
        threads[n++] = (struct osc_wire_thread){.ordinal = f->live.blocks[i].thread,
                                                .tid = f->live.blocks[i].tid,
                                                .state = OSC_THREAD_EXITED};
    header.n_items = n;
    header.payload_bytes = n * sizeof *threads;
    const osc_status st = n > 0 ? osc_parts_append(&f->parts, header, threads) : OSC_OK;
    osc_free(threads);
    return st;
}

/* The first slot of B to write. */
static uint32_t first_slot(const struct fold *f, const struct osc_block *b)
{
    return osc_live_dir_first(&f->live, b, osc_segment_order_written(&f->order, b->seq));
}

static bool is_left(const struct fold *f, const struct osc_block *b)
{
    return first_slot(f, b) < osc_live_dir_end(b);
}

static uint64_t count_left(const struct fold *f)
{
    uint64_t n = 0;

    for (size_t i = 0; i < f->live.n_blocks; i++)
        n += is_left(f, &f->live.blocks[i]);
    return n;
}

/* Write all records in one chunk; *TICKS becomes the time of the last. */
static osc_status put_records(struct fold *f, uint64_t n_blocks, uint64_t *ticks)
{
    const size_t room = osc_pack_bound(OSC_BLOCK_SLOTS) + sizeof(struct osc_pack_segment);
    unsigned char *const payload = osc_malloc((size_t)n_blocks * room + 1);
    struct osc_wire_header header = {.type = OSC_CHUNK_RECORDS};
    struct osc_pack_times times = {0};
    size_t len = 0;

    if (!payload)
        return OSC_ENOMEM;
    for (size_t i = 0; i < f->live.n_blocks; i++) {
        const struct osc_block *const b = &f->live.blocks[i];
        struct osc_pack_segment s;
        const struct osc_pack_range range = {
            .first_slot = first_slot(f, b), .end_slot = osc_live_dir_end(b), .take_all = true};

        if (!is_left(f, b))
            continue;
        const size_t n = osc_pack_block(b, range, &s, payload + len + sizeof s, &times);

        memcpy(payload + len, &s, sizeof s);
        len += sizeof s + n;
        header.n_items += s.n_records;
    }
    header.payload_bytes = len;
    header.first_ticks = times.first;
    header.last_ticks = *ticks = times.last;
    const osc_status st = len > 0 ? osc_parts_append(&f->parts, header, payload) : OSC_OK;
    osc_free(payload);
    return st;
}

/* Write copies of the persistent records that the part lacks. */
static osc_status put_persistent(struct fold *f)
{
    const size_t room = osc_pack_bound(OSC_BLOCK_SLOTS) + sizeof(struct osc_pack_segment);
    const size_t most = f->live.standing_bytes + f->live.n_blocks * room;
    struct osc_wire_header header = {.type = OSC_CHUNK_RECORDS};
    unsigned char *const payload = osc_malloc(most + 1);
    struct osc_pack_segment s;
    size_t len = 0;

    if (!payload)
        return OSC_ENOMEM;
    while (osc_pack_next_segment(f->live.standing, f->live.standing_bytes, &len, &s))
        header.n_items += s.n_records;
    if (len > 0)
        memcpy(payload, f->live.standing, len);
    for (size_t i = 0; i < f->live.n_blocks; i++) {
        const struct osc_block *const b = &f->live.blocks[i];
        const struct osc_pack_range range = {.end_slot = first_slot(f, b)};
        const size_t n = osc_pack_standing(b, range, &s, payload + len + sizeof s);

        if (s.n_records == 0)
            continue;
        s.n_unfinished = 0; /* reported with the segment of its slots */
        memcpy(payload + len, &s, sizeof s);
        len += sizeof s + n;
        header.n_items += s.n_records;
    }
    header.payload_bytes = len;
    const osc_status st = len > 0 ? osc_parts_append(&f->parts, header, payload) : OSC_OK;
    osc_free(payload);
    return st;
}

/* Write everything that the file lacks, except its end. */
static osc_status put_rest(struct fold *f, uint64_t n_left)
{
    osc_status st = f->part == 0 ? put_facts(f) : OSC_OK;

    if (f->is_next)
        st = copy_chunk(f, OSC_CHUNK_PROCESS);
    if (st == OSC_OK)
        st = put_gone(f);
    if (st == OSC_OK)
        st = put_anchors(f);
    if (st == OSC_OK)
        st = put_names(f);
    if (st == OSC_OK && f->is_next)
        st = copy_chunk(f, OSC_CHUNK_MODULES);
    if (st == OSC_OK)
        st = put_threads(f);
    if (st == OSC_OK && (f->is_next || !osc_file_has(&f->file, OSC_CHUNK_RECORDS)))
        st = put_persistent(f);
    if (st == OSC_OK)
        st = put_records(f, n_left, &f->end.ticks);
    f->end.reason = reason_of(f);
    f->end.write_error = f->live.header.write_error;
    memcpy(f->end.lost, f->live.header.lost, sizeof f->end.lost);
    osc_fold_losses_subtract(&f->losses, 0, f->end.lost);
    return st;
}

/* Prepare the next part for what was recorded after the end of the last one. False: nothing
 * more may follow. */
static bool begin_next(struct fold *f)
{
    char path[OSC_PARTS_PATH_BYTES];

    return f->end.reason >= OSC_END_CONTINUED && f->end.reason <= OSC_END_CRASHED &&
           osc_parts_name(f->out, f->part, path) &&
           osc_fold_losses_add(&f->losses, path) == OSC_OK;
}

/* Open the part for writing: begin it or continue it. */
static osc_status open_out(struct fold *f)
{
    if (f->part > 0 && !f->is_next)
        return osc_parts_resume(&f->parts, f->part, f->file.chunks, f->file.n_chunks);
    f->parts.part = f->part;
    return osc_parts_open(&f->parts);
}

static osc_status write_all(struct fold *f, uint64_t n_left)
{
    osc_status st = open_out(f);

    if (st == OSC_OK && (!f->has_end || f->is_next))
        st = put_rest(f, n_left);
    if (st == OSC_OK)
        st = osc_parts_close(&f->parts, &f->end);
    if (st != OSC_OK && (f->part == 0 || f->is_next))
        osc_parts_discard(&f->parts);
    osc_parts_forget(&f->parts);
    return st;
}

/* --- folding ----------------------------------------------------------------------------- */

/* Remove the live directory of a process that has ended. */
static void remove_live(const struct fold *f)
{
    unlinkat(f->live_fd, "blocks", 0); /* first: without it the others are meaningless */
    unlinkat(f->live_fd, "strings", 0);
    unlinkat(f->live_fd, "standing", 0);
    unlinkat(f->live_fd, "ctl", 0);
    rmdir(f->live_path);
}

/* Write what is left in the live directory into the file of its recording, and remove the
 * directory only then: until it is removed, readers take the records from it. */
static void fold_one(struct fold *f, const char *directory)
{
    f->live_fd = open(f->live_path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);

    bool is_done = look(f, directory);
    if (f->live.header.is_flight && has_ended_well(f))
        f->live.header.window_begin = OSC_LIVE_NO_WINDOW; /* no dump was requested */
    const uint64_t n_left = is_done ? count_left(f) : 0;

    f->is_next = f->has_end && n_left > 0;
    if (f->is_next)
        is_done = begin_next(f);
    if (is_done && !(f->has_end && f->file.has_index && !f->is_next))
        is_done = write_all(f, n_left) == OSC_OK;
    if (is_done || is_blank(f))
        remove_live(f);
    osc_segment_order_fini(&f->order);
    osc_fold_losses_fini(&f->losses);
    osc_file_close(&f->file);
    osc_input_close(&f->in);
    osc_live_dir_close(&f->live);
    if (f->blocks_fd >= 0)
        close(f->blocks_fd);
    if (f->live_fd >= 0)
        close(f->live_fd);
}

void osc_fold_killed_all(const char *directory, const struct osc_fold_killed_guest *guest)
{
    DIR *const dir = opendir(directory);

    for (const struct dirent *e; dir && (e = readdir(dir));) {
        struct fold f = {.guest = guest, .live_fd = -1, .blocks_fd = -1, .in = {.fd = -1}};

        if (!osc_str_ends(osc_str_c(e->d_name), OSC_STR(".osc.live")) ||
            snprintf(f.live_path, sizeof f.live_path, "%s/%s", directory, e->d_name) >=
                (int)sizeof f.live_path)
            continue;
        snprintf(f.out, sizeof f.out, "%.*s", (int)(strlen(f.live_path) - strlen(".live")),
                 f.live_path);
        fold_one(&f, directory);
    }
    if (dir)
        closedir(dir);
}
