/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory.h - allocations and releases of the host's memory, seen in libc10.
 *
 * Every allocation goes through c10::ProfiledCPUMemoryReporter, by way of libc10's own
 * table of addresses. Its entries are redirected (hooks.h) at the first start and stay so:
 * then releases between two sessions are seen, and no size is told of a block that is gone.
 * Memory that processes share and files that are mapped are reported by libtorch_cpu.
 *
 *   - torch.profiler beside it reports what it always does.
 *   - A release says no size: blocks that were given out are kept in a table without
 *     locks. Of what finds no room there, and of blocks from before, the release is left
 *     out, as torch does.
 *
 * Threading: start and stop from one thread at a time; allocations come from any.
 */
#pragma once

namespace osc_torch
{

/* Record from now on. False: this libc10 has no such entries. */
bool memory_start();
void memory_stop();

/* Of recorder.cpp: whether what this thread does is recorded, or would be if operators were not
 * toggled off just then; the calls of Python around it, as an argument of what was recorded
 * last, if they are wanted. */
bool is_recorded(bool or_toggled_off);
void put_stack();

} // namespace osc_torch
