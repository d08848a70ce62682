#!/bin/sh
# Installs liblongmatch: headers, the shared and the static library, files for pkg-config and CMake, manual pages.
# cargo builds the libraries first: `cargo build --profile capi -p longmatch-capi`. DESTDIR is put before PREFIX.
set -eu

if [ $# -ne 2 ]; then
    echo "usage: install.sh BUILD PREFIX, such as: install.sh target/capi /usr/local" >&2
    exit 2
fi
build=$1
prefix=$2
own=$(cd "$(dirname "$0")" && pwd)
root=${DESTDIR:-}$prefix
for library in liblongmatch_capi.so liblongmatch_capi.a; do
    if [ ! -f "$build/$library" ]; then
        echo "install.sh: $build has no $library: run 'cargo build --profile capi -p longmatch-capi' first" >&2
        exit 1
    fi
done
version=$(sed -n '/^\[workspace.package\]/,/^version/s/^version = "\(.*\)"$/\1/p' "$own/../../Cargo.toml")
abi=$(sed -n 's/^const ABI: u32 = \([0-9]*\);$/\1/p' "$own/build.rs")

mkdir -p "$root/include" "$root/lib/pkgconfig" "$root/lib/cmake/longmatch" "$root/share/man/man3"
cp "$own/include/longmatch.h" "$own/include/longmatch.hpp" "$root/include/"
cp "$build/liblongmatch_capi.a" "$root/lib/liblongmatch.a"
cp "$build/liblongmatch_capi.so" "$root/lib/liblongmatch.so.$version"
ln -sf "liblongmatch.so.$version" "$root/lib/liblongmatch.so.$abi"
ln -sf "liblongmatch.so.$abi" "$root/lib/liblongmatch.so"
cp "$own/cmake/longmatch-config.cmake" "$root/lib/cmake/longmatch/"
sed "s/@VERSION@/$version/" "$own/cmake/longmatch-config-version.cmake.in" \
    >"$root/lib/cmake/longmatch/longmatch-config-version.cmake"
cat >"$root/lib/pkgconfig/longmatch.pc" <<EOF
prefix=$prefix
includedir=\${prefix}/include
libdir=\${prefix}/lib

Name: longmatch
Description: Longest-prefix match for IPv4 and IPv6
Version: $version
Libs: -L\${libdir} -llongmatch
Libs.private: -lpthread -ldl -lm
Cflags: -I\${includedir}
EOF
awk -v out="$root/share/man/man3" -v version="$version" -f "$own/man.awk" "$own/include/longmatch.h"
