# Installs the man pages, the completions of shells, and the service of systemd beside the program.
option(INSTALL_SERVICE "Install the unit of systemd, its user, and its default file" ON)

if(CMAKE_CROSSCOMPILING)
  message(STATUS "No man pages and no completion: they are printed by the program, which does not run here")
else()
  set(pages ${PROJECT_BINARY_DIR}/pages)
  file(MAKE_DIRECTORY ${pages})
  foreach(page man man-routes bash zsh fish)
    add_custom_command(OUTPUT ${pages}/${page}
      COMMAND $<TARGET_FILE:rightsize-exporter> manual ${page} > ${pages}/${page}
      DEPENDS rightsize-exporter VERBATIM)
  endforeach()
  foreach(page man man-routes)
    add_custom_command(OUTPUT ${pages}/${page}.gz
      COMMAND gzip -9nc ${pages}/${page} > ${pages}/${page}.gz DEPENDS ${pages}/${page} VERBATIM)
  endforeach()
  add_custom_target(pages ALL
    DEPENDS ${pages}/man.gz ${pages}/man-routes.gz ${pages}/bash ${pages}/zsh ${pages}/fish)
  install(FILES ${pages}/man.gz DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 RENAME rightsize-exporter.1.gz)
  install(FILES ${pages}/man-routes.gz DESTINATION ${CMAKE_INSTALL_MANDIR}/man7
    RENAME rightsize-exporter-routes.7.gz)
  install(FILES ${pages}/bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions
    RENAME rightsize-exporter)
  install(FILES ${pages}/zsh DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions RENAME _rightsize-exporter)
  install(FILES ${pages}/fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d
    RENAME rightsize-exporter.fish)
endif()

install(DIRECTORY ${PROJECT_SOURCE_DIR}/deploy/manual DESTINATION ${CMAKE_INSTALL_DOCDIR}
  FILES_MATCHING PATTERN "*.md" PATTERN pictures EXCLUDE)
install(FILES ${PROJECT_SOURCE_DIR}/SECURITY.md DESTINATION ${CMAKE_INSTALL_DOCDIR})

if(INSTALL_SERVICE)
  install(CODE "set(service_source ${PROJECT_SOURCE_DIR}/deploy/systemd)")
  install(CODE "set(service_made ${PROJECT_BINARY_DIR}/service)")
  install(SCRIPT ${PROJECT_SOURCE_DIR}/deploy/cmake/InstallService.cmake)
endif()
