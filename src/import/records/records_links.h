/* SPDX-License-Identifier: Apache-2.0 */
/*
 * records_links.h - from operators to the backward functions that autograd made of them.
 *
 * PyTorch numbers the operators of each thread that a backward function is made of
 * (`Sequence number`), and gives the function that number and that of the thread
 * (`Fwd thread id`), which is one of its own: an argument `torch thread` says which
 * thread has it. Each pair becomes an arrow OSC_ARROW_FORWARD, by Kineto's rule:
 *
 *   from   the operator of that number that began last
 *   to     the first range behind it that names number and thread, and is not the
 *          engine's around the function, which has the numbers of that
 *
 * The last number that was told of a thread is that of all its operators. They are looked for
 * in the rows when all of those are there: where nothing runs
 * backward, which the forms of rows say, that costs nothing.
 *
 * Threading: not locked.
 */
#pragma once

struct osc_records_rows;

/* All is read: rows of arrows. */
void osc_records_links_build(struct osc_records_rows *rows);
