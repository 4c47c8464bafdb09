/* SPDX-License-Identifier: Apache-2.0 */
#include "import/foreign.h"

#include <string.h>

#include "support/unit.h"

#define B(bytes) (bytes), sizeof(bytes) - 1

/* The first bytes of files as their programs write them, and a word of what is said. */
static const struct {
    const char *path, *bytes;
    size_t n;
    const char *what, *way;
} files[] = {
    {"a.zip", B("PK\3\4\24\0\0\0"), "zip archive", "unzip a.zip"},
    {"standard input", B("PK\3\4\24\0\0\0"), "zip archive", "unzip FILE"},
    {"my trace.zip", B("PK\3\4\24\0\0\0"), "zip archive", "unzip 'my trace.zip'"},
    {"a", B("7z\xbc\xaf\x27\x1c\0\4"), "7-Zip", "7z x a"},
    {"a.xz",
     B("\xfd"
       "7zXZ\0\0"),
     "xz", "xz -dk a.xz"},
    {"a", B("BZh91AY"), "bzip2", "bzip2 -dk a"},
    {"a", B("\x04\x22\x4d\x18\x60"), "lz4", "lz4 -dk a"},
    {"a.db", B("SQLite format 3\0"), "SQLite", "nsys2json"},
    {"a", B("version https://git-lfs.github.com/spec/v1\n"), "Git LFS", "git lfs pull"},
    {"a.json", B("<!DOCTYPE html><html>"), "HTML", "again"},
    {"a.json", B("\n <!doctype html>\n<html>"), "HTML", "again"},
    {"a.json", B("\xff\xfe[\0{\0"), "UTF-16", "iconv -f UTF-16 "},
    {"a.json", B("\xfe\xff\0[\0{"), "UTF-16", "iconv -f UTF-16 "},
    {"a.json", B("[\0{\0"), "UTF-16", "iconv -f UTF-16LE "},
    {"a.json", B("\xff\xfe\0\0[\0\0\0"), "UTF-32", "iconv -f UTF-32 "},
    {"a.json.gz", B("\x1f\x8b\x08\0"), "twice", "gzip -dc a.json.gz"},
    {"a.json", B("{\"rocprofiler-sdk-json-tool\": {\"metadata\":"), "rocprofv3", "traceconv"},
    {"a.hatchet", B("[{\"frame\":{\"name\":\"ROOT\"},\"metrics\":{}}]"), "Proton", "trace"},
    {"k.csv", B("\"Name\",\"Calls\",\"Ns\"\n\"k\",1,2\n"), "table", "made from"},
    {"a.json", B("{\"rocprofiler-sdk-tool\": [{\"metadata\":"), "rocprofv3", "traceconv"},
    {"a.json", B("{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\""),
     "speedscope", "speedscope.app"},
    {"a.json", B("{\"schema\": \"1.1.1\", \"nodes\": [{\"rf_id\": 1"), "execution trace",
     "profiler"},
    {"a.cpuprofile", B("{\"nodes\":[{\"id\":1,\"callFrame\":{"), "CPU profile", "DevTools"},
    {"x.pb", B("\n\x20\x08\x01\x12\x09/host:CPU\x1a\x02"), "XLA", "xprof"},
    {"x", B("\n\x30\x12\x0d/device:GPU:0\x01"), "XLA", "xprof"},
    {"a.et",
     B("\x07\n\x05"
       "0.0.4\x10\x01"),
     "Chakra", "chakra_jsonizer"},
    {"a.pftrace", B("\n\x10\x08\x01\x42\x02"), "Perfetto",
     "traceconv json a.pftrace a.pftrace.json"},
    {"a", B("\n\x10\x08\x01\x42\x02"), "Perfetto", "traceconv"},
    {"r.nsys-rep", B("\x01\x02\x03\x04"), "Nsight Systems",
     "nsys export --type sqlite r.nsys-rep"},
    {"r.qdstrm", B("\x01\x02\x03\x04"), "raw recording", "QdstrmImporter"},
    {"k.csv", B("Kind,Agent_Id,Name\nKERNEL,1,k\n"), "table", "made from"},
    {"s.pickle", B("\x80\x04\x95\x10\x00"), "pickle", "memory_viz"},
    {"r.pickle", B("\x80\x02}(X\7\0\0\0versionX\x09\0\0\0pg_configq"), "flight recorder",
     "torchfrtrace"},
    {"r.json", B("{\"version\": \"2.10\", \"pg_config\": {\"0\": {"), "flight recorder",
     "torchfrtrace"},
    {"p.json", B("{\"meta\":{\"interval\":1,\"preprocessedProfileVersion\":49"), "samply",
     "profiler.firefox.com"},
    {"p.json", B("{\"meta\":{\"version\":27,\"stackwalk\":1,\"processType\":0"), "Firefox",
     "profiler.firefox.com"},
    {"p.pb", B("\n\4\x08\1\x10\2\n\4\x08\3\x10\4"), "pprof", "go tool pprof"},
    {"t.log",
     B("V0613 18:24:05.987000 12 torch/_logging/structured.py:22] {\"str\": [\"a\", 0]}\n"),
     "TORCH_TRACE", "tlparse t.log"},
    {"m.json", B("[[17, 18, 19], [[0, 1], [2, 3]]]"), "memory timeline", "memory_curve"},
    {"m.html", B("<html>\n<head></head><body>\n<img src='data:image/png;base64,iVBOR"),
     "memory timeline", "browser"},
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

    memcpy(bytes + 257, "ustar", sizeof "ustar");
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
