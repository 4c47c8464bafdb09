/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recorded.h - make a recording in a new directory, and count its records.
 */
#pragma once

#include <dirent.h>

#include "opscope/record.h"
#include "support/walk_recording.h"

/* In a child process ThreadSanitizer believes that the threads of the parent are running. */
#if defined __SANITIZE_THREAD__
#define CHILDREN_FAIL 1
#elif defined __has_feature
#define CHILDREN_FAIL __has_feature(thread_sanitizer)
#else
#define CHILDREN_FAIL 0
#endif

#if defined __SANITIZE_ADDRESS__
#define FORKS_KEEP_LOCKS 1
#else
#define FORKS_KEEP_LOCKS 0
#endif

enum { RECORDED_THREADS = 32768, RECORDED_KINDS = 256 };

/* Counts over all threads. */
struct recorded_counts {
    uint64_t n[RECORDED_KINDS]; /* by kind of record */
    uint64_t begins, completes, args;
    uint64_t lost[OSC_LOSS_COUNT];
};

struct recorded {
    char dir[64], out[128];
    struct recorded_counts all;
    int64_t depth[RECORDED_THREADS]; /* of each thread, by ordinal */
    int64_t least_depth;
    uint32_t n_threads; /* highest ordinal */
    uint64_t n_unfinished;
    walk_fn look; /* called for each record; may be NULL */
    void *ctx;
};

static inline void recorded_count(void *ctx, uint32_t thread, const struct osc_packed *r)
{
    struct recorded *c = ctx;
    const bool is_begin = r->kind >= OSC_RECORD_BEGIN && r->kind < OSC_RECORD_COMPLETE;

    if (thread >= RECORDED_THREADS)
        walk_die("too many threads", c->out);
    c->n_threads = thread > c->n_threads ? thread : c->n_threads;
    c->all.n[r->kind]++;
    c->all.begins += is_begin;
    c->all.completes += r->kind >= OSC_RECORD_COMPLETE;
    c->all.args += r->kind >= OSC_RECORD_ARG_I64 && r->kind <= OSC_RECORD_ARG_STACK;
    c->depth[thread] += is_begin - (r->kind == OSC_RECORD_END);
    if (c->depth[thread] < c->least_depth)
        c->least_depth = c->depth[thread];
    if (c->look)
        c->look(c->ctx, thread, r);
}

/*
 * AddressSanitizer locks its allocator while it starts a thread, and in a child of a fork that
 * lock would stay locked. So wait until the flusher has started, which names its thread
 * opscope.
 */
static inline void recorded_wait_for_flusher(void)
{
    for (int tries = 0; tries < 5000; tries++) {
        DIR *const tasks = opendir("/proc/self/task");
        bool is_there = false;

        for (struct dirent *e; tasks && (e = readdir(tasks));) {
            char path[300], name[32] = "";
            FILE *f;

            (void)snprintf(path, sizeof path, "/proc/self/task/%s/comm", e->d_name);
            f = fopen(path, "r");
            if (f && fgets(name, sizeof name, f))
                is_there = is_there || strcmp(name, "opscope\n") == 0;
            if (f)
                (void)fclose(f);
        }
        if (tasks)
            (void)closedir(tasks);
        if (is_there)
            return;
        (void)usleep(1000);
    }
}

/* Start recording into a new directory with BUFFER_BYTES of memory; 0: the default. */
static inline osc_status recorded_begin(struct recorded *c, uint64_t buffer_bytes)
{
    memset(c, 0, sizeof *c);
    (void)strcpy(c->dir, "/tmp/osc-recorded-XXXXXX");
    if (!mkdtemp(c->dir))
        return OSC_EIO;
    (void)snprintf(c->out, sizeof c->out, "%s/t.osc", c->dir);
    const osc_status st = osc_start(&(struct osc_start_options){
        .size = sizeof(struct osc_start_options), .out = c->out, .buffer_bytes = buffer_bytes});
    if (st == OSC_OK && FORKS_KEEP_LOCKS)
        recorded_wait_for_flusher();
    return st;
}

/* Remove the directory PATH and what is in it, two levels deep. */
static inline void recorded_remove(const char *path)
{
    char inner[512];
    DIR *d = opendir(path);

    for (const struct dirent *e; d && (e = readdir(d));) {
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
            continue;
        const int len = snprintf(inner, sizeof inner, "%s/%s", path, e->d_name);

        if (len < (int)sizeof inner && unlink(inner) != 0)
            recorded_remove(inner);
    }
    if (d)
        (void)closedir(d);
    (void)rmdir(path);
}

/* Count the records of the recording at C->out. */
static inline void recorded_read(struct recorded *c)
{
    c->n_unfinished = walk_recording(c->out, recorded_count, c, c->all.lost);
}

/* Stop the recording, count its records, and remove it. */
static inline osc_status recorded_end(struct recorded *c)
{
    const osc_status st = osc_stop();

    recorded_read(c);
    recorded_remove(c->dir);
    return st;
}
