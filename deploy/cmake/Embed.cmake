# embed(TARGET FILE SYMBOL): compiles FILE into TARGET as
#	extern const unsigned char SYMBOL[];  extern const size_t SYMBOL_size;
# A generated C array works with any compiler on any processor, unlike a section that the linker or the assembler makes.
function(embed target file symbol)
  set(generated ${CMAKE_CURRENT_BINARY_DIR}/${symbol}.c)
  cmake_path(ABSOLUTE_PATH file)
  add_custom_command(OUTPUT ${generated}
    COMMAND ${CMAKE_COMMAND} -DINPUT=${file} -DOUTPUT=${generated} -DSYMBOL=${symbol}
      -P ${PROJECT_SOURCE_DIR}/deploy/cmake/EmbedFile.cmake
    DEPENDS ${file} ${PROJECT_SOURCE_DIR}/deploy/cmake/EmbedFile.cmake
    VERBATIM)
  target_sources(${target} PRIVATE ${generated})
endfunction()
