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
#include <time.h>

#include "sources/next_symbol.h"
#include "sources/opencl/cl_layer.h"

#if defined(__x86_64__) || defined(__aarch64__)

/* How long a call may wait for the first one, which starts the recorder. */
#define WAIT_NS 500000000
#define NS      1000000000

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

        /* Release pairs with the acquire in find_way() and in jumps: the layer has begun. */
        __atomic_store_n(all[i].to, to ? to : none_for(&all[i]), __ATOMIC_RELEASE);
    }
}

/* Ask for the platforms, and let all jumps lead somewhere: TARGET has the functions behind. */
static void resolve(const cl_icd_dispatch *target)
{
    cl_uint n = 0;

    (void)target->clGetPlatformIDs(0, NULL, &n);
    lead_to(osc_cl_preload(target), target);
}

/* The jump that leads to what SLOT has. */
static const struct jump *jump_of(void *const *slot)
{
    const struct jump *j = all;

    while (j->to != slot)
        j++;
    return j;
}

/*
 * Where the jump leads whose SLOT was empty; NULL: nobody has the functions yet, so the call
 * fails, and the next one asks again. Called by the jumps, which keep all arguments.
 *
 * The lock is held while the loader is asked: other threads wait, or what they make now, such
 * as a queue, would never be recorded. A loader that a program has used before answers at once.
 * One that begins may wait for a thread that calls us: so nobody waits for long, and a call
 * within the question does not. These pass by us.
 */
__attribute__((used)) static void *find_way(void **slot) __asm__("osc_cl_find_way");

static void *find_way(void **slot)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static _Thread_local bool is_asking __attribute__((tls_model("initial-exec")));
    cl_icd_dispatch target = {0};
    struct timespec until = {0};

    find_target(&target); /* without the lock: the dynamic linker has one of its own */
    if (!target.clGetPlatformIDs)
        return NULL;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += WAIT_NS;
    until.tv_sec += until.tv_nsec / NS;
    until.tv_nsec %= NS;
    if (!is_asking && pthread_mutex_timedlock(&lock, &until) == 0) {
        if (!__atomic_load_n(slot, __ATOMIC_RELAXED)) {
            is_asking = true;
            resolve(&target);
            is_asking = false;
        }
        pthread_mutex_unlock(&lock);
    }
    /* Acquire pairs with the release in lead_to(). */
    void *const known = __atomic_load_n(slot, __ATOMIC_ACQUIRE);
    const struct jump *const j = jump_of(slot);
    void *const behind = function_of(&target, j->offset);

    return known ? known : behind ? behind : none_for(j);
}

#ifdef __x86_64__
/* FAILURE: what a call returns if nobody has the function. */
#define JUMP(name, failure)                                               \
    __asm__(".text\n.globl cl" #name "\n"                                 \
            ".type cl" #name ", @function\ncl" #name ":\n"                \
            "mov osc_cl_to_" #name "(%rip), %rax\n"                       \
            "test %rax, %rax\njz 1f\njmp *%rax\n"                         \
            "1: lea osc_cl_to_" #name "(%rip), %rax\ncall osc_cl_first\n" \
            "test %rax, %rax\njz 2f\njmp *%rax\n"                         \
            "2: mov $" #failure ", %eax\nret\n"                           \
            ".size cl" #name ", . - cl" #name "\n");
__asm__(".text\nosc_cl_first:\n"
        "push %rdi\npush %rsi\npush %rdx\npush %rcx\npush %r8\npush %r9\n"
        "mov %rax, %rdi\ncall osc_cl_find_way\n"
        "pop %r9\npop %r8\npop %rcx\npop %rdx\npop %rsi\npop %rdi\nret\n");
#else
#define JUMP(name, failure)                                                \
    __asm__(".text\n.globl cl" #name "\n"                                  \
            ".type cl" #name ", %function\ncl" #name ":\n"                 \
            "adrp x16, osc_cl_to_" #name "\n"                              \
            "add x16, x16, :lo12:osc_cl_to_" #name "\n"                    \
            "ldar x16, [x16]\n"                                            \
            "cbz x16, 1f\nbr x16\n"                                        \
            "1: stp x29, x30, [sp, #-16]!\nadrp x9, osc_cl_to_" #name "\n" \
            "add x9, x9, :lo12:osc_cl_to_" #name "\n"                      \
            "bl osc_cl_first\nldp x29, x30, [sp], #16\n"                   \
            "cbz x16, 2f\nbr x16\n"                                        \
            "2: mov w0, #" #failure "\nret\n"                              \
            ".size cl" #name ", . - cl" #name "\n");
__asm__(".text\nosc_cl_first:\n"
        "stp x29, x30, [sp, #-80]!\nstp x0, x1, [sp, #16]\nstp x2, x3, [sp, #32]\n"
        "stp x4, x5, [sp, #48]\nstp x6, x7, [sp, #64]\n"
        "mov x0, x9\nbl osc_cl_find_way\nmov x16, x0\n"
        "ldp x0, x1, [sp, #16]\nldp x2, x3, [sp, #32]\nldp x4, x5, [sp, #48]\n"
        "ldp x6, x7, [sp, #64]\nldp x29, x30, [sp], #80\nret\n");
#endif

#define X(name)     JUMP(name, -59) /* CL_INVALID_OPERATION */
#define MAKER(name) JUMP(name, 0)
#include "sources/opencl/cl_wrapped.inc"
#undef MAKER
#undef X

#endif
