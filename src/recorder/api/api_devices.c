/* SPDX-License-Identifier: Apache-2.0 */
/* The calls for devices and queues: see opscope/source.h. */
#include "recorder/api/api_devices.h"

#include <stdio.h>
#include <string.h>

#include "opscope/source.h"
#include "recorder/put.h"
#include "recorder/session.h"
#include "recorder/thread/losses.h"
#include "recorder/thread/ticks.h"

enum { DEVICES_MAX = 256, QUEUES_MAX = 4096, TYPE_BYTES = 32, NAME_BYTES = 64 };

enum { UNKNOWN, BEING_WRITTEN, WRITTEN };

/* Copies the texts, because a device may be added before there is a recording. */
struct device {
    uint32_t is_known; /* written last */
    uint32_t index;
    uint32_t other_queue; /* that its queues share when there are too many; 0: none yet */
    char type[TYPE_BYTES];
    uint32_t description; /* UNKNOWN, then BEING_WRITTEN, then WRITTEN: what follows */
    uint64_t memory_bytes, clock_hz;
    struct osc_device_limits_info limits;
    char name[NAME_BYTES];
    /* The last pair of clocks, for a recording that begins before the next one. */
    struct pair {
        uint64_t before, ticks, width;
    } pair;
    uint32_t has_pair;
    uint32_t is_taken; /* somebody reads or writes the pair */
};

struct queue {
    uint32_t is_known; /* written last */
    uint32_t device;
    char name[NAME_BYTES];
};

/* Number 0 of each is special: the CPU, and no queue. */
static struct device devices[DEVICES_MAX];
static struct queue queues[QUEUES_MAX];
static uint32_t n_devices = 1, n_queues = 1; /* reserved; some may not be known yet */
static uint64_t last_launch, first_launch;   /* the first one of the recording */

/* Reserve a number below MAX and return it; 0: none is left. */
static uint32_t reserve_number(uint32_t *n, uint32_t max)
{
    /* relaxed: is_known publishes the entry. */
    uint32_t i = __atomic_load_n(n, __ATOMIC_RELAXED);

    while (i < max &&
           !__atomic_compare_exchange_n(n, &i, i + 1, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        continue;
    return i < max ? i : 0;
}

static bool is_known(const uint32_t *flag)
{
    /* acquire: pairs with the release in make_known() */
    return __atomic_load_n(flag, __ATOMIC_ACQUIRE) != 0;
}

static void make_known(uint32_t *flag)
{
    /* release: pairs with the acquire in is_known() */
    __atomic_store_n(flag, 1, __ATOMIC_RELEASE);
}

static void set_text(char *to, size_t room, const char *s)
{
    const size_t len = s ? strnlen(s, room - 1) : 0;

    if (len > 0)
        memcpy(to, s, len);
    to[len] = '\0';
}

/* A number of LIMITS, or -1 for one that is not known. */
static long long limit(uint32_t value)
{
    return value > 0 ? (long long)value : -1;
}

/* Record the limits of device NUMBER as a fact: numbers in the order of docs/format.md. */
static void put_limits(uint32_t number, const struct osc_device_limits_info *l)
{
    static const struct osc_device_limits_info none;
    char key[40], text[160];

    if (memcmp(l, &none, sizeof none) == 0)
        return;
    (void)snprintf(key, sizeof key, OSC_RECORD_FACT_LIMITS "%u", number);
    (void)snprintf(text, sizeof text, "%lld %lld %lld %lld %lld %lld %lld %lld %lld",
                   limit(l->n_units), limit(l->major), l->major > 0 ? (long long)l->minor : -1,
                   limit(l->threads_per_block), limit(l->threads_per_unit),
                   limit(l->registers_per_unit), limit(l->shared_bytes_per_block),
                   limit(l->shared_bytes_per_unit), limit(l->simd_width));
    osc_put_one(OSC_RECORD_METADATA, osc_name_c(key), osc_name_c(text), OSC_ROLE_FACT,
                osc_ticks());
}

static void put_device(uint32_t number)
{
    const struct device *d = &devices[number];
    const uint64_t now = osc_ticks();
    /* acquire: pairs with the release in describe() */
    const bool is_described = __atomic_load_n(&d->description, __ATOMIC_ACQUIRE) == WRITTEN;

    OSC_PUT(OSC_RECORD_DEVICE, osc_name_c(d->type), now, OSC_ROLE_FACT, number, d->index,
            is_described ? d->memory_bytes : 0, is_described ? d->clock_hz : 0);
    if (!is_described)
        return;
    if (d->name[0] != '\0')
        OSC_PUT(OSC_RECORD_DEVICE_NAME, osc_name_c(d->name), now, OSC_ROLE_FACT, number, 0);
    put_limits(number, &d->limits);
}

static void put_pair(uint32_t number, const struct pair *p)
{
    OSC_PUT(OSC_RECORD_DEVICE_CLOCK, number, p->before, OSC_ROLE_FACT, p->ticks, p->width);
}

/* Take the pair of D. Nobody waits for it, for a signal handler may have interrupted the one
 * who has it: that one has a pair as good. */
static bool take_pair(struct device *d)
{
    /* acquire: pairs with the release in leave_pair() */
    return __atomic_exchange_n(&d->is_taken, 1, __ATOMIC_ACQUIRE) == 0;
}

static void leave_pair(struct device *d)
{
    /* release: pairs with the acquire in take_pair() */
    __atomic_store_n(&d->is_taken, 0, __ATOMIC_RELEASE);
}

static void put_last_pair(uint32_t number)
{
    struct device *d = &devices[number];
    struct pair last;

    if (!take_pair(d))
        return;
    const bool has_pair = d->has_pair != 0;
    last = d->pair;
    leave_pair(d);
    if (has_pair)
        put_pair(number, &last);
}

static void put_queue(uint32_t number)
{
    const struct queue *q = &queues[number];

    OSC_PUT(OSC_RECORD_QUEUE, osc_name_c(q->name), osc_ticks(), OSC_ROLE_FACT, number,
            q->device);
}

uint32_t osc_device_find(const char *type, uint32_t index)
{
    /* relaxed: see reserve_number() */
    const uint32_t n = __atomic_load_n(&n_devices, __ATOMIC_RELAXED);

    for (uint32_t i = 1; type && i < n; i++)
        if (is_known(&devices[i].is_known) && devices[i].index == index &&
            strncmp(devices[i].type, type, TYPE_BYTES - 1) == 0)
            return i;
    return 0;
}

/* Take what INFO says of D beside its place. False: nothing, or it was known before. */
static bool describe(struct device *d, const struct osc_device_info *info)
{
    static const struct osc_device_limits_info none;
    uint32_t unknown = UNKNOWN;

    if (info->memory_bytes == 0 && info->clock_hz == 0 && (!info->name || !info->name[0]) &&
        memcmp(&info->limits, &none, sizeof none) == 0)
        return false;
    /* relaxed: WRITTEN publishes it. */
    if (!__atomic_compare_exchange_n(&d->description, &unknown, BEING_WRITTEN, false,
                                     __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        return false;
    d->memory_bytes = info->memory_bytes;
    d->clock_hz = info->clock_hz;
    d->limits = info->limits;
    set_text(d->name, sizeof d->name, info->name);
    /* release: pairs with the acquire in put_device() */
    __atomic_store_n(&d->description, WRITTEN, __ATOMIC_RELEASE);
    return true;
}

uint32_t osc_device_add(const struct osc_device_info *info)
{
    if (!info) {
        osc_losses_add(OSC_LOSS_FULL, 1);
        return 0;
    }
    const char *type = info->type ? info->type : "";
    const uint32_t there = osc_device_find(type, info->index);
    const uint32_t number = there != 0 ? there : reserve_number(&n_devices, DEVICES_MAX);

    if (number == 0) {
        osc_losses_add(OSC_LOSS_FULL, 1);
        return 0;
    }
    struct device *const d = &devices[number];
    const bool is_described = describe(d, info);

    if (there == 0) {
        d->index = info->index;
        set_text(d->type, sizeof d->type, type);
        make_known(&d->is_known);
    }
    if (osc_is_on() && (there == 0 || is_described))
        put_device(number);
    return number;
}

/* Add a queue with a number below MAX. 0: none is left. */
static uint32_t add_queue(uint32_t device, const char *name, uint32_t max)
{
    const uint32_t number = reserve_number(&n_queues, max);

    if (number == 0)
        return 0;
    struct queue *q = &queues[number];

    q->device = device;
    set_text(q->name, sizeof q->name, name);
    make_known(&q->is_known);
    if (osc_is_on())
        put_queue(number);
    return number;
}

/* The queue that all further ones of DEVICE share. */
static uint32_t other_queue(uint32_t device)
{
    uint32_t *const place = &devices[device < DEVICES_MAX ? device : 0].other_queue;
    /* relaxed: a number; whoever lets it occur in a record has seen the queue, or it will be
     * recorded by the thread that adds it. */
    uint32_t number = __atomic_load_n(place, __ATOMIC_RELAXED), none = 0;

    if (number != 0)
        return number;
    number = add_queue(device, "other queues", QUEUES_MAX);
    if (number == 0)
        osc_losses_add(OSC_LOSS_FULL, 1);
    else if (!__atomic_compare_exchange_n(place, &none, number, false, __ATOMIC_RELAXED,
                                          __ATOMIC_RELAXED))
        number = none;
    return number;
}

uint32_t osc_queue_add(uint32_t device, const char *name)
{
    const uint32_t number = add_queue(device, name, QUEUES_MAX - DEVICES_MAX);

    return number != 0 ? number : other_queue(device);
}

void osc_devices_record(void)
{
    /* relaxed: see reserve_number() */
    const uint32_t n = __atomic_load_n(&n_devices, __ATOMIC_RELAXED);
    const uint32_t m = __atomic_load_n(&n_queues, __ATOMIC_RELAXED);

    for (uint32_t i = 1; i < n; i++)
        if (is_known(&devices[i].is_known)) {
            put_device(i);
            put_last_pair(i);
        }
    for (uint32_t i = 1; i < m; i++)
        if (is_known(&queues[i].is_known))
            put_queue(i);
}

void osc_device_clock(uint32_t device, uint64_t before, uint64_t device_ticks, uint64_t after)
{
    const struct pair p = {before, device_ticks, after - before};

    if (device > 0 && device < DEVICES_MAX && take_pair(&devices[device])) {
        devices[device].pair = p;
        devices[device].has_pair = 1;
        leave_pair(&devices[device]);
    }
    if (osc_is_on())
        put_pair(device, &p);
}

uint64_t osc_launch(void)
{
    /* relaxed: the ids need only differ. */
    const uint64_t id = __atomic_add_fetch(&last_launch, 1, __ATOMIC_RELAXED);

    if (osc_is_on())
        OSC_PUT(OSC_RECORD_LAUNCH, 0, osc_ticks(), OSC_ROLE_ARG, id, 0);
    else
        /* relaxed: as in osc_launches_end() */
        __atomic_store_n(&first_launch, id + 1, __ATOMIC_RELAXED);
    return id;
}

void osc_launches_end(void)
{
    /* relaxed: work that this misses is merely in the next recording, too. */
    __atomic_store_n(&first_launch, __atomic_load_n(&last_launch, __ATOMIC_RELAXED) + 1,
                     __ATOMIC_RELAXED);
}

int osc_launch_is_earlier(uint64_t launch)
{
    /* relaxed: as in osc_launches_end() */
    return launch != 0 && launch < __atomic_load_n(&first_launch, __ATOMIC_RELAXED);
}

/* The calls of this thread into runtimes that report their own work. */
static _Thread_local uint32_t runtime_depth;

void osc_runtime_enter(void)
{
    runtime_depth++;
}

void osc_runtime_leave(void)
{
    runtime_depth -= runtime_depth > 0;
}

int osc_runtime_is_inside(void)
{
    return runtime_depth > 0;
}

void osc_work(uint32_t queue, const struct osc_work_info *info)
{
    if (!info)
        osc_losses_add(OSC_LOSS_FULL, 1);
    else if (osc_is_on() && !osc_launch_is_earlier(info->correlation))
        OSC_PUT(OSC_RECORD_WORK, info->name, osc_ticks(), OSC_ROLE_EVENT,
                queue | (uint64_t)info->kind << 32, info->correlation, info->append_ticks,
                info->submit_ticks, info->start_ticks, info->end_ticks, info->bytes, 0);
}
