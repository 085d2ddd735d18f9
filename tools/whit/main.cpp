// The program `whit`: finds the sub-command, and turns what goes wrong into one line on stderr and an exit status:
// 1 where the work failed, 2 where the command line is wrong.
#include <whit/error.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <iostream>

#include "commands.h"

namespace {

using namespace whit::tool;

// `whit help mnist` is `whit mnist --help`.
void add_help(CLI::App& program) {
  CLI::App* help = program.add_subcommand("help", "Show how the program or one of its commands is used");
  auto name = std::make_shared<std::string>();
  help->add_option("command", *name, "the command to explain");
  help->callback([&program, name] {
    const CLI::App* topic = name->empty() ? &program : program.get_subcommand(*name);
    std::cout << topic->get_formatter()->make_help(topic, name->empty() ? "whit" : "whit " + *name, CLI::AppFormatMode::Normal);
  });
}

int fail(const std::string& message, int status) {
  std::cout.flush();
  std::cerr << "whit: " << message << std::endl;
  return status;
}

int usage_error(const CLI::App& program, const CLI::ParseError& error) {
  const std::vector<std::string> unknown = program.remaining();
  if (program.get_subcommands().empty() && !unknown.empty() && !unknown[0].starts_with('-'))
    return fail("there is no command \"" + unknown[0] + "\"\nwhit: `whit --help` lists them", 2);
  std::string command;
  for (const CLI::App* chosen : program.get_subcommands()) command = " " + chosen->get_name();
  return fail(error.what() + ("\nwhit: `whit" + command + " --help` shows how it is used"), 2);
}

// A reader that has gone away (`whit … | head`) is no failure worth a message; a full disk is.
int finish_output() {
  errno = 0;
  std::cout.flush();
  if (std::cout && std::fflush(stdout) == 0) return 0;
  return errno == EPIPE ? 1 : fail(std::string("writing the output: ") + std::strerror(errno), 1);
}

int run(int argc, char** argv) {
  CLI::App program("whit, a tensor compiler", "whit");
  program.set_version_flag("--version", "whit " WHIT_VERSION);
  program.require_subcommand(1);
  program.footer("DEV chooses the device (see `whit devices`), DEBUG=1 to 6 shows what happens, THREADS how many threads work.");
  for (const auto add : {add_mnist, add_bench, add_devices, add_docs}) add(program);
  add_help(program);
  try {
    program.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() != 0) return usage_error(program, error);
    program.exit(error);  // prints what --help and --version ask for
  }
  return finish_output();
}

}  // namespace

int main(int argc, char** argv) {
  // Writing into a pipe that nobody reads is then an error like any other instead of a silent end: compilers are children of ours, too.
  std::signal(SIGPIPE, SIG_IGN);
  try {
    return run(argc, argv);
  } catch (const std::bad_alloc&) {
    return fail("out of memory", 1);
  } catch (const std::exception& error) {
    return fail(error.what(), 1);
  }
}
