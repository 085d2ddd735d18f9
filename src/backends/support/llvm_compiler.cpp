#include "backends/support/llvm_compiler.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "base/dynamic_library.h"
#include "base/error.h"

namespace whit {
namespace {

// The C API, declared by hand: handles are opaque and enums are ints, as the C ABI passes them.
using Handle = struct Opaque*;

struct LlvmApi {
  void (*get_version)(unsigned* major, unsigned* minor, unsigned* patch);  // since 16
  void (*dispose_message)(char*);
  char* (*get_host_cpu_name)();
  char* (*get_host_cpu_features)();
  int (*get_target_from_triple)(const char* triple, Handle* target, char** message);

  Handle (*context_create)();
  void (*context_dispose)(Handle);
  void (*context_set_diagnostic_handler)(Handle context, void (*handler)(Handle info, void* log), void* log);
  char* (*get_diagnostic_description)(Handle info);
  int (*get_diagnostic_severity)(Handle info);

  Handle (*create_memory_buffer_with_range)(const char* text, size_t size, const char* name, int null_terminated);
  void (*dispose_memory_buffer)(Handle);
  const char* (*get_buffer_start)(Handle);
  size_t (*get_buffer_size)(Handle);

  int (*parse_ir_in_context)(Handle context, Handle buffer, Handle* module, char** message);
  int (*verify_module)(Handle module, int action, char** message);
  void (*dispose_module)(Handle);
  void (*set_target)(Handle module, const char* triple);
  char* (*print_module)(Handle);

  Handle (*create_target_machine)(Handle target, const char* triple, const char* cpu, const char* features, int level, int relocation,
                                  int code_model);
  void (*dispose_target_machine)(Handle);
  Handle (*create_target_data)(Handle machine);
  void (*dispose_target_data)(Handle);
  void (*set_module_data_layout)(Handle module, Handle layout);

  Handle (*create_pass_options)();
  void (*dispose_pass_options)(Handle);
  Handle (*run_passes)(Handle module, const char* passes, Handle machine, Handle options);
  char* (*get_error_message)(Handle error);
  void (*dispose_error_message)(char*);
  int (*emit_to_memory_buffer)(Handle machine, Handle module, int file_type, char** message, Handle* buffer);

  explicit LlvmApi(const DynamicLibrary& library);
};

constexpr int kReturnStatus = 2;    // LLVMReturnStatusAction: the other two print or end the process
constexpr int kRelocationPic = 2;   // LLVMRelocPIC: every reference is relative, so an object may lie anywhere
constexpr int kCodeModelSmall = 3;  // LLVMCodeModelSmall: ObjectImage keeps an object within 2 GiB of itself
constexpr int kAssemblyFile = 0;    // LLVMAssemblyFile
constexpr int kObjectFile = 1;      // LLVMObjectFile
constexpr int kSeverityError = 0;   // LLVMDSError

LlvmApi::LlvmApi(const DynamicLibrary& library) {
  get_version = reinterpret_cast<decltype(get_version)>(library.find("LLVMGetVersion"));
  library.load("LLVMDisposeMessage", dispose_message);
  library.load("LLVMGetHostCPUName", get_host_cpu_name);
  library.load("LLVMGetHostCPUFeatures", get_host_cpu_features);
  library.load("LLVMGetTargetFromTriple", get_target_from_triple);
  library.load("LLVMContextCreate", context_create);
  library.load("LLVMContextDispose", context_dispose);
  library.load("LLVMContextSetDiagnosticHandler", context_set_diagnostic_handler);
  library.load("LLVMGetDiagInfoDescription", get_diagnostic_description);
  library.load("LLVMGetDiagInfoSeverity", get_diagnostic_severity);
  library.load("LLVMCreateMemoryBufferWithMemoryRange", create_memory_buffer_with_range);
  library.load("LLVMDisposeMemoryBuffer", dispose_memory_buffer);
  library.load("LLVMGetBufferStart", get_buffer_start);
  library.load("LLVMGetBufferSize", get_buffer_size);
  library.load("LLVMParseIRInContext", parse_ir_in_context);
  library.load("LLVMVerifyModule", verify_module);
  library.load("LLVMDisposeModule", dispose_module);
  library.load("LLVMSetTarget", set_target);
  library.load("LLVMPrintModuleToString", print_module);
  library.load("LLVMCreateTargetMachine", create_target_machine);
  library.load("LLVMDisposeTargetMachine", dispose_target_machine);
  library.load("LLVMCreateTargetDataLayout", create_target_data);
  library.load("LLVMDisposeTargetData", dispose_target_data);
  library.load("LLVMSetModuleDataLayout", set_module_data_layout);
  library.load("LLVMCreatePassBuilderOptions", create_pass_options);
  library.load("LLVMDisposePassBuilderOptions", dispose_pass_options);
  library.load("LLVMRunPasses", run_passes);
  library.load("LLVMGetErrorMessage", get_error_message);
  library.load("LLVMDisposeErrorMessage", dispose_error_message);
  library.load("LLVMTargetMachineEmitToMemoryBuffer", emit_to_memory_buffer);
}

/// Generated code is unrolled, vectorised and hoisted already, so a clean-up is enough: it costs a tenth of what selecting
/// instructions does, where O2 doubles the time and gives no faster code. From 18 on instcombine runs once and, unless told not
/// to, ends the process when a second run would have found more.
const char* passes_of(int version) {
  return version >= 18 ? "function(sroa,early-cse<memssa>,instcombine<no-verify-fixpoint>,loop-mssa(licm))"
                       : "function(sroa,early-cse<memssa>,instcombine,loop-mssa(licm))";
}

constexpr int kOldest = 14;
constexpr int kNewestTested = 19;
constexpr int kNewest = 22;  // these parse typed pointers too, but are taken only where no tested version is

/// File names of one version: distributions disagree, and the scheme changed with 18.
void add_names(int version, std::vector<std::string>& names) {
  names.push_back(concat("libLLVM.so.", version, ".1"));
  names.push_back(concat("libLLVM-", version, ".so.1"));
  names.push_back(concat("libLLVM-", version, ".so"));
}

std::vector<std::string> candidate_names(const std::string& wanted) {
  std::vector<std::string> names;
  if (wanted.empty()) {
    for (int version = kNewestTested; version >= kOldest; --version) add_names(version, names);
    for (int version = kNewestTested + 1; version <= kNewest; ++version) add_names(version, names);
  } else if (wanted.size() <= 3 && std::all_of(wanted.begin(), wanted.end(), [](char c) { return c >= '0' && c <= '9'; })) {
    add_names(std::stoi(wanted), names);
  } else {
    names.push_back(wanted);
  }
  return names;
}

/// Before 16 no function tells the version, so it shows in which functions there are.
int version_of(const DynamicLibrary& library, const LlvmApi& api) {
  if (api.get_version) {
    unsigned major = 0, minor = 0, patch = 0;
    api.get_version(&major, &minor, &patch);
    return static_cast<int>(major);
  }
  if (library.find("LLVMPointerTypeInContext")) return 15;
  return library.find("LLVMGetGEPSourceElementType") ? 14 : 13;
}

/// Takes over a string that LLVM made.
std::string take(const LlvmApi& api, char* text) {
  std::string result = text ? text : "";
  if (text) api.dispose_message(text);
  return result;
}

/// The host as LLVM names it. The triple is the same on every system: it makes LLVM write ELF, which is what ObjectImage loads.
#if defined(__aarch64__)
constexpr const char* kTarget = "AArch64";
constexpr const char* kTriple = "aarch64-unknown-linux-gnu";
#else
constexpr const char* kTarget = "X86";
constexpr const char* kTriple = "x86_64-unknown-linux-gnu";
#endif

/// Registers the one target that can run here; the functions' names hold the target's, as LLVM's headers build them.
void initialize_host_target(const DynamicLibrary& library) {
  for (const char* part : {"TargetInfo", "Target", "TargetMC", "AsmPrinter", "AsmParser"}) {
    void (*initialize)();
    library.load(concat("LLVMInitialize", kTarget, part), initialize);
    initialize();
  }
}

/// LLVM ends the process at an error diagnostic that nobody handles, so each context gets this handler.
struct DiagnosticLog {
  const LlvmApi& api;
  std::string errors;

  static void receive(Handle info, void* self) {
    auto& log = *static_cast<DiagnosticLog*>(self);
    if (log.api.get_diagnostic_severity(info) != kSeverityError) return;
    log.errors += concat(log.errors.empty() ? "" : "\n", take(log.api, log.api.get_diagnostic_description(info)));
  }
};

/// An LLVM handle and the function that frees it.
class Owned {
 public:
  Owned(Handle handle, void (*release)(Handle)) : handle_(handle), release_(release) {}
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  ~Owned() {
    if (handle_) release_(handle_);
  }
  operator Handle() const { return handle_; }  // NOLINT(google-explicit-constructor): it stands for the handle in every call

 private:
  Handle handle_;
  void (*release_)(Handle);
};

}  // namespace

struct LlvmCompiler::State {
  DynamicLibrary library;
  LlvmApi api;
  int version;
  std::string triple = kTriple, cpu, features;
  Handle target = nullptr;

  explicit State(const std::string& wanted) : library(candidate_names(wanted)), api(library), version(version_of(library, api)) {
    if (version < kOldest) throw BackendError(concat(library.name(), " is older than LLVM ", kOldest, ", the oldest that whit can use"));
    initialize_host_target(library);
    cpu = take(api, api.get_host_cpu_name());
    features = take(api, api.get_host_cpu_features());
    char* message = nullptr;
    if (api.get_target_from_triple(triple.c_str(), &target, &message)) throw BackendError(concat("LLVM: ", take(api, message)));
  }

  /// Parses, checks and optimises the text, then hands the module and a machine to `finish`.
  template <class Finish>
  auto build(const std::string& ir_text, int optimization, Finish finish);
  Handle parse(Handle context, const std::string& ir_text);
  Handle machine(int optimization);
  void optimize(Handle module, Handle machine);
  template <class Bytes>
  Bytes emit(Handle module, Handle machine, int file_type);
};

Handle LlvmCompiler::State::parse(Handle context, const std::string& ir_text) {
  // The parser takes the buffer over, whatever comes out.
  Handle buffer = api.create_memory_buffer_with_range(ir_text.c_str(), ir_text.size(), "kernel", 1);
  Handle module = nullptr;
  char* message = nullptr;
  if (api.parse_ir_in_context(context, buffer, &module, &message)) {
    throw BackendError(concat("LLVM ", version, " can't parse the generated code: ", take(api, message)));
  }
  return module;
}

Handle LlvmCompiler::State::machine(int optimization) {
  Handle machine =
      api.create_target_machine(target, triple.c_str(), cpu.c_str(), features.c_str(), optimization, kRelocationPic, kCodeModelSmall);
  if (!machine) throw BackendError(concat("LLVM ", version, " has no machine for ", triple));
  return machine;
}

void LlvmCompiler::State::optimize(Handle module, Handle machine) {
  Owned options(api.create_pass_options(), api.dispose_pass_options);
  if (Handle error = api.run_passes(module, passes_of(version), machine, options)) {
    char* message = api.get_error_message(error);
    std::string text = message;
    api.dispose_error_message(message);
    throw BackendError(concat("LLVM ", version, " can't run the passes: ", text));
  }
}

template <class Bytes>
Bytes LlvmCompiler::State::emit(Handle module, Handle machine, int file_type) {
  Handle result = nullptr;
  char* message = nullptr;
  if (api.emit_to_memory_buffer(machine, module, file_type, &message, &result)) {
    throw BackendError(concat("LLVM ", version, " can't generate code: ", take(api, message)));
  }
  Owned buffer(result, api.dispose_memory_buffer);
  const char* start = api.get_buffer_start(buffer);
  return Bytes(start, start + api.get_buffer_size(buffer));
}

template <class Finish>
auto LlvmCompiler::State::build(const std::string& ir_text, int optimization, Finish finish) {
  optimization = std::clamp(optimization, 0, 2);
  Owned context(api.context_create(), api.context_dispose);
  DiagnosticLog log{api, {}};
  api.context_set_diagnostic_handler(context, DiagnosticLog::receive, &log);
  Owned module(parse(context, ir_text), api.dispose_module);
  Owned target_machine(machine(optimization), api.dispose_target_machine);
  Owned layout(api.create_target_data(target_machine), api.dispose_target_data);
  api.set_target(module, triple.c_str());
  api.set_module_data_layout(module, layout);

  char* message = nullptr;
  int broken = api.verify_module(module, kReturnStatus, &message);
  std::string text = take(api, message);
  if (broken) throw BackendError(concat("LLVM ", version, " refuses the generated code: ", text));
  if (optimization > 0) optimize(module, target_machine);
  auto result = finish(module, target_machine);
  if (!log.errors.empty()) throw BackendError(concat("LLVM ", version, ": ", log.errors));
  return result;
}

LlvmCompiler::LlvmCompiler(const std::string& wanted) : state_(std::make_unique<State>(wanted)) {}
LlvmCompiler::~LlvmCompiler() = default;

int LlvmCompiler::version() const { return state_->version; }
const std::string& LlvmCompiler::library() const { return state_->library.name(); }
const std::string& LlvmCompiler::cpu() const { return state_->cpu; }
const std::string& LlvmCompiler::features() const { return state_->features; }
const std::string& LlvmCompiler::triple() const { return state_->triple; }

std::vector<uint8_t> LlvmCompiler::compile(const std::string& ir_text, int optimization) {
  return state_->build(ir_text, optimization,
                       [&](Handle module, Handle machine) { return state_->emit<std::vector<uint8_t>>(module, machine, kObjectFile); });
}

std::string LlvmCompiler::assembly(const std::string& ir_text, int optimization) {
  return state_->build(ir_text, optimization,
                       [&](Handle module, Handle machine) { return state_->emit<std::string>(module, machine, kAssemblyFile); });
}

std::string LlvmCompiler::optimized(const std::string& ir_text, int optimization) {
  return state_->build(ir_text, optimization, [&](Handle module, Handle) { return take(state_->api, state_->api.print_module(module)); });
}

namespace {

/// The process's compiler or why there is none. Leaked: LLVM's own destructors must not race with threads at exit.
struct Shared {
  LlvmCompiler* compiler = nullptr;
  std::string reason;

  Shared() {
    const char* wanted = std::getenv("WHIT_LLVM");
    try {
      compiler = new LlvmCompiler(wanted ? wanted : "");
    } catch (const Error& error) {
      reason = concat("no LLVM", wanted && *wanted ? concat(" as WHIT_LLVM=", wanted, " asks") : "", ": ", error.what());
    }
  }

  static const Shared& get() {
    static const Shared& shared = *new Shared;  // never destroyed: static Tensors may be computed by any destructor
    return shared;
  }
};

}  // namespace

LlvmCompiler& LlvmCompiler::shared() {
  const Shared& shared = Shared::get();
  if (!shared.compiler) throw BackendError(shared.reason);
  return *shared.compiler;
}

std::string LlvmCompiler::unavailable_reason() { return Shared::get().reason; }

}  // namespace whit
