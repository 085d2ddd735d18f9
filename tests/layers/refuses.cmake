# Runs layers.cmake on a small tree that breaks every rule once, and fails unless each break is reported.
cmake_minimum_required(VERSION 3.25)
execute_process(COMMAND ${CMAKE_COMMAND} -DROOT=${CMAKE_CURRENT_LIST_DIR}/refused -P ${CMAKE_CURRENT_LIST_DIR}/layers.cmake
  RESULT_VARIABLE result ERROR_VARIABLE report OUTPUT_QUIET)
if(result EQUAL 0)
  message(FATAL_ERROR "layers.cmake accepted a tree that breaks every rule")
endif()
foreach(expected
    "src/base/upward.h: \"ir/node.h\" points upwards"
    "src/base/upward.h: \"nowhere/file.h\" names no layer"
    "src/base/upward.h: \"bare.h\" should be written"
    "src/base/upward.h: \"../base/bare.h\" should be written"
    "src/base/upward.h: \"whit/error.h\" should be written <whit/error.h>"
    "src/base/upward.h: <whit/tensor.h> is implemented above base"
    "src/base/CMakeLists.txt doesn't list unlisted.cpp"
    "include/whit/error.h: <whit/tensor.h> is not a vocabulary header"
    "include/whit/tensor.h: \"base/upward.h\" is neither")
  string(FIND "${report}" "${expected}" position)
  if(position EQUAL -1)
    message(FATAL_ERROR "not reported: ${expected}\nThe report was:\n${report}")
  endif()
endforeach()
foreach(allowed "<vector>" ": <whit/error.h>" "base/upward.h\" points")
  string(FIND "${report}" "${allowed}" position)
  if(NOT position EQUAL -1)
    message(FATAL_ERROR "reported, though it is allowed: ${allowed}\nThe report was:\n${report}")
  endif()
endforeach()
