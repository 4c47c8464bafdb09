/* SPDX-License-Identifier: Apache-2.0 */
#include "sources/source_state.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "opscope/record.h"

#define REPORTS_MAX 32

/* One line of metadata. */
struct report {
    _Atomic uint32_t is_whole; /* written last */
    char key[40];
    char text[256];
};

_Atomic uint32_t osc_source_state_;

static _Atomic uint32_t is_begun; /* the recorder was started */
static struct report reports[REPORTS_MAX];
static _Atomic uint32_t n_reports; /* places given out; may exceed REPORTS_MAX */

/* Whether the comma-separated list S contains NAME. '?' is before those that nobody named. */
static bool lists(const char *s, const char *name)
{
    const size_t n = strlen(name);

    while (*s) {
        s += *s == '?';
        const size_t len = strcspn(s, ",");

        if (len == n && memcmp(s, name, n) == 0)
            return true;
        s += len + (s[len] == ',');
    }
    return false;
}

bool osc_source_is_wanted(const struct osc_source *s)
{
    const char *const all = getenv("OPSCOPE"), *const sources = getenv("OPSCOPE_SOURCES");

    return !(all && strcmp(all, "0") == 0) &&
           (!sources || !*sources || lists(sources, s->name));
}

bool osc_source_is_beside_torch(void)
{
    const char *const sources = getenv("OPSCOPE_SOURCES");

    return sources && (lists(sources, "torch") || lists(sources, "torch=replace") ||
                       lists(sources, "torch=stack"));
}

static void forked(void)
{
    /* Relaxed: the child has one thread. Do no more here: most children only call exec(). */
    atomic_fetch_or_explicit(&osc_source_state_, OSC_SOURCE_REPORT_DUE, memory_order_relaxed);
}

void osc_source_begin(void)
{
    /* Relaxed: only one thread sees 0. */
    if (atomic_exchange_explicit(&is_begun, 1, memory_order_relaxed) != 0)
        return;
    (void)pthread_atfork(NULL, NULL, forked);
    /* If it cannot start, all records are dropped: there is nobody to report an error to. */
    const osc_status started = osc_start(NULL);
    (void)started;
}

/* Record TEXT by the key PREFIX.NAME, and if N is not 0 with ".N" after it. */
static void add_report(const char *prefix, const char *name, uint32_t n, const char *text)
{
    /* Relaxed: each caller gets a place of its own. */
    const uint32_t i = atomic_fetch_add_explicit(&n_reports, 1, memory_order_relaxed);

    if (i >= REPORTS_MAX)
        return;
    struct report *const r = &reports[i];
    if (n == 0)
        (void)snprintf(r->key, sizeof r->key, "%s.%s", prefix, name);
    else
        (void)snprintf(r->key, sizeof r->key, "%s.%s.%u", prefix, name, n);
    (void)snprintf(r->text, sizeof r->text, "%s", text);
    /* Release pairs with the acquire in osc_source_report_all(). */
    atomic_store_explicit(&r->is_whole, 1, memory_order_release);
    if (osc_is_on())
        osc_metadata(r->key, r->text);
    else /* called while the recorder starts */
        atomic_fetch_or_explicit(&osc_source_state_, OSC_SOURCE_REPORT_DUE,
                                 memory_order_relaxed);
}

void osc_source_report(struct osc_source *s, const char *text)
{
    /* Relaxed: each report gets a number of its own. */
    const uint32_t n = atomic_fetch_add_explicit(&s->n_reports, 1, memory_order_relaxed);

    add_report("source", s->name, n == 0 ? 0 : n + 1, text);
}

/* Leave WHY in the directory of `opscope run`, which tells it at the end. */
static void leave_note(const char *name, const char *why)
{
    const char *const out = getenv("OPSCOPE_OUT");
    char path[512];

    if (!getenv("OPSCOPE_RUN_ID") || !out ||
        snprintf(path, sizeof path, "%s/.%s-failed.%d", out, name, (int)getpid()) >=
            (int)sizeof path)
        return;
    const int fd = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return;
    (void)!write(fd, why, strlen(why));
    close(fd);
}

void osc_source_fail(const struct osc_source *s, const char *why)
{
    const int error = errno;

    add_report("source_failed", s->name, 0, why);
    leave_note(s->name, why);
    errno = error;
}

void osc_source_report_all(void)
{
    if (!osc_is_on())
        return; /* it stays due */
    /* Relaxed: the forking thread has seen these reports, and a new one records itself. */
    const uint32_t n = atomic_load_explicit(&n_reports, memory_order_relaxed);

    atomic_fetch_and_explicit(&osc_source_state_, ~(uint32_t)OSC_SOURCE_REPORT_DUE,
                              memory_order_relaxed);
    for (uint32_t i = 0; i < n && i < REPORTS_MAX && osc_is_on(); i++) {
        /* Acquire pairs with the release in add_report(). */
        if (atomic_load_explicit(&reports[i].is_whole, memory_order_acquire))
            osc_metadata(reports[i].key, reports[i].text);
    }
}
