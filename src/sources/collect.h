/* SPDX-License-Identifier: Apache-2.0 */
/*
 * collect.h - start a source within a process, for callers that record themselves.
 *
 *     int (*start)(const char *) = dlsym(library, "opscope_collect_start");
 *
 *     if (start(source) != 0)
 *         warn(why(source));
 *     ...                      // osc_start(), and what is to be recorded
 *     stop(source);            // before osc_stop()
 *
 * The variables of runtimes that load sources by themselves are read when those begin; a
 * profiler that is called later needs this. It does not start the recorder.
 *
 * Threading: thread-safe.
 */
#pragma once

#include <stdint.h>

#include "opscope/opscope.h"
#include "sources/source_kinds.h"

/* A source that can be started so: osc_collected_FOLDER in the folder that source_kinds.h
 * names. */
struct osc_collected {
    int (*start)(void);
    const char *(*why)(void);
    void (*stop)(void);
    uint64_t (*unseen)(void); /* NULL: it sees all */
    void (*settle)(void);     /* NULL: there is nothing to wait for */
};

/* Weak: a source that cannot be started so, or was not built, has none. */
#define OSC_COLLECTED(name, folder, word)                    \
    extern const struct osc_collected osc_collected_##folder \
        __attribute__((weak, visibility("hidden")));
OSC_COLLECTED_LIST(OSC_COLLECTED)
#undef OSC_COLLECTED

/* Start SOURCE, a word of OPSCOPE_SOURCES. 0: it records, as it may have before. */
OSC_API int opscope_collect_start(const char *source);

/* Why SOURCE could not be started; "": it could, or was never asked to. Never NULL; good until
 * it is started again. */
OSC_API const char *opscope_collect_why(const char *source);

/* How many commands, or executions of lists of them, SOURCE has not recorded since it was
 * started last, because the program made what they belong to, such as a list, before the source
 * was there. */
OSC_API uint64_t opscope_collect_unseen(const char *source);

/* A recording has begun in a process that had one before: record again what sources are there.
 */
OSC_API void opscope_collect_report(void);

/* The recording ends, and another one begins: wait, for a moment, for what the program launched
 * until now where its ends are asked for, and record it. */
OSC_API void opscope_collect_settle(void);

/* Record what SOURCE knows to have finished, and when all who started it have stopped it, let
 * go of its runtime. */
OSC_API void opscope_collect_stop(const char *source);
