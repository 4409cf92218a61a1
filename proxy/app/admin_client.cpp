#include "proxy/app/admin_client.hpp"

#include <csignal>
#include <iostream>
#include <optional>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/signal_set.hpp>

#include "proxy/app/status_text.hpp"
#include "proxy/app/terminal.hpp"
#include "proxy/net/alarm.hpp"

namespace freshet::app {

namespace {

constexpr std::size_t answer_bytes_max = 16 * config::mib;
constexpr std::chrono::milliseconds answer_time_max{5'000};
constexpr std::chrono::seconds redraw_interval{1};
constexpr std::string_view unparsable = "the answer is no status; is another program listening there?";

net::HttpClientLimits limits() {
  return {.connections_max = 1,
          .connect_time_max = std::chrono::milliseconds(2'000),
          .head_time_max = answer_time_max,
          .body_stall_max = answer_time_max};
}

// What the answer says, or why it says nothing.
struct Outcome {
  std::string body;
  std::string error;
};

Outcome outcome_of(const net::Result<AdminAnswer>& answer, const net::Origin& origin) {
  const std::string where = origin.unix_path.empty() ? origin.authority() : origin.unix_path;
  if (!answer) return {{}, "no answer from " + where + ": " + answer.error().message()};
  if (answer->status != 200) {
    return {answer->body, where + " answered " + std::to_string(answer->status) + ": " + answer->body};
  }
  return {answer->body, {}};
}

Outcome ask_once(const config::Settings& settings, const std::string& target) {
  net::asio::io_context io(1);
  const net::Origin origin = admin_origin(settings.admin.address);
  net::HttpClient client(io.get_executor(), origin, limits(), nullptr);
  std::optional<net::Result<AdminAnswer>> answer;
  net::asio::co_spawn(io.get_executor(), ask_admin(client, target),
                      [&](const std::exception_ptr& failure, net::Result<AdminAnswer> got) {
                        if (failure) std::rethrow_exception(failure);
                        answer = std::move(got);
                      });
  while (!answer) io.run_one();  // no longer: the pool would keep the connection for a while
  return outcome_of(*answer, origin);
}

int failed(const std::string& error) {
  std::cerr << "freshet: " << error << '\n';
  return 1;
}

std::string picture(const Outcome& outcome, TextSize size) {
  if (!outcome.error.empty()) return "freshet: " + outcome.error + "\n";
  const auto status = admin::Json::parse(outcome.body, nullptr, false);
  return status.is_object() ? top_text(status, size) : std::string(unparsable) + "\n";
}

// Redraws until the timer is told to stop.
net::Task<> redraw(net::HttpClient& client, net::Timer& timer, const bool& ended) {
  Screen screen;
  while (!ended) {
    const TextSize size = screen.size();
    const auto answer = co_await ask_admin(client, "/status?limit=" + std::to_string(size.lines));
    screen.draw(picture(outcome_of(answer, client.origin()), size));
    timer.expires_after(redraw_interval);
    net::error_code ec;
    if (!ended) co_await timer.async_wait(net::asio::redirect_error(net::use_task, ec));
  }
}

}  // namespace

net::Origin admin_origin(const config::Address& address) {
  if (const auto* unix_address = std::get_if<config::UnixAddress>(&address)) {
    return {.host = "localhost", .unix_path = unix_address->path};
  }
  const auto& tcp = std::get<config::TcpAddress>(address);
  const std::string host = tcp.host == "0.0.0.0" ? "127.0.0.1" : tcp.host == "::" ? "::1" : tcp.host;
  return {.host = host, .port = tcp.port};
}

net::Task<net::Result<AdminAnswer>> ask_admin(net::HttpClient& client, std::string target) {
  net::ClientRequest request;
  request.head.method = "GET";
  request.head.target = std::move(target);
  auto response = co_await client.send(std::move(request));
  if (!response) co_return response.error();
  auto body = co_await response->read_all(answer_bytes_max);
  if (!body) co_return body.error();
  co_return AdminAnswer{response->head().status, std::move(*body)};
}

int health(const config::Settings& settings) {
  const Outcome outcome = ask_once(settings, "/readyz");
  if (!outcome.error.empty()) return failed(outcome.error);
  std::cout << outcome.body;
  return 0;
}

int status(const config::Settings& settings, bool json) {
  const Outcome outcome = ask_once(settings, json ? "/status?limit=1000" : "/status?limit=20");
  if (!outcome.error.empty()) return failed(outcome.error);
  const auto parsed = admin::Json::parse(outcome.body, nullptr, false);
  if (!parsed.is_object()) return failed(std::string(unparsable));
  std::cout << (json ? parsed.dump(2) + "\n" : status_text(parsed));
  return 0;
}

int top(const config::Settings& settings) {
  if (!Screen::is_terminal()) return status(settings, false);
  net::asio::io_context io(1);
  net::HttpClient client(io.get_executor(), admin_origin(settings.admin.address), limits(), nullptr);
  net::Timer timer(io.get_executor());
  bool ended = false;
  net::asio::signal_set signals(io, SIGTERM, SIGINT);
  signals.async_wait([&](const net::error_code& ec, int) {
    if (ec) return;
    ended = true;
    timer.cancel();
  });
  bool over = false;
  net::asio::co_spawn(io.get_executor(), redraw(client, timer, ended), [&over](const std::exception_ptr& failure) {
    if (failure) std::rethrow_exception(failure);
    over = true;
  });
  while (!over) io.run_one();
  return 0;
}

}  // namespace freshet::app
