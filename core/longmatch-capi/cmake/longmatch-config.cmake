# find_package(longmatch): the targets longmatch::longmatch (shared) and longmatch::longmatch-static.
get_filename_component(_longmatch_lib "${CMAKE_CURRENT_LIST_DIR}/../.." ABSOLUTE)
get_filename_component(_longmatch_prefix "${_longmatch_lib}/.." ABSOLUTE)
find_package(Threads REQUIRED)

if(NOT TARGET longmatch::longmatch)
  add_library(longmatch::longmatch SHARED IMPORTED)
  set_target_properties(longmatch::longmatch PROPERTIES
    IMPORTED_LOCATION "${_longmatch_lib}/liblongmatch.so"
    IMPORTED_SONAME "liblongmatch.so.0"
    INTERFACE_INCLUDE_DIRECTORIES "${_longmatch_prefix}/include")
  add_library(longmatch::longmatch-static STATIC IMPORTED)
  set_target_properties(longmatch::longmatch-static PROPERTIES
    IMPORTED_LOCATION "${_longmatch_lib}/liblongmatch.a"
    INTERFACE_INCLUDE_DIRECTORIES "${_longmatch_prefix}/include"
    INTERFACE_LINK_LIBRARIES "Threads::Threads;${CMAKE_DL_LIBS};m;gcc_eh")
endif()
