# A bill of materials beside the program, in builds that are installed: build/*/rightsize-exporter.cdx.json, by the target sbom.
find_program(READELF NAMES ${CMAKE_READELF} readelf)
set(sbom ${PROJECT_BINARY_DIR}/rightsize-exporter.cdx.json)

if(READELF)
  add_custom_command(OUTPUT ${sbom}
    COMMAND ${CMAKE_COMMAND} -E env READELF=${READELF} ${PROJECT_SOURCE_DIR}/deploy/sbom.sh $<TARGET_FILE:rightsize-exporter>
      ${PROJECT_VERSION} ${CMAKE_C_COMPILER} ${CURL_VERSION} ${PROJECT_SOURCE_DIR} > ${sbom}
    DEPENDS rightsize-exporter ${PROJECT_SOURCE_DIR}/deploy/sbom.sh VERBATIM)
  if(BUILD_TESTING)
    add_custom_target(sbom DEPENDS ${sbom})
  else()
    add_custom_target(sbom ALL DEPENDS ${sbom})
    install(FILES ${sbom} DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/rightsize-exporter)
  endif()
else()
  message(STATUS "No bill of materials: there is no readelf")
endif()
