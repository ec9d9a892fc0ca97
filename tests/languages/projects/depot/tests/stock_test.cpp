#include "stock.h"

#include <gtest/gtest.h>

TEST(Stock, CountsAddUp) {
  int got = total(2, 3);
  EXPECT_EQ(got, 5);
}

TEST(Stock, EmptyIsZero) { EXPECT_EQ(total(0, 3), 0); }
