/* SPDX-License-Identifier: Apache-2.0 */
/*
 * control.h - how `opscope ctl` talks to a recording.
 *
 * NAME.osc.live holds a stream socket `ctl` (mode 0600). A client connects, writes one
 * line, reads one line, and the connection is closed. Only the user whom the process
 * runs as, and root, get an answer.
 *
 *     start    record from now on                  ok state=recording
 *     stop     pause                               ok state=paused
 *     dump     write what is in memory, now        ok path=/a/run.2.osc
 *     status                                       ok state=... key=value ...
 *     other                                        error unknown command
 *
 * An answer begins with "ok" or "error"; behind ok come words KEY=VALUE, in which bytes
 * up to the blank, '%' and from 0x7f on are %XX. Keys of status:
 *
 *     state     recording | paused | held (by the schedule)
 *     pid, path (file that is written now), records, bytes (written so far)
 *     lost_full, lost_too_big, lost_nested, lost_late
 *     blocks (that memory is reserved for), step (-1: none yet)
 *     error     what went wrong while writing, if anything did
 *
 * Clients ignore keys that they do not know.
 *
 * A path to a socket must be short: where it is not, open the directory and connect to
 * /proc/self/fd/N/ctl.
 *
 * Threading: constants.
 */
#pragma once

#define OSC_CONTROL_SOCKET    "ctl"
#define OSC_CONTROL_LINE_MAX  8192u /* bytes of an answer, the newline included */
#define OSC_CONTROL_ASK_MAX   64u   /* bytes of a command, the newline included */
#define OSC_CONTROL_TIMEOUT_S 10    /* a client waits this long; dump may take as much */
