# rocm_root(<out> WORK <folder> ROCM <root> DEVICE_LIBS <folder or empty> COMPILER <clang++>
#           RUNTIME <libamdhip64.so>): a ROCm as AMD lays it out. An installed one is taken as it is; of what
# Debian's packages spread over other folders one is made of links.
function(rocm_root out)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "WORK;ROCM;DEVICE_LIBS;COMPILER;RUNTIME" "")
  if(EXISTS ${arg_ROCM}/bin/amdclang++ AND EXISTS ${arg_ROCM}/lib/cmake/hip-lang)
    set(${out} ${arg_ROCM} PARENT_SCOPE)
    return()
  endif()
  set(root ${arg_WORK}/rocm)
  file(MAKE_DIRECTORY ${root}/bin ${root}/lib/cmake ${root}/amdgcn)
  file(CREATE_LINK ${arg_ROCM}/include ${root}/include SYMBOLIC)
  file(CREATE_LINK ${arg_ROCM}/share ${root}/share SYMBOLIC)
  file(CREATE_LINK ${arg_DEVICE_LIBS} ${root}/amdgcn/bitcode SYMBOLIC)
  file(CREATE_LINK ${arg_RUNTIME} ${root}/lib/libamdhip64.so SYMBOLIC)
  # AMD's compiler finds the rest of its ROCm by itself
  file(WRITE ${root}/bin/amdclang++ "#!/bin/sh\nexec '${arg_COMPILER}' --rocm-path='${root}' \"$@\"\n")
  # What hipcc adds to a call of that compiler: C++ sources are HIP, programs need the runtime.
  file(WRITE ${root}/bin/hipcc "#!/bin/sh
link=yes
for word; do
  shift
  case $word in
  -c | -E | -S | -M) link=no ;;
  *.cpp | *.cc | *.cxx) set -- \"$@\" -x hip ;;
  esac
  set -- \"$@\" \"$word\"
done
[ $link = no ] || set -- \"$@\" --hip-link -L'${root}/lib' -lamdhip64
exec '${root}/bin/amdclang++' --driver-mode=g++ \"$@\"
")
  file(CHMOD ${root}/bin/amdclang++ ${root}/bin/hipcc
       PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)

  file(GLOB package ${arg_ROCM}/lib/*/cmake/hip-lang ${arg_ROCM}/lib/cmake/hip-lang)
  file(COPY ${package} DESTINATION ${root}/lib/cmake)
  # Debian's package counts one folder more down to its root than this one has.
  file(GLOB targets ${package}/hip-lang-targets-*.cmake)
  file(STRINGS ${targets} location REGEX "IMPORTED_LOCATION")
  string(REGEX REPLACE ".*_IMPORT_PREFIX}/([^\"]*)\".*" "\\1" library "${location}")
  cmake_path(GET library PARENT_PATH library_dir)
  file(MAKE_DIRECTORY ${arg_WORK}/${library_dir} ${root}/${library_dir})
  foreach(folder IN ITEMS ${arg_WORK} ${root})
    if(NOT EXISTS ${folder}/${library})
      file(CREATE_LINK ${arg_RUNTIME} ${folder}/${library} SYMBOLIC)
    endif()
  endforeach()
  foreach(folder IN ITEMS include share)
    file(CREATE_LINK ${arg_ROCM}/${folder} ${arg_WORK}/${folder} SYMBOLIC)
  endforeach()
  set(${out} ${root} PARENT_SCOPE)
endfunction()
