#include <catch2/catch.hpp>

static int total(int boxes, int weight) { return boxes * weight; }

TEST_CASE("counts add up", "[shed]") {
  int got = total(2, 3);
  SECTION("of two") { CHECK(got == 5); }
  SECTION("of one") { CHECK(total(1, 3) == 3); }
}

TEST_CASE("empty is zero") { REQUIRE(total(0, 3) == 0); }
