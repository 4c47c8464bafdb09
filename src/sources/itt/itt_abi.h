/* SPDX-License-Identifier: Apache-2.0 */
/*
 * itt_abi.h - the structs that ITT's static part and a collector share, on 64-bit Linux.
 *
 * Every client carries its own copy of the static part, from any year. Its version does not
 * determine the layout of struct osc_itt_global: fields after string_list exist only from the
 * builds OSC_ITT_BUILD_* on and must not be read before.
 *
 * Threading: constants and types.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define OSC_ITT_MAGIC "\xed\xab\xab\xec\x0d\xee\xda\x30" /* 8 bytes */
#define OSC_ITT_MAJOR 3

/* First build in which counter_list lies where it is declared here. */
#define OSC_ITT_BUILD_COUNTERS 20210712u

/* In extra1: extra2 points to an object of ours. Static parts leave 0 or any other value. */
#define OSC_ITT_OURS 0x4f534349

/* The client's objects. We may write to flags, extra1 and extra2. */
struct osc_itt_domain {
    int flags; /* 0: the client drops its events itself */
    const char *name;
    void *name_w;
    int extra1;
    void *extra2;
    struct osc_itt_domain *next;
};

struct osc_itt_string {
    const char *text;
    void *text_w;
    int extra1;
    void *extra2;
    struct osc_itt_string *next;
};

struct osc_itt_counter {
    const char *name;
    void *name_w;
    const char *domain;
    void *domain_w;
    int type; /* enum osc_itt_type */
    long index;
    int extra1;
    void *extra2;
    struct osc_itt_counter *next;
};

/* Passed by value, hence in memory. All zeroes: no id. */
struct osc_itt_id {
    uint64_t d1, d2, d3;
};

enum osc_itt_type {
    OSC_ITT_UNKNOWN,
    OSC_ITT_U64,
    OSC_ITT_S64,
    OSC_ITT_U32,
    OSC_ITT_S32,
    OSC_ITT_U16,
    OSC_ITT_S16,
    OSC_ITT_FLOAT,
    OSC_ITT_DOUBLE
};

enum osc_itt_scope {
    OSC_ITT_SCOPE_UNKNOWN,
    OSC_ITT_SCOPE_GLOBAL,
    OSC_ITT_SCOPE_GROUP, /* of tracks: the process */
    OSC_ITT_SCOPE_TRACK, /* the thread */
    OSC_ITT_SCOPE_TASK,
    OSC_ITT_SCOPE_MARKER
};

struct osc_itt_clock_info {
    uint64_t hz;
    uint64_t base; /* the clock's reading when this was filled */
};

typedef void (*osc_itt_clock_fn)(struct osc_itt_clock_info *info, void *data);

struct osc_itt_clock {
    struct osc_itt_clock_info info;
    osc_itt_clock_fn fn;
    void *fn_data;
    int extra1;
    void *extra2;
    struct osc_itt_clock *next;
};

/* A fact about a counter: numbers are uint64_t, texts char. */
struct osc_itt_context {
    uint32_t type; /* an index into the names in itt_values.c */
    void *value;
};

typedef void (*osc_itt_function)(void);

struct osc_itt_api {
    const char *name; /* "__itt_task_begin"; NULL ends the list */
    osc_itt_function *function;
    osc_itt_function init_function, null_function;
    int group;
};

struct osc_itt_global {
    unsigned char magic[8];
    unsigned long version_major, version_minor, version_build;
    long api_initialized, mutex_initialized, mutex_counter;
    char mutex[40];
    void *lib;
    void *error_handler;
    const char **dll_path;
    struct osc_itt_api *apis;
    struct osc_itt_global *next;
    void *thread_list;
    struct osc_itt_domain *domain_list;
    struct osc_itt_string *string_list;
    int state; /* not read: its values have changed their meaning */
    struct osc_itt_counter *counter_list;
};

_Static_assert(sizeof(struct osc_itt_domain) == 48, "as static parts have it");
_Static_assert(sizeof(struct osc_itt_string) == 40, "as static parts have it");
_Static_assert(sizeof(struct osc_itt_counter) == 72, "as static parts have it");
_Static_assert(sizeof(struct osc_itt_api) == 40, "as static parts have it");
_Static_assert(offsetof(struct osc_itt_global, lib) == 96, "as static parts have it");
_Static_assert(offsetof(struct osc_itt_global, string_list) == 152, "as static parts have it");
_Static_assert(offsetof(struct osc_itt_global, counter_list) == 168, "as static parts have it");
