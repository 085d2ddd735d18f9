# `cmake --install` gives the library, its public headers, the program and what find_package(whit) reads.
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/whit)

install(TARGETS whit EXPORT whitTargets FILE_SET HEADERS)
if(TARGET whit_program)
  install(TARGETS whit_program)
endif()
install(EXPORT whitTargets NAMESPACE whit:: DESTINATION ${package_dir})

configure_package_config_file(cmake/whitConfig.cmake.in whitConfig.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(whitConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/whitConfig.cmake ${CMAKE_CURRENT_BINARY_DIR}/whitConfigVersion.cmake
  DESTINATION ${package_dir})
