/* SPDX-License-Identifier: Apache-2.0 */
/*
 * source_list.h - the environment variables that make a program record.
 *
 * Each source of events uses a hook of its own: programs that call libopscope read
 * OPSCOPE_OUT; runtimes load the library that a variable of theirs names, such as
 * INTEL_LIBITTNOTIFY64, or LD_PRELOAD puts the collector before them (osc_source_kind); Python
 * first imports a module of ours from PYTHONPATH, which waits for torch. In the program all of
 * these fail silently, so whatever can be checked before it starts is checked here.
 *
 *   - OPSCOPE_SOURCES lists the sources, and recordings repeat the list: "api,?nvtx,-itt". '-'
 *     marks one that cannot be used, '?' one that nobody named, which may find nothing.
 *   - A run inside another run inherits nothing from it.
 *
 * Threading: one thread.
 */
#pragma once

#include "base/strbuf.h"
#include "cli/command_options.h"
#include "cli/run/child.h"
#include "sources/source_kinds.h"

/* Two of each source, and those of the run. */
#define OSC_SOURCES_VARIABLES_MAX (2 * OSC_SOURCE_COUNT + 12)

/* Zeroed, it is empty. */
struct osc_sources {
    struct osc_child_variable variables[OSC_SOURCES_VARIABLES_MAX];
    uint32_t n_variables;
    char *texts[OSC_SOURCES_VARIABLES_MAX]; /* owned: values made here */
    uint32_t n_texts;
    const char *run_id; /* borrowed from texts */
    const char *asked;  /* borrowed from texts: OPSCOPE_SOURCES, or NULL */
    unsigned wanted;    /* bits: sources to record */
    unsigned failed;    /* sources that cannot be used */
    bool is_idle; /* nothing was recorded, for a profile of torch did not begin to record */
};

/*
 * Choose the sources for ARGS; the program records to the directory OUT (absolute). A source
 * that cannot be used is left out and reported in one line. With --strict, or if ARGS are
 * wrong, returns the exit code after a message.
 */
int osc_sources_choose(struct osc_sources *s, const struct osc_args *args, const char *out);

/* Append the titles of the sources BITS to TEXT, as "A, B and C", and return how many. */
unsigned osc_sources_add_titles(struct osc_strbuf *text, unsigned bits);

/* There is no directory to record to: make S keep the program from trying. */
void osc_sources_switch_off(struct osc_sources *s);

/* Append the names of the sources BITS to TEXT, separated by commas, with PREFIX before
 * each. */
void osc_sources_add_names(struct osc_strbuf *text, unsigned bits, const char *prefix);

void osc_sources_fini(struct osc_sources *s);

/* Print S as shell commands. Returns the exit code. */
int osc_sources_print(const struct osc_sources *s);
