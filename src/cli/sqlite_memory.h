/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sqlite_memory.h - SQLite's memory is counted, and stays below the limit.
 *
 * It is a setting of the whole process, so it is the command's and not the library's. In
 * other programs a connection takes what the limits of lengths and depths allow
 * (sql/engine.h).
 *
 * Threading: once, before SQLite is used.
 */
#pragma once

void osc_sqlite_lend_memory(void);
