/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recorder.h - the operators and the memory of PyTorch, recorded from within.
 *
 * recorder.cpp is built on the user's machine against the user's torch
 * (python/opscope/torch/build.py), for torch has no stable binary interface; what it
 * includes of torch is public, but for that of script.cpp. It records through
 * opscope/record.h into whatever recording there is, and does not start or stop any. Where
 * it cannot be built, plain.c records names and times.
 *
 *   - Beside torch.profiler: callbacks of its own, and memory from the table of
 *     addresses of libc10, so neither sees the other.
 *   - An operator costs no allocation and no lock, but for the first of its name and of
 *     its shapes on each thread.
 *   - Where a thing cannot be had (no such entry in libc10), the rest is recorded.
 *   - Nothing is recorded until an operator is: processes that run none leave no file.
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
    size_t size;          /* sizeof of this struct: a newer object knows an older caller */
    int is_all_threads;   /* else the calling thread and who inherits its state */
    int has_shapes;       /* shapes, strides, types and scalars of the inputs */
    int has_memory;       /* allocations and releases, of the threads that are recorded */
    int has_overloads;    /* names of overloads, as argument `Overload name` */
    int has_stacks;       /* calls of Python of the calling thread, which holds its lock */
    const char *prefixes; /* what is cut from the names of files, each with a newline */
    const char *whole;    /* torch's version, where the whole process is recorded: children
                             of a fork are, too, each into a file of its own; else NULL */
    int has_modules;      /* modules of TorchScript around operators, as `Module Hierarchy` */
};

enum osc_torch_result {
    OSC_TORCH_OK,
    OSC_TORCH_BUSY,     /* attached already: detach first */
    OSC_TORCH_NO_MEMORY /* attached, but allocations cannot be seen in this torch */
};

/* Call back from now on, whenever something records. */
OSC_TORCH_API int osc_torch_attach(const struct osc_torch_options *options);

/* No more. Operators that run now get no end. From any thread; in another than the one that
 * attached, that one's callback stays until it attaches again, and records nothing. */
OSC_TORCH_API void osc_torch_detach(void);

/* Switch the callbacks of the calling thread's state, or of all, off or on again. */
OSC_TORCH_API void osc_torch_toggle(int is_on);

/* Whether what the calling thread does is recorded now. From any thread. */
OSC_TORCH_API int osc_torch_is_recorded(void);

/*
 * A range that torch's own code marks as it does for its profiler, which
 * `torch._C._profiler._RecordFunctionFast` does for that one alone: as an annotation or an
 * operator named NAME, which must outlive it. NULL: nothing records here.
 */
OSC_TORCH_API void *osc_torch_range_open(const char *name, int is_annotation);
OSC_TORCH_API void osc_torch_range_close(void *range);

/*
 * Of plain.c alone, and first: look up what torch exports, in its libtorch_cpu at PATH, which
 * is loaded. WHY it is this one that records is borrowed for good, for recordings. What is
 * missing, or NULL: the other functions may be called.
 */
OSC_TORCH_API const char *osc_torch_plain_find(const char *path, const char *why);

#ifdef __cplusplus
}
#endif
