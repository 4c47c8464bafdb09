/* SPDX-License-Identifier: Apache-2.0 */
/*
 * said.h - capture the text that is printed on standard error between two calls.
 *
 * Threading: one thread; the text is valid until the next said_end().
 */
#pragma once

#include <stdio.h>
#include <unistd.h>

static FILE *said_file;
static int said_stderr;

/* Begin to capture standard error. */
static inline void said_begin(void)
{
    fflush(stderr);
    said_file = tmpfile();
    said_stderr = dup(STDERR_FILENO);
    if (said_file)
        dup2(fileno(said_file), STDERR_FILENO);
}

/* Restore standard error and return the captured text. */
static inline const char *said_end(void)
{
    static char text[8192];
    size_t n = 0;

    fflush(stderr);
    dup2(said_stderr, STDERR_FILENO);
    close(said_stderr);
    if (said_file) {
        rewind(said_file);
        n = fread(text, 1, sizeof text - 1, said_file);
        fclose(said_file);
    }
    text[n] = '\0';
    return text;
}
