/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_double.h - replaces libopscope in tests: logs each call of record.h with its arguments
 * on a line, so that a test can compare them.
 *
 *     begin operator aten::relu
 *     arg domain=tbb
 *     end
 *
 * Ids of ranges and arrows are logged as #1, #2, ... in the order of their first use. The clock
 * is CLOCK_MONOTONIC in nanoseconds, or stands still while double_frozen is not 0; times that
 * are passed in are logged relative to double_origin. Each of the next double_n_late readings
 * of the clock is delayed by 5 ms, so that other threads run.
 *
 * Threading: thread-safe, except reading double_log.
 */
#pragma once

#include <inttypes.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "opscope/record.h"

#define DOUBLE_NAMES_MAX 200000
#define DOUBLE_IDS_MAX   256

static char double_log[1 << 16];
static uint64_t double_frozen, double_origin;
static uint64_t double_recording = 1; /* its number */
static int double_n_late;
static int double_n_starts, double_n_stops;
static void (*double_callback)(void); /* called from within osc_scope_begin() */

static size_t double_len;
static pthread_mutex_t double_lock = PTHREAD_MUTEX_INITIALIZER;
static char *double_names[DOUBLE_NAMES_MAX];
static uint32_t double_n_names;
static uint64_t double_ids[DOUBLE_IDS_MAX];

int osc_on_;

__attribute__((format(printf, 1, 2))) static void double_say(const char *format, ...)
{
    va_list args;

    pthread_mutex_lock(&double_lock);
    va_start(args, format);
    const int n =
        vsnprintf(double_log + double_len, sizeof double_log - double_len, format, args);
    va_end(args);
    double_len += (size_t)n < sizeof double_log - double_len ? (size_t)n : 0;
    pthread_mutex_unlock(&double_lock);
}

/* Clear the log. */
static inline void double_clear(void)
{
    double_len = 0;
    double_log[0] = '\0';
    memset(double_ids, 0, sizeof double_ids);
}

static const char *double_name(osc_name name)
{
    return name == 0 ? "" : double_names[name - 1];
}

static int double_id(uint64_t id)
{
    int i = 0;

    while (i < DOUBLE_IDS_MAX - 1 && double_ids[i] != 0 && double_ids[i] != id)
        i++;
    double_ids[i] = id;
    return i + 1;
}

static const char *double_kind(enum osc_scope_kind kind)
{
    return kind == OSC_SCOPE_PLAIN        ? "scope"
           : kind == OSC_SCOPE_OPERATOR   ? "operator"
           : kind == OSC_SCOPE_ANNOTATION ? "annotation"
                                          : "?";
}

/* --- the functions of record.h ----------------------------------------------------------- */

uint64_t osc_now(void)
{
    struct timespec t;

    if (double_n_late > 0) {
        double_n_late--;
        nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
    }
    clock_gettime(CLOCK_MONOTONIC, &t);
    return double_frozen ? double_frozen
                         : (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* " at TICKS", or "" if that is approximately now. */
static const char *double_at(uint64_t ticks)
{
    static _Thread_local char text[40];

    text[0] = '\0';
    if (osc_now() - ticks > 1000000000)
        snprintf(text, sizeof text, " at %" PRId64, (int64_t)(ticks - double_origin));
    return text;
}

osc_name osc_name_of(const char *s, size_t len)
{
    osc_name name = 0;

    if (!s || len == 0)
        return 0;
    pthread_mutex_lock(&double_lock);
    if (double_n_names < DOUBLE_NAMES_MAX) {
        double_names[double_n_names] = strndup(s, len < 1000 ? len : 1000);
        name = ++double_n_names;
    }
    pthread_mutex_unlock(&double_lock);
    return name;
}

osc_name osc_name_c(const char *s)
{
    return osc_name_of(s, s ? strlen(s) : 0);
}

void osc_scope_begin(enum osc_scope_kind kind, osc_name name)
{
    double_say("begin %s %.100s\n", double_kind(kind), double_name(name));
    if (double_callback)
        double_callback();
}

void osc_scope_end(void)
{
    double_say("end\n");
}

void osc_scope_instant(osc_name name)
{
    double_say("instant %s\n", double_name(name));
}

void osc_begin_at(enum osc_scope_kind kind, osc_name name, uint64_t ticks)
{
    double_say("begin %s %s at %" PRId64 "\n", double_kind(kind), double_name(name),
               (int64_t)(ticks - double_origin));
}

void osc_end_at(uint64_t ticks)
{
    double_say("end at %" PRId64 "\n", (int64_t)(ticks - double_origin));
}

void osc_complete_at(enum osc_scope_kind kind, osc_name name, uint64_t start_ticks,
                     uint64_t end_ticks)
{
    double_say("complete %s %s at %" PRId64 " to %" PRId64 "\n", double_kind(kind),
               double_name(name), (int64_t)(start_ticks - double_origin),
               (int64_t)(end_ticks - double_origin));
}

void osc_instant_at(osc_name name, uint64_t ticks)
{
    double_say("instant %s%s\n", double_name(name), double_at(ticks));
}

void osc_async_begin_at(enum osc_scope_kind kind, osc_name name, uint64_t id, uint64_t ticks)
{
    double_say("async %s %s #%d%s\n", double_kind(kind), double_name(name), double_id(id),
               double_at(ticks));
}

void osc_async_end_at(enum osc_scope_kind kind, osc_name name, uint64_t id, uint64_t ticks)
{
    (void)kind, (void)name;
    double_say("async end #%d%s\n", double_id(id), double_at(ticks));
}

void osc_async_begin(enum osc_scope_kind kind, osc_name name, uint64_t id)
{
    osc_async_begin_at(kind, name, id, osc_now());
}

void osc_async_end(enum osc_scope_kind kind, osc_name name, uint64_t id)
{
    osc_async_end_at(kind, name, id, osc_now());
}

void osc_arg_i64(osc_name key, int64_t value)
{
    double_say("arg %s=%" PRId64 "\n", double_name(key), value);
}

void osc_arg_f64(osc_name key, double value)
{
    double_say("arg %s=%g\n", double_name(key), value);
}

void osc_arg_bool(osc_name key, int value)
{
    double_say("arg %s=%s\n", double_name(key), value ? "true" : "false");
}

void osc_arg_name(osc_name key, osc_name value)
{
    double_say("arg %s=%s\n", double_name(key), double_name(value));
}

void osc_arg_text(osc_name key, const char *s, size_t len)
{
    double_say("arg %s='%.*s'\n", double_name(key), (int)len, s);
}

void osc_arg_json(osc_name key, const char *json, size_t len)
{
    double_say("arg %s=json %.*s\n", double_name(key), (int)len, json);
}

void osc_args_json(osc_name pairs)
{
    double_say("args %u\n", pairs);
}

void osc_arg_i64s(osc_name key, const int64_t *values, size_t n)
{
    double_say("arg %s=[", double_name(key));
    for (size_t i = 0; i < n; i++)
        double_say("%s%" PRId64, i > 0 ? "," : "", values[i]);
    double_say("]\n");
}

void osc_counter_i64_at(osc_name name, int64_t value, uint64_t ticks)
{
    double_say("counter %s=%" PRId64 "%s\n", double_name(name), value, double_at(ticks));
}

void osc_counter_f64_at(osc_name name, double value, uint64_t ticks)
{
    double_say("counter %s=%g%s\n", double_name(name), value, double_at(ticks));
}

void osc_counter_total(osc_name name, int64_t value)
{
    osc_counter_i64_at(name, value, osc_now());
}

void osc_counter_i64(osc_name name, int64_t value)
{
    osc_counter_i64_at(name, value, osc_now());
}

void osc_flow_begin(uint64_t id)
{
    double_say("arrow from here #%d\n", double_id(id));
}

void osc_flow_end(uint64_t id)
{
    double_say("arrow to here #%d\n", double_id(id));
}

void osc_thread_name(const char *name)
{
    double_say("thread %s\n", name);
}

void osc_metadata(const char *key, const char *value)
{
    double_say("metadata %s=%s\n", key, value);
}

uint64_t osc_recording_number(void)
{
    return double_recording;
}

osc_status osc_start(const struct osc_start_options *options)
{
    (void)options;
    double_n_starts++;
    osc_on_ = 1;
    return OSC_OK;
}

osc_status osc_stop(void)
{
    double_n_stops++;
    osc_on_ = 0;
    return OSC_OK;
}

void osc_pause(void)
{
    double_say("pause\n");
}

void osc_resume(void)
{
    double_say("resume\n");
}
