// All sessions: found by the client's id or by the engine's, expired when idle, closed with all that hung on them.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "proxy/session/session.hpp"
#include "proxy/session/shell.hpp"
#include "strategies/effect.hpp"

namespace freshet::session {

struct NewSession {
  std::string id;  // empty: one is minted
  std::optional<std::string> upstream_id;
  Principal principal;
  Carried carried;
  std::string protocol_version;
  std::string initialize_request;
  Declaration declared;
  std::optional<Listen> listen;
};

class Sessions {
 public:
  // `on_expired` gives the upstream's half back; the session is still there when it is called.
  Sessions(Shell& shell, std::function<void(Session&)> on_expired);

  [[nodiscard]] bool full() const { return by_subscriber_.size() >= shell_.settings.limits.sessions_max; }
  Session& open(Upstream& upstream, NewSession made);
  // The engine is told; streams end.
  void close(SubscriberId subscriber);
  void close_all();

  [[nodiscard]] Session* find(std::string_view id);
  [[nodiscard]] Session* find(SubscriberId subscriber);
  // The newest listen stream of this principal that asked for the URI.
  [[nodiscard]] Session* find_listen(UpstreamId upstream, const Principal& principal, std::string_view uri);
  [[nodiscard]] std::vector<SubscriberId> listens(UpstreamId upstream, const Principal& principal) const;
  [[nodiscard]] std::size_t size() const { return by_subscriber_.size(); }
  void for_each(const std::function<void(Session&)>& visit);

  // Ids of sessions that the client ended and the upstream kept (405 to DELETE): requests for them pass through.
  void remember_outlived(std::string id);
  [[nodiscard]] bool outlived(std::string_view id) const;

  // The settings changed: what waits for a time that they name waits anew.
  void settings_changed();

  // Used now: the idle time starts again.
  void touch(Session& session);
  // The client's stream is there, or gone: its notices are told to the engine as lost.
  std::uint64_t attach(Session& session, bool resumed);
  void detach(Session& session);

  // Effects of the engine.
  void perform(const Notify& effect);
  void perform(const Withdraw& effect);
  void perform(const Relay& effect);
  void perform(const NotifyListChanged& effect);

  // A message for the client that is not the engine's matter.
  void relay(Session& session, std::string data, std::string event_type);
  [[nodiscard]] std::size_t streams(UpstreamId upstream) const { return streams_[index(upstream)]; }

 private:
  void watch_expiry(Session& session);
  void expire(SubscriberId subscriber);
  [[nodiscard]] net::Clock::time_point expires_at(const Session& session) const;
  [[nodiscard]] net::Clock::time_point absent_at(const Session& session) const;
  void show_counts(UpstreamId upstream);

  Shell& shell_;
  std::function<void(Session&)> on_expired_;
  std::unordered_map<SubscriberId, std::unique_ptr<Session>> by_subscriber_;
  std::unordered_map<std::string_view, Session*> by_id_;
  std::multimap<std::pair<UpstreamId, Principal>, SubscriberId> listens_;
  std::vector<std::size_t> sessions_;  // by UpstreamId
  std::vector<std::size_t> streams_;
  std::deque<std::string> outlived_;
  std::uint64_t last_subscriber_ = 0;
};

// A session id that cannot be guessed: 128 random bits, hexadecimal.
[[nodiscard]] std::string random_token();

}  // namespace freshet::session
