/* SPDX-License-Identifier: Apache-2.0 */
/* The function that uftrace records; only this file is compiled with -finstrument-functions. */
void bench_seen(unsigned i);

void bench_seen(unsigned i)
{
    __asm__ volatile("" ::"r"(i) : "memory");
}
