// One MCP server behind the sidecar: its address, its connections, and the heads of the requests that go there.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/secret.hpp"
#include "config/settings.hpp"
#include "proxy/codec/mcp.hpp"
#include "proxy/net/http_client.hpp"
#include "strategies/digest.hpp"
#include "strategies/ids.hpp"
#include "strategies/strategy.hpp"
#include "strategies/time.hpp"

namespace freshet::session {

class Upstream {
 public:
  // `tls` and `environment` must outlive it; `tls` null for plain addresses.
  Upstream(net::Executor executor, UpstreamId id, const config::Upstream& settings, std::size_t head_bytes_max,
           net::asio::ssl::context* tls, const config::Environment& environment);

  // The settings changed, in what does not need a restart.
  void configure(const config::Upstream& settings);

  [[nodiscard]] UpstreamId id() const { return id_; }
  [[nodiscard]] const config::Upstream& settings() const { return settings_; }
  [[nodiscard]] const std::string& name() const { return settings_.name; }
  [[nodiscard]] net::HttpClient& http() { return http_; }
  [[nodiscard]] const VolatileParts& volatile_parts(std::string_view uri) const;

  // Where a request that came for `downstream_target` goes: the endpoint's path is mapped, everything else is kept.
  [[nodiscard]] std::string target_for(std::string_view downstream_target) const;

  // A request as it travels on, its hop-by-hop fields taken out before: configured fields in. An unreadable secret is
  // an error text, for the log and for the client.
  [[nodiscard]] std::optional<std::string> prepare(codec::RequestHead& head);

  // What the upstream declared in the modern era, until its ttl is over (2026-07-28 caching).
  void declared(const codec::InitializeResult& result, std::optional<std::uint64_t> ttl_ms, Instant now);
  [[nodiscard]] std::optional<codec::InitializeResult> declaration(Instant now) const;

  // The result of initialize or of server/discover as it is through Freshet.
  [[nodiscard]] std::string shown(const Declaration& declared, std::string message) const;

  // "http://host:port", as OAuth metadata of this upstream names it.
  [[nodiscard]] std::string origin_url() const;

 private:
  struct AddedHeader {
    config::HeaderAdd settings;
    std::optional<config::SecretFile> file;
  };

  UpstreamId id_;
  config::Upstream settings_;
  const config::Environment& environment_;
  std::vector<AddedHeader> added_;
  std::vector<std::pair<std::string, VolatileParts>> volatile_by_rule_;
  VolatileParts volatile_parts_;
  std::optional<codec::InitializeResult> declaration_;
  Instant declaration_until_{};
  net::HttpClient http_;
};

}  // namespace freshet::session
