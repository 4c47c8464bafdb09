/* SPDX-License-Identifier: Apache-2.0 */
#include "import/foreign.h"

#include <ctype.h>
#include <string.h>

#include "base/shell.h"
#include "base/strbuf.h"

/* How a format is known. */
enum clue {
    CLUE_RAW,    /* bytes at an offset of the file */
    CLUE_TEXT,   /* the same of the inflated text */
    CLUE_START,  /* the same behind blanks, in whatever case */
    CLUE_WORDS,  /* both words in the text */
    CLUE_PICKLE, /* a pickle of Python in which the word stands */
    CLUE_PROTO,  /* a protobuf message in which the word stands */
    CLUE_SUFFIX, /* only the name of the file */
};

#define BYTES(literal) (literal), sizeof(literal) - 1

#define PERFETTO_WAY "convert it: traceconv json FILE FILE.json (traceconv comes with Perfetto)"
#define XPLANE_WAY                                                                         \
    "convert it: in Python, xprof.convert.raw_to_tool_data.xspace_to_tool_data(['FILE'], " \
    "'trace_viewer', {}) gives the JSON of its trace (pip install xprof)"

#define FLIGHT_RECORDER "a dump of PyTorch's flight recorder"
#define FLIGHT_WAY                                                                        \
    "look for the collective that hangs by torchfrtrace, with the dumps of all ranks in " \
    "one folder"
#define PPROF_WAY "its samples are no ranges: go tool pprof -http=: FILE"

/*
 * In order of trust. WAY is what to do; in a command, FILE is the file.
 */
static const struct {
    enum clue clue;
    size_t offset;
    const char *bytes;
    size_t n;
    const char *second; /* of WORDS: the other word, or NULL */
    const char *what, *way;
} formats[] = {
    {CLUE_RAW, 0, BYTES("PK\3\4"), NULL, "a zip archive", "unpack it: unzip FILE"},
    {CLUE_RAW, 0, BYTES("PK\5\6"), NULL, "an empty zip archive", "create it again"},
    {CLUE_TEXT, 257, BYTES("ustar"), NULL, "a tar archive", "unpack it: tar xf FILE"},
    {CLUE_RAW, 0, BYTES("7z\xbc\xaf\x27\x1c"), NULL, "a 7-Zip archive", "unpack it: 7z x FILE"},
    {CLUE_RAW, 0,
     BYTES("\xfd"
           "7zXZ"),
     NULL, "compressed by xz", "unpack it: xz -dk FILE"},
    {CLUE_RAW, 0, BYTES("BZh"), NULL, "compressed by bzip2", "unpack it: bzip2 -dk FILE"},
    {CLUE_RAW, 0, BYTES("\x04\x22\x4d\x18"), NULL, "compressed by lz4",
     "unpack it: lz4 -dk FILE"},
    {CLUE_RAW, 0, BYTES("Rar!"), NULL, "a RAR archive", "unpack it: unrar x FILE"},
    {CLUE_TEXT, 0, BYTES("SQLite format 3"), NULL,
     "an SQLite database, as Nsight Systems and rocprof export",
     "convert it to Chrome JSON: nsys2json for nsys, rpd2tracing.py for rpd"},
    {CLUE_TEXT, 0, BYTES("PERFILE2"), NULL, "a recording of perf",
     "its samples are no ranges: open it with perf report"},
    {CLUE_TEXT, 0,
     BYTES("\x7f"
           "ELF"),
     NULL, "a program", "record it: opscope run FILE"},
    {CLUE_TEXT, 0, BYTES("version https://git-lfs.github.com/spec"), NULL,
     "a pointer of Git LFS, not the file itself", "fetch the file: git lfs pull"},
    {CLUE_WORDS, 0, BYTES("<img src='data:image/png;base64"), "<html",
     "a page with a picture, as PyTorch draws its memory timeline",
     "open it in a browser; opscope table memory_curve TRACE has the values"},
    {CLUE_START, 0, BYTES("<!doctype"), NULL, "a page of HTML, perhaps of a server's login",
     "download the trace again"},
    {CLUE_START, 0, BYTES("<html"), NULL, "a page of HTML, perhaps of a server's login",
     "download the trace again"},
    {CLUE_TEXT, 0, BYTES("\x1f\x8b"), NULL, "compressed by gzip twice",
     "unpack it once: gzip -dc FILE >FILE.gz"},
    {CLUE_TEXT, 0, BYTES("\xff\xfe\0\0"), NULL, "text in UTF-32",
     "convert it: iconv -f UTF-32 -t UTF-8 FILE >FILE.json"},
    {CLUE_TEXT, 0, BYTES("\xff\xfe"), NULL, "text in UTF-16",
     "convert it: iconv -f UTF-16 -t UTF-8 FILE >FILE.json"},
    {CLUE_TEXT, 0, BYTES("\xfe\xff"), NULL, "text in UTF-16",
     "convert it: iconv -f UTF-16 -t UTF-8 FILE >FILE.json"},
    {CLUE_TEXT, 0, BYTES("[\0"), NULL, "text in UTF-16",
     "convert it: iconv -f UTF-16LE -t UTF-8 FILE >FILE.json"},
    {CLUE_TEXT, 0, BYTES("{\0"), NULL, "text in UTF-16",
     "convert it: iconv -f UTF-16LE -t UTF-8 FILE >FILE.json"},
    {CLUE_PICKLE, 0, BYTES("pg_config"), NULL, FLIGHT_RECORDER, FLIGHT_WAY},
    {CLUE_WORDS, 0, BYTES("\"pg_config\""), "\"version\"", FLIGHT_RECORDER, FLIGHT_WAY},
    {CLUE_TEXT, 0, BYTES("\x80\x02"), NULL, "a Python pickle, such as a snapshot of memory",
     "open it at pytorch.org/memory_viz"},
    {CLUE_TEXT, 0, BYTES("\x80\x03"), NULL, "a Python pickle, such as a snapshot of memory",
     "open it at pytorch.org/memory_viz"},
    {CLUE_TEXT, 0, BYTES("\x80\x04"), NULL, "a Python pickle, such as a snapshot of memory",
     "open it at pytorch.org/memory_viz"},
    {CLUE_TEXT, 0, BYTES("\x80\x05"), NULL, "a Python pickle, such as a snapshot of memory",
     "open it at pytorch.org/memory_viz"},
    {CLUE_TEXT, 0, BYTES("\x89HDF"), NULL, "an HDF5 file", "pass a trace"},
    {CLUE_TEXT, 0, BYTES("\xc1\x1f\xfc\xc1"), NULL, "a CTF trace, as LTTng writes",
     "read it with babeltrace2"},
    {CLUE_TEXT, 0, BYTES("\x57\x1d\xd1\x75"), NULL, "metadata of a CTF trace, as LTTng writes",
     "read it with babeltrace2"},
    {CLUE_WORDS, 0, BYTES("\"rocprofiler-sdk-"), NULL, "JSON of rocprofv3",
     "let rocprofv3 write --output-format pftrace, and convert that: traceconv json IN OUT"},
    {CLUE_WORDS, 0, BYTES("speedscope.app/file-format-schema"), NULL, "a profile of speedscope",
     "open it at speedscope.app; opscope writes folded stacks and reads none"},
    {CLUE_WORDS, 0, BYTES("\"preprocessedProfileVersion\""), NULL,
     "a profile of Firefox's profiler or of samply",
     "its samples are no ranges: open it at profiler.firefox.com"},
    {CLUE_WORDS, 0, BYTES("\"stackwalk\""), "\"processType\"", "a profile of Firefox",
     "its samples are no ranges: open it at profiler.firefox.com"},
    {CLUE_TEXT, 0, BYTES("\n\4\x08\1\x10\2"), NULL, "a profile of pprof", PPROF_WAY},
    {CLUE_SUFFIX, 0, BYTES(".pprof"), NULL, "a profile of pprof", PPROF_WAY},
    {CLUE_WORDS, 0, BYTES("\"callFrame\""), "\"nodes\"", "a CPU profile of V8 (.cpuprofile)",
     "record a trace instead: chrome://tracing, or the Performance panel of DevTools"},
    {CLUE_WORDS, 0, BYTES("\"snapshot\""), "\"node_fields\"", "a heap snapshot of V8",
     "open it in the Memory panel of DevTools"},
    {CLUE_WORDS, 0, BYTES("\"schema\""), "\"rf_id\"",
     "an execution trace of PyTorch (ExecutionTraceObserver), which has no times",
     "pass the trace of the profiler that was recorded with it"},
    {CLUE_WORDS, 0, BYTES("\"frame\""), "\"metrics\"",
     "a tree of Triton's Proton (hatchet), which has no times",
     "record a trace instead: proton.start(NAME, data=\"trace\")"},
    {CLUE_WORDS, 0, BYTES("\"resourceSpans\""), NULL, "spans of OpenTelemetry",
     "convert them to Chrome's trace events"},
    {CLUE_WORDS, 0, BYTES("\"traceID\""), "\"spans\"", "spans of Jaeger",
     "convert them to Chrome's trace events"},
    {CLUE_WORDS, 0, BYTES("brain.Event:"), NULL, "an event file of TensorBoard",
     "pass the traces beside it (*.pt.trace.json)"},
    {CLUE_PROTO, 0, BYTES("/host:"), NULL, "a profile of XLA (xplane.pb)", XPLANE_WAY},
    {CLUE_PROTO, 0, BYTES("/device:"), NULL, "a profile of XLA (xplane.pb)", XPLANE_WAY},
    {CLUE_SUFFIX, 0, BYTES(".xplane.pb"), NULL, "a profile of XLA (xplane.pb)", XPLANE_WAY},
    {CLUE_SUFFIX, 0, BYTES(".et"), NULL, "an execution trace of Chakra",
     "convert it: chakra_jsonizer writes its nodes as JSON; it has no timeline"},
    {CLUE_SUFFIX, 0, BYTES(".pftrace"), NULL, "a trace of Perfetto (protobuf)", PERFETTO_WAY},
    {CLUE_SUFFIX, 0, BYTES(".perfetto-trace"), NULL, "a trace of Perfetto (protobuf)",
     PERFETTO_WAY},
    {CLUE_SUFFIX, 0, BYTES(".nsys-rep"), NULL, "a report of Nsight Systems",
     "export it: nsys export --type sqlite FILE, then nsys2json"},
    {CLUE_SUFFIX, 0, BYTES(".qdrep"), NULL, "a report of Nsight Systems",
     "export it: nsys export --type sqlite FILE, then nsys2json"},
    {CLUE_SUFFIX, 0, BYTES(".qdstrm"), NULL, "a raw recording of Nsight Systems",
     "import it: QdstrmImporter -i FILE, then nsys export --type sqlite"},
    {CLUE_SUFFIX, 0, BYTES(".ncu-rep"), NULL, "a report of Nsight Compute",
     "open it in Nsight Compute; it has no timeline"},
    {CLUE_SUFFIX, 0, BYTES(".tracy"), NULL, "a trace of Tracy",
     "export it: tracy-csvexport, or open it in Tracy"},
};

#define N_FORMATS (sizeof formats / sizeof *formats)

static bool has_at(struct osc_str s, size_t offset, const char *bytes, size_t n)
{
    return s.len >= offset + n && memcmp(s.s + offset, bytes, n) == 0;
}

/* Whether S begins with WORD, which is in lower case, behind blanks and in whatever case. */
static bool starts_so(struct osc_str s, struct osc_str word)
{
    uint32_t n = 0;

    while (n < s.len && isspace((unsigned char)s.s[n]))
        n++;
    return s.len - n >= word.len && osc_str_eq_case((struct osc_str){s.s + n, word.len}, word);
}

/* Whether S, the start of a file, is text: JSON, or a table. */
static bool is_text(struct osc_str s)
{
    for (uint32_t i = 0; i < s.len; i++) {
        const unsigned char c = (unsigned char)s.s[i];

        if (c < ' ' && !isspace(c))
            return false;
    }
    return true;
}

/* Whether S begins like a list of protobuf messages: field 1, with a length. */
static bool is_protobuf(struct osc_str s)
{
    return s.len > 2 && s.s[0] == '\n' && !is_text(s);
}

static bool is_known(const struct osc_foreign_file *f, size_t i)
{
    const struct osc_str bytes = {formats[i].bytes, (uint32_t)formats[i].n};

    switch (formats[i].clue) {
    case CLUE_RAW:
        return has_at(f->raw, formats[i].offset, formats[i].bytes, formats[i].n);
    case CLUE_TEXT:
        return has_at(f->text, formats[i].offset, formats[i].bytes, formats[i].n);
    case CLUE_START:
        return starts_so(f->text, bytes);
    case CLUE_WORDS:
        return !osc_str_has(f->text, OSC_STR("\"traceEvents\"")) &&
               !osc_str_has(f->text, OSC_STR("\"ph\"")) && osc_str_has(f->text, bytes) &&
               (!formats[i].second || osc_str_has(f->text, osc_str_c(formats[i].second)));
    case CLUE_PICKLE:
        return f->text.len > 1 && (unsigned char)f->text.s[0] == 0x80 && f->text.s[1] < 6 &&
               osc_str_has(f->text, bytes);
    case CLUE_PROTO:
        return is_protobuf(f->text) && osc_str_has(f->text, bytes);
    case CLUE_SUFFIX:
        return !is_text(f->text) && osc_str_ends(osc_str_c(f->path), bytes);
    }
    return false;
}

/* Chakra's files begin with a short message that holds a version, "0.0.4". */
static bool is_chakra(struct osc_str s)
{
    return s.len > 8 && s.s[1] == '\n' && (unsigned char)s.s[2] + 2 == s.s[0] &&
           isdigit((unsigned char)s.s[3]) && s.s[4] == '.' && isdigit((unsigned char)s.s[5]);
}

/* Whether S, the start of a file, is a table: a first line with commas and no JSON. */
static bool is_table(struct osc_str s)
{
    unsigned n_commas = 0;

    if (s.len == 0 || !is_text(s) || !(isalnum((unsigned char)*s.s) || *s.s == '"') ||
        osc_str_has(s, OSC_STR("\"ph\"")))
        return false;
    for (uint32_t i = 0; i < s.len && s.s[i] != '\n'; i++) {
        if (strchr("{}[]", s.s[i]))
            return false;
        n_commas += s.s[i] == ',';
    }
    return n_commas >= 2 && memchr(s.s, '\n', s.len) != NULL;
}

/* Whether S begins as the logs of TORCH_TRACE: V, day and time, and a source of torch. */
static bool is_torch_trace(struct osc_str s)
{
    const char *const end = memchr(s.s, '\n', s.len);
    const struct osc_str line = {s.s, end ? (uint32_t)(end - s.s) : s.len};

    return line.len > 5 && line.s[0] == 'V' && isdigit((unsigned char)line.s[1]) &&
           isdigit((unsigned char)line.s[4]) && line.s[5] == ' ' &&
           osc_str_has(line, OSC_STR("torch/_logging/structured.py"));
}

/* Whether S begins as lists of numbers, "[[1, 2". */
static bool is_numbers(struct osc_str s)
{
    unsigned n_brackets = 0;

    for (uint32_t i = 0; i < s.len; i++) {
        if (s.s[i] == '[')
            n_brackets++;
        else if (!isspace((unsigned char)s.s[i]))
            return n_brackets == 2 && (isdigit((unsigned char)s.s[i]) || s.s[i] == '-') &&
                   !osc_str_has(s, OSC_STR("\"ph\""));
    }
    return false;
}

/* Append PATH as the inside of a string of Python. */
static void add_quoted(struct osc_strbuf *out, const char *path)
{
    for (; *path != '\0'; path++) {
        if (*path == '\'' || *path == '\\')
            osc_strbuf_addc(out, '\\');
        osc_strbuf_addc(out, *path);
    }
}

/* Say that F is WHAT, and the WAY out, with its name for each FILE, which is a word of the
 * shell or in quotation marks. */
static osc_status say(const struct osc_foreign_file *f, const char *what, const char *way,
                      struct osc_err *err)
{
    const bool has_name = strcmp(f->path, "standard input") != 0;
    struct osc_strbuf text = {0};
    const char *at;

    for (; has_name && (at = strstr(way, "FILE")) != NULL; way = at + 4) {
        osc_strbuf_add(&text, way, (size_t)(at - way));
        if (at > way && at[-1] == '\'')
            add_quoted(&text, f->path);
        else
            osc_shell_add_word(&text, f->path);
    }
    osc_strbuf_adds(&text, way);
    const osc_status st =
        text.status != OSC_OK
            ? text.status
            : osc_fail_at(err, OSC_EFORMAT, 0,
                          "%s: %s, not a trace that opscope reads (byte 0); %s", f->path, what,
                          text.s);
    osc_strbuf_fini(&text);
    return st;
}

osc_status osc_foreign_check(const struct osc_foreign_file *f, struct osc_err *err)
{
    for (size_t i = 0; i < N_FORMATS; i++) {
        if (is_known(f, i))
            return say(f, formats[i].what, formats[i].way, err);
    }
    if (is_chakra(f->text))
        return say(f, "an execution trace of Chakra",
                   "convert it: chakra_jsonizer writes its nodes as JSON; it has no timeline",
                   err);
    if (is_torch_trace(f->text))
        return say(f, "a log of TORCH_TRACE",
                   "tlparse FILE makes chromium_events.json of it, which opscope reads", err);
    if (is_numbers(f->text))
        return say(f, "a memory timeline of PyTorch, or other lists of numbers",
                   "pass the trace: opscope table memory_curve TRACE has the values", err);
    if (is_protobuf(f->text))
        return say(f, "a trace of Perfetto, or another protobuf", PERFETTO_WAY, err);
    if (is_table(f->text))
        return say(f, "a table (CSV)", "pass the trace that it was made from", err);
    return OSC_OK;
}
