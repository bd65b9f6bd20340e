# Headers, the CMake package and its functions; `cmake --install` needs nothing to be built.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_DATADIR}/cmake/wavetile)
target_include_directories(wavetile INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
install(DIRECTORY ${wavetile_SOURCE_DIR}/include/wavetile DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
        FILES_MATCHING PATTERN "*.hpp")
install(TARGETS wavetile EXPORT wavetile)
install(EXPORT wavetile NAMESPACE wavetile:: FILE wavetile-targets.cmake DESTINATION ${package_dir})
# Nothing in the package depends on the machine's word size.
write_basic_package_version_file(${wavetile_BINARY_DIR}/wavetile-config-version.cmake
                                 COMPATIBILITY SameMinorVersion ARCH_INDEPENDENT)
install(FILES ${wavetile_SOURCE_DIR}/cmake/wavetile-config.cmake
              ${wavetile_SOURCE_DIR}/cmake/wavetile_hip.cmake
              ${wavetile_SOURCE_DIR}/cmake/wavetile_kernel_report.cmake
              ${wavetile_BINARY_DIR}/wavetile-config-version.cmake
        DESTINATION ${package_dir})
install(DIRECTORY ${wavetile_SOURCE_DIR}/cmake/kernel_report DESTINATION ${package_dir} FILES_MATCHING PATTERN "*.py")
