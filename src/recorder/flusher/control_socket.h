/* SPDX-License-Identifier: Apache-2.0 */
/*
 * control_socket.h - the socket in the live directory that `opscope ctl` talks to.
 *
 * wire/control.h defines the commands. This module checks who asks, reads the command and
 * sends the answer; the caller carries the command out.
 *
 * Threading: one thread at a time.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "recording/host_fd.h"
#include "wire/control.h"

/* Write an answer to COMMAND (without its newline) to OUT; returns its bytes, without
 * newline. */
typedef size_t osc_control_answer(void *ctx, const char *command, char *out, size_t room);

struct osc_control {
    struct osc_fd directory, listener;
};

/* Listen in the directory DIR_FD. OSC_EIO: nothing was created. */
OSC_MUST_USE osc_status osc_control_open(struct osc_control *control, int dir_fd);

/* Answer all waiting clients. Waits at most 100 ms for each client's command. */
void osc_control_serve(struct osc_control *control, osc_control_answer *answer, void *ctx);

/* Close, and remove the socket if IS_OURS: not in the child of a fork. */
void osc_control_close(struct osc_control *control, bool is_ours);

/* Append "KEY=VALUE" with a blank before it to OUT, of which *LEN bytes are used. */
void osc_control_add(char *out, size_t room, size_t *len, const char *key, const char *value);
void osc_control_add_number(char *out, size_t room, size_t *len, const char *key,
                            int64_t value);
