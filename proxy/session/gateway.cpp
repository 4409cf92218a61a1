#include "proxy/session/gateway.hpp"

#include <algorithm>

#include "proxy/codec/host_check.hpp"
#include "proxy/net/log.hpp"
#include "proxy/session/exchange_answers.hpp"

namespace freshet::session {

namespace {

bool below(std::string_view path, std::string_view prefix) {
  if (!path.starts_with(prefix)) return false;
  return path.size() == prefix.size() || prefix.ends_with('/') || path[prefix.size()] == '/';
}

// An origin's host, as it stands in Host.
std::string_view host_of(std::string_view origin) {
  const auto scheme = origin.find("://");
  return scheme == std::string_view::npos ? origin : origin.substr(scheme + 3);
}

// A name without its port; brackets of an IPv6 address stay.
std::string_view without_port(std::string_view host) {
  const auto colon = host.rfind(':');
  const auto bracket = host.rfind(']');
  const bool has_port = colon != std::string_view::npos && (bracket == std::string_view::npos || colon > bracket);
  return has_port ? host.substr(0, colon) : host;
}

}  // namespace

Gateway::Gateway(Shell& shell, Sessions& sessions, OwnCalls& calls, bool loopback)
    : listen_(shell.settings.listen), loopback_(loopback) {
  for (const auto& upstream : shell.upstreams) {
    endpoints_.push_back(std::make_unique<Endpoint>(shell, sessions, calls, *upstream));
  }
}

// Why a request may not come in; null: it may.
const char* Gateway::refusal(const codec::RequestHead& head) const {
  if (const auto origin = head.fields.find("Origin")) {
    const bool allowed = listen_.allowed_origins.empty() ? codec::host_is_loopback(host_of(*origin))
                                                         : codec::origin_allowed(*origin, listen_.allowed_origins);
    if (!allowed) return "this Origin is not allowed (listen.allowed_origins)";
  }
  const std::string_view host = head.fields.find("Host").value_or("");
  if (!listen_.allowed_hosts.empty()) {
    const bool allowed = std::ranges::any_of(listen_.allowed_hosts, [&](const std::string& name) {
      return codec::names_equal(name, host) || codec::names_equal(name, without_port(host));
    });
    if (!allowed) return "this Host is not allowed (listen.allowed_hosts)";
  } else if (loopback_ && !host.empty() && !codec::host_is_loopback(host)) {
    return "this Host is not a loopback name (listen.allowed_hosts)";
  }
  return nullptr;
}

Gateway::Route Gateway::route(std::string_view target) const {
  const std::string_view path = target.substr(0, target.find('?'));
  Endpoint* best = nullptr;
  for (const auto& endpoint : endpoints_) {
    const std::string& own = endpoint->upstream().settings().path;
    if (path == own) return {endpoint.get(), true};
    const bool matches = below(path, own) || (path.starts_with("/.well-known/") && path.ends_with(own));
    if (matches && (best == nullptr || own.size() > best->upstream().settings().path.size())) best = endpoint.get();
  }
  if (best == nullptr && endpoints_.size() == 1) best = endpoints_.front().get();
  return {best, false};
}

net::Task<> Gateway::handle(net::ServerExchange& client) {
  if (const char* why = refusal(client.head())) {
    log::warn("request_refused", {{"reason", why}, {"peer", client.transport().peer_name()}});
    co_await answer_error(client, 403, {}, codec::error_codes::server_error, why);
    co_return;
  }
  const Route to = route(client.head().target);
  if (to.endpoint == nullptr) {
    co_await answer_text(client, 404, "no upstream has this path\n");
    co_return;
  }
  if (to.is_mcp_path) co_return co_await to.endpoint->handle(client);
  co_await to.endpoint->pass(client);
}

}  // namespace freshet::session
