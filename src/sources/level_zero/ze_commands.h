/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ze_commands.h - command lists, and each command from its append call until it was read.
 *
 *     c = osc_ze_append_begin(list, &event, name);     before a call
 *     osc_ze_append_end(c, list, result, &work);       after it
 *
 * A command is read once the event that it signals is: when the program waits, resets or
 * destroys the event or the list, executes lists, and now and then as it appends. Commands of a
 * regular list are read once for each execution of the list. If one begins before the last was
 * read, both are lost and counted, and so are all until the program has waited: an event does
 * not tell which of them signalled it.
 *
 * Threading: thread-safe, but a list belongs to the thread that calls with it.
 */
#pragma once

#include "sources/level_zero/ze_events.h"
#include "sources/level_zero/ze_lists.h"

struct osc_ze_work {
    enum osc_work_kind kind;
    osc_name name;
    uint64_t bytes;             /* 0: unknown */
    uint32_t grid[3], block[3]; /* of a kernel; grid[0] == 0: unknown */
};

struct osc_ze_command;

/* Begin the call NAME that appends to LIST a command that signals EVENT, which may be replaced
 * by one of ours. Returns NULL if its work is not recorded. */
struct osc_ze_command *osc_ze_append_begin(ze_command_list_handle_t list,
                                           ze_event_handle_t *event, osc_name name);

/* End that call on LIST, which had RESULT. C may be NULL. */
void osc_ze_append_end(struct osc_ze_command *c, ze_command_list_handle_t list,
                       ze_result_t result, const struct osc_ze_work *work);

/* Read the commands that have finished; and after a call that waited. */
void osc_ze_read_finished(void);
void osc_ze_waited(void);

/* The program is about to reset or destroy EVENT: read the command that signalled it. */
void osc_ze_read_event(ze_event_handle_t event);

/* LIST is about to be executed on QUEUE; or that failed; or LIST is about to be reset or
 * destroyed; or CONTEXT is about to be destroyed. */
void osc_ze_list_submit(struct osc_ze_list *list, uint32_t queue);
void osc_ze_list_skip(struct osc_ze_list *list); /* the execution is not recorded */
void osc_ze_list_fail(struct osc_ze_list *list);
void osc_ze_list_clear(struct osc_ze_list *list);
void osc_ze_context_clear(ze_context_handle_t context);

/* The process ends: read what has finished, wait a moment for the rest, and count what does not
 * end. */
void osc_ze_drain(void);
