# page_asset(TARGET SYMBOL INPUT...): compiles the inputs, one after the other, into TARGET as
#	extern const struct page_asset SYMBOL;
# compressed once and for all, with what identifies them (exporter/site/page.h).
find_program(GZIP_PROGRAM gzip REQUIRED)

function(page_asset target symbol)
  set(generated ${CMAKE_CURRENT_BINARY_DIR}/${symbol}.c)
  set(inputs)
  foreach(input IN LISTS ARGN)
    list(APPEND inputs ${PROJECT_SOURCE_DIR}/dashboards/web/${input})
  endforeach()
  add_custom_command(OUTPUT ${generated}
    COMMAND ${CMAKE_COMMAND} "-DINPUTS=${inputs}" -DOUTPUT=${generated} -DSYMBOL=${symbol} -DGZIP=${GZIP_PROGRAM}
      -P ${PROJECT_SOURCE_DIR}/deploy/cmake/PageAssetFile.cmake
    DEPENDS ${inputs} ${PROJECT_SOURCE_DIR}/deploy/cmake/PageAssetFile.cmake
    VERBATIM)
  target_sources(${target} PRIVATE ${generated})
endfunction()
