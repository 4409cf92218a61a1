#include "proxy/admin/live.hpp"

#include <algorithm>

#include "proxy/admin/answer.hpp"
#include "proxy/net/alarm.hpp"

namespace freshet::admin {

namespace {

class Seat {
 public:
  explicit Seat(std::size_t& taken) : taken_(taken) { ++taken_; }
  ~Seat() { --taken_; }
  Seat(const Seat&) = delete;
  Seat& operator=(const Seat&) = delete;

 private:
  std::size_t& taken_;
};

}  // namespace

Live::Live(std::function<net::Task<std::string>()> picture, std::function<Instant()> clock)
    : picture_(std::move(picture)), clock_(std::move(clock)) {}

// Where another viewer's task is at it already, the last picture has to do.
net::Task<> Live::refresh() {
  const Instant begun = clock_();
  if (begun < stale_at_ || (taking_ && !event_.empty())) co_return;
  taking_ = true;
  const std::string picture = co_await picture_();
  taking_ = false;
  event_ = "event: status\ndata: " + picture + "\n\n";
  const Instant ended = clock_();
  // Less than the interval, so that a viewer whose timer fires a little early still gets a new one.
  stale_at_ = ended + std::max<Duration>(interval / 2, (ended - begun) * thrift);
}

net::Task<> Live::serve(net::ServerExchange& client) {
  if (viewers_ >= viewers_max) {
    co_await send(client, {.status = 503}, "too many viewers\n");
    co_return;
  }
  const Seat seat(viewers_);
  codec::ResponseHead head = head_of({.content_type = "text/event-stream"});
  head.fields.add("X-Accel-Buffering", "no");
  client.begin(std::move(head));
  net::Timer timer(client.transport().executor());
  for (;;) {
    co_await refresh();
    const std::string now = event_;
    const auto written = co_await client.write(now);
    if (!written) co_return;
    timer.expires_after(interval);
    net::error_code ec;
    co_await timer.async_wait(net::asio::redirect_error(net::use_task, ec));
    if (ec) co_return;
  }
}

}  // namespace freshet::admin
