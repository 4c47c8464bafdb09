/* SPDX-License-Identifier: Apache-2.0 */
/*
 * engine.h - SQLite in a sandbox: expressions over tables and nothing else.
 *
 * A connection has no database: it reads virtual tables over rows that stay where they are
 * (rows.h). No expression can
 *
 *   - open, attach or write a file, load an extension, read the schema or set a pragma: an
 *     authorizer allows reads of the added tables and a list of functions, and refuses
 *     everything else;
 *   - nest, grow or run without end: lengths, depths and operations are limited, and a
 *     callback decides every few thousand operations, at each text of a row, and in long
 *     functions (texts.h) whether to continue. No other function takes longer than its longest
 *     text is long.
 *
 * ns() us() ms() s() kib() mib() gib() convert to nanoseconds and bytes. Integers stay exact,
 * and overflow of 64 bits is an error; NULL stays NULL.
 *
 * Threading: a connection belongs to one thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "base/str.h"

struct sqlite3;

/* Zeroed, it is closed. SQLite stores its address: do not move it while it is open. */
struct osc_sql {
    struct sqlite3 *db;        /* owned */
    bool (*is_canceled)(void); /* checked while statements run; may be NULL */
    bool has_subqueries;       /* SELECT inside SELECT is allowed */
    bool is_declaring;         /* a virtual table is being declared: SQLite's own statements
                                * are allowed */
    uint32_t n_selects;        /* in the statement being prepared */
    bool has_refused_subquery; /* the reason why a statement was refused */
    char refused_function[32]; /* the function that was refused, or "" */
};

/* Fails only with OSC_ENOMEM. */
OSC_MUST_USE osc_status osc_sql_open(struct osc_sql *sql, bool (*is_canceled)(void));
void osc_sql_close(struct osc_sql *sql);

/* Whether what SQL runs shall end. Functions that may take long ask. */
bool osc_sql_is_stopped(const struct osc_sql *sql);

/* Whether the function WORD converts from a unit. */
bool osc_sql_is_unit(struct osc_str word);

/* Names of all functions that expressions may call; the last one is NULL. */
extern const char *const osc_sql_functions[];
