/* cmocka_all.h - cmocka with the headers it needs before it. */
#ifndef TM_TESTS_CMOCKA_ALL_H
#define TM_TESTS_CMOCKA_ALL_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#endif
