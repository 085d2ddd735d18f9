#include "rewrite/trace.h"

#include "base/error.h"
#include "ir/print.h"

namespace whit {

std::string to_string(const Trace& trace) {
  std::string text;
  for (const Trace::Entry& entry : trace.entries())
    text += concat("  ", trace.passes()[entry.pass], ": ", entry.rule ? entry.rule->name : "substitute", "  ",
                   print_expression(entry.old_node), "  ->  ", print_expression(entry.new_node), "\n");
  return text;
}

}  // namespace whit
