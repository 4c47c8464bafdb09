/* SPDX-License-Identifier: Apache-2.0 */
/*
 * single_step.h - get a SIGTRAP after each instruction, to run a handler between any two.
 *
 * CAN_STEP is 0 if the processor is not supported, or with sanitizers, which add too many
 * instructions to each access to step through all of them.
 */
#pragma once

#include <stdbool.h>

#if !defined __x86_64__ || defined __SANITIZE_THREAD__ || defined __SANITIZE_ADDRESS__
#define CAN_STEP 0
#elif defined __has_feature
#define CAN_STEP                                                              \
    (!__has_feature(thread_sanitizer) && !__has_feature(address_sanitizer) && \
     !__has_feature(memory_sanitizer))
#else
#define CAN_STEP 1
#endif

#if CAN_STEP
/* Make the processor trap after each instruction from here on, or stop it. */
static inline void step(bool is_on)
{
    if (is_on)
        __asm__ volatile("pushfq; orq $0x100, (%%rsp); popfq" ::: "memory", "cc");
    else
        __asm__ volatile("pushfq; andq $~0x100, (%%rsp); popfq" ::: "memory", "cc");
}
#endif
