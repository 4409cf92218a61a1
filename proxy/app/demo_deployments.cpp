#include "proxy/app/demo_deployments.hpp"

#include <algorithm>

#include "proxy/codec/json_string.hpp"

namespace freshet::app {

namespace {

constexpr double success_rate = 0.8;

std::string_view name(Deployment::State state) {
  switch (state) {
    case Deployment::State::running:
      return "running";
    case Deployment::State::deploying:
      return "deploying";
    case Deployment::State::rolled_back:
      return "rolled back";
  }
  return "";
}

}  // namespace

std::string Deployment::json() const {
  return "{\"service\":" + codec::quote(service) + ",\"version\":\"1." + std::to_string(release) + "\",\"state\":\"" +
         std::string(name(state)) + "\",\"revision\":" + std::to_string(revision) + "}";
}

Deployments::Deployments(std::uint64_t seed) : random_(seed) {
  for (const std::string_view service : {"api", "web", "jobs"}) {
    all_.push_back({.service = std::string(service), .release = static_cast<std::uint32_t>(random_.below(40))});
  }
}

const Deployment& Deployments::change() {
  using State = Deployment::State;
  Deployment& one = all_[random_.below(all_.size())];
  ++one.revision;
  if (one.state != State::deploying) {
    one.state = State::deploying;
    ++one.release;
  } else if (random_.unit() < success_rate) {
    one.state = State::running;
  } else {
    one.state = State::rolled_back;
    --one.release;
  }
  return one;
}

const Deployment* Deployments::find(std::string_view uri) const {
  const auto found = std::ranges::find_if(all_, [&](const Deployment& one) { return one.uri() == uri; });
  return found == all_.end() ? nullptr : &*found;
}

}  // namespace freshet::app
