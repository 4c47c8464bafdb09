/* SPDX-License-Identifier: Apache-2.0 */
/* fake_driver.h - what fake_driver.c and fake_tables.c share. */
#pragma once

#include <level_zero/ze_api.h>

/* Append to LIST a command that signals SIGNAL and waits for the N events of WAITS. */
ze_result_t fake_append(ze_command_list_handle_t list, const char *name,
                        ze_event_handle_t signal, uint32_t n, ze_event_handle_t *waits);
ze_result_t fake_append_kernel(ze_command_list_handle_t list, ze_kernel_handle_t kernel,
                               const ze_group_count_t *groups, ze_event_handle_t signal,
                               uint32_t n, ze_event_handle_t *waits);
ze_result_t ze_append_copy(ze_command_list_handle_t list, void *to, const void *from,
                           size_t bytes, ze_event_handle_t signal, uint32_t n,
                           ze_event_handle_t *waits);
ze_result_t ze_append_fill(ze_command_list_handle_t list, void *to, const void *pattern,
                           size_t pattern_bytes, size_t bytes, ze_event_handle_t signal,
                           uint32_t n, ze_event_handle_t *waits);

/* Execute the N LISTS, which are closed, on QUEUE, which may be an immediate list. */
ze_result_t fake_execute(ze_command_queue_handle_t queue, uint32_t n,
                         ze_command_list_handle_t *lists, ze_fence_handle_t fence);

/* Begin to record what is appended to LIST; with GRAPH, end it: that is a closed list. */
void fake_capture(ze_command_list_handle_t list, ze_command_list_handle_t *graph);
int fake_is_captured(ze_command_list_handle_t list);

/* Fill the part of TABLE, of command lists, that came after the version of our headers. */
void fake_fill_later(ze_api_version_t version, void *table);
