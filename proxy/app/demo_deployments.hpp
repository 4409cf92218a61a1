// What the demo's server serves: a few services that are deployed now and then. Pure; chance is seeded.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "strategies/random.hpp"

namespace freshet::app {

struct Deployment {
  enum class State { running, deploying, rolled_back };

  std::string service;
  std::uint32_t release = 0;  // of the version that is meant to run
  State state = State::running;
  std::uint64_t revision = 1;  // grows with each change, so that no two contents are equal

  [[nodiscard]] std::string uri() const { return "deploy://" + service; }
  // The resource's contents: one line of JSON with service, version, state and revision.
  [[nodiscard]] std::string json() const;
};

class Deployments {
 public:
  explicit Deployments(std::uint64_t seed);

  // Moves one of them on. The reference lives until the next change.
  const Deployment& change();
  [[nodiscard]] std::span<const Deployment> all() const { return all_; }
  // Null: there is none.
  [[nodiscard]] const Deployment* find(std::string_view uri) const;

 private:
  Random random_;
  std::vector<Deployment> all_;
};

}  // namespace freshet::app
