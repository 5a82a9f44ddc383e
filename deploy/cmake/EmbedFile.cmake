# Run by embed(): writes OUTPUT, a C file with the bytes of INPUT and a NUL that SYMBOL_size does not count.
file(READ ${INPUT} bytes HEX)
string(LENGTH "${bytes}" digits)
math(EXPR size "${digits} / 2")
string(REGEX REPLACE "(................................)" "\\1\n" bytes "${bytes}")
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
file(WRITE ${OUTPUT} "#include <stddef.h>

extern const unsigned char ${SYMBOL}[];
extern const size_t ${SYMBOL}_size;

const size_t ${SYMBOL}_size = ${size};
const unsigned char ${SYMBOL}[] = {
${bytes}0x00
};
")
