# The order of the folders in src/, and the function that turns one folder into a target.
# This list is the only place that states the order: the build and tests/layers both read it.

# A folder may include headers of folders to the left of it, and its own.
set(WHIT_LAYERS base ir rewrite rules target schedule codegen runtime backends engine tensor nn io viz)

# Folders that implement what include/whit promises, and so may include any <whit/...>.
set(WHIT_PUBLIC_HEADER_USERS tensor nn io)

# Public headers that need nothing but the standard library, and so may be included from every folder.
set(WHIT_VOCABULARY_HEADERS dtype.h error.h)

# whit_layer(<folder> SOURCES a.cpp b.cpp ... [LINK libraries ...])
# Makes the object library whit_<folder>, which links the layers above it, and adds its objects to the library `whit`.
# A folder without sources is an interface target, so that folders can start empty or hold headers only.
function(whit_layer folder)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LINK")
  list(FIND WHIT_LAYERS "${folder}" position)
  if(position EQUAL -1)
    message(FATAL_ERROR "whit_layer(${folder}): not a layer; cmake/Layers.cmake lists them")
  endif()
  list(SUBLIST WHIT_LAYERS 0 ${position} above)
  list(TRANSFORM above PREPEND whit_)

  set(target whit_${folder})
  if(NOT arg_SOURCES)
    add_library(${target} INTERFACE)
    target_link_libraries(${target} INTERFACE ${above})
    return()
  endif()
  add_library(${target} OBJECT ${arg_SOURCES})
  target_link_libraries(${target} PRIVATE whit_options ${above} ${arg_LINK})
  set_property(GLOBAL APPEND PROPERTY WHIT_OBJECTS $<TARGET_OBJECTS:${target}>)
endfunction()
