/* SPDX-License-Identifier: Apache-2.0 */
/* Three parallel loops. */
#include <stdio.h>

int main(void)
{
    double sum = 0;

    for (int k = 0; k < 3; k++) {
#pragma omp parallel for reduction(+ : sum)
        for (int i = 0; i < 100000; i++)
            sum += i % 7;
    }
    printf("%g\n", sum);
    return 0;
}
