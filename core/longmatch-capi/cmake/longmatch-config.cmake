# find_package(longmatch): the targets longmatch::longmatch (shared) and longmatch::longmatch-static.
# The file lies in PREFIX/lib/cmake/longmatch or PREFIX/share/cmake/longmatch.
get_filename_component(_longmatch_prefix "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
set(_longmatch_dirs "${_longmatch_prefix}/lib" "${_longmatch_prefix}/lib/${CMAKE_LIBRARY_ARCHITECTURE}" "${_longmatch_prefix}/lib64")
find_library(LONGMATCH_SHARED NAMES liblongmatch.so PATHS ${_longmatch_dirs} NO_DEFAULT_PATH)
find_library(LONGMATCH_STATIC NAMES liblongmatch.a PATHS ${_longmatch_dirs} NO_DEFAULT_PATH)
mark_as_advanced(LONGMATCH_SHARED LONGMATCH_STATIC)
if(NOT LONGMATCH_SHARED OR NOT LONGMATCH_STATIC)
  set(longmatch_FOUND FALSE)
  set(longmatch_NOT_FOUND_MESSAGE "liblongmatch.so or liblongmatch.a is in none of ${_longmatch_dirs}")
  return()
endif()
find_package(Threads REQUIRED)

if(NOT TARGET longmatch::longmatch)
  add_library(longmatch::longmatch SHARED IMPORTED)
  set_target_properties(longmatch::longmatch PROPERTIES
    IMPORTED_LOCATION "${LONGMATCH_SHARED}"
    IMPORTED_SONAME "liblongmatch.so.0"
    INTERFACE_INCLUDE_DIRECTORIES "${_longmatch_prefix}/include")
  add_library(longmatch::longmatch-static STATIC IMPORTED)
  set_target_properties(longmatch::longmatch-static PROPERTIES
    IMPORTED_LOCATION "${LONGMATCH_STATIC}"
    INTERFACE_INCLUDE_DIRECTORIES "${_longmatch_prefix}/include"
    INTERFACE_LINK_LIBRARIES "Threads::Threads;${CMAKE_DL_LIBS};m;gcc_eh")
endif()
