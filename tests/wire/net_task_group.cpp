// Structured concurrency: what is spawned ends, whatever it was doing.
#include <boost/asio/ip/tcp.hpp>
#include <catch2/catch.hpp>

#include "proxy/net/one_shot.hpp"
#include "proxy/net/task_group.hpp"
#include "tests/wire/support/scripted_peer.hpp"

namespace freshet::test {
namespace {

using net::OneShot;
using net::TaskGroup;

Task<> wait_for_ever(OneShot<bool>& never, int& ended) {
  const auto value = co_await never.wait();
  CHECK(!value);
  ++ended;
}

// Does not listen when it is told to end.
Task<> stubborn(OneShot<bool>& never, int& ended) {
  for (int i = 0; i < 3; ++i) co_await never.wait();
  ++ended;
}

Task<> read_for_ever(net::Transport transport, int& ended) {
  char byte = 0;
  const auto got = co_await transport.read_some(boost::asio::buffer(&byte, 1));
  CHECK(got.error() == boost::asio::error::operation_aborted);
  ++ended;
}

Task<> cancel_all(Loop& loop, bool before_the_first_step) {
  TaskGroup group(loop.executor());
  OneShot<bool> never(loop.executor());
  OneShot<bool> other(loop.executor());
  ScriptedServer server(loop.executor());
  net::Socket socket(loop.executor());
  const boost::asio::ip::tcp::endpoint at(boost::asio::ip::address_v4::loopback(), server.port());
  co_await socket.async_connect(at, net::use_task);
  auto peer = co_await server.accept();

  int ended = 0;
  group.spawn(wait_for_ever(never, ended));
  group.spawn(stubborn(other, ended));
  group.spawn(read_for_ever(net::Transport(std::move(socket)), ended));
  CHECK(group.size() == 3);
  if (!before_the_first_step) {
    OneShot<bool> turn(loop.executor());
    co_await turn.wait(std::chrono::milliseconds(1));
  }
  group.cancel();
  co_await group.join();
  CHECK(ended == 3);
  CHECK(group.size() == 0);
  CHECK(co_await peer.read_to_end() == "");
}

TEST_CASE("a cancelled group ends every task, wherever it is suspended") {
  Loop loop;
  loop.run(cancel_all(loop, false));
}

TEST_CASE("a task that is cancelled before its first step ends too") {
  Loop loop;
  loop.run(cancel_all(loop, true));
}

Task<> join_within(Loop& loop, OneShot<bool>& never, int& ended) {
  TaskGroup inner(loop.executor());
  inner.spawn(wait_for_ever(never, ended));
  co_await inner.join();
}

Task<> cancel_around(Loop& loop) {
  TaskGroup outer(loop.executor());
  OneShot<bool> never(loop.executor());
  int ended = 0;
  outer.spawn(join_within(loop, never, ended));
  OneShot<bool> turn(loop.executor());
  co_await turn.wait(std::chrono::milliseconds(1));
  outer.cancel();
  co_await outer.join();
  CHECK(ended == 1);
}

TEST_CASE("who joins a group and is cancelled takes its tasks along") {
  Loop loop;
  loop.run(cancel_around(loop));
}

Task<> supply(OneShot<int>& value) {
  value.set(1);
  value.set(2);
  co_return;
}

Task<> wait_for_value(Loop& loop) {
  OneShot<int> value(loop.executor());
  loop.spawn(supply(value));
  CHECK(co_await value.wait() == 1);
  CHECK(!co_await value.wait(std::chrono::milliseconds(1)));
}

TEST_CASE("the first value of a one-shot counts") {
  Loop loop;
  loop.run(wait_for_value(loop));
}

}  // namespace
}  // namespace freshet::test
