/* SPDX-License-Identifier: Apache-2.0 */
/*
 * quiet.h - keep ThreadSanitizer, if the program was built with it, from judging our work.
 *
 * It sees what functions of libc do for us, such as memcpy() and pwrite(), but not the atomics
 * that order it, because this library is built without it. So it reports races that are none,
 * and the program ends with another status. Between begin and end it looks at nothing that the
 * thread does; the functions are there only in such a program. Where this library is built with
 * ThreadSanitizer, all is judged.
 *
 * Threading: any thread and handler; begin and end nest.
 */
#pragma once

#if defined __SANITIZE_THREAD__
#define OSC_IS_JUDGED 1
#elif defined __has_feature
#define OSC_IS_JUDGED __has_feature(thread_sanitizer)
#else
#define OSC_IS_JUDGED 0
#endif

/* Of its runtime; the arguments are for messages. */
extern void AnnotateIgnoreWritesBegin(const char *file, int line) __attribute__((weak));
extern void AnnotateIgnoreWritesEnd(const char *file, int line) __attribute__((weak));

static inline void osc_quiet_begin(void)
{
    if (!OSC_IS_JUDGED && AnnotateIgnoreWritesBegin && AnnotateIgnoreWritesEnd)
        AnnotateIgnoreWritesBegin(__FILE__, __LINE__);
}

static inline void osc_quiet_end(void)
{
    if (!OSC_IS_JUDGED && AnnotateIgnoreWritesBegin && AnnotateIgnoreWritesEnd)
        AnnotateIgnoreWritesEnd(__FILE__, __LINE__);
}
