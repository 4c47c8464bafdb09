/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sqlite_memory.h - count SQLite's memory, and keep it below the limit.
 *
 * This setting is one of the whole process, so the command makes it and not the library. In
 * other programs the memory of a connection is bounded by the limits of lengths and depths
 * (sql/engine.h).
 *
 * Threading: once, before SQLite is used.
 */
#pragma once

void osc_sqlite_lend_memory(void);
