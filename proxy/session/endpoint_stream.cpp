// GET: the client's event stream (2025-11-25 transports, Listening for Messages from the Server).
#include "proxy/codec/media_type.hpp"
#include "proxy/codec/sse.hpp"
#include "proxy/net/alarm.hpp"
#include "proxy/net/task_group.hpp"
#include "proxy/session/endpoint.hpp"
#include "proxy/session/exchange_answers.hpp"
#include "proxy/session/upstream_stream.hpp"

namespace freshet::session {

namespace {

constexpr std::size_t write_bytes_max = 64 * 1024;  // handed to the socket at once

}  // namespace

codec::ResponseHead Endpoint::stream_answer(const Session& session) {
  codec::ResponseHead head{.status = 200};
  head.fields.add("Content-Type", "text/event-stream");
  head.fields.add("Cache-Control", "no-cache, no-transform");
  head.fields.add("X-Accel-Buffering", "no");
  if (!session.listen) head.fields.add("Mcp-Session-Id", session.id);
  return head;
}

net::Task<> Endpoint::get(net::ServerExchange& client, codec::RequestHead head) {
  const auto id = head.fields.find("Mcp-Session-Id");
  Session* session = id ? sessions_.find(*id) : nullptr;
  if (session == nullptr) {
    if (!id || sessions_.outlived(*id)) co_return co_await pass(client);
    co_await answer_error(client, 404, {}, codec::error_codes::session_not_found, "Session not found");
    co_return;
  }
  sessions_.touch(*session);
  const SubscriberId subscriber = session->subscriber;
  const Principal principal = shell_.principals.of(head);
  const auto cursor = head.fields.find("Last-Event-ID");
  const bool foreign_cursor = cursor && !cursor->empty() && !Outbox::made_here(*cursor);
  const bool wants_events = codec::accepts(head.fields.find("Accept").value_or(""), "text/event-stream");
  if (session->strategy == Strategy::off || !session->acts || !wants_events) {
    co_await pass_get(client, head, subscriber);
    co_return;
  }
  if (foreign_cursor) {  // the upstream's, or nobody's: the upstream knows
    const bool taken = co_await pass_get(client, head, subscriber, true);
    if (taken) co_return;
    session = sessions_.find(subscriber);
    if (session == nullptr) {
      co_await pass_get(client, head, subscriber);
      co_return;
    }
  }
  const bool own = session->principal == principal;
  if (!own) {  // the upstream decides whether this credential may have the session's stream
    const bool accepted = co_await calls_.accepts_credentials(subscriber, carried_of(head));
    session = sessions_.find(subscriber);
    if (!accepted || session == nullptr) {
      co_await pass_get(client, head, subscriber);
      co_return;
    }
    adopt(subscriber, principal, head);
  }
  const bool resumed = own && cursor && session->outbox.replay_after(*cursor);
  client.begin(stream_answer(*session));
  const std::uint64_t attachment = sessions_.attach(*session, resumed);
  calls_.ensure_upstream_stream(*session);
  co_await serve_stream(client, subscriber, attachment);
}

net::Task<bool> Endpoint::pass_get(net::ServerExchange& client, const codec::RequestHead& head, SubscriberId subscriber,
                                   bool stream_or_nothing) {
  Forwarding forward = forwarding(client, head);
  forward.subscriber = subscriber;
  forward.read_only = true;
  forward.stream_or_nothing = stream_or_nothing;
  const ForwardResult result = co_await forward.run();
  co_return !result.declined;
}

net::Task<> Endpoint::serve_stream(net::ServerExchange& client, SubscriberId subscriber, std::uint64_t attachment) {
  net::TaskGroup beside(shell_.executor);
  const auto opened = co_await client.write(codec::comment());
  bool alive = opened.has_value();
  if (alive) beside.spawn(watch_client(client, subscriber, attachment));
  while (alive) {
    alive = co_await write_waiting(client, subscriber, attachment);
    Session* session = sessions_.find(subscriber);
    if (!alive || session == nullptr || session->attachment != attachment || session->overflowed || shell_.draining)
      break;
    if (!session->outbox.empty()) continue;
    session->wake.expires_after(shell_.settings.streams.keepalive_interval);
    net::error_code ec;
    co_await session->wake.async_wait(net::asio::redirect_error(net::use_task, ec));
    session = sessions_.find(subscriber);
    if (session == nullptr || session->attachment != attachment || !session->attached) break;
    if (!ec || session->probe) {
      session->probe = false;
      const auto written = co_await client.write(codec::comment());
      alive = written.has_value();
    }
  }
  beside.cancel();
  co_await beside.join();
  Session* session = sessions_.find(subscriber);
  if (session != nullptr && session->attachment == attachment) sessions_.detach(*session);
  if (alive && session != nullptr && session->listen && shell_.draining) {
    co_await client.write(codec::format_event({}, {}, codec::listen_completed(session->listen->id_json)));
  }
  if (alive) co_await client.finish();
}

// Everything that waits, a bounded piece at a time. False: the connection broke, or the stream was replaced.
net::Task<bool> Endpoint::write_waiting(net::ServerExchange& client, SubscriberId subscriber,
                                        std::uint64_t attachment) {
  for (;;) {
    Session* session = sessions_.find(subscriber);
    if (session == nullptr || session->attachment != attachment) co_return true;
    std::string frames;
    std::vector<NoticeId> notices;
    while (frames.size() < write_bytes_max) {
      auto item = session->outbox.pop();
      if (!item) break;
      frames += item->frame;
      if (item->notice) notices.push_back(*item->notice);
    }
    if (frames.empty()) co_return true;
    const auto written = co_await client.write(frames);
    for (const NoticeId notice : notices) shell_.engine.apply(NoticeSettled{notice, written.has_value()});
    if (!written) co_return false;
  }
}

// A client that only half-closed may still read: the comment that follows shows whether it does.
net::Task<> Endpoint::watch_client(net::ServerExchange& client, SubscriberId subscriber, std::uint64_t attachment) {
  for (bool gone = false; !gone;) {
    gone = co_await client.peer_ended();
    Session* session = sessions_.find(subscriber);
    if (session == nullptr || session->attachment != attachment) co_return;
    if (gone) {
      sessions_.detach(*session);
    } else {
      session->probe = true;
      session->wake.cancel();
    }
  }
}

}  // namespace freshet::session
