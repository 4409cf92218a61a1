// What `freshet status` and `freshet top` write, from what /status says.
#include "proxy/app/status_text.hpp"

#include <algorithm>

#include <catch2/catch.hpp>

namespace freshet::test {
namespace {

using admin::Json;
using app::status_text;
using app::top_text;

Json status() {
  return Json::parse(R"({
    "version": "1.2.3", "uptime_s": 60.5, "draining": false,
    "partners": [{"name": "acme", "rate_per_s": 10.0, "wished_per_s": 3.25, "waiting": 2,
                  "requests_per_s": {"total": 4.5, "client": 1.0, "poll": 3.0, "other": 0.5},
                  "requests_per_s_last_hour": {"total": 123.4},
                  "paused": {"reason": "throttled", "seconds_left": 12.0}}],
    "upstreams": [{"name": "notes", "declared": {"era": "legacy", "strategy": "poll", "declares": "resources",
                   "why": "subscribe is not declared"}, "health": {"state": "failing"},
                   "heals": {"healed": 7, "failed": 1}, "sessions": {"total": 3},
                   "subscriptions": {"total": 9, "overdue": 5, "worst_age_s": 99.5}}],
    "subscriptions": {"total": 9, "items": [
      {"uri": "note://a", "upstream": "notes", "strategy": "poll", "state": "active", "age_s": 1.5, "bound_s": 33.0,
       "next_read_in_s": null}]},
    "events": [{"at": "2026-01-01T00:00:00Z", "kind": "partner_paused", "subject": "acme", "detail": "throttled, for 12 s",
                "count": 1}]
  })");
}

// The cells of the first line that begins so, separated by single blanks.
std::string line_of(const std::string& text, std::string_view begin) {
  const auto at = text.find("\n" + std::string(begin));
  REQUIRE(at != std::string::npos);
  std::string line = text.substr(at + 1, text.find('\n', at + 1) - at - 1);
  const auto last =
      std::unique(line.begin(), line.end(), [](char left, char right) { return left == ' ' && right == ' '; });
  line.erase(last, line.end());
  return line;
}

TEST_CASE("status says of partners, upstreams, events and subscriptions what /status says") {
  const std::string text = status_text(status());
  CHECK(text.starts_with("freshet 1.2.3  up 60.5 s  9 subscriptions\n"));
  CHECK(line_of(text, "acme") == "acme 4.50 10.0 1.00 3.00 0.50 3.25 123 2 throttled 12.0");
  CHECK(line_of(text, "UPSTREAM").starts_with("UPSTREAM ERA STRATEGY HEALTH"));
  CHECK(line_of(text, "notes") == "notes legacy poll failing 3 9 5 99.5 7 1 resources subscribe is not declared");
  CHECK(line_of(text, "note://a") == "note://a notes poll active 1.50 33.0 -");
  CHECK(line_of(text, "2026") == "2026-01-01T00:00:00Z partner_paused acme throttled, for 12 s 1");
}

TEST_CASE("a sidecar that drains says so") {
  Json draining = status();
  draining["draining"] = true;
  CHECK(status_text(draining).find("  draining  ") != std::string::npos);
}

TEST_CASE("columns line up, and no line ends in blanks") {
  Json two = status();
  two["partners"].push_back(two["partners"][0]);
  two["partners"][1]["name"] = "ümläut and more";  // as wide as it looks, not as it is long
  const std::string text = status_text(two);
  std::vector<std::size_t> columns;
  for (const char* name : {"\nacme", "\nümläut"}) {
    const auto begin = text.find(name) + 1;
    const std::string line = text.substr(begin, text.find("4.50", begin) - begin);
    columns.push_back(static_cast<std::size_t>(
        std::ranges::count_if(line, [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; })));
  }
  CHECK(columns[0] == columns[1]);
  CHECK(text.find(" \n") == std::string::npos);
}

TEST_CASE("what an older sidecar does not say shows as a dash") {
  CHECK(status_text(Json::object()).starts_with("freshet -  up - s  - subscriptions\n"));
  Json older = status();
  older["upstreams"][0].erase("declared");
  CHECK(line_of(status_text(older), "notes") == "notes - - failing 3 9 5 99.5 7 1 - -");
}

TEST_CASE("a name cannot steer the terminal") {
  Json hostile = status();
  hostile["subscriptions"]["items"][0]["uri"] = "a\x1b[2J\x07\n\x7f\xc2\x9bz\xc3\xa4";
  const std::string text = status_text(hostile);
  CHECK(text.find("a?[2J????z\xc3\xa4") != std::string::npos);
}

TEST_CASE("top keeps within the screen, with its last line empty") {
  Json many = status();
  for (int i = 0; i < 100; ++i) many["subscriptions"]["items"].push_back(many["subscriptions"]["items"][0]);
  many["upstreams"][0]["name"] = std::string(200, 'u');
  for (const app::TextSize size : {app::TextSize{24, 80}, app::TextSize{5, 10}, app::TextSize{1, 1}}) {
    const std::string text = top_text(many, size);
    CHECK(static_cast<std::size_t>(std::ranges::count(text, '\n')) == size.lines - 1);
    std::size_t widest = 0;
    for (std::size_t at = 0; at < text.size();) {
      const auto end = text.find('\n', at);
      widest = std::max(widest, end - at);
      at = end + 1;
    }
    CHECK(widest <= size.columns);
  }
}

}  // namespace
}  // namespace freshet::test
