// Requests that Freshet itself makes in a session: reads, native subscribes, the session's healing and its end.
#pragma once

#include <optional>
#include <string>

#include "proxy/session/reply.hpp"
#include "proxy/session/sessions.hpp"
#include "proxy/session/shell.hpp"

namespace freshet::session {

class OwnCalls {
 public:
  OwnCalls(Shell& shell, Sessions& sessions);

  // Effects of the engine: each is answered by exactly one event.
  void perform(const SendRead& effect);
  void perform(const SendNativeSubscribe& effect);
  void perform(const SendNativeUnsubscribe& effect);
  void perform(const SendListPage& effect);
  // A client's read that was to travel, and that nobody waits for any more.
  void give_up(ReadId read);

  // The upstream forgot the session: initialise it again with the client's own parameters. True if the session is good
  // again; those who ask while it is under way share its outcome.
  // `refused`: the upstream's id of the session that was refused; where it is another by now, the healing is done. None
  // is made for a while where the upstream took no request in the session that the last one made.
  net::Task<bool> heal(SubscriberId subscriber, std::optional<std::string> refused);
  // What the upstream said to the first request in a session that was made anew.
  void healing_proved(SubscriberId subscriber, bool good);

  // Whether the upstream accepts these credentials in the session: asked by a ping, which reads nothing.
  net::Task<bool> accepts_credentials(SubscriberId subscriber, Carried carried);

  // Gives the upstream's half back (2025-11-25 transports, Session Management 5). A 405 is an answer like others.
  void end_upstream_session(const Session& session);

  // What a modern upstream declares; nothing where it is not modern, or did not answer.
  net::Task<std::optional<codec::InitializeResult>> discover(Upstream& upstream, Carried carried);

  // Makes sure that the upstream's stream is open, or being opened.
  void ensure_upstream_stream(Session& session);
  [[nodiscard]] codec::RequestHead stream_head(const Session& session) const;
  // Opens it where there is none; true once it is there, false once it is known that there will be none, or after
  // `limit`.
  net::Task<bool> upstream_stream_opens(SubscriberId subscriber, std::chrono::nanoseconds limit);

  // For the upstream's stream: what it met there.
  void spawn_heal(SubscriberId subscriber, std::optional<std::string> refused);
  void answer_ping(const Session& session, std::string_view id_json);

 private:
  struct Call {
    std::string method;
    std::string params_json;
    std::string name;  // what Mcp-Name says of it (modern era); empty: nothing
    std::chrono::nanoseconds timeout;
  };

  static net::Task<> afterwards(net::Task<> call);
  net::Task<> read(SendRead effect);
  net::Task<> end_unsent(ReadId read);
  net::Task<> list_page(SendListPage effect);
  net::Task<> native_subscribe(SendNativeSubscribe effect);
  net::Task<> native_unsubscribe(SendNativeUnsubscribe effect);
  net::Task<> heal_alone(SubscriberId subscriber, std::optional<std::string> refused);
  net::Task<> send_alone(UpstreamId upstream, codec::RequestHead head, std::string body);

  net::Task<NativeOutcome> native(SubscriberId subscriber, std::string method, std::string uri);
  // One healing and one repetition where the upstream refused the session.
  net::Task<net::Result<Answer>> call_healing(SubscriberId subscriber, Call call);
  net::Task<net::Result<Answer>> call(SubscriberId subscriber, Call call);
  net::Task<net::Result<Answer>> exchange(Upstream& upstream, codec::RequestHead head, std::string body,
                                          std::string id_json, std::chrono::nanoseconds timeout);
  net::Task<bool> initialise_again(SubscriberId subscriber);

  [[nodiscard]] static NativeOutcome listened(const Listen& listen, const std::string& uri);
  [[nodiscard]] static codec::RequestHead own_head(const Upstream& upstream, Carried carried);
  [[nodiscard]] codec::RequestHead post_head(const Session& session) const;
  [[nodiscard]] static codec::RequestHead post_head(const Session& session, Carried carried);
  [[nodiscard]] std::string next_id();

  Shell& shell_;
  Sessions& sessions_;
  std::string id_prefix_;
  std::uint64_t last_id_ = 0;
};

[[nodiscard]] Carried carried_of(const codec::RequestHead& client);

}  // namespace freshet::session
