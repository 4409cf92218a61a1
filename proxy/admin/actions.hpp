// What an operator may do by hand: read a resource or all of an upstream's again, pause or resume a partner's polls.
// Every action needs the admin token, and is logged.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "config/secret.hpp"
#include "config/settings.hpp"
#include "proxy/admin/recent_events.hpp"
#include "proxy/admin/uri_mask.hpp"
#include "proxy/net/http_server.hpp"
#include "strategies/engine.hpp"

namespace freshet::admin {

// All references must outlive the Actions.
struct ActionParts {
  const config::Settings& settings;
  const Engine& engine;
  const UriMask& mask;
  RecentEvents& events;
  std::function<void(const Event&)> apply;
  std::function<Now()> now;
};

class Actions {
 public:
  static constexpr std::size_t body_bytes_max = 32 * 1024;

  // Without a token every action is refused.
  Actions(ActionParts parts, std::optional<config::SecretReader> token);

  void set_token(std::optional<config::SecretReader> token) { token_ = std::move(token); }

  [[nodiscard]] static bool is_path(std::string_view path) { return path.starts_with("/actions/"); }

  // POST /actions/refresh {"upstream": name, "uri": as /status shows it, optional}, /actions/pause and /actions/resume
  // {"partner": name}. The token comes as a bearer token: a page elsewhere cannot send one along (RFC 6750 §2.1).
  net::Task<> handle(net::ServerExchange& client, std::string_view path);

 private:
  struct Outcome {
    int status = 200;
    std::string text;
  };
  [[nodiscard]] bool authorized(const codec::RequestHead& head);
  Outcome perform(std::string_view path, std::string_view body, const std::string& peer);
  Outcome refresh(const std::string& upstream, const std::string& shown_uri);
  Outcome hold(const std::string& partner, bool held);
  [[nodiscard]] std::optional<std::string> uri_of(UpstreamId upstream, const std::string& shown) const;

  ActionParts parts_;
  std::optional<config::SecretReader> token_;
};

}  // namespace freshet::admin
