/* SPDX-License-Identifier: Apache-2.0 */
/* The function that uftrace records: compiled with -finstrument-functions, as nothing else. */
#include "beside.h"

void bench_seen(void)
{
    __asm__ volatile("" ::: "memory");
}
