// The Python line a call came from, and what crosses between Python's lock and ours: errors, signals, objects let go by other threads.
#include "binding.h"

#include <frameobject.h>

#include <chrono>
#include <mutex>
#include <unordered_map>

namespace whit::python {

namespace {

std::string package_folder;

// File names live as long as the process, as a Site needs it; a process has few of them.
struct FileName {
  std::string text;
  bool ours;
};

const FileName& file_name(PyObject* name) {
  static auto& names = *new std::unordered_map<PyObject*, FileName>;
  const auto found = names.find(name);
  if (found != names.end()) return found->second;
  Py_INCREF(name);  // so that no other name gets its address
  const char* text = PyUnicode_AsUTF8(name);
  if (!text) PyErr_Clear();
  FileName entry{text ? text : "?", false};
  entry.ours = !package_folder.empty() && entry.text.starts_with(package_folder);
  return names.emplace(name, std::move(entry)).first->second;
}

}  // namespace

void set_package_folder(std::string folder) { package_folder = std::move(folder); }

Site caller() {
  PyFrameObject* frame = PyEval_GetFrame();
  Py_XINCREF(reinterpret_cast<PyObject*>(frame));
  while (frame) {
    PyCodeObject* code = PyFrame_GetCode(frame);
    const FileName& name = file_name(code->co_filename);
    Py_DECREF(code);
    PyFrameObject* next = name.ours ? PyFrame_GetBack(frame) : nullptr;
    if (!next) {
      const Site site(name.text.c_str(), PyFrame_GetLineNumber(frame));
      Py_DECREF(frame);
      return site;
    }
    Py_DECREF(frame);
    frame = next;
  }
  return {"<python>", 0};
}

// ---- Objects that C++ lets go ---------------------------------------------------------------------------------------------------------

namespace {

// A realisation drops storage while it holds locks of ours; taking the GIL there could deadlock with a thread that has it and waits for
// them. So objects are put on a list, which Python empties soon after.
struct Released {
  std::mutex mutex;
  std::vector<PyObject*> objects;
};

Released& released() {
  static auto& list = *new Released;
  return list;
}

int release_objects(void*) {
  std::vector<PyObject*> objects;
  {
    const std::lock_guard lock(released().mutex);
    objects.swap(released().objects);
  }
  for (PyObject* object : objects) Py_DECREF(object);
  return 0;
}

void let_go(PyObject* object) {
  if (!Py_IsInitialized()) return;
  const std::lock_guard lock(released().mutex);
  released().objects.push_back(object);
  if (released().objects.size() == 1) Py_AddPendingCall(release_objects, nullptr);
}

}  // namespace

std::shared_ptr<const void> keep_alive(nb::object object) {
  PyObject* kept = object.release().ptr();
  return {kept, [](const void* pointer) { let_go(const_cast<PyObject*>(static_cast<const PyObject*>(pointer))); }};
}

// ---- Errors and signals ---------------------------------------------------------------------------------------------------------------

namespace {

PyObject* python_type(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::Index: return PyExc_IndexError;
    case ErrorKind::Type: return PyExc_TypeError;
    case ErrorKind::Shape:
    case ErrorKind::Value: return PyExc_ValueError;
    case ErrorKind::Device: return PyExc_RuntimeError;
    case ErrorKind::File: return PyExc_OSError;
    case ErrorKind::OutOfMemory: return PyExc_MemoryError;
  }
  return PyExc_RuntimeError;
}

}  // namespace

void translate_errors() {
  nb::register_exception_translator([](const std::exception_ptr& pointer, void*) {
    try {
      std::rethrow_exception(pointer);
    } catch (const UserError& error) {
      PyErr_SetString(python_type(error.kind()), error.what());
    } catch (const Error& error) {
      PyErr_SetString(PyExc_RuntimeError, error.what());
    }
  });
}

void check_signals() {
  using Clock = std::chrono::steady_clock;
  static thread_local Clock::time_point next;
  const Clock::time_point now = Clock::now();
  if (now < next) return;
  next = now + std::chrono::milliseconds(20);
  const nb::gil_scoped_acquire gil;
  if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

}  // namespace whit::python
