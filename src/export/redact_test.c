/* SPDX-License-Identifier: Apache-2.0 */
#include "export/redact.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void assert_becomes(const char *name, const char *want)
{
    struct osc_strbuf out = {0};

    osc_redact_name(&out, osc_str_c(name), OSC_STR("node17"));
    assert_string_equal(out.s ? out.s : "", want);
    osc_strbuf_fini(&out);
}

static void of_a_path_only_the_file_stays(void **state)
{
    (void)state;
    assert_becomes("aten::add", "aten::add");
    assert_becomes("secret/train.py(12): step", "train.py(12): step");
    assert_becomes("/home/me/x.py(1): <module>", "x.py(1): <module>");
    assert_becomes("<built-in method load of /a/b>", "<built-in method load of b>");
    assert_becomes("C:\\Users\\me\\a.py(3): f", "a.py(3): f");
    assert_becomes("open C:\\Users\\me\\a.bin now", "open C:a.bin now");
    assert_becomes("~/me/x.bin and ../../me/y.bin", "x.bin and y.bin");
    assert_becomes("key=/home/me/", "key=");
    assert_becomes("triton_/tmp/torchinductor_me/ab.py", "ab.py");
    assert_becomes("at src/me/x.f90:12", "at x.f90:12");
    assert_becomes("file:///srv/data/set.bin", "file:set.bin");
    assert_becomes("void f<int, 4>(float*)", "void f<int, 4>(float*)");
    assert_becomes("", "");
}

static void paths_of_python_frames_may_have_blanks(void **state)
{
    (void)state;
    assert_becomes("C:\\Users\\Al Smith\\p\\train.py(3): f", "train.py(3): f");
    assert_becomes("/Users/al/My Drive/p/train.py(3): f", "train.py(3): f");
    assert_becomes("/mnt/al (2): x/v 2/train.py(3): f of /a/b", "train.py(3): f of b");
    assert_becomes("my train.py(3): f", "my train.py(3): f");
    assert_becomes("(3): f", "(3): f");
    assert_becomes("1):", "1):");
}

static void names_with_separators_stay(void **state)
{
    (void)state;
    assert_becomes("phase1/forward", "phase1/forward");
    assert_becomes("phase2/v1.5 (3): x", "phase2/v1.5 (3): x");
    assert_becomes("aten::div / mul", "aten::div / mul");
    assert_becomes("void f<int>(a/b)", "void f<int>(a/b)");
    assert_becomes("A::~A()", "A::~A()");
    assert_becomes(".", ".");
}

static void of_a_url_neither_users_nor_queries_stay(void **state)
{
    (void)state;
    assert_becomes("GET https://al:pw@srv.de/a/set.bin?token=x&y=z#me now",
                   "GET https:set.bin now");
    assert_becomes("tcp://node17:29500", "tcp:host:29500");
    assert_becomes("redis://al:pw@srv:1, x", "redis:srv:1, x");
    assert_becomes("f(\"s3://b/k?x=1\")", "f(\"s3:k\")");
    assert_becomes("a ://", "a ://");
}

static void assert_process_becomes(const char *name, const char *want)
{
    struct osc_strbuf out = {0};

    osc_redact_process(&out, osc_str_c(name), OSC_STR("node17"));
    assert_string_equal(out.s ? out.s : "", want);
    osc_strbuf_fini(&out);
}

static void of_a_command_line_the_program_stays(void **state)
{
    (void)state;
    assert_process_becomes("python", "python");
    assert_process_becomes("python train.py --token X", "python");
    assert_process_becomes("/usr/bin/python3 /home/al/train.py --out=/a/b", "python3");
    assert_process_becomes("/Users/al smith/bin/python train.py", "python");
    assert_process_becomes("C:\\al\\python.exe --x", "python.exe");
    assert_process_becomes("GPU 0", "GPU 0");
    assert_process_becomes("CPU", "CPU");
    assert_process_becomes("pyper:trainer:0:1", "pyper:trainer:0:1");
    assert_process_becomes("node17 --x", "host");
    assert_process_becomes(" --x", "");
    assert_process_becomes("", "");
}

static void the_name_of_the_host_goes_wherever_it_stands(void **state)
{
    (void)state;
    assert_becomes("node17", "host");
    assert_becomes("rpc to node17:29500", "rpc to host:29500");
    assert_becomes("xnode17y", "xhosty");
    assert_becomes("a/node17/b.py", "b.py");
    assert_becomes("/a/node17", "host");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(of_a_path_only_the_file_stays),
        cmocka_unit_test(paths_of_python_frames_may_have_blanks),
        cmocka_unit_test(names_with_separators_stay),
        cmocka_unit_test(of_a_url_neither_users_nor_queries_stay),
        cmocka_unit_test(of_a_command_line_the_program_stays),
        cmocka_unit_test(the_name_of_the_host_goes_wherever_it_stands),
    };
    return cmocka_run_group_tests_name("redact", tests, NULL, NULL);
}
