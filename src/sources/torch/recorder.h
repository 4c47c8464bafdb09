/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recorder.h - records the operators and the memory of PyTorch from inside the process.
 *
 * recorder.cpp is built against one torch, because torch has no stable binary interface: when a
 * wheel is made (tools/wheel_backend.py), or on the user's machine
 * (python/opscope/torch/build.py). It includes only public headers of torch, except in
 * enabled.cpp and script.cpp. It records through opscope/record.h into the current recording,
 * and does not start or stop one.
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
#include <stdint.h>

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
    const char *own; /* lines: how names of our files of Python begin, whose calls are in no
                        stack, and the files of which wrap functions of the program */
    int has_places;  /* stacks have the lines that are executed, and calls of modules their
                        attribute paths, as argument `Module path` */
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

/* Python has started the calling thread, which has the system's NUMBER, and calls it NAME; or
 * it calls any thread so from now on. With the interpreter's lock. */
OSC_TORCH_API void osc_torch_thread_begins(int number, const char *name);
OSC_TORCH_API void osc_torch_thread_renamed(int number, const char *name);

/* If calls of all threads are recorded, record those of the calling thread again, after another
 * profiler has used the interpreter's slot. With the interpreter's lock. */
OSC_TORCH_API void osc_torch_record_calls(void);

/* Switch the callbacks of the calling thread, or of all threads, off or on again. */
OSC_TORCH_API void osc_torch_toggle(int is_on);

/* Whether the calling thread is recorded now. Callable from any thread. */
OSC_TORCH_API int osc_torch_is_recorded(void);

/* Whether the inputs of ranges that the calling thread opens are recorded now. */
OSC_TORCH_API int osc_torch_wants_inputs(void);

enum osc_torch_kind {
    OSC_TORCH_OTHER, /* a value of which nothing is recorded */
    OSC_TORCH_TENSOR,
    OSC_TORCH_INT,
    OSC_TORCH_BOOL,
    OSC_TORCH_FLOAT,
    OSC_TORCH_COMPLEX,
    OSC_TORCH_LIST /* of the next `number` values, at least one, which have one kind */
};

/* An input of a range. */
struct osc_torch_value {
    int64_t kind;   /* enum osc_torch_kind */
    int64_t number; /* of an INT, a BOOL, a LIST */
    double real, imaginary;
    void *tensor; /* borrowed: the c10::TensorImpl, `_cdata` in Python */
};

/* An argument of a range. */
struct osc_torch_keyword {
    const char *key;
    struct osc_torch_value value; /* an INT, a BOOL, a FLOAT, or for OTHER and LIST `text` */
    const char *text;             /* OTHER: the value; LIST: the value as JSON */
};

/*
 * Open a range as torch's own code does for its profiler: an annotation or an operator called
 * NAME, which must outlive it, with N inputs and N_KEYWORDS arguments. (`torch._C._profiler.
 * _RecordFunctionFast` reaches torch's profiler only.) NULL: nothing is recorded here.
 */
OSC_TORCH_API void *osc_torch_range_open(const char *name, int is_annotation,
                                         const struct osc_torch_value *values, size_t n,
                                         const struct osc_torch_keyword *keywords,
                                         size_t n_keywords);
OSC_TORCH_API void osc_torch_range_close(void *range);

#ifdef __cplusplus
}
#endif
