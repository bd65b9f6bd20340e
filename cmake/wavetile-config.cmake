# find_package(wavetile CONFIG): the target wavetile::wavetile and the functions of wavetile_hip.cmake
# and wavetile_kernel_report.cmake.
# The same names may already be there through FetchContent or add_subdirectory; those then stay.
if(NOT TARGET wavetile::wavetile)
  include(${CMAKE_CURRENT_LIST_DIR}/wavetile-targets.cmake)
endif()
include(${CMAKE_CURRENT_LIST_DIR}/wavetile_hip.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/wavetile_kernel_report.cmake)
