/* SPDX-License-Identifier: Apache-2.0 */
/*
 * OpenCL where the loader has no layers, or where there is none: the collector is preloaded,
 * and its functions stand before those of the loader or driver.
 *
 * Each is a jump through a table. The first call asks for the platforms: if that makes the
 * loader load us as a layer, the jumps lead to the loader, which calls us; otherwise to our
 * functions of the layer, which call the loader's or the driver's. Programs that find functions
 * by dlsym() in the loader itself pass by.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>

#include "sources/next_symbol.h"
#include "sources/opencl/cl_layer.h"

#if defined(__x86_64__) || defined(__aarch64__)

/* Functions that the layer calls, beside those that it has (cl_wrapped.inc). */
#define ASKED(X)        \
    X(GetContextInfo)   \
    X(GetDeviceIDs)     \
    X(GetDeviceInfo)    \
    X(GetEventInfo)     \
    X(GetImageInfo)     \
    X(GetKernelInfo)    \
    X(GetMemObjectInfo) \
    X(GetPlatformIDs)   \
    X(ReleaseEvent) X(RetainEvent) X(SetEventCallback) X(SetMemObjectDestructorCallback)

/* Where each of the first leads; NULL: not known yet. The assembler knows them by these names.
 */
#define X(name)     __attribute__((used)) static void *to_##name __asm__("osc_cl_to_" #name) = NULL;
#define MAKER(name) X(name)
#include "sources/opencl/cl_wrapped.inc"
#undef MAKER
#undef X

/* What a program gets of a library that lacks one of the functions: an error; or no object. */
static void *no_function(void)
{
    return NULL;
}

static cl_int no_command(void)
{
    return CL_INVALID_OPERATION;
}

/* Fill TARGET with the functions behind ours, all of one library. */
static void find_target(cl_icd_dispatch *target)
{
    void *library, *symbol = osc_next_symbol("clGetPlatformIDs", "libOpenCL.so.1", &library);

    if (!symbol || !library)
        return;
#define FIND(name)                       \
    symbol = dlsym(library, "cl" #name); \
    memcpy(&target->cl##name, &symbol, sizeof symbol);
    ASKED(FIND)
#define X(name)     FIND(name)
#define MAKER(name) FIND(name)
#include "sources/opencl/cl_wrapped.inc"
#undef MAKER
#undef X
#undef FIND
}

/* The function at OFFSET of TABLE; NULL: it has none. */
static void *function_of(const cl_icd_dispatch *table, size_t offset)
{
    void *function;

    memcpy(&function, (const char *)table + offset, sizeof function);
    return function;
}

static const struct jump {
    bool makes_object;
    void **to;
    size_t offset; /* in a table */
} all[] = {
#define X(name)     {false, &to_##name, offsetof(cl_icd_dispatch, cl##name)},
#define MAKER(name) {true, &to_##name, offsetof(cl_icd_dispatch, cl##name)},
#include "sources/opencl/cl_wrapped.inc"
#undef MAKER
#undef X
};

static void *none_for(const struct jump *j)
{
    void *(*const none)(void) = no_function;
    cl_int (*const fails)(void) = no_command;
    void *symbol;

    if (j->makes_object)
        memcpy(&symbol, &none, sizeof symbol);
    else
        memcpy(&symbol, &fails, sizeof symbol);
    return symbol;
}

/* Let the jumps lead to the functions of TABLE; of those that it lacks, to TARGET's. */
static void lead_to(const cl_icd_dispatch *table, const cl_icd_dispatch *target)
{
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        void *const ours = function_of(table, all[i].offset);
        void *const to = ours ? ours : function_of(target, all[i].offset);

        /* Release: whoever sees it finds the layer begun. */
        __atomic_store_n(all[i].to, to ? to : none_for(&all[i]), __ATOMIC_RELEASE);
    }
}

/* False: no library has the functions. */
static bool resolve(void)
{
    static cl_icd_dispatch target;
    cl_uint n = 0;

    find_target(&target);
    if (!target.clGetPlatformIDs)
        return false;
    lead_to(&target, &target); /* drivers that begin may call us */
    (void)target.clGetPlatformIDs(0, NULL, &n);
    lead_to(osc_cl_preload(&target), &target);
    return true;
}

/* Called by the jumps, which keep all arguments. If nobody has the functions yet, the call
 * fails, and the next one asks again. */
__attribute__((used)) static void resolve_if_new(void) __asm__("osc_cl_resolve");

static void resolve_if_new(void)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static bool is_resolved;

    pthread_mutex_lock(&lock);
    if (!is_resolved)
        is_resolved = resolve();
    pthread_mutex_unlock(&lock);
}

#ifdef __x86_64__
/* FAILURE: what a call returns if nobody has the function. */
#define JUMP(name, failure)                                               \
    __asm__(".text\n.globl cl" #name "\n"                                 \
            ".type cl" #name ", @function\ncl" #name ":\n"                \
            "1: mov osc_cl_to_" #name "(%rip), %rax\n"                    \
            "test %rax, %rax\njz 2f\njmp *%rax\n"                         \
            "2: call osc_cl_first\nmov osc_cl_to_" #name "(%rip), %rax\n" \
            "test %rax, %rax\njnz 1b\n"                                   \
            "mov $" #failure ", %eax\nret\n"                              \
            ".size cl" #name ", . - cl" #name "\n");
__asm__(".text\nosc_cl_first:\n"
        "push %rdi\npush %rsi\npush %rdx\npush %rcx\npush %r8\npush %r9\n"
        "call osc_cl_resolve\n"
        "pop %r9\npop %r8\npop %rcx\npop %rdx\npop %rsi\npop %rdi\nret\n");
#else
#define JUMP(name, failure)                                   \
    __asm__(".text\n.globl cl" #name "\n"                     \
            ".type cl" #name ", %function\ncl" #name ":\n"    \
            "1: adrp x16, osc_cl_to_" #name "\n"              \
            "ldr x16, [x16, :lo12:osc_cl_to_" #name "]\n"     \
            "cbz x16, 2f\nbr x16\n"                           \
            "2: stp x29, x30, [sp, #-16]!\nbl osc_cl_first\n" \
            "ldp x29, x30, [sp], #16\n"                       \
            "adrp x16, osc_cl_to_" #name "\n"                 \
            "ldr x16, [x16, :lo12:osc_cl_to_" #name "]\n"     \
            "cbnz x16, 1b\nmov w0, #" #failure "\nret\n"      \
            ".size cl" #name ", . - cl" #name "\n");
__asm__(".text\nosc_cl_first:\n"
        "stp x29, x30, [sp, #-80]!\nstp x0, x1, [sp, #16]\nstp x2, x3, [sp, #32]\n"
        "stp x4, x5, [sp, #48]\nstp x6, x7, [sp, #64]\n"
        "bl osc_cl_resolve\n"
        "ldp x0, x1, [sp, #16]\nldp x2, x3, [sp, #32]\nldp x4, x5, [sp, #48]\n"
        "ldp x6, x7, [sp, #64]\nldp x29, x30, [sp], #80\nret\n");
#endif

#define X(name)     JUMP(name, -59) /* CL_INVALID_OPERATION */
#define MAKER(name) JUMP(name, 0)
#include "sources/opencl/cl_wrapped.inc"
#undef MAKER
#undef X

#endif
