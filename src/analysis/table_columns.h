/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table_columns.h - C names for columns that code reads from finished tables.
 *
 * Looking up a column by text would show a misspelt name only at run time. These constants are
 * defined beside their columns, so that an unknown name breaks the build:
 * osc_column_steps_total_ns is the index of total_ns in `steps`.
 *
 * Threading: constants.
 */
#pragma once

#include <stdint.h>

extern const uint32_t osc_column_info_key, osc_column_info_value;

extern const uint32_t osc_column_quality_severity, osc_column_quality_code,
    osc_column_quality_count, osc_column_quality_message, osc_column_quality_remedy,
    osc_column_quality_rank_of_severity;

extern const uint32_t osc_column_tracks_kind, osc_column_tracks_name, osc_column_tracks_parent,
    osc_column_tracks_process_name, osc_column_tracks_thread, osc_column_tracks_events,
    osc_column_tracks_busy_ns, osc_column_tracks_whole_ns, osc_column_tracks_device_busy_ns,
    osc_column_tracks_device_events;

extern const uint32_t osc_column_ranges_name, osc_column_ranges_kind, osc_column_ranges_calls,
    osc_column_ranges_total_ns, osc_column_ranges_self_ns, osc_column_ranges_outer_ns,
    osc_column_ranges_mean_ns, osc_column_ranges_place, osc_column_ranges_is_marked;

extern const uint32_t osc_column_points_name, osc_column_points_kind, osc_column_points_series,
    osc_column_points_process, osc_column_points_process_name, osc_column_points_thread,
    osc_column_points_thread_name, osc_column_points_events, osc_column_points_first_ns,
    osc_column_points_last_ns;

extern const uint32_t osc_column_operators_name, osc_column_operators_calls,
    osc_column_operators_device_self_ns, osc_column_operators_host_self_ns,
    osc_column_operators_rest;

extern const uint32_t osc_column_kernels_name, osc_column_kernels_calls,
    osc_column_kernels_total_ns, osc_column_kernels_tensor_cores;

extern const uint32_t osc_column_modules_path, osc_column_modules_depth,
    osc_column_modules_name, osc_column_modules_attribute_path, osc_column_modules_calls,
    osc_column_modules_host_total_ns, osc_column_modules_host_self_ns,
    osc_column_modules_device_total_ns, osc_column_modules_device_self_ns,
    osc_column_modules_backward_host_ns, osc_column_modules_backward_device_ns;

extern const uint32_t osc_column_memory_peaks_device, osc_column_memory_peaks_peak_bytes,
    osc_column_memory_peaks_peak_ns, osc_column_memory_peaks_capacity_bytes,
    osc_column_memory_peaks_live_count;

extern const uint32_t osc_column_steps_step, osc_column_steps_label, osc_column_steps_thread,
    osc_column_steps_total_ns, osc_column_steps_annotation_ns, osc_column_steps_kept,
    osc_column_steps_is_iteration, osc_column_steps_lie_outside, osc_column_steps_is_of_work,
    osc_column_steps_note, osc_column_steps_outlier, osc_column_steps_grew,
    osc_column_steps_grew_on, osc_column_steps_grew_by_ns, osc_column_steps_grew_ratio;

extern const uint32_t osc_column_overview_category, osc_column_overview_avg_ns,
    osc_column_overview_ratio;

extern const uint32_t osc_column_advice_impact_ns, osc_column_advice_code,
    osc_column_advice_title, osc_column_advice_text;

extern const uint32_t osc_column_stragglers_rank, osc_column_stragglers_span,
    osc_column_stragglers_caused_wait_ns, osc_column_stragglers_caused_ratio,
    osc_column_stragglers_times_last, osc_column_stragglers_collectives,
    osc_column_stragglers_since_step, osc_column_stragglers_operator,
    osc_column_stragglers_operator_ns, osc_column_stragglers_clock_error_ns,
    osc_column_stragglers_note;
