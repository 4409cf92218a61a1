// What the demo prints, and its verdict.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "config/settings.hpp"
#include "proxy/app/demo_deployments.hpp"
#include "proxy/app/demo_subscriber.hpp"
#include "proxy/app/demo_tally.hpp"

namespace freshet::app {

class DemoReport {
 public:
  explicit DemoReport(const config::Freshness& freshness);

  struct Addresses {
    std::string server;
    std::string freshet;
    std::string admin;
  };
  void introduce(const Addresses& addresses) const;
  void changed(const Deployment& deployment, net::Clock::time_point at);
  // Prints it, unless nothing new was read. False: nobody takes what is printed any more.
  [[nodiscard]] bool read(const Reading& reading);
  // Prints how it went. True if the subscriber was told of every change that lasted beyond the next poll.
  [[nodiscard]] bool conclude(std::uint64_t reads, net::Clock::time_point now) const;

 private:
  config::Freshness freshness_;
  DemoTally tally_;
  std::map<std::string, std::string> states_;  // as last printed, by URI
};

}  // namespace freshet::app
