// Tensors to and from safetensors files.
#include <whit/state.h>

#include "io/safetensors.h"
#include "tensor/build.h"

namespace whit::nn {

namespace {

struct FormatType {
  std::string_view name;
  DType type;
};
constexpr FormatType kFormatTypes[] = {
    {"BOOL", DType::boolean},
    {"I8", DType::int8},
    {"U8", DType::uint8},
    {"I16", DType::int16},
    {"U16", DType::uint16},
    {"I32", DType::int32},
    {"U32", DType::uint32},
    {"I64", DType::int64},
    {"U64", DType::uint64},
    {"F8_E4M3", DType::float8_e4m3},
    {"F8_E5M2", DType::float8_e5m2},
    {"F16", DType::float16},
    {"BF16", DType::bfloat16},
    {"F32", DType::float32},
    {"F64", DType::float64},
};

std::string format_name(DType type) {
  for (const FormatType& row : kFormatTypes)
    if (row.type == type) return std::string(row.name);
  return {};
}

DType type_of_format(const std::string& format) {
  for (const FormatType& row : kFormatTypes)
    if (row.name == format) return row.type;
  return DType::none;
}

// Errors of the file layer know the file, not the caller's line.
template <class Action>
auto naming_the_call(std::string_view operation, Action action) {
  try {
    return action();
  } catch (const UserError& error) {
    refuse(error.kind(), operation, error.what());
  }
}

}  // namespace

void safe_save(const StateDict& dict, const std::string& path, const std::map<std::string, std::string>& metadata, Site at) {
  const Call call(at);
  std::vector<Tensor> tensors;
  for (const auto& [name, tensor] : dict) {
    if (!tensor.defined()) refuse(ErrorKind::Value, "safe_save", name, " holds nothing");
    tensors.push_back(tensor);
  }
  realize(tensors);
  std::vector<std::vector<uint8_t>> contents;
  std::vector<SafetensorsTensor> entries;
  for (const auto& [name, tensor] : dict) {
    std::vector<uint8_t>& bytes = contents.emplace_back(size_t(tensor.numel()) * item_size(tensor.dtype()));
    tensor.copy_to(bytes.data(), bytes.size());
    entries.push_back({name, format_name(tensor.dtype()), tensor.shape(), bytes});
  }
  naming_the_call("safe_save", [&] { write_safetensors(path, std::move(entries), metadata); });
}

StateDict safe_load(const std::string& path, const std::string& device, Site at) {
  const Call call(at);
  const SafetensorsFile file = naming_the_call("safe_load", [&] { return SafetensorsFile::open(path); });
  StateDict dict;
  for (const SafetensorsEntry& entry : file.entries()) {
    const DType type = type_of_format(entry.dtype);
    if (type == DType::none)
      refuse(ErrorKind::File, "safe_load", path, ": ", entry.name, " is ", entry.dtype, ", which whit has no dtype for");
    dict.emplace(entry.name, Tensor::from_blob(file.bytes(entry).data(), entry.shape, {.dtype = type, .device = device}));
  }
  return dict;
}

}  // namespace whit::nn
