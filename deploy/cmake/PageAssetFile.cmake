# Run by page_asset(): writes OUTPUT, a C file that defines struct page_asset SYMBOL from the INPUTS.
set(whole ${OUTPUT}.bundle)
execute_process(COMMAND ${CMAKE_COMMAND} -E cat ${INPUTS} OUTPUT_FILE ${whole} COMMAND_ERROR_IS_FATAL ANY)
# -n: neither name nor time, so that the same inputs give the same bytes.
execute_process(COMMAND ${GZIP} -9 -n -c ${whole} OUTPUT_FILE ${whole}.gz COMMAND_ERROR_IS_FATAL ANY)
file(SIZE ${whole} size)
file(SHA256 ${whole} hash)

# A Content-Security-Policy wants the hash in base64. Six hexadecimal digits are four characters; the last four of the
# 64 digits become three characters and "=".
set(alphabet ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/)
set(base64 "")
foreach(i RANGE 0 60 6)
  string(SUBSTRING "${hash}0000" ${i} 6 digits)
  foreach(shift 18 12 6 0)
    math(EXPR index "(0x${digits} >> ${shift}) & 63")
    string(SUBSTRING ${alphabet} ${index} 1 character)
    string(APPEND base64 ${character})
  endforeach()
endforeach()
string(SUBSTRING ${base64} 0 43 base64)
string(SUBSTRING ${hash} 0 32 tag)

file(READ ${whole}.gz bytes HEX)
string(LENGTH "${bytes}" digits)
math(EXPR gzip_size "${digits} / 2")
string(REGEX REPLACE "(................................)" "\\1\n" bytes "${bytes}")
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
file(WRITE ${OUTPUT} "#include \"exporter/site/page.h\"

static const unsigned char gzip[] = {
${bytes}
};

const struct page_asset ${SYMBOL} = {
	.etag = \"\\\"${tag}\\\"\",
	.sha256 = \"${base64}=\",
	.gzip = gzip,
	.gzip_size = ${gzip_size},
	.size = ${size},
};
")
file(REMOVE ${whole} ${whole}.gz)
