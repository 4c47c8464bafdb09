/* SPDX-License-Identifier: Apache-2.0 */
/*
 * calls.h - the functions of record.h and source.h as a list, for the headers of this folder:
 * stub.h has a function for each, and with OPSCOPE_DISABLE each does nothing.
 *
 * Threading: constants.
 */
#ifndef OPSCOPE_CALLS_H
#define OPSCOPE_CALLS_H

/* V is for functions that return nothing: (NAME, PARAMETERS, ARGUMENTS); R for the others:
 * (TYPE, NAME, PARAMETERS, ARGUMENTS, VALUE without the library). */
/* clang-format off: one function a line */
#define OSC_STUB_LIST(V, R)                                                                    \
    V(osc_scope_begin, (enum osc_scope_kind kind, osc_name name), (kind, name))                \
    V(osc_scope_end, (void), ())                                                               \
    V(osc_scope_skip, (void), ())                                                              \
    V(osc_scope_complete, (enum osc_scope_kind kind, osc_name name, uint64_t start_ticks),     \
      (kind, name, start_ticks))                                                               \
    V(osc_scope_instant, (osc_name name), (name))                                              \
    V(osc_begin_at, (enum osc_scope_kind kind, osc_name name, uint64_t ticks),                 \
      (kind, name, ticks))                                                                     \
    V(osc_end_at, (uint64_t ticks), (ticks))                                                   \
    V(osc_complete_at,                                                                         \
      (enum osc_scope_kind kind, osc_name name, uint64_t start_ticks, uint64_t end_ticks),     \
      (kind, name, start_ticks, end_ticks))                                                    \
    V(osc_instant_at, (osc_name name, uint64_t ticks), (name, ticks))                          \
    V(osc_async_begin, (enum osc_scope_kind kind, osc_name name, uint64_t number),             \
      (kind, name, number))                                                                    \
    V(osc_async_end, (enum osc_scope_kind kind, osc_name name, uint64_t number),               \
      (kind, name, number))                                                                    \
    V(osc_async_begin_at,                                                                      \
      (enum osc_scope_kind kind, osc_name name, uint64_t number, uint64_t ticks),              \
      (kind, name, number, ticks))                                                             \
    V(osc_async_end_at,                                                                        \
      (enum osc_scope_kind kind, osc_name name, uint64_t number, uint64_t ticks),              \
      (kind, name, number, ticks))                                                             \
    V(osc_arg_i64, (osc_name key, int64_t value), (key, value))                                \
    V(osc_arg_f64, (osc_name key, double value), (key, value))                                 \
    V(osc_arg_bool, (osc_name key, int value), (key, value))                                   \
    V(osc_arg_name, (osc_name key, osc_name value), (key, value))                              \
    V(osc_arg_text, (osc_name key, const char *text, size_t length), (key, text, length))      \
    V(osc_arg_i64s, (osc_name key, const int64_t *values, size_t count), (key, values, count)) \
    V(osc_arg_json, (osc_name key, const char *json, size_t length), (key, json, length))      \
    V(osc_args_json, (osc_name pairs), (pairs))                                                \
    V(osc_scope_close, (uint64_t opened), (opened))                                            \
    V(osc_scope_begin_with,                                                                    \
      (enum osc_scope_kind kind, osc_name name, const struct osc_scope_arg *args,              \
       uint32_t n_args),                                                                       \
      (kind, name, args, n_args))                                                              \
    V(osc_arg_stack, (void), ())                                                               \
    V(osc_counter_i64, (osc_name name, int64_t value), (name, value))                          \
    V(osc_counter_f64, (osc_name name, double value), (name, value))                           \
    V(osc_counter_total, (osc_name name, int64_t value), (name, value))                        \
    V(osc_counter_i64_at, (osc_name name, int64_t value, uint64_t ticks),                      \
      (name, value, ticks))                                                                    \
    V(osc_counter_f64_at, (osc_name name, double value, uint64_t ticks), (name, value, ticks)) \
    V(osc_memory_alloc, (uint32_t device, uint64_t addr, uint64_t bytes),                      \
      (device, addr, bytes))                                                                   \
    V(osc_memory_free, (uint32_t device, uint64_t addr, uint64_t bytes),                       \
      (device, addr, bytes))                                                                   \
    V(osc_memory_alloc_at, (uint32_t device, uint64_t addr, uint64_t bytes, uint64_t ticks),   \
      (device, addr, bytes, ticks))                                                            \
    V(osc_memory_free_at, (uint32_t device, uint64_t addr, uint64_t bytes, uint64_t ticks),    \
      (device, addr, bytes, ticks))                                                            \
    V(osc_memory_alloc_total,                                                                  \
      (uint32_t device, uint64_t addr, uint64_t bytes, uint64_t allocated_bytes,               \
       uint64_t reserved_bytes),                                                               \
      (device, addr, bytes, allocated_bytes, reserved_bytes))                                  \
    V(osc_memory_free_total,                                                                   \
      (uint32_t device, uint64_t addr, uint64_t bytes, uint64_t allocated_bytes,               \
       uint64_t reserved_bytes),                                                               \
      (device, addr, bytes, allocated_bytes, reserved_bytes))                                  \
    V(osc_step_end, (void), ())                                                                \
    V(osc_flow_begin, (uint64_t number), (number))                                             \
    V(osc_flow_end, (uint64_t number), (number))                                               \
    V(osc_thread_name, (const char *name), (name))                                             \
    V(osc_process_name, (const char *name), (name))                                            \
    V(osc_metadata, (const char *key, const char *value), (key, value))                        \
    V(osc_pause, (void), ())                                                                   \
    V(osc_resume, (void), ())                                                                  \
    V(osc_losses_get, (struct osc_losses * losses), (losses))                                  \
    V(osc_device_clock,                                                                        \
      (uint32_t device, uint64_t before, uint64_t device_ticks, uint64_t after),               \
      (device, before, device_ticks, after))                                                   \
    V(osc_runtime_enter, (void), ())                                                           \
    V(osc_runtime_leave, (void), ())                                                           \
    V(osc_work, (uint32_t queue, const struct osc_work_info *info), (queue, info))             \
    V(osc_before_end, (void (*report)(void)), (report))                                        \
    R(osc_name, osc_name_of, (const char *text, size_t length), (text, length), 0)             \
    R(osc_name, osc_name_c, (const char *text), (text), 0)                                     \
    R(osc_name, osc_name_in, (osc_category category, const char *text, size_t length),         \
      (category, text, length), 0)                                                             \
    R(osc_category, osc_category_of, (const char *name), (name), 0)                            \
    R(osc_status, osc_enable, (const char *list), (list), OSC_OK)                              \
    R(osc_status, osc_sample, (const char *list), (list), OSC_OK)                              \
    R(uint64_t, osc_scope_open, (enum osc_scope_kind kind, osc_name name), (kind, name), 0)    \
    R(uint64_t, osc_now, (void), (), 0)                                                        \
    R(uint64_t, osc_unique_id, (void), (), 0)                                                  \
    R(uint64_t, osc_step, (void), (), 0)                                                       \
    R(uint64_t, osc_step_if_ended, (void), (), 0)                                              \
    R(enum osc_action, osc_schedule_action,                                                    \
      (const struct osc_schedule *schedule, uint64_t step), (schedule, step), OSC_ACTION_NONE) \
    R(const char *, osc_recording_path, (void), (), "")                                        \
    R(uint64_t, osc_recording_number, (void), (), 0)                                           \
    R(osc_status, osc_stop, (void), (), OSC_OK)                                                \
    R(osc_status, osc_dump, (void), (), OSC_OK)                                                \
    R(uint32_t, osc_device_add, (const struct osc_device_info *info), (info), 0)               \
    R(uint32_t, osc_device_find, (const char *type, uint32_t index), (type, index), 0)         \
    R(uint32_t, osc_queue_add, (uint32_t device, const char *name), (device, name), 0)         \
    R(uint64_t, osc_launch, (void), (), 0)                                                     \
    R(int, osc_launch_is_earlier, (uint64_t launch), (launch), 0)                              \
    R(int, osc_runtime_is_inside, (void), (), 0)
/* clang-format on */

#endif
