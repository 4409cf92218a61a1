#include "proxy/app/demo_report.hpp"

#include <cmath>
#include <ctime>
#include <iostream>
#include <utility>

#include "config/types.hpp"
#include "proxy/codec/json_string.hpp"
#include "proxy/codec/json_text.hpp"

namespace freshet::app {

namespace {

// For a read, a notification and a busy machine, on top of the time until the next poll.
constexpr Duration slack = std::chrono::seconds(1);

Duration patience(const config::Freshness& freshness) {
  return from_seconds(seconds(freshness.interval) * (1 + freshness.jitter)) + slack;
}

std::string ms_text(Duration duration) {
  return std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(duration).count()) + " ms";
}

std::string time_of_day() {
  const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  std::tm local{};
  localtime_r(&now, &local);
  char text[] = "00:00:00";
  return std::strftime(text, sizeof text, "%T", &local) > 0 ? text : "";
}

struct Line {
  std::string time, resource, what, lag, bound;
};

void print(const Line& line) {
  std::string text;
  const auto column = [&](std::size_t begin, const std::string& value) {
    if (value.empty()) return;
    text.append(begin > text.size() ? begin - text.size() : 1, ' ');
    text += value;
  };
  text = line.time;
  column(10, line.resource);
  column(25, line.what);
  column(63, line.lag);
  column(72, line.bound);
  std::cout << text << std::endl;
}

// {"version":"1.4","state":"running",…} -> "1.4 running"
std::string state_of(const std::string& text) {
  std::string state;
  for (const std::string_view member : {"version", "state"}) {
    const auto found = codec::find_value(text, {member});
    if (found) state += (state.empty() ? "" : " ") + codec::unquote(found->in(text));
  }
  return state;
}

}  // namespace

DemoReport::DemoReport(const config::Freshness& freshness) : freshness_(freshness), tally_(patience(freshness)) {}

void DemoReport::introduce(const Addresses& addresses) const {
  const std::string interval = config::to_string(freshness_.interval);
  const std::string jitter = std::to_string(std::lround(freshness_.jitter * 100)) + " %";
  std::cout << "A client is told of changes by a server that cannot tell.\n\n"
            << "  server      " << addresses.server << "\n"
            << "              has deploy:// resources that change every few seconds, and declares `resources`\n"
            << "              without `subscribe`: it cannot notify anyone\n"
            << "  freshet     " << addresses.freshet << "\n"
            << "              stands in front, shows `subscribe: true`, and reads what is subscribed to every\n"
            << "              " << interval << " ±" << jitter << "\n"
            << "  subscriber  subscribes to each resource through freshet, waits, and prints what it is told\n"
            << "  admin       http://" << addresses.admin << "/ is a live page, /status and /metrics are beside it\n\n"
            << "lag: from the change in the server to the notification at the subscriber.\n"
            << "bound: how old the picture can be, as freshet says in each notification: the time until the next\n"
            << "read, and the longest that a read may take.\n\n";
  print({"time", "resource", "what changed", "lag", "bound"});
}

void DemoReport::changed(const Deployment& deployment, net::Clock::time_point at) {
  tally_.changed(deployment.uri(), deployment.json(), at);
}

bool DemoReport::read(const Reading& reading) {
  Line line{.time = time_of_day(), .resource = reading.uri, .what = state_of(reading.text), .lag = {}, .bound = {}};
  const std::string known = std::exchange(states_[reading.uri], line.what);
  if (!reading.notice) {
    line.what += " (first read)";
  } else {
    const auto lag = tally_.told(reading.uri, reading.text, reading.notice->received);
    if (!lag) return true;
    line.what = known + " -> " + line.what;
    line.lag = ms_text(*lag);
    if (reading.notice->bound) line.bound = ms_text(*reading.notice->bound);
  }
  print(line);
  return !std::cout.fail();
}

bool DemoReport::conclude(std::uint64_t reads, net::Clock::time_point now) const {
  const DemoTally::Summary sum = tally_.summary(now);
  std::cout << "\nchanges: " << sum.changes << "; told: " << sum.told;
  if (sum.lag_max) std::cout << "; longest lag: " << ms_text(*sum.lag_max);
  if (sum.passed_over > 0) std::cout << "; gone before the next poll: " << sum.passed_over;
  if (sum.too_new > 0) std::cout << "; not yet due at the end: " << sum.too_new;
  std::cout << "; reads that the server answered: " << reads << std::endl;
  if (sum.missed == 0) return true;
  std::cerr << "freshet demo: the subscriber was not told of every change: " << sum.missed << " missed, the first "
            << sum.first_missed << '\n';
  return false;
}

}  // namespace freshet::app
