/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder/thread/stack.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include "recorder/host/maps.h"
#include "support/recorded.h"
#include "support/unit.h"

static union {
    struct osc_record_slot slots[OSC_STACK_SLOTS];
    uint64_t addresses[OSC_RECORD_FRAMES_MAX];
} found;

static uint32_t walk(const struct osc_stack_frame *f, enum osc_stack_end *end)
{
    return osc_stack_follow((uintptr_t)f, osc_stack_last((uintptr_t)f), found.slots, end);
}

/* --- made-up chains --------------------------------------------------------- */

TEST(frames_are_followed_outwards)
{
    struct osc_stack_frame f[3] = {
        {(uintptr_t)&f[1], 0x1000}, {(uintptr_t)&f[2], 0x2000}, {0, 0x3000}};
    enum osc_stack_end end;

    assert_int_equal(walk(f, &end), 3);
    assert_int_equal(end, OSC_STACK_WHOLE);
    for (uint64_t i = 0; i < 3; i++)
        assert_int_equal(found.addresses[i], (i + 1) * 0x1000);
    assert_int_equal(walk(f + 2, &end), 1);
    assert_int_equal(end, OSC_STACK_WHOLE);
}

TEST(a_chain_that_leads_astray_ends_the_stack)
{
    static struct osc_stack_frame elsewhere = {0, 0x9000};
    struct osc_stack_frame f[2] = {{0, 0x1000}, {0, 0x2000}};
    void *nowhere = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    const uintptr_t wrong[] = {1,
                               8,
                               UINTPTR_MAX,
                               UINTPTR_MAX - 7,
                               (uintptr_t)INTPTR_MAX & ~(uintptr_t)7,
                               (uintptr_t)&elsewhere,
                               (uintptr_t)nowhere,
                               (uintptr_t)&f[0], /* an endless loop */
                               (uintptr_t)&f[0] - 8 /* inwards */};
    enum osc_stack_end end;

    assert_ptr_not_equal(nowhere, MAP_FAILED);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        f[0].caller = wrong[i];
        assert_int_equal(walk(f, &end), 1);
        assert_int_equal(end, OSC_STACK_BROKEN);
    }
    (void)munmap(nowhere, 4096);
}

TEST(a_deep_stack_is_cut)
{
    struct osc_stack_frame f[OSC_RECORD_FRAMES_MAX + 1];
    enum osc_stack_end end;

    for (size_t i = 0; i <= OSC_RECORD_FRAMES_MAX; i++)
        f[i] = (struct osc_stack_frame){(uintptr_t)&f[i + 1], i + 1};
    f[OSC_RECORD_FRAMES_MAX].caller = 0;
    assert_int_equal(walk(f, &end), OSC_RECORD_FRAMES_MAX);
    assert_int_equal(end, OSC_STACK_CUT);
    assert_int_equal(walk(f + 1, &end), OSC_RECORD_FRAMES_MAX);
    assert_int_equal(end, OSC_STACK_WHOLE);
}

/* Try addresses above our own frame up to the end of the stack: nothing beyond it may be read.
 * Not under AddressSanitizer, which may store F elsewhere. */
OSC_STACK_READER static void *walk_to_the_end(void *arg)
{
    struct osc_stack_frame f = {0, 0x1000};
    enum osc_stack_end end;

    (void)arg;
    for (uintptr_t at = (uintptr_t)&f + sizeof f; at < (uintptr_t)&f + (1u << 22); at += 8) {
        f.caller = at;
        const uint32_t n = walk(&f, &end);
        if (n == 1 && end == OSC_STACK_BROKEN && at > (uintptr_t)pthread_self())
            return NULL; /* the end was reached */
    }
    return arg;
}

TEST(no_garbage_is_followed_beyond_the_stack)
{
    pthread_t thread;
    int mark = 0;
    void *failed = &mark;

    assert_int_equal(pthread_create(&thread, NULL, walk_to_the_end, &mark), 0);
    assert_int_equal(pthread_join(thread, &failed), 0);
    assert_null(failed);
}

/* --- real ones ----------------------------------------------------------------------- */

/* Taking its address makes the compiler keep a frame pointer in each frame of the test. */
#define WITH_FRAME                                                      \
    void *volatile own_frame = __builtin_frame_address(0); /* NOLINT */ \
    (void)own_frame

/* Called through a pointer, so that the compiler does not merge the frames. */
static int (*volatile call_deep)(int);

static int deep(int n)
{
    WITH_FRAME;
    int below = 0;

    if (n > 0)
        below = call_deep(n - 1);
    else
        osc_arg_stack();
    return below + 1;
}

struct seen {
    uint64_t n_stacks, n_frames, ends[3];
    uint64_t address; /* innermost frame of the last stack */
};

static void note(void *ctx, uint32_t thread, const struct osc_packed *r)
{
    struct seen *seen = ctx;

    (void)thread;
    if (r->kind != OSC_RECORD_ARG_STACK)
        return;
    seen->n_stacks++;
    seen->n_frames += r->value;
    seen->ends[r->id]++;
    seen->address = r->frames[0];
}

static void on_signal(int sig)
{
    WITH_FRAME;
    (void)sig;
    osc_instant(0);
    osc_arg_stack();
}

static void *record_and_signal(void *arg)
{
    WITH_FRAME;
    const stack_t other = {.ss_sp = arg, .ss_size = 65536};
    stack_t none = {.ss_flags = SS_DISABLE};

    for (int i = 0; i < 100; i++) {
        osc_instant(0);
        (void)call_deep(i % 5 == 0 ? 200 : 20);
    }
    (void)sigaltstack(&other, NULL);
    for (int i = 0; i < 10; i++) { /* on another stack and back */
        (void)raise(SIGUSR1);
        osc_instant(0);
        (void)call_deep(3);
    }
    (void)sigaltstack(&none, NULL);
    return NULL;
}

TEST(stacks_are_recorded_on_any_stack)
{
    const struct sigaction act = {.sa_handler = on_signal, .sa_flags = SA_ONSTACK};
    struct sigaction old;
    struct seen seen = {0};
    struct recorded rec;
    pthread_t thread;
    void *stack = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    assert_ptr_not_equal(stack, MAP_FAILED);
    assert_int_equal(recorded_begin(&rec, 0), OSC_OK);
    rec.look = note;
    rec.ctx = &seen;
    assert_int_equal(sigaction(SIGUSR1, &act, &old), 0);
    errno = 77;
    (void)record_and_signal(stack);
    assert_int_equal(errno, 77);
    assert_int_equal(pthread_create(&thread, NULL, record_and_signal, stack), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    (void)sigaction(SIGUSR1, &old, NULL);
    assert_int_equal(recorded_end(&rec), OSC_OK);
    assert_int_equal(seen.n_stacks, 240);
    assert_int_equal(seen.ends[OSC_STACK_CUT], 40);
    assert_true(seen.n_frames >= 40 * 128 + 160 * 21 + 20 * 4);
    (void)munmap(stack, 65536);
}

/* --- modules ------------------------------------------------------------------------- */

TEST(modules_say_where_code_lies)
{
    static unsigned char out[1 << 18];
    const uint64_t here = (uintptr_t)&modules_say_where_code_lies;
    uint64_t n, n_found = 0, n_seen = 0;
    const size_t len = osc_stack_modules(out, sizeof out, &n);

    for (size_t at = 0; at < len; n_seen++) {
        struct osc_wire_module m;
        const char *const path = (const char *)out + at + sizeof m;

        memcpy(&m, out + at, sizeof m);
        if (here >= m.start && here < m.end) {
            n_found++;
            assert_non_null(memmem(path, m.path_bytes, "stack_test", 10));
            assert_true(m.file_bytes > here - m.start + m.file_offset);
            assert_true(m.mtime_ns > 0);
        }
        at += sizeof m + ((m.path_bytes + 7) & ~7u);
    }
    assert_int_equal(n_found, 1);
    assert_int_equal(n_seen, n);
    assert_int_equal(osc_stack_modules(out, 40, &n), 0); /* too small for a module */
    assert_int_equal(n, 0);
}

TEST(a_recording_with_stacks_tells_its_modules)
{
    struct recorded rec;
    unsigned char bytes[64];
    bool is_told = false;

    assert_int_equal(recorded_begin(&rec, 0), OSC_OK);
    osc_instant(0);
    (void)call_deep(2);
    assert_int_equal(osc_stop(), OSC_OK);
    FILE *f = fopen(rec.out, "rb");
    assert_non_null(f);
    while (fread(bytes, 1, sizeof bytes, f) == sizeof bytes) {
        struct osc_wire_header h;

        memcpy(&h, bytes, sizeof h);
        is_told |= osc_wire_header_is_good(&h) && h.type == OSC_CHUNK_MODULES && h.n_items > 0;
    }
    (void)fclose(f);
    assert_true(is_told);
    recorded_remove(rec.dir);
}

int main(void)
{
    call_deep = deep;
    return unit_run("stack", NULL, NULL);
}
