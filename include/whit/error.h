// The three kinds of failure, three types: the caller's mistake, a driver's refusal, our bug.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

namespace whit {

/// What kind of mistake a UserError reports; Python maps it to IndexError, TypeError, ValueError, ….
enum class ErrorKind { Index, Type, Shape, Value, Device, File, OutOfMemory };

/// The base of every exception whit throws, so that one `catch` serves a program that embeds it.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The caller asked for something that cannot be: names the op, the shapes or the file offset, and what to do.
class UserError : public Error {
 public:
  UserError(ErrorKind kind, const std::string& message) : Error(message), kind_(kind) {}
  ErrorKind kind() const { return kind_; }

 private:
  ErrorKind kind_;
};

/// A driver, a compiler or the operating system refused: carries its log.
class BackendError : public Error {
 public:
  using Error::Error;
};

/// An invariant of whit itself does not hold: always our bug, never reachable by input.
class InternalError : public Error {
 public:
  using Error::Error;
};

}  // namespace whit
