/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory.h - allocations and releases of memory, observed between torch's libraries.
 *
 * Every allocation of the host goes through c10::ProfiledCPUMemoryReporter, by way of libc10's
 * own address table. Allocators of devices, shared memory and mapped files are reported to
 * libc10 by other libraries, whichever they are: libc10_cuda, libc10_xpu, libtorch_cpu, a
 * vendor's. These entries are redirected (hooks.h) at the first start and stay redirected, so
 * that releases between two sessions are seen and no stale size is used; each start looks at
 * libraries that came since.
 *
 *   - A torch.profiler that runs at the same time is not affected.
 *   - On the host a release does not state its size, so allocated blocks are kept in a
 *     lock-free table. A block that did not fit, or that was allocated before the start, has no
 *     release, as in torch.
 *   - A vendor that reports its device to libopscope (source.h) tells of its memory there. What
 *     it tells torch is left out.
 *
 * Threading: start and stop from one thread at a time; allocations come from any.
 */
#pragma once

namespace osc_torch
{

/* Start recording. False: this libc10 has no such entries. */
bool memory_start();
void memory_stop();

/* In recorder.cpp. is_recorded(): whether this thread is recorded, or with OR_TOGGLED_OFF also
 * if only its operators are toggled off. put_stack(): add the Python calls around it as an
 * argument of the last record, if they are wanted. */
bool is_recorded(bool or_toggled_off);
void put_stack();

} // namespace osc_torch
