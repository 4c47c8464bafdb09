// SPDX-License-Identifier: Apache-2.0
#include "storages.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <string>

#include <ATen/core/Tensor.h>
#include <ATen/core/function_schema.h>
#include <ATen/core/ivalue.h>

#include "input_hash.h"
#include "recorder.h"

namespace osc_torch
{
namespace
{

enum { kOther = 0, kFits = 1, kBackward = 2 }; // what a call is

const char *const keys[] = {"Storages",   "Storages 2", "Storages 3", "Storages 4",
                            "Storages 5", "Storages 6", "Storages 7", "Storages 8"};
static_assert(kStorages == std::size(keys) * kInOne);
osc_name key_names[std::size(keys)], devices_name; // made at the first use

// The integers of a call, of which those that do not fit are left out.
struct List {
    int64_t *values; // borrowed, kStorages
    size_t n;
    int64_t *devices; // borrowed, kInOne: of the values but the first, unless all are the CPU
    bool has_devices;

    void add(int64_t value, int64_t device)
    {
        if (n <= kInOne)
            devices[n - 1] = device;
        if (n < kStorages)
            values[n++] = value;
    }
    void put() const
    {
        for (size_t i = 0; i * kInOne < n; i++) {
            osc_name_once(&key_names[i], keys[i]);
            // relaxed: as in osc_name_once()
            osc_arg_i64s(__atomic_load_n(&key_names[i], __ATOMIC_RELAXED), values + i * kInOne,
                         std::min(n - i * kInOne, kInOne));
        }
        if (__builtin_expect(has_devices, 0)) {
            osc_name_once(&devices_name, "Storage devices");
            // relaxed: as above
            osc_arg_i64s(__atomic_load_n(&devices_name, __ATOMIC_RELAXED), devices,
                         std::min(n - 1, kInOne));
        }
    }
};

uint32_t is_told; // atomic; that there are tensors on devices

__attribute__((noinline, cold)) void tell_of_devices()
{
    // relaxed: it orders nothing
    if (__atomic_exchange_n(&is_told, 1, __ATOMIC_RELAXED) == 0)
        osc_metadata("tensors_on_devices", "told");
}

// The device of T by its number: 256 x c10::DeviceType + index; 0: the CPU.
inline int64_t device_of(const at::Tensor &t)
{
    const auto device = t.device();

    return static_cast<int64_t>(device.type()) * 256 + std::max<int64_t>(device.index(), 0);
}

// Add the storage of T. False: it has none, which fits no schema that demands a tensor.
inline bool add(List *list, const at::Tensor &t, bool is_written)
{
    const int64_t address = storage_of(t);

    if (address == 0)
        return false;
    const bool is_on_device = !t.is_cpu();
    list->add(is_written ? -address : address,
              __builtin_expect(is_on_device, 0) ? device_of(t) : 0);
    if (__builtin_expect(!is_on_device, 1))
        return true;
    list->has_devices = true;
    // relaxed: it orders nothing
    if (__atomic_load_n(&is_told, __ATOMIC_RELAXED) == 0)
        tell_of_devices();
    return true;
}

// Torch keeps no list in which a tensor is undefined.
bool is_whole(c10::ArrayRef<c10::IValue> tensors)
{
    return std::all_of(tensors.begin(), tensors.end(),
                       [](const c10::IValue &v) { return has_sizes(v.toTensor()); });
}

// Add the storages of input I, which is V. False: it does not fit SCHEMA.
bool add_input(List *list, const Schema &schema, size_t i, const c10::IValue &v)
{
    const uint64_t bit = i < 64 ? uint64_t{1} << i : 0;
    const bool is_written = schema.written & bit;
    bool fits = true;

    if (v.isTensor()) {
        fits = add(list, v.toTensor(), is_written);
        return fits || !(schema.tensors & bit);
    }
    if (!v.isTensorList())
        return !((schema.tensors | schema.lists) & bit);
    const auto tensors = v.toListRef();
    if (!is_whole(tensors))
        return !(schema.lists & bit);
    for (const c10::IValue &one : tensors)
        fits = add(list, one.toTensor(), is_written) && fits;
    return fits;
}

__attribute__((noinline, cold)) Schema look_up(const at::RecordFunction &fn, uint64_t hash)
{
    const auto found = fn.operator_schema();
    Schema s{hash, 0, 0, 0, found.has_value()};

    if (!found)
        return s;
    const auto &arguments = found->arguments();
    for (size_t i = 0; i < arguments.size() && i < 64; i++) {
        const uint64_t bit = uint64_t{1} << i;
        const auto &type = *arguments[i].type();

        if (arguments[i].alias_info() && arguments[i].alias_info()->isWrite())
            s.written |= bit;
        if (type.kind() == c10::TypeKind::TensorType)
            s.tensors |= bit;
        else if (type.isSubtypeOf(*c10::ListType::ofTensors()))
            s.lists |= bit;
    }
    return s;
}

template <typename Function> const char *known_overload_of(const Function &fn)
{
    if constexpr (requires { fn.overload_name(); })
        return fn.overload_name();
    return nullptr;
}

// The overload, by which operators of one name differ.
std::string slow_overload_of(const at::RecordFunction &fn)
{
    const auto name = fn.operator_name();

    return name ? name->overload_name : std::string();
}

const Schema &schema_of(Schemas *schemas, const at::RecordFunction &fn, osc_name name)
{
    const char *const overload = known_overload_of(fn);
    const std::string text = overload ? std::string() : slow_overload_of(fn);
    const char *const s = overload ? overload : text.c_str();
    const uint64_t hash = mix(hash_text(s, strlen(s)), name, fn.num_inputs()) | 1;
    Schema *const known = &schemas->all[hash >> 17 & (kSchemas - 1)];

    if (__builtin_expect(known->hash != hash, 0))
        *known = look_up(fn, hash);
    return *known;
}

} // namespace

void begin_storages()
{
    __atomic_store_n(&is_told, 0, __ATOMIC_RELAXED);
}

int64_t storage_of(const at::Tensor &tensor)
{
    if (!has_sizes(tensor) || !tensor.has_storage())
        return 0;
    auto *const storage = tensor.unsafeGetTensorImpl()->unsafe_storage().unsafeGetStorageImpl();
    return reinterpret_cast<int64_t>(storage->_mutable_data_ptr_no_checks().get());
}

bool has_storages(const osc_torch_options &options)
{
    return options.has_shapes && options.has_memory && options.has_stacks;
}

const char *overload_of(const at::RecordFunction &fn)
{
    return known_overload_of(fn);
}

void put_storages(Schemas *schemas, const at::RecordFunction &fn, osc_name name)
{
    if (fn.scope() == at::RecordScope::USER_SCOPE || name == 0)
        return;
    const Schema &schema = schema_of(schemas, fn, name);
    const auto inputs = fn.inputs();
    bool fits = schema.is_known;
    List list{schemas->list, 1, schemas->devices, false};

    for (size_t i = 0; i < inputs.size(); i++)
        fits = add_input(&list, schema, i, inputs[i]) && fits;
    list.values[0] = fn.scope() == at::RecordScope::BACKWARD_FUNCTION ? kBackward
                     : fits                                           ? kFits
                                                                      : kOther;
    list.put();
}

} // namespace osc_torch
