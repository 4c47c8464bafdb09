/* SPDX-License-Identifier: Apache-2.0 */
/*
 * engine.h - SQLite, locked up: expressions over tables and nothing else.
 *
 * A connection holds no database: what it reads are virtual tables over rows that
 * stay where they are (rows.h). Whatever an expression says, it cannot
 *
 *   - open, attach or write a file, load an extension, read the schema or set a
 *     pragma: an authorizer lets through reads of the tables added and the functions
 *     of a list, and refuses all else;
 *   - nest, grow or compute without end: lengths, depths and operations are limited,
 *     and a callback is asked every few thousand operations whether to go on.
 *
 * ns() us() ms() s() kib() mib() gib() give nanoseconds and bytes. Whole numbers stay
 * exact, and what leaves 64 bits is an error; NULL stays NULL.
 *
 * Threading: a connection belongs to one thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"

struct sqlite3;

/* Zeroed, it is closed. Its address is known to SQLite: do not move it while open. */
struct osc_sql {
    struct sqlite3 *db;        /* owned */
    bool (*is_canceled)(void); /* may be NULL */
    bool has_subqueries;       /* SELECT inside of SELECT is allowed */
    bool is_declaring;         /* a virtual table is: what SQLite does then is not EXPR's */
    uint32_t n_selects;        /* of the statement being prepared */
    bool has_refused_subquery; /* why it was not authorized */
    char refused_function[32]; /* or which function it was; "" */
};

/* OSC_ENOMEM is all that can go wrong. */
OSC_MUST_USE osc_status osc_sql_open(struct osc_sql *sql, bool (*is_canceled)(void));
void osc_sql_close(struct osc_sql *sql);

/* Names of all functions that expressions may call, ended by NULL. */
extern const char *const osc_sql_functions[];
