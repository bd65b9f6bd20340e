# cmake -DCOMMAND=... -DTEXT=... -P expect_rejection.cmake
# Runs a command that must end with exit code 1 and say what TEXT, a regular expression, matches.
execute_process(COMMAND ${COMMAND} RESULT_VARIABLE code OUTPUT_VARIABLE output ERROR_VARIABLE output)
if(NOT code EQUAL 1 OR NOT output MATCHES "${TEXT}")
  message(FATAL_ERROR "exit code ${code}, expected 1 and \"${TEXT}\" in\n${output}")
endif()
