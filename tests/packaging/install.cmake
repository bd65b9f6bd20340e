# The commands of README.md that install the package, to the letter, and a project that finds it by CMAKE_PREFIX_PATH:
#   cmake -DSOURCE=<wavetile> -DWORK=<scratch folder> -DCOMPILER=<C++ compiler> -P install.cmake
cmake_minimum_required(VERSION 3.25)
include(${CMAKE_CURRENT_LIST_DIR}/steps.cmake)
file(REMOVE_RECURSE ${WORK})
file(READ ${SOURCE}/README.md text)
if(NOT text MATCHES "\n    cmake -S \\. -B build/package ([^\n]*)\n    cmake --install build/package --prefix <prefix>\n")
  message(FATAL_ERROR "README.md does not have the lines 'cmake -S . -B build/package ...' and 'cmake --install ...'")
endif()
separate_arguments(arguments UNIX_COMMAND "${CMAKE_MATCH_1}")
expect_text("${text}" "-DCMAKE_PREFIX_PATH=<prefix>")
step(configure COMMAND ${CMAKE_COMMAND} -S ${SOURCE} -B ${WORK}/package -G Ninja -DCMAKE_CXX_COMPILER=${COMPILER}
     ${arguments})
foreach(word IN ITEMS Warning "not used by the project")
  expect_no_text("${configure_output}" "${word}")
endforeach()
step(install COMMAND ${CMAKE_COMMAND} --install ${WORK}/package --prefix ${WORK}/prefix)
foreach(file IN ITEMS contract report) # the page names their folder
  if(NOT EXISTS ${WORK}/prefix/share/cmake/wavetile/kernel_report/${file}.py)
    message(FATAL_ERROR "${WORK}/prefix/share/cmake/wavetile/kernel_report has no ${file}.py")
  endif()
endforeach()

file(WRITE ${WORK}/project/CMakeLists.txt "cmake_minimum_required(VERSION 3.25)
project(user LANGUAGES CXX)
find_package(wavetile REQUIRED)
add_executable(user main.cpp)
target_link_libraries(user PRIVATE wavetile::wavetile)
")
file(WRITE ${WORK}/project/main.cpp "#include <wavetile/lds/choose_layout.hpp>
#include <wavetile/version.hpp>
int main() { return wavetile::row_major(8, 8, 4).bytes() == 256 ? 0 : 1; }
")
step(find COMMAND ${CMAKE_COMMAND} -S ${WORK}/project -B ${WORK}/user -G Ninja -DCMAKE_CXX_COMPILER=${COMPILER}
     -DCMAKE_PREFIX_PATH=${WORK}/prefix)
step(build COMMAND ${CMAKE_COMMAND} --build ${WORK}/user)
step(run COMMAND ${WORK}/user/user)
