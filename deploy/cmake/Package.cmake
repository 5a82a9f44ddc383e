# The Debian package: cmake --preset package && cmake --build --preset package && cpack --config build/package/CPackConfig.cmake -B build/package
set(debian ${PROJECT_SOURCE_DIR}/deploy/debian)
set(doc ${CMAKE_INSTALL_DATADIR}/doc/rightsize-exporter)

if(DEBIAN_PACKAGE)
  install(FILES ${debian}/copyright DESTINATION ${doc})
  add_custom_command(OUTPUT ${PROJECT_BINARY_DIR}/changelog.gz
    COMMAND gzip -9nc ${debian}/changelog > ${PROJECT_BINARY_DIR}/changelog.gz
    DEPENDS ${debian}/changelog VERBATIM)
  add_custom_target(changelog ALL DEPENDS ${PROJECT_BINARY_DIR}/changelog.gz)
  install(FILES ${PROJECT_BINARY_DIR}/changelog.gz DESTINATION ${doc})
endif()

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME rightsize-exporter)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
# The person who builds a package is its maintainer: DEBFULLNAME and DEBEMAIL, as with Debian's own tools. The project
# itself has no mail address, so the default is a name that never exists (RFC 2606).
set(builder "$ENV{DEBFULLNAME}")
set(address "$ENV{DEBEMAIL}")
if(NOT address)
  set(address maintainers@rightsize-exporter.invalid)
endif()
if(NOT builder)
  set(builder rightsize-exporter)
endif()
set(CPACK_PACKAGE_CONTACT "${builder} <${address}>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "watches batch jobs, and says what to request next time")
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION "Watches the process tree of a batch job, keeps the history of its runs in one
SQLite file, serves metrics for Prometheus, and answers what to ask for next
time, on which cloud server, and what it will cost.
.
Run a job under it, or run it as a service that sees jobs by itself.")
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION admin)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
# systemd makes the user and the folders; libcurl is loaded when a catalogue is fetched or runs are forwarded.
set(CPACK_DEBIAN_PACKAGE_DEPENDS systemd)
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "libcurl4 | libcurl3-gnutls, ca-certificates")
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA ${debian}/postinst ${debian}/prerm ${debian}/postrm ${debian}/conffiles)
set(CPACK_STRIP_FILES ON)
# The modes do not depend on the umask of the person who builds the package.
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
# With DESTDIR, the unit has the final paths.
set(CPACK_SET_DESTDIR ON)
set(CPACK_INSTALL_PREFIX /usr)
include(CPack)
