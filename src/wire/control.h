/* SPDX-License-Identifier: Apache-2.0 */
/*
 * control.h - the protocol between `opscope ctl` and a recording.
 *
 * NAME.osc.live holds a stream socket `ctl` (mode 0600). A client connects, writes one line
 * and reads one line; then the connection is closed. Only root and the user that runs the
 * process get an answer.
 *
 *     start    record from now on                  ok state=recording
 *     stop     pause                               ok state=paused
 *     dump     write what is in memory, now        ok path=/a/run.2.osc
 *     status                                       ok state=... key=value ...
 *     enable LIST    levels of categories          ok
 *     sample LIST    scopes to sample              ok
 *     other                                        error unknown command
 *
 * An answer begins with "ok" or "error". After "ok" follow words KEY=VALUE, in which the
 * blank, '%' and bytes below the blank or above 0x7e are written %XX. Keys of status:
 *
 *     state     recording | paused | held (by the schedule)
 *     pid, path (file being written), records, bytes (written so far)
 *     lost_full, lost_too_big, lost_nested, lost_late
 *     blocks (with reserved memory), step (-1: none yet)
 *     error     what failed while writing, if anything did
 *
 * Clients ignore keys that they do not know.
 *
 * A path to a socket must be short: if it is too long, open the directory and connect to
 * /proc/self/fd/N/ctl.
 *
 * Threading: constants.
 */
#pragma once

#define OSC_CONTROL_SOCKET    "ctl"
#define OSC_CONTROL_LINE_MAX  8192u /* most bytes of an answer, including the newline */
#define OSC_CONTROL_ASK_MAX   2048u /* most bytes of a command, including the newline */
#define OSC_CONTROL_TIMEOUT_S 10    /* how long a client waits; dump may take this long */
