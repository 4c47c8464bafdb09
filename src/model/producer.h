/* SPDX-License-Identifier: Apache-2.0 */
/*
 * producer.h - which program wrote a trace.
 *
 * Readers say it (osc_trace.producer). A producer has a dialect: the convention by which its
 * device work, steps and calls are told from other events. A new producer is one entry in the
 * list, and for Chrome traces one rule in import/chrome/detect_producer.c.
 *
 * Threading: constants and pure functions.
 */
#pragma once

#include "base/str.h"
#include "base/strbuf.h"

/* A member of exported files that says who wrote the trace. */
#define OSC_PRODUCER_MEMBER "opscope_producer"

/* How device work is told from other events. */
#define OSC_DIALECT_LIST(X)                                                 \
    X(PLAIN, "chrome")        /* no device work, or no rule knows it */     \
    X(KINETO, "kineto")       /* by category */                             \
    X(LEGACY, "torch_legacy") /* by two processes */                        \
    X(XLA, "xla")             /* these by names of processes and threads */ \
    X(TENSORFLOW, "tensorflow")                                             \
    X(ASCEND, "ascend")                                                     \
    X(MINDSPORE, "mindspore") /* by rows: nothing in it has a name */       \
    X(ROCPROF, "rocprof")                                                   \
    X(NSYS, "nsys")                                                         \
    X(PROTON, "proton")                                                     \
    X(PADDLE, "paddle")                                                     \
    X(UNITRACE, "unitrace")                                                 \
    X(RECORDS, "opscope") /* recordings say it themselves */

enum osc_dialect {
#define OSC_DIALECT_ENUM(name, text) OSC_DIALECT_##name,
    OSC_DIALECT_LIST(OSC_DIALECT_ENUM)
#undef OSC_DIALECT_ENUM
};

/* Name, word for `info` and scripts, dialect, what users read. */
#define OSC_PRODUCER_LIST(X)                                               \
    X(UNKNOWN, "", PLAIN, "Chrome trace")                                  \
    X(OPSCOPE, "opscope", RECORDS, "Recording")                            \
    X(KINETO, "kineto", KINETO, "PyTorch (Kineto)")                        \
    X(TORCH_LEGACY, "torch_legacy", LEGACY, "PyTorch (autograd profiler)") \
    X(TORCH_NPU, "torch_npu", ASCEND, "PyTorch on Ascend (torch_npu)")     \
    X(MINDSPORE, "mindspore", ASCEND, "MindSpore on Ascend")               \
    X(MINDSPORE_DISPLAY, "mindspore", MINDSPORE, "MindSpore on Ascend")    \
    X(MSPROF, "msprof", ASCEND, "Ascend (msprof)")                         \
    X(JAX, "jax", XLA, "JAX/XLA")                                          \
    X(XLA, "xla", XLA, "XLA")                                              \
    X(TENSORFLOW_XLA, "tensorflow", XLA, "TensorFlow")                     \
    X(TENSORFLOW, "tensorflow", TENSORFLOW, "TensorFlow")                  \
    X(ROCPROF, "rocprof", ROCPROF, "ROCm (rocprof)")                       \
    X(RPD, "rpd", ROCPROF, "ROCm (rocmProfileData)")                       \
    X(UNITRACE, "unitrace", UNITRACE, "Intel (unitrace)")                  \
    X(NSYS, "nsys", NSYS, "Nsight Systems (converted)")                    \
    X(PADDLE, "paddle", PADDLE, "PaddlePaddle")                            \
    X(TLPARSE, "tlparse", PLAIN, "torch.compile (tlparse)")                \
    X(TRITON, "triton", PLAIN, "Triton (instrumented kernel)")             \
    X(PROTON, "proton", PROTON, "Triton (Proton)")                         \
    X(VIZTRACER, "viztracer", PLAIN, "VizTracer")                          \
    X(RAY, "ray", PLAIN, "Ray")                                            \
    X(HOROVOD, "horovod", PLAIN, "Horovod")                                \
    X(BAZEL, "bazel", PLAIN, "Bazel")                                      \
    X(CLANG, "clang", PLAIN, "clang -ftime-trace")                         \
    X(PERFETTO, "perfetto", PLAIN, "Perfetto (as JSON)")                   \
    X(CHROME, "chrome", PLAIN, "Chrome")                                   \
    X(V8, "v8", PLAIN, "V8 (JavaScript)")                                  \
    X(SPALL, "spall", PLAIN, "spall")

enum osc_producer {
#define OSC_PRODUCER_ENUM(name, text, dialect, title) OSC_PRODUCER_##name,
    OSC_PRODUCER_LIST(OSC_PRODUCER_ENUM)
#undef OSC_PRODUCER_ENUM
        OSC_PRODUCER_COUNT
};

/* The dialect of traces of P. */
enum osc_dialect osc_producer_dialect(enum osc_producer p);

/* Whether P records programs of PyTorch and no others. */
bool osc_producer_is_torch(enum osc_producer p);

/* Static texts: the word of P for scripts ("" if it is unknown), and the word of a dialect. */
const char *osc_producer_text(enum osc_producer p);
const char *osc_dialect_text(enum osc_dialect d);

/* Append "WORD/DIALECT" of P, and the producer of which SAID is that; UNKNOWN: of none. */
void osc_producer_say(enum osc_producer p, struct osc_strbuf *out);
enum osc_producer osc_producer_said(struct osc_str said);

/* What users read for the producer with the word TEXT; NULL: there is none. */
const char *osc_producer_title_of(struct osc_str text);
