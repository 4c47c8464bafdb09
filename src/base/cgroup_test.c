/* SPDX-License-Identifier: Apache-2.0 */
#include "base/cgroup.h"

#include "support/unit.h"

#include <ftw.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

static char root[] = "cgroup-XXXXXX";

/* Write TEXT to FILE below the root; create its folders. */
static void put(const char *file, const char *text)
{
    char path[PATH_MAX];

    (void)snprintf(path, sizeof path, "%s/%s", root, file);
    for (char *p = strchr(path + sizeof root, '/'); p; p = strchr(p + 1, '/')) {
        *p = '\0';
        (void)mkdir(path, 0700);
        *p = '/';
    }
    FILE *const f = fopen(path, "we");
    assert_non_null(f);
    assert_true(fputs(text, f) >= 0);
    assert_int_equal(fclose(f), 0);
}

static int set_up(void **state)
{
    (void)state;
    memset(root + sizeof root - 7, 'X', 6);
    return mkdtemp(root) ? 0 : -1;
}

static int remove_one(const char *path, const struct stat *info, int type, struct FTW *at)
{
    (void)info;
    (void)type;
    (void)at;
    return remove(path);
}

static int tear_down(void **state)
{
    (void)state;
    return nftw(root, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

TEST_WITH(the_least_limit_above_a_process_holds, set_up, tear_down)
{
    put("proc/self/cgroup", "0::/slice/job/task\n");
    put("sys/fs/cgroup/slice/job/task/memory.max", "max\n");
    assert_int_equal(osc_cgroup_memory(root, 1000), 1000);
    put("sys/fs/cgroup/slice/memory.max", "700\n");
    assert_int_equal(osc_cgroup_memory(root, 1000), 700);
    put("sys/fs/cgroup/slice/job/memory.high", "600\n");
    assert_int_equal(osc_cgroup_memory(root, 1000), 600);
    put("sys/fs/cgroup/slice/job/task/memory.max", "800\n");
    assert_int_equal(osc_cgroup_memory(root, 1000), 600);
    put("sys/fs/cgroup/memory.max", "500\n"); /* a container shows its own group here */
    assert_int_equal(osc_cgroup_memory(root, 1000), 500);
    assert_int_equal(osc_cgroup_memory(root, 400), 400);
    put("sys/fs/cgroup/other/memory.max", "1\n");
    assert_int_equal(osc_cgroup_memory(root, 1000), 500);
}

TEST_WITH(memory_may_be_under_version_1, set_up, tear_down)
{
    put("proc/self/cgroup", "5:cpu,memory:/a/b\n4:name=memory_of:/c\n0::/\n");
    put("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
    assert_int_equal(osc_cgroup_memory(root, 1000), 1000);
    put("sys/fs/cgroup/memory/a/memory.limit_in_bytes", "300\n");
    put("sys/fs/cgroup/memory/c/memory.limit_in_bytes", "1\n");
    assert_int_equal(osc_cgroup_memory(root, 1000), 300);
}

TEST_WITH(parts_of_processors_count_as_whole_ones, set_up, tear_down)
{
    put("proc/self/cgroup", "0::/a/b\n");
    put("sys/fs/cgroup/a/b/cpu.max", "max 100000\n");
    assert_int_equal(osc_cgroup_cpus(root, 8), 8);
    put("sys/fs/cgroup/a/cpu.max", "250000 100000\n");
    assert_int_equal(osc_cgroup_cpus(root, 8), 3);
    assert_int_equal(osc_cgroup_cpus(root, 2), 2);
    put("sys/fs/cgroup/cpu.max", "100000 100000\n");
    assert_int_equal(osc_cgroup_cpus(root, 8), 1);
}

TEST_WITH(what_makes_no_sense_limits_nothing, set_up, tear_down)
{
    assert_int_equal(osc_cgroup_memory(root, 1000), 1000);
    assert_int_equal(osc_cgroup_cpus(root, 8), 8);
    put("proc/self/cgroup", "nonsense\n:\n0::\n");
    put("sys/fs/cgroup/memory.max", "");
    put("sys/fs/cgroup/cpu.max", "0 0\n");
    assert_int_equal(osc_cgroup_memory(root, 1000), 1000);
    assert_int_equal(osc_cgroup_cpus(root, 8), 8);
}

TEST(not_all_memory_is_taken_unasked)
{
    const uint64_t all = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);

    assert_true(osc_cgroup_default_memory() > 1 << 20);
    assert_true(osc_cgroup_default_memory() < all);
}

UNIT_MAIN("cgroup")
