// Where in the user's code a call stands, so that an error can name that line even when it arises deep inside.
#pragma once

namespace whit {

/// A place in source code. As a defaulted last parameter it is the caller's.
struct Site {
  const char* file;
  int line;
  constexpr Site(const char* file = __builtin_FILE(), int line = __builtin_LINE()) : file(file), line(line) {}
};

/// Stands at the top of a public function: while the outermost one of a thread runs, its site is the one that errors and nodes carry. With
/// the name of a function that is composed of others, errors of those start with it.
class Call {
 public:
  explicit Call(Site site, const char* composed = nullptr);
  ~Call();
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

 private:
  bool outermost_;
};

}  // namespace whit
