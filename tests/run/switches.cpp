/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scopes that switches.py switches: (rounds, nanoseconds to sleep after each). Prints how often
 * each scope was called.
 */
#include <opscope/scope.hpp>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>

static void round(int i)
{
    OPSCOPE_SCOPE_IN("io", 1, "read", "i", i);
    {
        OPSCOPE_SCOPE_IN("io", 2, "block");
        OPSCOPE_SCOPE("inside");
    }
    OPSCOPE_SCOPE_IN("net", 1, "send");
    for (int k = 0; k < 10; k++) {
        OPSCOPE_SCOPE("hot", "k", k);
        if (k == 0) {
            OPSCOPE_SCOPE("in hot");
        }
    }
}

int main(int, char **argv)
{
    const int n = std::atoi(argv[1]);
    const std::chrono::nanoseconds pause{std::atol(argv[2])};
    std::thread other([&] {
        for (int i = 0; i < n; i++)
            round(i);
    });

    for (int i = 0; i < n; i++) {
        round(i);
        if (pause.count() > 0)
            std::this_thread::sleep_for(pause);
    }
    other.join();
    std::printf("%d\n", 2 * n);
}
