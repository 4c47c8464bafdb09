/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ze_lists.h - the command lists of programs.
 *
 * Threading: a list belongs to the thread that calls with it; lists are never freed.
 */
#pragma once

#include "sources/level_zero/ze_devices.h"

struct osc_ze_command;

struct osc_ze_list {
    ze_context_handle_t context;
    struct osc_ze_device *device; /* NULL: the list was destroyed */
    uint32_t queue;               /* of the recording; of a regular list when it is executed */
    bool is_immediate;
    /* Of a regular list: what was appended, and how much besides is not recorded. */
    struct osc_ze_command *first, *last;
    uint32_t n_left_out;
};

/* What is known of HANDLE; NULL: nothing. */
struct osc_ze_list *osc_ze_list_of(ze_command_list_handle_t handle);

/* Remember HANDLE, a new list of DEVICE in CONTEXT, perhaps at the address of an old one. NULL:
 * DEVICE is, or there is no room. */
struct osc_ze_list *osc_ze_list_add(ze_command_list_handle_t handle,
                                    ze_context_handle_t context, struct osc_ze_device *device);

/* Remember HANDLE, which was made before the tracer, if the loader says what it is. NULL: it
 * does not. */
struct osc_ze_list *osc_ze_list_adopt(ze_command_list_handle_t handle);

/* The context of LIST; NULL: the list is not known. */
ze_context_handle_t osc_ze_context_of(ze_command_list_handle_t list);

/* Whether LIST is known and executes what is appended at once. */
bool osc_ze_is_immediate(ze_command_list_handle_t list);

/*
 * A recording of what is appended into a graph has begun or ended, MORE = 1 or -1. Meanwhile
 * some lists execute nothing: the primary one, and those that wait for its commands. A graph
 * signals the events of its commands each time that it is executed, so they get none of ours.
 */
void osc_ze_captures(int more);
bool osc_ze_is_captured(ze_command_list_handle_t list);
