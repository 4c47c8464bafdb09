/* SPDX-License-Identifier: Apache-2.0 */
#include "import/foreign.h"

#include <string.h>

#include "support/unit.h"

/* The first bytes of files as their programs write them, and a word of what is said. */
static const struct {
    const char *path, *bytes;
    size_t n;
    const char *what, *way;
} files[] = {
    {"a.zip", "PK\3\4\24\0\0\0", 8, "zip archive", "unzip a.zip"},
    {"my trace.zip", "PK\3\4\24\0\0\0", 8, "zip archive", "unzip 'my trace.zip'"},
    {"a", "7z\xbc\xaf\x27\x1c\0\4", 8, "7-Zip", "7z x a"},
    {"a.xz",
     "\xfd"
     "7zXZ\0\0",
     7, "xz", "xz -dk a.xz"},
    {"a", "BZh91AY", 7, "bzip2", "bzip2 -dk a"},
    {"a", "\x04\x22\x4d\x18\x60", 5, "lz4", "lz4 -dk a"},
    {"a.db", "SQLite format 3\0", 16, "SQLite", "nsys2json"},
    {"a", "version https://git-lfs.github.com/spec/v1\n", 43, "Git LFS", "git lfs pull"},
    {"a.json", "<!DOCTYPE html><html>", 21, "HTML", "again"},
    {"a.json", "{\"rocprofiler-sdk-tool\": [{\"metadata\":", 38, "rocprofv3", "traceconv"},
    {"a.json", "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\"", 65,
     "speedscope", "speedscope.app"},
    {"a.json", "{\"schema\": \"1.1.1\", \"nodes\": [{\"rf_id\": 1", 44, "execution trace",
     "profiler"},
    {"a.cpuprofile", "{\"nodes\":[{\"id\":1,\"callFrame\":{", 34, "CPU profile", "DevTools"},
    {"x.pb", "\n\x20\x08\x01\x12\x09/host:CPU\x1a\x02", 17, "XLA", "xprof"},
    {"x", "\n\x30\x12\x0d/device:GPU:0\x01", 18, "XLA", "xprof"},
    {"a.et",
     "\x07\n\x05"
     "0.0.4\x10\x01",
     10, "Chakra", "chakra_jsonizer"},
    {"a.pftrace", "\n\x10\x08\x01\x42\x02", 6, "Perfetto",
     "traceconv json a.pftrace a.pftrace.json"},
    {"a", "\n\x10\x08\x01\x42\x02", 6, "Perfetto", "traceconv"},
    {"r.nsys-rep", "\x01\x02\x03\x04", 4, "Nsight Systems",
     "nsys export --type sqlite r.nsys-rep"},
    {"r.qdstrm", "\x01\x02\x03\x04", 4, "raw recording", "QdstrmImporter"},
    {"k.csv", "Kind,Agent_Id,Name\nKERNEL,1,k\n", 30, "table", "made from"},
    {"s.pickle", "\x80\x04\x95\x10\x00", 5, "pickle", "memory_viz"},
};

static osc_status check(const char *path, const char *bytes, size_t n, struct osc_err *err)
{
    const struct osc_str s = {bytes, (uint32_t)n};
    const struct osc_foreign_file f = {path, s, s};

    return osc_foreign_check(&f, err);
}

TEST(other_formats_are_known_by_their_first_bytes)
{
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        struct osc_err err = {0};

        if (check(files[i].path, files[i].bytes, files[i].n, &err) != OSC_EFORMAT)
            fail_msg("%s, %s: is not known", files[i].path, files[i].what);
        if (!strstr(err.message, files[i].what) || !strstr(err.message, files[i].way))
            fail_msg("%s: %s", files[i].path, err.message);
        assert_int_equal(strncmp(err.message, files[i].path, strlen(files[i].path)), 0);
    }
}

TEST(a_tar_archive_is_known_by_its_middle)
{
    char bytes[512] = "trace/";
    struct osc_err err = {0};

    memcpy(bytes + 257, "ustar", 5);
    assert_int_equal(check("a.tgz", bytes, sizeof bytes, &err), OSC_EFORMAT);
    assert_non_null(strstr(err.message, "tar xf a.tgz"));
}

TEST(traces_are_read_whatever_their_names)
{
    static const char *const texts[] = {
        "[{\"ph\":\"X\",\"args\":{\"data\":{\"nodes\":[{\"callFrame\":1}]}}}]",
        "{\"traceEvents\":[{\"name\":\"rocprofiler-sdk-tool\"}]}",
        "{\"schemaVersion\":1,\n",
        "\"ph\": \"X\", \"ts\": 1, \"dur\": 2,\n",
        "",
        "not a trace\n"};

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        assert_int_equal(check("a.zip", texts[i], strlen(texts[i]), NULL), OSC_OK);
        assert_int_equal(check("a.nsys-rep", texts[i], strlen(texts[i]), NULL), OSC_OK);
    }
}

UNIT_MAIN("foreign")
