/* SPDX-License-Identifier: Apache-2.0 */
/*
 * source_list.h - what makes a program record: variables of its environment.
 *
 * Each source of events is entered through a hook of its own: programs that call
 * libopscope find OPSCOPE_OUT; ITT loads the library that INTEL_LIBITTNOTIFY64 names;
 * Python imports a module of ours first, which PYTHONPATH names, and that waits for torch.
 * All of that fails in silence in the program, so what can be known before it starts is
 * looked at here.
 *
 *   - OPSCOPE_SOURCES lists what is collected; a source with a '-' before it was asked
 *     for and cannot be used: "api,-itt". Recordings say so.
 *   - A run inside of another one takes nothing over from it.
 *
 * Threading: one thread.
 */
#pragma once

#include "base/strbuf.h"
#include "cli/options.h"
#include "cli/run/child.h"

#define OSC_SOURCES_VARIABLES_MAX 8

/* Zeroed, it is empty. */
struct osc_sources {
    struct osc_child_variable variables[OSC_SOURCES_VARIABLES_MAX];
    uint32_t n_variables;
    char *texts[OSC_SOURCES_VARIABLES_MAX]; /* owned: values that were made */
    uint32_t n_texts;
    const char *run_id; /* borrowed of texts */
    const char *asked;  /* borrowed of texts: OPSCOPE_SOURCES, or NULL */
    unsigned wanted;    /* bits of enum osc_source: those that are collected */
    unsigned failed;    /* and those that cannot be */
};

enum osc_source {
    OSC_SOURCE_API = 1,
    OSC_SOURCE_ITT = 2,
    OSC_SOURCE_TORCH = 4,         /* operators of PyTorch, of the whole program */
    OSC_SOURCE_TORCH_REPLACE = 8, /* where the program profiles: our profiler for torch's */
};

#define OSC_SOURCES_TORCH (OSC_SOURCE_TORCH | OSC_SOURCE_TORCH_REPLACE)

/*
 * What a program needs to be recorded into the directory OUT (absolute) as ARGS ask for.
 * A source that cannot be used is told in one line and left out; with --strict, or if
 * ARGS make no sense, the status to exit with after a message.
 */
int osc_sources_choose(struct osc_sources *s, const struct osc_args *args, const char *out);

/* There is nowhere to record to: S is what keeps a program from trying. */
void osc_sources_switch_off(struct osc_sources *s);

/* The names of the sources BITS with commas between them to TEXT, each behind PREFIX. */
void osc_sources_add_names(struct osc_strbuf *text, unsigned bits, const char *prefix);

void osc_sources_fini(struct osc_sources *s);

/* Print S as commands of a shell. The status to exit with. */
int osc_sources_print(const struct osc_sources *s);
