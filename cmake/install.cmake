# What `make install PREFIX=...` puts where.
configure_file(${CMAKE_SOURCE_DIR}/cmake/tempera.pc.in
               ${CMAKE_BINARY_DIR}/tempera.pc @ONLY)
install(TARGETS tempera tempera-reproduce tempera-shared tempera-static)
if(TARGET tempera-${VARIANT})
  install(TARGETS tempera-${VARIANT}
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/${VARIANT_FOLDER}
    NAMELINK_SKIP)
endif()
if(TARGET tempera-mpi)
  install(TARGETS tempera-mpi LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()
install(FILES include/tempera.h include/tempera_mpi.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(FILES ${CMAKE_BINARY_DIR}/tempera.pc
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
install(FILES completions/tempera.bash RENAME tempera
        DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
install(FILES completions/_tempera
        DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
file(GLOB MAN_PAGES CONFIGURE_DEPENDS docs/man/*.1)
install(FILES ${MAN_PAGES} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
