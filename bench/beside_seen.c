/* SPDX-License-Identifier: Apache-2.0 */
/* The function that uftrace records: compiled with -finstrument-functions, as nothing else. */
void bench_seen(unsigned i);

void bench_seen(unsigned i)
{
    __asm__ volatile("" ::"r"(i) : "memory");
}
