# embed.cmake - the text of a file as a C array, so that the library carries
# the header that generated programs are compiled with.
#   cmake -DINPUT=... -DOUTPUT=... -DNAME=... -P embed.cmake
file(READ "${INPUT}" bytes HEX)
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
file(WRITE "${OUTPUT}" "/* made from ${NAME} by cmake/embed.cmake */
#include \"language/load/compile.h\"
const char ${NAME}[] = {${bytes}0};
")
