# whit_options: what every target of this project is compiled with. It is never exported to consumers.
option(WHIT_WERROR "Treat warnings as errors" OFF)

add_library(whit_options INTERFACE)
target_compile_features(whit_options INTERFACE cxx_std_20)
target_include_directories(whit_options INTERFACE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/include)
target_compile_options(whit_options INTERFACE
  -ffp-contract=off       # an FMA appears only where the scheduler places one, so results don't depend on the compiler
  -Wall -Wextra
  # A hidden local is a bug waiting in a long visitor; g++'s plain -Wshadow also refuses Dim(int size) : size(size).
  $<IF:$<CXX_COMPILER_ID:GNU>,-Wshadow=local,-Wshadow>
  -Wnon-virtual-dtor -Woverloaded-virtual
  -Wimplicit-fallthrough
  -Wvla                   # stack use stays known
  -Wno-missing-field-initializers  # designated initialisers with defaults are how descriptors are written
  $<$<CXX_COMPILER_ID:Clang,AppleClang>:-Wno-unused-command-line-argument>
  $<$<BOOL:${WHIT_WERROR}>:-Werror>)
target_link_libraries(whit_options INTERFACE Threads::Threads ${CMAKE_DL_LIBS})
