// One upstream as clients meet it: its MCP endpoint, where the messages that concern Freshet are dealt with, and every
// other path, which passes through.
#pragma once

#include <string>
#include <vector>

#include "proxy/codec/jsonrpc.hpp"
#include "proxy/net/http_server.hpp"
#include "proxy/net/task_group.hpp"
#include "proxy/session/forwarding.hpp"
#include "proxy/session/own_calls.hpp"
#include "proxy/session/sessions.hpp"
#include "proxy/session/shell.hpp"

namespace freshet::session {

class Endpoint {
 public:
  Endpoint(Shell& shell, Sessions& sessions, OwnCalls& calls, Upstream& upstream);

  // A request for the endpoint's path.
  net::Task<> handle(net::ServerExchange& client);
  // A request for any other path of the upstream.
  net::Task<> pass(net::ServerExchange& client);

  [[nodiscard]] const Upstream& upstream() const { return upstream_; }

 private:
  struct Post {
    net::ServerExchange& client;
    codec::RequestHead head;
    std::string body;
    codec::Envelope envelope;
    Principal principal;
  };

  // What the end of the client's sending means before its answer has begun. A client that left for good looks the same
  // until something is written to it, which is soon where the answer's begin is bounded in time.
  enum class HalfClose { leaves, reads_on };

  // endpoint.cpp
  net::Task<> post(net::ServerExchange& client);
  net::Task<> dispatch(Post& post, SubscriberId subscriber);
  net::Task<> pass_post(Post& post, std::optional<SubscriberId> subscriber, const codec::Message& message);
  net::Task<> delete_session(net::ServerExchange& client, codec::RequestHead head);
  net::Task<> initialize(Post& post);
  [[nodiscard]] std::string open_session(const Post& post, const codec::ResponseHead& response, std::string body,
                                         codec::Fields& shown);
  void write_ended(std::optional<SubscriberId> session, const Principal& principal);
  void cancel(SubscriberId subscriber, std::string_view id_json);
  void adopt(SubscriberId subscriber, const Principal& principal, const codec::RequestHead& head);
  [[nodiscard]] Forwarding forwarding(net::ServerExchange& client, const codec::RequestHead& head);

  // endpoint_resources.cpp
  net::Task<> subscribe(Post& post, SubscriberId subscriber, const codec::Message& message);
  net::Task<> unsubscribe(Post& post, SubscriberId subscriber, const codec::Message& message);
  net::Task<> read(Post& post, SubscriberId subscriber, const codec::Message& message);
  // A read on its way, its answer kept; `subscriber`: in whose session.
  net::Task<ForwardResult> relay_read(Post& post, std::optional<SubscriberId> subscriber);
  net::Task<> forward_read(Post& post, SubscriberId subscriber, const codec::Message& message, ReadId read);
  net::Task<> batch(Post& post, SubscriberId subscriber);
  net::Task<std::string> member_answer(Post& post, SubscriberId subscriber, const codec::Message& message);
  net::Task<bool> principal_accepted(Post& post, SubscriberId subscriber);
  void shadow_subscribe(SubscriberId subscriber, const codec::Message& message);

  // endpoint_modern.cpp
  net::Task<> modern(Post& post);
  net::Task<> modern_discover(Post& post);
  net::Task<> modern_read(Post& post);
  net::Task<> read_unwatched(Post& post);
  void delivered(const Post& post, const ReadOutcome& outcome);
  net::Task<> modern_listen(Post& post);
  net::Task<> pass_modern(Post& post);
  net::Task<> until_client_leaves(net::ServerExchange& client, net::Task<> call,
                                  HalfClose half_close = HalfClose::leaves);
  net::Task<> cancel_when_client_leaves(net::ServerExchange& client, net::TaskGroup& work, HalfClose half_close);
  net::Task<codec::ListenFilter> honoured(SubscriberId subscriber);
  net::Task<> serve_listen(net::ServerExchange& client, SubscriberId subscriber, codec::ListenFilter honoured);

  // endpoint_stream.cpp
  [[nodiscard]] static codec::ResponseHead stream_answer(const Session& session);
  net::Task<> get(net::ServerExchange& client, codec::RequestHead head);
  // A stream that is the upstream's own to give. False: it declined (Forwarding::stream_or_nothing), and the client has
  // got no answer yet.
  net::Task<bool> pass_get(net::ServerExchange& client, const codec::RequestHead& head, SubscriberId subscriber,
                           bool stream_or_nothing = false);
  net::Task<> serve_stream(net::ServerExchange& client, SubscriberId subscriber, std::uint64_t attachment);
  net::Task<bool> write_waiting(net::ServerExchange& client, SubscriberId subscriber, std::uint64_t attachment);
  net::Task<> watch_client(net::ServerExchange& client, SubscriberId subscriber, std::uint64_t attachment);

  Shell& shell_;
  Sessions& sessions_;
  OwnCalls& calls_;
  Upstream& upstream_;
};

}  // namespace freshet::session
