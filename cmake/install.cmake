# The shared library, its headers, the command, and the files by which other builds find them.
include(CMakePackageConfigHelpers)

add_library(acuity SHARED $<TARGET_OBJECTS:acuity_core>)
target_include_directories(acuity INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_compile_features(acuity INTERFACE cxx_std_20)
target_link_libraries(acuity PRIVATE $<BUILD_INTERFACE:acuity_options> ${ACUITY_DEPENDENCIES})
target_link_options(acuity PRIVATE LINKER:--version-script=${PROJECT_SOURCE_DIR}/cmake/exports.map)
set_target_properties(acuity PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR} LINKER_LANGUAGE CXX
  LINK_DEPENDS ${PROJECT_SOURCE_DIR}/cmake/exports.map)

install(TARGETS acuity EXPORT acuity-targets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS acuity_command RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(DIRECTORY include/acuity ${CMAKE_CURRENT_BINARY_DIR}/include/acuity DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  FILES_MATCHING PATTERN "*.h")

set(config_folder ${CMAKE_INSTALL_LIBDIR}/cmake/acuity)
install(EXPORT acuity-targets NAMESPACE acuity:: DESTINATION ${config_folder})
configure_package_config_file(cmake/acuity-config.cmake.in acuity-config.cmake INSTALL_DESTINATION ${config_folder})
write_basic_package_version_file(acuity-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/acuity-config.cmake ${CMAKE_CURRENT_BINARY_DIR}/acuity-config-version.cmake
  DESTINATION ${config_folder})
# From the folder of acuity.pc up to the prefix, so that an installed tree may be moved.
file(RELATIVE_PATH prefix_from_pkgconfig /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
configure_file(cmake/acuity.pc.in acuity.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/acuity.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
