/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_count.c - record endlessly, and count the recorded calls.
 *
 * Usage: record_count FILE COUNTS THREADS
 *
 * The file COUNTS, mapped into memory, gets THREADS numbers of 64 bits: how many recording
 * calls of each thread have returned. Thread K records the instant "tK", and pauses every
 * hundred calls, so that nothing must be dropped.
 */
#include <opscope/record.h>

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

static uint64_t *counts;

static void *work(void *number)
{
    const size_t k = (size_t)(uint64_t *)number - (size_t)counts;
    uint64_t *mine = number;
    char text[24];

    snprintf(text, sizeof text, "t%zu", k / sizeof *counts);
    const osc_name name = osc_name_c(text);
    for (uint64_t n = 1;; n++) {
        osc_instant(name);
        /* release: the compiler must not move it before the call. */
        __atomic_store_n(mine, n, __ATOMIC_RELEASE);
        if (n % 100 == 0)
            (void)nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    const int n = argc > 3 ? atoi(argv[3]) : 0;
    struct osc_start_options o = {.size = sizeof o};
    pthread_t thread;

    if (n < 1)
        return 2;
    const size_t size = (size_t)n * sizeof *counts;
    const int fd = open(argv[2], O_RDWR | O_CREAT | O_TRUNC, 0600);
    if (fd < 0 || ftruncate(fd, (off_t)size) != 0)
        return 1;
    counts = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    o.out = argv[1];
    if (counts == MAP_FAILED || osc_start(&o) != OSC_OK)
        return 1;
    for (int i = 1; i < n; i++)
        if (pthread_create(&thread, NULL, work, &counts[i]) != 0)
            return 1;
    work(&counts[0]);
    return 0;
}
