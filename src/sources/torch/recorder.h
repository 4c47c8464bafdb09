/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recorder.h - records the operators and the memory of PyTorch from inside the process.
 *
 * recorder.cpp is built on the user's machine against the user's torch
 * (python/opscope/torch/build.py), because torch has no stable binary interface. It includes
 * only public headers of torch, except in enabled.cpp and script.cpp. It records through
 * opscope/record.h into the current recording, and does not start or stop one. If it cannot be
 * built, plain.c records names and times.
 *
 *   - It does not interfere with torch.profiler: it has its own callbacks, and sees memory
 *     through libc10's address table.
 *   - An operator costs no allocation and no lock, except the first with its name or its shapes
 *     on each thread.
 *   - If one thing cannot be recorded (no such entry in libc10), the rest is recorded.
 *   - Nothing is recorded before the first operator, so processes that run none leave no file.
 *
 * Threading: attach and detach from one thread at a time; callbacks come from any.
 */
#pragma once

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define OSC_TORCH_API __attribute__((visibility("default")))

struct osc_torch_options {
    size_t size; /* sizeof this struct, so that a newer library accepts an older caller */
    int is_all_threads; /* else the calling thread and threads that inherit its state */
    int has_shapes;     /* shapes, strides, types and scalars of the inputs */
    int has_memory;     /* allocations and releases of the recorded threads */
    int has_overloads;  /* names of overloads, as argument `Overload name` */
    int has_stacks; /* Python calls of the calling thread, which holds the interpreter's lock */
    const char *prefixes; /* prefixes to cut from file names, each ended by a newline */
    const char *whole;    /* torch's version if the whole process is recorded, else NULL; then
                             children of a fork are recorded too, each in a file of its own */
    int has_modules;      /* modules of TorchScript around operators, as `Module Hierarchy` */
};

enum osc_torch_result {
    OSC_TORCH_OK,
    OSC_TORCH_BUSY,     /* attached already: detach first */
    OSC_TORCH_NO_MEMORY /* attached, but this torch does not show allocations */
};

/* Add the callbacks. They record whenever a recording is on. */
OSC_TORCH_API int osc_torch_attach(const struct osc_torch_options *options);

/* Remove the callbacks; running operators get no end. Callable from any thread. If it is not
 * the one that attached, that thread's callback stays until it attaches again, and records
 * nothing. */
OSC_TORCH_API void osc_torch_detach(void);

/* Switch the callbacks of the calling thread, or of all threads, off or on again. */
OSC_TORCH_API void osc_torch_toggle(int is_on);

/* Whether the calling thread is recorded now. Callable from any thread. */
OSC_TORCH_API int osc_torch_is_recorded(void);

/*
 * Open a range as torch's own code does for its profiler: an annotation or an operator called
 * NAME, which must outlive it. (`torch._C._profiler._RecordFunctionFast` reaches torch's
 * profiler only.) NULL: nothing is recorded here.
 */
OSC_TORCH_API void *osc_torch_range_open(const char *name, int is_annotation);
OSC_TORCH_API void osc_torch_range_close(void *range);

/*
 * Only in plain.c, and to be called first: look up what torch exports in its libtorch_cpu at
 * PATH, which is loaded. WHY, borrowed for good, tells recordings why plain.c is used. Returns
 * the name of what is missing, or NULL if the other functions may be called.
 */
OSC_TORCH_API const char *osc_torch_plain_find(const char *path, const char *why);

#ifdef __cplusplus
}
#endif
