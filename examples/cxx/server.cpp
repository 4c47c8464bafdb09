/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A server: a range for each request, from its first byte to its answer, and scopes of what
 * handles it, with the request as an argument. It answers a few clients of its own and ends.
 *
 *     c++ -std=c++17 -O2 server.cpp $(pkg-config --cflags --libs opscope) -pthread -o server
 *     opscope run -- ./server
 */
#include <opscope/scope.hpp>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <sys/socket.h>
#include <unistd.h>

constexpr int n_clients = 4, n_requests = 25;

static std::string read_line(int fd)
{
    OPSCOPE_FUNCTION();
    std::string line;

    for (char c; read(fd, &c, 1) == 1 && c != '\n';)
        line += c;
    OPSCOPE_ARG("bytes", line.size());
    return line;
}

static bool write_all(int fd, std::string_view text)
{
    OPSCOPE_FUNCTION("bytes", text.size());

    while (!text.empty()) {
        const ssize_t n = write(fd, text.data(), text.size());

        if (n < 0)
            return false;
        text.remove_prefix(static_cast<std::size_t>(n));
    }
    return true;
}

static long collatz(long x)
{
    OPSCOPE_FUNCTION("x", x);
    long n = 0;

    for (; x > 1; n++)
        x = x % 2 ? 3 * x + 1 : x / 2;
    return n;
}

/* Answer the requests of one client. */
static void serve(int fd)
{
    opscope::thread_name("server");
    for (;;) {
        const std::string line = read_line(fd);

        if (line.empty())
            break;
        const opscope::async request("request");
        OPSCOPE_SCOPE("handle", "request", line);
        if (!write_all(fd, std::to_string(collatz(std::atol(line.c_str()))) + "\n"))
            OPSCOPE_INSTANT("client is gone", "request", line);
    }
    close(fd);
}

static void ask(int fd, int number, long &sum)
{
    opscope::thread_name("client");
    for (int i = 1; i <= n_requests; i++) {
        OPSCOPE_SCOPE("ask");
        if (!write_all(fd, std::to_string(number * 1000 + i) + "\n"))
            break;
        sum += std::atol(read_line(fd).c_str());
    }
    close(fd);
}

int main()
{
    std::vector<std::thread> threads;
    std::array<long, n_clients> sums = {};

    for (int i = 0; i < n_clients; i++) {
        int ends[2];

        if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0)
            return 1;
        threads.emplace_back(serve, ends[0]);
        threads.emplace_back(ask, ends[1], i, std::ref(sums[static_cast<std::size_t>(i)]));
    }
    for (std::thread &thread : threads)
        thread.join();
    long sum = 0;
    for (const long one : sums)
        sum += one;
    std::printf("%ld\n", sum);
    return 0;
}
