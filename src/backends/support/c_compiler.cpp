#include "backends/support/c_compiler.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>

#include "base/error.h"
#include "base/file.h"

extern char** environ;

namespace whit {
namespace {

#if defined(__x86_64__)
constexpr const char* kNative = "-march=native";
#else
constexpr const char* kNative = "-mcpu=native";
#endif

/// None of these lets a float result change: the errno and the exception flags that the last two give up are read by nobody.
constexpr const char* kFlags[] = {
    "-x",
    "c",
    "-std=gnu11",
    "-O2",
    kNative,
    "-shared",
    "-fPIC",
    "-w",  //
    "-fwrapv",
    "-fno-strict-aliasing",  // what integers and buffers mean here
    "-ffp-contract=off",
    "-fno-math-errno",
    "-fno-trapping-math",
};

bool is_program(const std::string& path) {
  struct stat status;
  return stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) && access(path.c_str(), X_OK) == 0;
}

/// Whether the name is a program, looked up in PATH unless it holds a slash.
bool found(const std::string& name) {
  if (name.find('/') != std::string::npos) return is_program(name);
  const char* path = std::getenv("PATH");
  std::istringstream folders(path ? path : "/usr/bin:/bin");
  for (std::string folder; std::getline(folders, folder, ':');) {
    if (is_program(join_path(folder.empty() ? "." : folder, name))) return true;
  }
  return false;
}

std::vector<std::string> words(const char* text) {
  std::istringstream stream(text ? text : "");
  std::vector<std::string> result;
  for (std::string word; stream >> word;) result.push_back(word);
  return result;
}

std::string command_line(const std::vector<std::string>& arguments) {
  std::string line;
  for (const std::string& argument : arguments) line += (line.empty() ? "" : " ") + argument;
  return line;
}

/// What a child process starts with: no input, its output in a file, and no signal blocked though this thread may block some.
class ChildSetup {
 public:
  explicit ChildSetup(const std::string& log) {
    posix_spawn_file_actions_init(&files_);
    posix_spawn_file_actions_addopen(&files_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&files_, STDOUT_FILENO, log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    posix_spawn_file_actions_adddup2(&files_, STDOUT_FILENO, STDERR_FILENO);
    posix_spawnattr_init(&attributes_);
    sigset_t none;
    sigemptyset(&none);
    posix_spawnattr_setsigmask(&attributes_, &none);
    posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGMASK);
  }
  ChildSetup(const ChildSetup&) = delete;
  ChildSetup& operator=(const ChildSetup&) = delete;
  ~ChildSetup() {
    posix_spawn_file_actions_destroy(&files_);
    posix_spawnattr_destroy(&attributes_);
  }

  /// Starts the program, found in PATH; returns what errno would hold.
  int start(const std::vector<std::string>& arguments, pid_t& child) const {
    std::vector<char*> raw;
    raw.reserve(arguments.size() + 1);
    for (const std::string& argument : arguments) raw.push_back(const_cast<char*>(argument.c_str()));
    raw.push_back(nullptr);
    return posix_spawnp(&child, raw[0], &files_, &attributes_, raw.data(), environ);
  }

 private:
  posix_spawn_file_actions_t files_;
  posix_spawnattr_t attributes_;
};

/// Runs a program to its end with its output in `log`; true when it exits with 0 or the system keeps no status.
bool run(const std::vector<std::string>& arguments, const std::string& log) {
  pid_t child = 0;
  if (int code = ChildSetup(log).start(arguments, child)) {
    throw BackendError(concat("can't run ", arguments[0], ": ", std::strerror(code)));
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0) {
    if (errno == EINTR) continue;
    return true;  // the program that embeds us ignores SIGCHLD; whether it went well shows in the result
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace

CCompiler::CCompiler(const char* setting) {
  std::string tried;
  std::vector<std::vector<std::string>> candidates = {{"cc"}, {"gcc"}, {"clang"}};
  if (auto chosen = words(setting); !chosen.empty()) candidates.insert(candidates.begin(), std::move(chosen));
  for (auto& candidate : candidates) {
    tried += concat(tried.empty() ? "" : ", ", candidate[0]);
    if (!found(candidate[0])) continue;
    command_ = std::move(candidate);
    return;
  }
  throw BackendError(concat("no C compiler: none of ", tried, " is a program; set CC to one"));
}

std::unique_ptr<DynamicLibrary> CCompiler::compile_shared(const std::string& source) const {
  TemporaryDirectory folder("whit-c");
  const std::string input = join_path(folder.path(), "kernel.c"), output = join_path(folder.path(), "kernel.so");
  const std::string log = join_path(folder.path(), "log");
  if (!(std::ofstream(input, std::ios::binary) << source).flush()) throw BackendError(concat("can't write ", input));

  std::vector<std::string> arguments = command_;
  arguments.insert(arguments.end(), std::begin(kFlags), std::end(kFlags));
  arguments.insert(arguments.end(), {"-o", output, input, "-lm"});
  const bool compiled = run(arguments, log);
  if (!compiled || access(output.c_str(), R_OK) != 0) {
    throw BackendError(concat("the C compiler failed: ", command_line(arguments), "\n", read_text_file(log)));
  }
  return std::make_unique<DynamicLibrary>(output);
}

namespace {

struct Shared {
  std::unique_ptr<CCompiler> compiler;
  std::string reason;

  Shared() {
    try {
      compiler = std::make_unique<CCompiler>(std::getenv("CC"));
    } catch (const Error& error) {
      reason = error.what();
    }
  }

  static const Shared& get() {
    static const Shared& shared = *new Shared;
    return shared;
  }
};

}  // namespace

const CCompiler& CCompiler::shared() {
  const Shared& shared = Shared::get();
  if (!shared.compiler) throw BackendError(shared.reason);
  return *shared.compiler;
}

std::string CCompiler::unavailable_reason() { return Shared::get().reason; }

}  // namespace whit
