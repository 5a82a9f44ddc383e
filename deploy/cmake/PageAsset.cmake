# page_asset(TARGET SYMBOL INPUT...): compiles the inputs, files of dashboards/web or with their whole path, one after the
# other, into TARGET as
#	extern const struct page_asset SYMBOL;
# compressed at build time, with their hashes (exporter/site/page.h).
find_program(GZIP_PROGRAM gzip REQUIRED)

function(page_asset target symbol)
  set(generated ${CMAKE_CURRENT_BINARY_DIR}/${symbol}.c)
  set(inputs)
  foreach(input IN LISTS ARGN)
    cmake_path(ABSOLUTE_PATH input BASE_DIRECTORY ${PROJECT_SOURCE_DIR}/dashboards/web)
    list(APPEND inputs ${input})
  endforeach()
  add_custom_command(OUTPUT ${generated}
    COMMAND ${CMAKE_COMMAND} "-DINPUTS=${inputs}" -DOUTPUT=${generated} -DSYMBOL=${symbol} -DGZIP=${GZIP_PROGRAM}
      -P ${PROJECT_SOURCE_DIR}/deploy/cmake/PageAssetFile.cmake
    DEPENDS ${inputs} ${PROJECT_SOURCE_DIR}/deploy/cmake/PageAssetFile.cmake
    VERBATIM)
  target_sources(${target} PRIVATE ${generated})
endfunction()
