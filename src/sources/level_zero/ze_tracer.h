/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ze_tracer.h - the start of the Level Zero collector.
 *
 * A tracer can be made only after zeInit() succeeded, and if ZE_ENABLE_TRACING_LAYER was 1
 * then. Newer loaders make one all the same, which nothing ever calls: so one call is made to
 * see whether it arrives.
 *
 * Threading: thread-safe.
 */
#pragma once

/* Make the tracer, once, by LIBRARY, a handle of dlopen() of a loader that was initialised.
 * Returns why there is none, for the user; "": there is one. */
const char *osc_ze_start(void *library);

/* The same in a process whose loader may not be there or not be initialised yet. */
const char *osc_ze_start_here(void);
