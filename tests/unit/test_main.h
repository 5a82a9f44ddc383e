/* Headers that every cmocka program includes, in the order that cmocka needs. */
#ifndef TESTS_UNIT_TEST_MAIN_H
#define TESTS_UNIT_TEST_MAIN_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "collectors/base/mem.h"

/* cmocka hands a state to every test; most have none. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

/* cmocka of Debian 12 compares floats only. NaN equals nothing. */
#ifndef assert_double_equal
#define assert_double_equal(a, b, epsilon)                                                         \
	do {                                                                                       \
		double a_ = (a), b_ = (b);                                                         \
		if (!(fabs(a_ - b_) <= (epsilon)))                                                 \
			fail_msg("%s is %.17g, not %.17g", #a, a_, b_);                            \
	} while (0)
#endif

/* FREEP(catalogue) is catalogue_freep, for AUTO, by catalogue_free. */
#define FREEP(type)                                                                                \
	static void type##_freep(struct type **p)                                                  \
	{                                                                                          \
		type##_free(*p);                                                                   \
	}

#endif
