#!/bin/sh
# Installs liblongmatch, and liblongmatch-feed where it is built: headers, shared and static libraries, files for pkg-config
# and CMake, manual pages. cargo builds the libraries first: `cargo build --profile capi -p longmatch-capi -p
# longmatch-feed-capi`. DESTDIR is put before PREFIX.
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

# Libraries and the file of pkg-config: the name of the package, the description, and the packages that it needs.
install_library() {
    built=$(echo "lib$1_capi" | tr - _)
    cp "$build/$built.a" "$root/lib/lib$1.a"
    cp "$build/$built.so" "$root/lib/lib$1.so.$version"
    ln -sf "lib$1.so.$version" "$root/lib/lib$1.so.$abi"
    ln -sf "lib$1.so.$abi" "$root/lib/lib$1.so"
    cat >"$root/lib/pkgconfig/$1.pc" <<EOF
prefix=$prefix
includedir=\${prefix}/include
libdir=\${prefix}/lib

Name: $1
Description: $2
Version: $version
Requires: $3
Libs: -L\${libdir} -l$1
Libs.private: -lgcc_eh -lpthread -ldl -lm
Cflags: -I\${includedir}
EOF
}

mkdir -p "$root/include" "$root/lib/pkgconfig" "$root/lib/cmake/longmatch" "$root/share/man/man3"
cp "$own/include/longmatch.h" "$own/include/longmatch.hpp" "$root/include/"
install_library longmatch "Longest-prefix match for IPv4 and IPv6" ""
cp "$own"/cmake/*.cmake "$root/lib/cmake/longmatch/"
awk -v out="$root/share/man/man3" -v version="$version" -v header=longmatch.h -f "$own/man.awk" "$own/include/longmatch.h"
if [ -f "$build/liblongmatch_feed_capi.so" ]; then
    install_library longmatch-feed "Compiled tables of any list of prefixes" longmatch
    header=$own/../longmatch-feed-capi/include/longmatch-feed.h
    cp "$header" "$root/include/"
    awk -v out="$root/share/man/man3" -v version="$version" -v header=longmatch-feed.h -f "$own/man.awk" "$header"
fi
