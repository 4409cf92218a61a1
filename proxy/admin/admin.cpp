#include "proxy/admin/admin.hpp"

#include <algorithm>
#include <array>

#include <boost/asio/post.hpp>

#include "proxy/admin/answer.hpp"
#include "proxy/admin/page.hpp"
#include "proxy/admin/status.hpp"
#include "proxy/codec/host_check.hpp"
#include "proxy/net/alarm.hpp"

namespace freshet::admin {

namespace {

constexpr std::array<std::string_view, 10> paths{"/",        "/icon.svg", "/page.css", "/page.js", "/metrics",
                                                 "/healthz", "/readyz",   "/status",   "/history", "/events"};

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
      loopback_(is_loopback(sources_.settings.admin.address)),
      activity_(sources_.engine.settings()),
      live_([this] { return status_text({.limit = 0, .search = {}, .upstream = {}}); },
            [this] { return sources_.now().instant; }),
      actions_({.settings = sources_.settings,
                .engine = sources_.engine,
                .mask = mask_,
                .events = activity_.events(),
                .apply = sources_.apply,
                .now = sources_.now},
               std::move(sources_.token)) {}

bool Admin::host_allowed(const codec::RequestHead& head) const {
  const auto host = head.fields.find("Host");
  return !loopback_ || !host || host->empty() || codec::host_is_loopback(*host);
}

void Admin::settings_changed(std::optional<config::SecretReader> token) {
  mask_.set_masks(sources_.settings.admin.mask_uris);
  actions_.set_token(std::move(token));
}

void Admin::reloaded(ReloadReport report) {
  activity_.events().add(reload_event(report), report.at);
  reload_ = std::move(report);
}

StatusInput Admin::input() const {
  return {.settings = sources_.settings,
          .engine = sources_.engine,
          .metrics = sources_.metrics,
          .activity = activity_,
          .mask = mask_,
          .reload = reload_,
          .version = sources_.version,
          .draining = sources_.draining(),
          .started = started_,
          .now = sources_.now()};
}

net::Task<std::string> Admin::metrics_text() const {
  const auto executor = co_await net::asio::this_coro::executor;
  SubscriptionTotals totals(sources_.settings.upstreams.size());
  std::optional<SubscriberId> last;
  std::size_t visited = 0;
  do {
    last = sources_.engine.visit_subscriptions_after(last, sources_.now().instant, [&](const SubscriptionView& view) {
      totals.add(view);
      ++visited;
    });
    if (++visited < SubscriptionWalk::step_subscriptions) continue;
    visited = 0;
    co_await net::asio::post(executor, net::use_task);
  } while (last);
  sources_.metrics.refresh(totals, sources_.engine, sources_.now().instant);
  co_return sources_.metrics.expose();
}

net::Task<Json> Admin::status(StatusQuery query) const {
  SubscriptionWalk walk(sources_.settings, sources_.engine, mask_, std::move(query));
  const auto executor = co_await net::asio::this_coro::executor;
  while (walk.step(sources_.now().instant)) co_await net::asio::post(executor, net::use_task);
  co_return status_json(input(), walk);
}

net::Task<std::string> Admin::status_text(StatusQuery query) const {
  const Json json = co_await status(std::move(query));
  co_return to_text(json);
}

std::string Admin::history_text() const {
  return to_text(history_json(input()));
}

net::Task<> Admin::handle(net::ServerExchange& client) {
  const codec::RequestHead& head = client.head();
  const std::string_view target = head.target;
  const std::string_view path = target.substr(0, target.find('?'));
  if (!host_allowed(head)) {
    co_await send(client, {.status = 403}, "this Host is not a loopback name\n");
  } else if (Actions::is_path(path)) {
    co_await actions_.handle(client, path);
  } else if (std::ranges::find(paths, path) == paths.end()) {
    co_await send(client, {.status = 404}, "there is nothing here\n");
  } else if (head.method != "GET" && head.method != "HEAD") {
    co_await send(client, {.status = 405, .allow = "GET, HEAD"}, "only GET and HEAD\n");
  } else {
    co_await answer(client, path);
  }
}

net::Task<> Admin::answer(net::ServerExchange& client, std::string_view path) {
  constexpr std::string_view json = "application/json";
  if (path == "/events" && client.head().method == "GET") co_return co_await live_.serve(client);
  Answer answer;
  std::string body;
  if (path == "/healthz") {
    body = "ok\n";
  } else if (path == "/readyz") {
    const bool draining = sources_.draining();
    answer.status = draining ? 503 : 200;
    body = draining ? "draining\n" : "ready\n";
  } else if (path == "/metrics") {
    answer.content_type = exposition_content_type;
    body = co_await metrics_text();
  } else if (path == "/status") {
    answer.content_type = json;
    body = co_await status_text(parse_status_query(client.head().target));
  } else if (path == "/history") {
    answer.content_type = json;
    body = history_text();
  } else if (path == "/events") {
    answer.content_type = "text/event-stream";
  } else {
    const StatusQuery query = parse_status_query(client.head().target);
    const PageFile file = page_file(path);
    answer.content_type = file.content_type;
    answer.policy = page_policy;
    body = file.text;
    if (path == "/") {
      const Json shown = co_await status(query);
      body = page_html(file.text, shown, query);
    }
  }
  co_await send(client, answer, body);
}

net::Task<> Admin::keep_history() {
  net::Timer timer(co_await net::asio::this_coro::executor);
  for (;;) {
    activity_.sample(sources_.metrics, sources_.now());
    timer.expires_after(RequestHistory::sample_interval);
    net::error_code ec;
    co_await timer.async_wait(net::asio::redirect_error(net::use_task, ec));
    if (ec) co_return;
  }
}

}  // namespace freshet::admin
