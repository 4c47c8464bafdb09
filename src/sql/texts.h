/* SPDX-License-Identifier: Apache-2.0 */
/*
 * texts.h - functions of texts that can be stopped.
 *
 * SQLite asks whether to stop only between operations, and some of its functions take the
 * product of two lengths: instr() of two texts of 8 MiB takes hours. like, glob, instr,
 * replace, trim, ltrim and rtrim are replaced by ours, which answer the same. instr and replace
 * are linear; the others ask while they work.
 *
 * Threading: a connection belongs to one thread.
 */
#pragma once

#include "sql/engine.h"

/* Replace the functions of SQL, which is borrowed as long as it is open. */
OSC_MUST_USE osc_status osc_sql_texts_add(struct osc_sql *sql);
