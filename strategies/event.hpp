// All that can happen to the engine. Plain values; the shell makes them, the simulator too.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "strategies/ids.hpp"
#include "strategies/outcome.hpp"
#include "strategies/strategy.hpp"

namespace freshet {

struct Settings;

// The text of a message from the upstream that is handed on as it came.
using MessagePtr = std::shared_ptr<const std::string>;

// --- subscribers ---

struct SubscriberOpened {
  SubscriberId subscriber;
  UpstreamId upstream;
  Principal principal;
  Declaration declared;
  bool shadow = false;  // decide and measure, deliver nothing
  bool listen = false;  // one modern listen stream: told of every version, since no read can be ascribed to its client
};
// The upstream accepted another credential on this subscriber's session.
struct PrincipalAdopted {
  SubscriberId subscriber;
  Principal principal;
};
// The upstream's side of the session was made anew (healed): native subscriptions are gone, capabilities may differ.
struct SessionRenewed {
  SubscriberId subscriber;
  Declaration declared;
};
struct SubscriberClosed {
  SubscriberId subscriber;
};
// A stream to the client is there. `resumed`: it continues the last one, nothing that was sent is lost. Otherwise every
// notice that the last stream carried was settled before.
struct StreamAttached {
  SubscriberId subscriber;
  bool resumed = false;
};
struct StreamDetached {
  SubscriberId subscriber;
};

// --- what clients ask ---

struct SubscribeAsked {
  SubscriberId subscriber;
  RequestId request;
  std::string uri;
};
struct UnsubscribeAsked {
  SubscriberId subscriber;
  RequestId request;
  std::string uri;
};
struct ReadAsked {
  SubscriberId subscriber;
  RequestId request;
  std::string uri;
  bool shareable = true;  // its parameters are the URI and nothing else
};
// A request of this subscriber other than a read has ended: who writes must read what was written.
struct WriteEnded {
  SubscriberId subscriber;
};
// Modern: the answer to a read reached a client of this principal, whole; which of its clients cannot be known.
struct ReadDelivered {
  UpstreamId upstream;
  Principal principal;
  std::string uri;
  Digest digest;
};
// A read that was served without travelling reached the subscriber, whole. Not for modern streams.
struct ServedDelivered {
  SubscriberId subscriber;
  std::string uri;
  Digest digest;
  Instant dispatched;  // of the read that it was served from
};

// --- outcomes of effects ---

struct ReadEnded {
  ReadId read;
  ReadOutcome outcome;
  bool delivered = false;  // for a client's own read: its content reached the client, whole
};
struct NativeSubscribeEnded {
  SubscriberId subscriber;
  std::string uri;
  Generation generation;
  NativeOutcome outcome;
};
struct NativeUnsubscribeEnded {
  SubscriberId subscriber;
  std::string uri;
  Generation generation;
  NativeOutcome outcome;
};
struct ListPageEnded {
  PageId page;
  ListOutcome outcome;
};
struct NoticeSettled {
  NoticeId notice;
  bool delivered;  // handed to the socket; false: its stream died with it
};

// --- what the upstream does by itself ---

struct UpdateArrived {
  SubscriberId subscriber;  // on whose upstream stream
  std::string uri;
  MessagePtr message;
  bool relayed = false;  // the client has it already: it came on the stream of an answer, which passes as it is
};
// notifications/resources/list_changed on this subscriber's upstream stream. Relaying it is the shell's part.
struct ListChangeArrived {
  SubscriberId subscriber;
};
// The upstream offers no stream (405, or nothing but failures): native updates cannot arrive.
struct UpstreamStreamRefused {
  SubscriberId subscriber;
};
// The stream that native updates arrive on broke / is there again: what happened meanwhile was not told.
struct UpstreamStreamLost {
  SubscriberId subscriber;
};
struct UpstreamStreamRestored {
  SubscriberId subscriber;
};

// --- traffic that the engine does not originate, for the budget ---

struct ClientRequestSent {
  UpstreamId upstream;
};
struct ClientRequestEnded {
  UpstreamId upstream;
  int http_status = 0;  // 0: no answer came
  std::optional<Duration> retry_after;
  bool given_up = false;  // by the client, before an answer: it says nothing of the upstream
};

// --- what an operator asks by hand ---

// Reads what is watched again, as soon as the budget allows. `uri` empty: all that this upstream's subscribers watch.
struct RefreshAsked {
  UpstreamId upstream;
  std::string uri;
};
// Held: nothing that Freshet originates travels to the partner until it is let go. Clients' own requests do.
struct PartnerHoldAsked {
  PartnerId partner;
  bool held;
};

// The settings changed. The same upstreams and partners, in the same order; what is known and owed stays.
struct Reconfigured {
  std::shared_ptr<const Settings> settings;
};

// The time that next_wake() named has come.
struct Woken {};

using Event =
    std::variant<SubscriberOpened, PrincipalAdopted, SessionRenewed, SubscriberClosed, StreamAttached, StreamDetached,
                 SubscribeAsked, UnsubscribeAsked, ReadAsked, WriteEnded, ReadDelivered, ServedDelivered, ReadEnded,
                 NativeSubscribeEnded, NativeUnsubscribeEnded, ListPageEnded, NoticeSettled, UpdateArrived,
                 ListChangeArrived, UpstreamStreamRefused, UpstreamStreamLost, UpstreamStreamRestored,
                 ClientRequestSent, ClientRequestEnded, RefreshAsked, PartnerHoldAsked, Reconfigured, Woken>;

}  // namespace freshet
