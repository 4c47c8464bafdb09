/* SPDX-License-Identifier: Apache-2.0 */
/*
 * peer.h - the strongest reader of JSON that we know of, doing our work.
 *
 * simdjson On-Demand walks the events and puts them into columns, every argument
 * typed and every string interned: what the loader has to beat (OD-full). It gets
 * the text in memory and may keep its parser from one call to the next.
 *
 * Threading: not locked.
 */
#ifndef OSC_BENCH_PEER_H
#define OSC_BENCH_PEER_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct bench_peer;

/* What was read, so that nobody wins by reading less. */
struct bench_peer_sums {
    uint64_t n_events, n_args;
    int64_t ts_ns; /* sum over all records, modulo 2^64 */
};

/* Read the file PATH into memory; NULL if that fails. */
struct bench_peer *bench_peer_open(const char *path, size_t *n_bytes);
void bench_peer_close(struct bench_peer *peer);

/* Make columns of the text, look at them, and free them. False: it is no trace. */
int bench_peer_load(struct bench_peer *peer, struct bench_peer_sums *sums);

/* Which code simdjson chose for this processor. */
const char *bench_peer_kernel(void);

#ifdef __cplusplus
}
#endif

#endif
