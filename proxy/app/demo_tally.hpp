// Whether the demo keeps its word: what the server changed beside what the subscriber was told. Pure.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>

#include "proxy/net/alarm.hpp"
#include "strategies/time.hpp"

namespace freshet::app {

class DemoTally {
 public:
  using Moment = net::Clock::time_point;

  // Who polls sees what lasts until the next poll: a version that lasted longer than `patience` counts as missed if
  // nobody was told of it, one that did not counts as passed over.
  explicit DemoTally(Duration patience) : patience_(patience) {}

  // The resource had `text` from this moment on.
  void changed(const std::string& uri, std::string text, Moment at);
  // The subscriber was notified at this moment, and then read `text`. Returns how long after the change that was;
  // nothing if the text is none of the two latest, or was told before.
  std::optional<Duration> told(const std::string& uri, const std::string& text, Moment at);

  struct Summary {
    std::size_t changes = 0;
    std::size_t told = 0;
    std::size_t passed_over = 0;
    std::size_t too_new = 0;  // not told, and not yet due
    std::size_t missed = 0;
    std::string first_missed;  // "deploy://api: …"
    std::optional<Duration> lag_max;
  };
  [[nodiscard]] Summary summary(Moment now) const;

 private:
  struct Version {
    std::string text;
    Moment since;
    bool told = false;
  };
  struct Resource {
    std::optional<Version> last;      // what it has now
    std::optional<Version> previous;  // may still be told of, a moment later
  };
  void judge(Summary& into, const std::string& uri, const Version& version, Moment until) const;

  Duration patience_;
  std::map<std::string, Resource> resources_;
  Summary settled_;
};

}  // namespace freshet::app
