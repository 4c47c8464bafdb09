/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ranges that range_ends.py looks at: (what), which is the name of one of the functions below.
 */
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>

#include <opscope/scope.hpp>

static void begin_requests(std::uint64_t first, int n)
{
    static const osc_name request = osc_name_c("request");

    for (int i = 0; i < n; i++)
        osc_async_begin(OSC_SCOPE_PLAIN, request, first + static_cast<std::uint64_t>(i));
}

static void end_requests(std::uint64_t first, int n)
{
    static const osc_name request = osc_name_c("request");

    for (int i = 0; i < n; i++)
        osc_async_end(OSC_SCOPE_PLAIN, request, first + static_cast<std::uint64_t>(i));
}

/* A recording begins in the middle of what the program does. */
static void late()
{
    begin_requests(1, 50);
    osc_begin(OSC_SCOPE_PLAIN, osc_name_c("main"));
    const struct osc_start_options options = {};
    struct osc_start_options given = options;

    given.size = sizeof given;
    if (osc_start(&given) != OSC_OK)
        std::puts(osc_start_reason());
    end_requests(1, 50);
    osc_end();
    OPSCOPE_SCOPE("recorded");
}

/* The child of a fork ends what its parent began. */
static void forked()
{
    OPSCOPE_SCOPE("parent");
    begin_requests(1, 5);
    const pid_t child = fork();

    if (child != 0)
        (void)waitpid(child, nullptr, 0);
    end_requests(1, 5);
}

/* Requests that last for three steps, in windows of two. */
static void steps()
{
    for (std::uint64_t i = 0; i < 20; i++) {
        opscope::step();
        begin_requests(100 * i + 1000, 10);
        OPSCOPE_SCOPE("step");
        if (i >= 3)
            end_requests(100 * (i - 3) + 1000, 10);
    }
}

/* Some end in the pause, some begin in it, some last through all of it. */
static void paused()
{
    begin_requests(1, 500);
    osc_pause();
    end_requests(1, 250);
    begin_requests(1001, 500);
    end_requests(1001, 200);
    osc_resume();
    end_requests(251, 250);
    end_requests(1201, 300);
    OPSCOPE_SCOPE("after");
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)();
    } all[] = {{"late", late}, {"forked", forked}, {"steps", steps}, {"paused", paused}};

    for (const auto &one : all)
        if (argc == 2 && std::strcmp(argv[1], one.name) == 0)
            one.run();
    return 0;
}
