# whit_example(<name> [arguments ...]): builds examples/<name>.cpp as a user would, and runs it as the ctest example.<name>.
function(whit_example name)
  add_executable(example_${name} ${name}.cpp)
  set_target_properties(example_${name} PROPERTIES OUTPUT_NAME ${name} RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/examples)
  target_link_libraries(example_${name} PRIVATE whit::whit)
  add_test(NAME example.${name} COMMAND example_${name} ${ARGN} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  set_tests_properties(example.${name} PROPERTIES LABELS example TIMEOUT 300)
endfunction()
