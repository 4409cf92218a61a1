// A client's request on its way to the upstream, and the answer on its way back: bodies byte for byte, as they arrive.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "proxy/net/http_server.hpp"
#include "proxy/session/own_calls.hpp"
#include "proxy/session/sessions.hpp"
#include "proxy/session/shell.hpp"

namespace freshet::session {

struct ForwardResult {
  int status = 0;          // 0: no answer came
  bool given_up = false;   // because the client left
  bool delivered = false;  // the client got all of it
  bool declined = false;   // the client got nothing: see stream_or_nothing
  Answer answer;           // what the response said, where that was wanted
};

class Forwarding {
 public:
  // `request`: the client's head, hop-by-hop fields taken out. Must live until run() completes.
  Forwarding(Shell& shell, Sessions& sessions, OwnCalls& calls, Upstream& upstream, net::ServerExchange& client,
             const codec::RequestHead& request);
  Forwarding(const Forwarding&) = delete;
  Forwarding& operator=(const Forwarding&) = delete;

  // --- to be set before run() ---
  std::string_view body;                   // must live until run() completes
  bool stream_body = false;                // read from the client as it arrives, instead of `body`
  std::optional<SubscriberId> subscriber;  // in whose session it travels
  std::string id_json;                     // of the JSON-RPC request in it; empty: none
  bool read_only = false;                  // repeating it does no harm
  bool owner = true;                       // with the session's own credential: another's refusal says nothing of it
  bool never_waits = false;                // a cancellation does not queue behind what it cancels
  bool wants_answer = false;               // collect what the response says to `id_json`
  // An answer that is no event stream, and says nothing of the credential, the session or the rate, is kept back.
  bool stream_or_nothing = false;
  // Replaces a whole response before it goes out; set where the response must not stream (initialize).
  std::function<std::string(const codec::ResponseHead& response, std::string body, codec::ResponseHead& shown)> rewrite;
  std::string events_first;  // goes out ahead of a response that is an event stream, in place of `rewrite`

  // Sends, heals and repeats where DESIGN allows it, relays, and tells the engine of the traffic. The client has got an
  // answer when this returns, or its connection is broken, or the upstream declined.
  net::Task<ForwardResult> run();

 private:
  net::Task<net::Result<net::ClientResponse>> send();
  net::Task<ForwardResult> relay(net::ClientResponse response);
  net::Task<ForwardResult> relay_small(net::ClientResponse response);
  net::Task<ForwardResult> relay_stream(net::ClientResponse response, std::string_view begun = {});
  net::Task<ForwardResult> relay_rewritten(net::ClientResponse response);
  net::Task<ForwardResult> relay_rewritten_events(net::ClientResponse response);
  void heed(const std::string& data, bool delivered);
  net::Task<bool> over_budget();
  [[nodiscard]] codec::RequestHead upstream_head() const;
  [[nodiscard]] codec::ResponseHead client_head(const codec::ResponseHead& upstream_head) const;
  [[nodiscard]] bool declines(const codec::ResponseHead& head) const;
  [[nodiscard]] bool may_refuse_session(const codec::ResponseHead& head) const;

  Shell& shell_;
  Sessions& sessions_;
  OwnCalls& calls_;
  Upstream& upstream_;
  net::ServerExchange& client_;
  const codec::RequestHead& head_;
  std::optional<CallInFlight> call_;
  std::optional<std::string> sent_in_;  // the upstream's id of the session that the request went out in
  bool healed_ = false;
};

}  // namespace freshet::session
