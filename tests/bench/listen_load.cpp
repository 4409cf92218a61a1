#include "tests/bench/listen_load.hpp"

#include <algorithm>
#include <cstdio>

#include "proxy/net/task_group.hpp"
#include "tests/bench/mcp.hpp"
#include "tests/bench/process_use.hpp"

namespace freshet::bench {

namespace {

constexpr std::size_t opening_max = 32;
constexpr auto between_changes = std::chrono::seconds(1);
constexpr auto told_within = std::chrono::seconds(10);

std::string uri_of(std::size_t resource) {
  return "bench://listen/" + std::to_string(resource);
}

}  // namespace

Listens::Listens(net::Executor executor, Options options) : executor_(executor), options_(std::move(options)) {}

net::Task<> Listens::run() {
  Connection upstream = co_await Connection::open(executor_, options_.upstream_port);
  streams_.resize(options_.count);
  co_await open_streams(1);  // what is allocated once
  const auto before = resident_kib(options_.pid);
  co_await open_streams(options_.count);
  const auto grown = resident_kib(options_.pid) - before;
  const auto cpu_before = cpu_time(options_.pid);
  const auto begin = net::Clock::now();
  std::vector<double> latencies_us;
  net::Timer turn(executor_);
  for (std::size_t i = 0; i < options_.changes; ++i) {
    turn.expires_at(begin + between_changes * i);
    co_await turn.async_wait(net::use_task);
    latencies_us.push_back(co_await change(upstream, i % options_.resources));
  }
  require_silence();
  const double took_us = Micros(net::Clock::now() - begin).count();
  const double cpu_us = Micros(cpu_time(options_.pid) - cpu_before).count();
  std::ranges::sort(latencies_us);
  std::printf(
      "{\"streams\":%zu,\"resources\":%zu,\"kib\":%lld,\"kib_each\":%.3f,\"changes\":%zu,\"p50_us\":%.1f,"
      "\"p99_us\":%.1f,\"max_us\":%.1f,\"cpu_share\":%.4f}\n",
      options_.count, options_.resources, static_cast<long long>(grown),
      static_cast<double>(grown) / static_cast<double>(options_.count - 1), latencies_us.size(),
      quantile(latencies_us, 0.5), quantile(latencies_us, 0.99), latencies_us.back(), cpu_us / took_us);
}

net::Task<> Listens::open_streams(std::size_t count) {
  net::TaskGroup openers(executor_);
  for (std::size_t i = 0; i < opening_max; ++i) openers.spawn(open_some(count));
  co_await openers.join();
}

net::Task<> Listens::open_some(std::size_t until) {
  while (opened_ < until) {
    const std::size_t index = opened_++;
    Stream& stream = streams_[index];
    Connection opened = co_await Connection::open(executor_, options_.port);
    stream.connection = std::make_unique<Connection>(std::move(opened));
    const std::string uri = uri_of(index % options_.resources);
    const std::string request = listen(uri);
    const codec::ResponseHead answer = co_await stream.connection->ask(request);
    if (answer.status != 200) fail("the listen was refused with HTTP status " + std::to_string(answer.status));
    co_await read_until(stream, uri);  // the acknowledgement names it, a comment follows
    while (stream.events.comments() == 0) co_await read_some(stream, uri);
  }
}

net::Task<> Listens::read_until(Stream& stream, std::string_view wanted) {
  for (bool found = false; !found;) found = co_await read_some(stream, wanted);
}

// True if an event that holds it came to its end.
net::Task<bool> Listens::read_some(Stream& stream, std::string_view wanted) {
  const std::string_view piece = co_await stream.connection->read_some();
  stream.told = net::Clock::now();
  if (piece.empty()) fail("a listen stream ended");
  bool found = false;
  stream.events.feed(piece,
                     [&](const codec::SseEvent& event) { found |= event.data.find(wanted) != std::string::npos; });
  co_return found;
}

net::Task<double> Listens::change(Connection& upstream, std::size_t resource) {
  const std::string changing = post(change_path, {}, uri_of(resource));
  net::TaskGroup readers(executor_);
  for (std::size_t i = resource; i < streams_.size(); i += options_.resources) {
    streams_[i].connection->deadline(net::after(told_within));
    readers.spawn(read_until(streams_[i], "notifications/resources/updated"));
  }
  const Reply changed = co_await upstream.call(changing);
  if (changed.head.status != 200) fail("the upstream's change was not read");
  co_await readers.join();
  const std::chrono::nanoseconds answered(std::stoll(changed.body));
  net::Clock::time_point last;
  for (std::size_t i = resource; i < streams_.size(); i += options_.resources) {
    streams_[i].connection->no_deadline();
    last = std::max(last, streams_[i].told);
  }
  co_return Micros(last.time_since_epoch() - answered).count();
}

// Nobody was told twice, nor of another's resource, and all streams are open still.
void Listens::require_silence() {
  const bool broken = std::ranges::any_of(streams_, [](const Stream& one) { return one.connection->stale(); });
  if (broken) fail("a listen stream ended, or was told what it must not be");
}

}  // namespace freshet::bench
