# Compiler flags of all our code, in one interface library that every target links.
add_library(flags INTERFACE)
target_include_directories(flags INTERFACE ${PROJECT_SOURCE_DIR})
target_compile_definitions(flags INTERFACE _GNU_SOURCE)
target_compile_options(flags INTERFACE
  "SHELL:-include ${PROJECT_SOURCE_DIR}/collectors/base/banned.h"
  -Wall -Wextra -Wshadow -Wconversion -Wsign-conversion -Wvla -Walloca -Wformat=2 -Wstrict-prototypes -Wmissing-prototypes
  -Wpointer-arith -Wcast-qual -Wwrite-strings -Wundef -Wno-missing-field-initializers
  -fno-common -fno-semantic-interposition -fstack-protector-strong -fstack-clash-protection
  # The build does not depend on its folder.
  -ffile-prefix-map=${PROJECT_SOURCE_DIR}=. -ffile-prefix-map=${PROJECT_BINARY_DIR}=build)
if(WARNINGS_ARE_ERRORS)
  target_compile_options(flags INTERFACE -Werror)
endif()
if(CMAKE_BUILD_TYPE MATCHES "Release|RelWithDebInfo|MinSizeRel")
  # Level 3 also checks sizes that are known only at run time. Some compilers define another level by themselves.
  target_compile_options(flags INTERFACE -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3)
endif()
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  target_compile_options(flags INTERFACE -fcf-protection=full)
  # The start files of Debian 12 say nothing about shadow stacks, but only call and return, so shadow stacks work. They
  # do not mark targets of indirect jumps (IBT), and _start is such a target.
  target_link_options(flags INTERFACE -Wl,-z,shstk)
endif()
target_link_options(flags INTERFACE -Wl,-z,relro,-z,now,-z,noexecstack -Wl,--as-needed)
if(SANITIZE)
  target_compile_options(flags INTERFACE -fsanitize=${SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer -g)
  target_link_options(flags INTERFACE -fsanitize=${SANITIZE})
endif()
if(FUZZ)
  # Coverage of all our code for libFuzzer; the targets themselves add its main (tests/fuzz/CMakeLists.txt).
  target_compile_options(flags INTERFACE -fsanitize=fuzzer-no-link)
endif()
