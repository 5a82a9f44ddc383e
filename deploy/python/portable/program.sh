#!/bin/bash
# One rightsize-exporter for every Linux with glibc >= 2.17: all libraries inside but libc, so that dlopen still works.
#
# Usage: program.sh x86_64|aarch64      -> $ROOT/out/$arch/bin/rightsize-exporter
#   ROOT: a scratch folder, where finished libraries are kept; GLIBC: the oldest version that is to run it (2.17)
# Needs: apt-get install cmake ninja-build pkg-config dpkg-dev autoconf automake libtool m4 perl tcl; pip install ziglang
# Sources: Debian's, with Debian's fixes (deb-src lines in a private apt configuration, see sources()).
# shellcheck disable=SC2086,SC2016 # $CFLAGS is words; $(REPO_URI) is apt's
set -euo pipefail
arch=${1:?x86_64 or aarch64}
ROOT=${ROOT:?a scratch folder} GLIBC=${GLIBC:-2.17}
tool=$(cd "$(dirname "$0")" && pwd)
SOURCE=$(cd "$tool/../../.." && pwd)
mkdir -p "$ROOT" && ROOT=$(cd "$ROOT" && pwd)
export ZIG=${ZIG:-$(python3 -c 'import ziglang,os;print(os.path.dirname(ziglang.__file__)+"/zig")')}
export ZIG_TARGET=$arch-linux-gnu.$GLIBC ZIG_GLOBAL_CACHE_DIR=$ROOT/zigcache ZIG_LOCAL_CACHE_DIR=$ROOT/zigcache
export CC=$tool/zig-cc AR=$tool/zig-ar RANLIB=$tool/zig-ranlib
prefix=$ROOT/prefix/$arch-$GLIBC build=$ROOT/build/$arch-$GLIBC src=$ROOT/dl/src host=$arch-linux-gnu
# -g0: half the size. -fno-sanitize=all: without -O zig adds UBSan. Sections: so that --gc-sections drops what is not called.
export CFLAGS="-O2 -g0 -fPIC -fno-sanitize=all -fstack-protector-strong -ffunction-sections -fdata-sections -ffile-prefix-map=$ROOT=."
export PKG_CONFIG_LIBDIR=$prefix/lib/pkgconfig PKG_CONFIG_PATH= # never the machine's own libraries
mkdir -p "$prefix/lib/pkgconfig" "$prefix/include" "$build"

# step NAME FUNCTION: once, in a folder of its own, and says what CPU time it took.
step() {
	[ ! -e "$build/$1.done" ] || return 0
	rm -rf "${build:?}/$1"; mkdir -p "$build/$1"
	# In the background, since "if (...)" or "(...) ||" would switch set -e off inside.
	(cd "$build/$1"; TIMEFORMAT="$1 $arch: %R s, CPU %U + %S"; { time "${@:2}" >"$build/$1.log" 2>&1; } 2>>"$build/times") &
	wait $! || { echo "$1 failed:"; tail -30 "$build/$1.log"; exit 1; }
	tail -1 "$build/times"; touch "$build/$1.done"
}
# --build is given always: with --host alone a program that happens to run here would make it a native build, tuned for this CPU.
configure() { "$1"/configure --host="$host" --build=x86_64-linux-gnu --prefix="$prefix" --disable-shared --enable-static "${@:2}"; }
autotools() { configure "$@"; make -j2 "${MAKE_V:-V=0}"; make install; }
with_cmake() {
	cmake -G Ninja -S "$1" -B . -DCMAKE_BUILD_TYPE=None -DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR="$arch" -DCMAKE_C_COMPILER="$CC" \
		-DCMAKE_AR="$AR" -DCMAKE_RANLIB="$RANLIB" -DCMAKE_INSTALL_PREFIX="$prefix" -DCMAKE_INSTALL_LIBDIR=lib -DBUILD_SHARED_LIBS=OFF \
		-DCMAKE_FIND_ROOT_PATH="$prefix" -DCMAKE_FIND_ROOT_PATH_MODE_INCLUDE=ONLY -DCMAKE_FIND_ROOT_PATH_MODE_LIBRARY=ONLY -Wno-dev "${@:2}"
	ninja -j2 install
}
pc() { printf 'Name: %s\nDescription: static\nVersion: %s\nCflags: -I%s/include %s\nLibs: -L%s/lib %s\n' "$1" "$2" "$prefix" "${4:-}" "$prefix" "$3" >"$prefix/lib/pkgconfig/$1.pc"; }

zlib() { cp -a "$src"/zlib-*/. .; CHOST=$host ./configure --static --prefix="$prefix"; make -j2 libz.a; make install; }
jansson() { with_cmake "$src"/jansson-* -DJANSSON_BUILD_DOCS=OFF -DJANSSON_WITHOUT_TESTS=ON -DJANSSON_EXAMPLES=OFF; }
yaml() { with_cmake "$src"/libyaml-* -DBUILD_TESTING=OFF; pc yaml-0.1 0.2.5 -lyaml -DYAML_DECLARE_STATIC; }
pcre2() { with_cmake "$src"/pcre2-* -DPCRE2_BUILD_PCRE2GREP=OFF -DPCRE2_BUILD_TESTS=OFF -DPCRE2_SUPPORT_UNICODE=ON; pc libpcre2-8 10.42 -lpcre2-8 -DPCRE2_STATIC; }
# The amalgamation needs tclsh; the options are those of Debian's package that the program's SQL and calls need.
sqlite() {
	cp -a "$src"/sqlite3-*/. .; CC=gcc CFLAGS=-O0 ./configure -q --disable-tcl --disable-readline >/dev/null; make -s sqlite3.c >/dev/null
	$CC $CFLAGS -DSQLITE_THREADSAFE=1 -DSQLITE_OMIT_LOAD_EXTENSION -DSQLITE_OMIT_LOOKASIDE=1 -DSQLITE_ENABLE_DBSTAT_VTAB -DSQLITE_USE_URI=1 -DSQLITE_ENABLE_COLUMN_METADATA \
		-DHAVE_USLEEP=1 -DHAVE_FDATASYNC=1 -DHAVE_LOCALTIME_R=1 -DHAVE_GMTIME_R=1 -DHAVE_STRCHRNUL=1 -c sqlite3.c
	$AR rcs "$prefix/lib/libsqlite3.a" sqlite3.o; cp sqlite3.h "$prefix/include/"; pc sqlite3 3.40.1 -lsqlite3
}
# htpasswd writes $2y$, which is bcrypt_y and no part of bcrypt.
xcrypt() { cp -a "$src"/libxcrypt-*/. .; autoreconf -fi; autotools . --enable-hashes=bcrypt,bcrypt_a,bcrypt_y --disable-obsolete-api --disable-xcrypt-compat-files --disable-werror; }
gmp() { cp -a "$src"/gmp-*/. .; mkdir -p doc; echo 'all install:' >doc/Makefile.in; autotools .; } # Debian's has no doc/ (licence), which its configure misses
nettle() { autotools "$src"/nettle-* --disable-documentation --disable-openssl --enable-fat --with-include-path="$prefix/include" --with-lib-path="$prefix/lib" --libdir="$prefix/lib"; }
# No PKCS#11, IDN, TPM, compression, DANE: nothing here calls them. libtasn1 and unistring are its own copies.
gnutls() {
	autotools "$src"/gnutls28-* --disable-doc --disable-tests --disable-tools --disable-cxx --disable-guile --disable-libdane --disable-nls \
		--without-p11-kit --without-idn --without-tpm --without-tpm2 --without-zlib --without-brotli --without-zstd --with-included-libtasn1 \
		--with-included-unistring --disable-full-test-suite --disable-rpath --disable-maintainer-mode \
		--with-default-trust-store-file=/etc/ssl/certs/ca-certificates.crt GMP_CFLAGS="-I$prefix/include" GMP_LIBS="-L$prefix/lib -lgmp"
	# Debian's fix adds a file to gl/Makefile.am alone; without autoreconf (which wants gtk-doc, autopoint) it is not built.
	$CC $CFLAGS -DHAVE_CONFIG_H -I. -Igl -I"$(echo "$src"/gnutls28-*)/gl" -c "$src"/gnutls28-*/gl/gl_linkedhash_list.c -o list.o; $AR r "$prefix/lib/libgnutls.a" list.o
}
microhttpd() {
	autotools "$src"/libmicrohttpd-* --disable-doc --disable-examples --disable-curl --disable-postprocessor --disable-dauth --disable-bauth \
		--enable-https=yes --with-gnutls=yes "GNUTLS_LIBS=-L$prefix/lib -lgnutls -lhogweed -lnettle -lgmp"
}
# HTTP and HTTPS alone, as download.c asks for no more. A machine without the bundle of certificates names its own.
curl() {
	local off
	off=$(printf -- '--disable-%s ' ftp file ldap ldaps rtsp dict telnet tftp pop3 imap smb smtp gopher mqtt manual libcurl-option unix-sockets ntlm alt-svc hsts tls-srp)
	autotools "$src"/curl-* $off --without-brotli --without-zstd --without-libpsl --without-libidn2 --without-nghttp2 --without-librtmp \
		--without-libssh2 --without-zsh-functions-dir --without-fish-functions-dir --enable-threaded-resolver --with-zlib="$prefix" --with-gnutls="$prefix" \
		--with-ca-bundle=/etc/ssl/certs/ca-certificates.crt LIBS="-L$prefix/lib -lgnutls -lhogweed -lnettle -lgmp -lz -lpthread"
}
old_glibc() { $CC $CFLAGS -U_FORTIFY_SOURCE -D_GNU_SOURCE -I"$tool" -c "$tool/old_glibc.c" -o old.o; rm -f "$prefix/lib/libold.a"; $AR rcs "$prefix/lib/libold.a" old.o; }
program() {
	with_cmake "$SOURCE" -DCMAKE_BUILD_TYPE=Release -DBUILD_TESTING=OFF -DINSTALL_SERVICE=OFF -DREADELF=0 \
		-DCMAKE_C_FLAGS="$CFLAGS -DCURL_INSIDE -include $tool/old_glibc.h -include $prefix/include/jansson_config.h" -DCMAKE_C_FLAGS_RELEASE=-DNDEBUG \
		-DCMAKE_EXE_LINKER_FLAGS="-Wl,--gc-sections -Wl,-s" -DCMAKE_INSTALL_PREFIX="$ROOT/out/$arch" \
		-DCMAKE_C_STANDARD_LIBRARIES="-L$prefix/lib -lcurl -lgnutls -lhogweed -lnettle -lgmp -lz -lold -lm -ldl -lpthread"
}
# From the same suites as the machine's own packages, so that a security update of Debian is one new build away. Write down the
# versions (ls *.dsc): they are the bill of materials, which deploy/sbom.sh cannot see in a static program.
sources() {
	local apt=$ROOT/apt name
	mkdir -p "$src" "$apt"/{lists/partial,cache/archives/partial}
	[ ! -e "$src/.done" ] || return 0
	# the mirrors that this machine's apt uses already, with their sources
	apt-get indextargets --format '$(REPO_URI) $(CODENAME)' | sort -u | awk '/debian(-security)?\/ bookworm/{print "deb-src " $1 " " $2 " main"}' >"$apt/sources.list"
	printf 'Dir::Etc::sourcelist "%s/sources.list";\nDir::Etc::sourceparts "-";\nDir::State::lists "%s/lists";\nDir::Cache "%s/cache";\nAPT::Sandbox::User "root";\n' "$apt" "$apt" "$apt" >"$apt/apt.conf"
	export APT_CONFIG=$apt/apt.conf
	apt-get -q update
	cd "$src"
	for name in zlib jansson libyaml sqlite3 libxcrypt libmicrohttpd nettle gmp gnutls28 pcre2 curl; do
		apt-get -q source $name || apt-get -q source $name/bookworm # where a mirror has lost the security pool's
	done
	touch .done
}
(sources >"$ROOT/sources.log" 2>&1) & wait $! || { tail "$ROOT/sources.log"; exit 1; }
for name in zlib jansson yaml pcre2 sqlite xcrypt old_glibc gmp nettle gnutls microhttpd curl; do step $name $name; done
rm -f "$build/program.done"
step program program
file=$ROOT/out/$arch/bin/rightsize-exporter
ls -l "$file"
# The program needs nothing newer than GLIBC, and no library but libc's.
objdump -T "$file" | grep -o 'GLIBC_[0-9.]*' | sort -uV | tail -1
readelf -d "$file" | grep NEEDED
