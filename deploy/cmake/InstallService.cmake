# cmake --install runs it when the installation folder is known: the unit names the program's path, and below /usr the
# default file belongs into /etc.
set(units rightsize-exporter.service rightsize-exporter.socket)
set(etc ${CMAKE_INSTALL_PREFIX}/etc)
if(CMAKE_INSTALL_PREFIX STREQUAL "/usr")
  set(etc /etc)
endif()

foreach(unit IN LISTS units)
  file(READ ${service_source}/${unit} text)
  string(REPLACE "/usr/bin/" "${CMAKE_INSTALL_PREFIX}/bin/" text "${text}")
  string(REPLACE "/etc/default/" "${etc}/default/" text "${text}")
  file(WRITE ${service_made}/${unit} "${text}")
  file(INSTALL DESTINATION ${CMAKE_INSTALL_PREFIX}/lib/systemd/system TYPE FILE
    FILES ${service_made}/${unit})
endforeach()
file(INSTALL DESTINATION ${CMAKE_INSTALL_PREFIX}/lib/sysusers.d TYPE FILE RENAME rightsize-exporter.conf
  FILES ${service_source}/rightsize-exporter.sysusers)
file(INSTALL DESTINATION ${CMAKE_INSTALL_PREFIX}/lib/tmpfiles.d TYPE FILE RENAME rightsize-exporter.conf
  FILES ${service_source}/rightsize-exporter.tmpfiles)
# A file that an administrator changed is kept.
if(NOT EXISTS "$ENV{DESTDIR}${etc}/default/rightsize-exporter")
  file(INSTALL DESTINATION ${etc}/default TYPE FILE RENAME rightsize-exporter
    FILES ${service_source}/rightsize-exporter.default)
endif()
