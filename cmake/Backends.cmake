# Finds the backends. A backend is one file src/backends/<name>.cpp that defines `Backend* whit::backends::<name>()`;
# the registry is generated from the file names, so adding a backend edits no list and needs no static initialiser.
# Files starting with `_` and files in subfolders are helpers: compiled in, not registered.

# whit_find_backends(<names> <sources>): names of the backends (sorted) and all sources, the generated registry included.
function(whit_find_backends names_out sources_out)
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp ${CMAKE_CURRENT_SOURCE_DIR}/*/*.cpp)
  file(GLOB files CONFIGURE_DEPENDS RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp)
  list(FILTER files EXCLUDE REGEX "^_")
  list(SORT files)

  set(names "")
  set(declarations "")
  set(calls "")
  set(quoted "")
  foreach(file IN LISTS files)
    get_filename_component(name ${file} NAME_WE)
    if(NOT name MATCHES "^[a-z][a-z0-9_]*$")
      message(FATAL_ERROR "src/backends/${file}: the file name is a C++ function name, so it takes a-z, 0-9 and _ only")
    endif()
    list(APPEND names ${name})
    string(APPEND declarations "Backend* ${name}();\n")
    string(APPEND calls "${name}(), ")
    string(APPEND quoted "\"${name}\", ")
  endforeach()

  if(EXISTS ${PROJECT_SOURCE_DIR}/src/runtime/backend.h)
    set(registry ${CMAKE_CURRENT_BINARY_DIR}/registry.generated.cpp)
    file(CONFIGURE OUTPUT ${registry} CONTENT [[
// Made by cmake/Backends.cmake from the file names in src/backends.
#include <vector>

#include "runtime/backend.h"

namespace whit {
namespace backends {
@declarations@}  // namespace backends

std::vector<Backend*> registered_backends() {
  using namespace backends;
  return {@calls@};
}

std::vector<std::string_view> registered_names() { return {@quoted@}; }
}  // namespace whit
]] @ONLY)
    list(APPEND sources ${registry})
  endif()
  set(${names_out} ${names} PARENT_SCOPE)
  set(${sources_out} ${sources} PARENT_SCOPE)
endfunction()
