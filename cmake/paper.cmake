# paper.cmake - the data, exact answers and published numbers of the paper's
# models as one C table, so that `tempera reproduce` needs no file.
#   cmake -DOUTPUT=... -DFOLDER=... -P paper.cmake
file(GLOB files "${FOLDER}/*.json")
set(arrays "")
set(table "")
set(index 0)
foreach(file ${files})
  get_filename_component(name "${file}" NAME)
  file(READ "${file}" bytes HEX)
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
  string(APPEND arrays "static const char file_${index}[] = {${bytes}0};\n")
  string(APPEND table "    {\"${name}\", file_${index}},\n")
  math(EXPR index "${index} + 1")
endforeach()
file(WRITE "${OUTPUT}" "/* made from models/paper by cmake/paper.cmake */
#include \"reproduce/paper_models.h\"

${arrays}
const tm_paper_file tm_paper_files[] = {
${table}    {0, 0}};
")
