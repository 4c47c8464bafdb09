// SPDX-License-Identifier: Apache-2.0
// A loop and a graph of two nodes in oneTBB.
#define TBB_USE_PROFILING_TOOLS 2
#include <cmath>
#include <cstdio>
#include <tbb/flow_graph.h>
#include <tbb/parallel_for.h>
#include <vector>

int main()
{
    std::vector<double> roots(100000);
    tbb::flow::graph graph;
    tbb::flow::function_node<int, int> first(graph, 1, [](int i) { return i + 1; });
    tbb::flow::function_node<int, int> second(graph, 1, [](int i) { return i * 2; });

    tbb::parallel_for(0, 100000, [&](int i) { roots[i] = std::sqrt(i); });
    tbb::flow::make_edge(first, second);
    first.try_put(1);
    graph.wait_for_all();
    std::printf("%g\n", roots[100]);
}
