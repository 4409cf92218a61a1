#include "proxy/app/demo_tally.hpp"

#include <catch2/catch.hpp>

namespace freshet::test {
namespace {

using app::DemoTally;
using namespace std::chrono_literals;

constexpr Duration patience = 3s;

DemoTally::Moment at(Duration since_start) {
  return DemoTally::Moment(std::chrono::hours(1)) + since_start;
}

TEST_CASE("the demo: a change that is told counts with its lag") {
  DemoTally tally(patience);
  tally.changed("deploy://api", "2", at(0s));
  CHECK(tally.told("deploy://api", "2", at(700ms)) == Duration(700ms));
  const auto sum = tally.summary(at(60s));
  CHECK(sum.changes == 1);
  CHECK(sum.told == 1);
  CHECK(sum.lag_max == Duration(700ms));
  CHECK(sum.missed == 0);
}

TEST_CASE("the demo: a change that lasted and was not told is missed, and named") {
  DemoTally tally(patience);
  tally.changed("deploy://api", "2", at(0s));
  CHECK(tally.summary(at(3s)).missed == 0);
  CHECK(tally.summary(at(3s)).too_new == 1);
  const auto sum = tally.summary(at(3001ms));
  CHECK(sum.missed == 1);
  CHECK(sum.first_missed == "deploy://api: 2");
}

TEST_CASE("the demo: a change that was gone before the next poll is passed over") {
  DemoTally tally(patience);
  tally.changed("deploy://api", "2", at(0s));
  tally.changed("deploy://api", "3", at(1s));
  tally.told("deploy://api", "3", at(2s));
  const auto sum = tally.summary(at(60s));
  CHECK(sum.passed_over == 1);
  CHECK(sum.told == 1);
  CHECK(sum.missed == 0);
}

TEST_CASE("the demo: a change may be told just after the next one came") {
  DemoTally tally(patience);
  tally.changed("deploy://api", "2", at(0s));
  tally.changed("deploy://api", "3", at(3500ms));
  CHECK(tally.told("deploy://api", "2", at(3510ms)) == Duration(3510ms));
  CHECK(tally.told("deploy://api", "3", at(4s)) == Duration(500ms));
  CHECK(tally.summary(at(60s)).missed == 0);
}

TEST_CASE("the demo: nothing is told twice, and nothing that nobody changed") {
  DemoTally tally(patience);
  tally.changed("deploy://api", "2", at(0s));
  tally.told("deploy://api", "2", at(1s));
  CHECK_FALSE(tally.told("deploy://api", "2", at(2s)));
  CHECK_FALSE(tally.told("deploy://web", "2", at(2s)));
  CHECK(tally.summary(at(60s)).told == 1);
}

}  // namespace
}  // namespace freshet::test
