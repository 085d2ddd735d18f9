// `whit docs`: prints the pages of the documentation that are made from the tables, so that they can't differ from what runs.
#include <filesystem>
#include <iostream>

#include "base/file.h"
#include "commands.h"
#include "rules/document.h"

namespace whit::tool {

namespace {

void write_page(const std::string& folder, const char* name, const std::string& text) {
  const std::string path = join_path(folder, name);
  write_file(path, std::string_view(text));
  std::cout << path << '\n';
}

}  // namespace

void add_docs(CLI::App& program) {
  CLI::App* command =
      program.add_subcommand("docs", "Write docs/ops.md, docs/rules.md and the relaxed rules in docs/numerics.md from the tables");
  auto folder = std::make_shared<std::string>("docs");
  command->add_option("--out", *folder, "folder to write into")->capture_default_str();
  command->callback([folder] {
    make_directories(*folder);
    write_page(*folder, "ops.md", ops_markdown());
    write_page(*folder, "rules.md", rules_markdown());
    const std::string numerics = join_path(*folder, "numerics.md");
    if (std::filesystem::exists(numerics)) write_page(*folder, "numerics.md", with_relaxed(read_text_file(numerics)));
  });
}

}  // namespace whit::tool
