#include "proxy/admin/admin.hpp"

#include "proxy/admin/answer.hpp"
#include "proxy/admin/status.hpp"
#include "proxy/codec/host_check.hpp"

namespace freshet::admin {

namespace {

bool is_loopback(const config::Address& address) {
  const auto* tcp = std::get_if<config::TcpAddress>(&address);
  if (tcp == nullptr) return false;  // no browser reaches a Unix socket
  const bool v6 = tcp->host.find(':') != std::string::npos;
  return codec::host_is_loopback(v6 ? "[" + tcp->host + "]" : tcp->host);
}

}  // namespace

Admin::Admin(Sources sources)
    : sources_(std::move(sources)),
      mask_(sources_.settings.admin.mask_uris),
      started_(sources_.now()),
      loopback_(is_loopback(sources_.settings.admin.address)) {}

bool Admin::host_allowed(const codec::RequestHead& head) const {
  const auto host = head.fields.find("Host");
  return !loopback_ || !host || host->empty() || codec::host_is_loopback(*host);
}

std::string Admin::metrics_text() const {
  sources_.metrics.refresh(sources_.engine, sources_.now().instant);
  return sources_.metrics.expose();
}

std::string Admin::status_text(std::string_view target) const {
  const StatusInput input{.settings = sources_.settings,
                          .engine = sources_.engine,
                          .mask = mask_,
                          .version = sources_.version,
                          .draining = sources_.draining(),
                          .started = started_,
                          .now = sources_.now()};
  return to_text(status_json(input, parse_status_query(target))) + "\n";
}

net::Task<> Admin::handle(net::ServerExchange& client) {
  const codec::RequestHead& head = client.head();
  const std::string_view target = head.target;
  const std::string_view path = target.substr(0, target.find('?'));
  if (!host_allowed(head)) {
    co_return co_await send(client, {.status = 403}, "this Host is not a loopback name\n");
  }
  const bool known = path == "/metrics" || path == "/healthz" || path == "/readyz" || path == "/status";
  if (!known) co_return co_await send(client, {.status = 404}, "there is nothing here\n");
  if (head.method != "GET" && head.method != "HEAD") {
    co_return co_await send(client, {.status = 405, .allow = "GET, HEAD"}, "only GET and HEAD\n");
  }
  if (path == "/healthz") co_return co_await send(client, {}, "ok\n");
  if (path == "/readyz") {
    const bool draining = sources_.draining();
    co_return co_await send(client, {.status = draining ? 503 : 200}, draining ? "draining\n" : "ready\n");
  }
  const bool metrics = path == "/metrics";
  const std::string body = metrics ? metrics_text() : status_text(target);
  co_await send(client, {.content_type = metrics ? exposition_content_type : "application/json"}, body);
}

}  // namespace freshet::admin
