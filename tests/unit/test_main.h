/* The headers of every cmocka program, in the order that cmocka needs. */
#ifndef TESTS_UNIT_TEST_MAIN_H
#define TESTS_UNIT_TEST_MAIN_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "collectors/base/mem.h"

/* cmocka passes a state to every test; most do not use it. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

/* cmocka of Debian 12 only compares floats. NaN is not equal to any value. */
#ifndef assert_double_equal
#define assert_double_equal(a, b, epsilon)                                                         \
	do {                                                                                       \
		double a_ = (a), b_ = (b);                                                         \
		if (!(fabs(a_ - b_) <= (epsilon)))                                                 \
			fail_msg("%s is %.17g, not %.17g", #a, a_, b_);                            \
	} while (0)
#endif

/* FREEP(catalogue) defines catalogue_freep() for AUTO; it calls catalogue_free(). */
#define FREEP(type)                                                                                \
	static void type##_freep(struct type **p)                                                  \
	{                                                                                          \
		type##_free(*p);                                                                   \
	}

#endif
