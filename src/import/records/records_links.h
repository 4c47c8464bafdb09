/* SPDX-License-Identifier: Apache-2.0 */
/*
 * records_links.h - arrows from operators to the backward functions that autograd made of them.
 *
 * PyTorch numbers the operators of each thread for which it makes a backward function
 * (`Sequence number`). The function carries that number and the number of the thread (`Fwd
 * thread id`). Threads have numbers of PyTorch's own; an argument `torch thread` says which
 * thread has which. Each pair becomes an arrow OSC_ARROW_FORWARD, by Kineto's rule:
 *
 *   from   the operator with that number that began last
 *   to     the first range after it that names number and thread and is not the engine's range
 *          around the function, which has the same numbers
 *
 * The last `torch thread` of a thread holds for all its operators. Operators are searched in
 * the rows when all rows are there. If the forms of rows show that nothing runs backward,
 * nothing is searched.
 *
 * Threading: not locked.
 */
#pragma once

struct osc_records_rows;

/* Add the arrows, after all records became rows. */
void osc_records_links_build(struct osc_records_rows *rows);
