/* SPDX-License-Identifier: Apache-2.0 */
/*
 * merged_devices.h - the devices of ranks that were merged into one trace
 * (model/merged_pids.h).
 *
 * Each rank may count its devices from 0. If two ranks have a device of one number, those of
 * each rank get numbers behind those of the ranks before it, in the order of their names: the
 * devices 0 of TP00 and TP01 are cuda:0 and cuda:1. Of properties that list a number as often
 * as ranks have it, the first are those of the first rank.
 *
 * A part of such a trace may have only one of the ranks, and says the numbers
 * (export/write_devices.h).
 *
 * Threading: not locked.
 */
#pragma once

#include "model/trace.h"

/* Number the devices of T, whose queues and properties have those of the file. */
OSC_MUST_USE osc_status osc_merged_devices_number(struct osc_trace *t);
