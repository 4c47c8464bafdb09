/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For tests/sources/nvtx.py: a client of ROCTx, and with -DSTUB the library that it is linked
 * with, which counts from 100.
 */
#include <stdint.h>
#include <stdio.h>

void roctxMarkA(const char *message);
int roctxRangePushA(const char *message);
int roctxRangePop(void);
uint64_t roctxRangeStartA(const char *message);
void roctxRangeStop(uint64_t id);

#ifdef STUB

static int level = 100;
static uint64_t last = 100, open;

void roctxMarkA(const char *message)
{
    printf("mark %s\n", message);
}

int roctxRangePushA(const char *message)
{
    printf("push %s\n", message);
    return level++;
}

int roctxRangePop(void)
{
    return --level;
}

uint64_t roctxRangeStartA(const char *message)
{
    printf("start %s\n", message);
    open++;
    return ++last;
}

void roctxRangeStop(uint64_t id)
{
    open--;
    printf("stop %llu, %llu open\n", (unsigned long long)id, (unsigned long long)open);
}

#else

int main(void)
{
    const int outer = roctxRangePushA("outer"), inner = roctxRangePushA("inner");
    const uint64_t a = roctxRangeStartA("a"), b = roctxRangeStartA("b");

    roctxMarkA("here");
    roctxRangeStop(a);
    const int ends[] = {roctxRangePop(), roctxRangePop()};
    roctxRangeStop(b);
    printf("%d %d %d %d\n", outer, inner, ends[0], ends[1]);
    return 0;
}

#endif
