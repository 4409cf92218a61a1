// A conversation with the engine under a clock that the test owns: an upstream that holds resources, clients that ask,
// and a record of what each was told. Answers come at once unless the test holds them back.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "strategies/engine.hpp"

namespace freshet {

using namespace std::chrono_literals;

inline constexpr SubscriberId ann{1};
inline constexpr SubscriberId bob{2};

[[nodiscard]] Principal principal(unsigned char name);
[[nodiscard]] Content content(const std::string& text);
[[nodiscard]] Settings one_upstream();
[[nodiscard]] Declaration polled();      // resources without subscribe
[[nodiscard]] Declaration subscribed();  // resources with subscribe

class Dialogue {
 public:
  explicit Dialogue(Settings settings = one_upstream(), std::uint64_t seed = 1);

  // --- what happens ---
  void session(SubscriberId s, const Principal& who = {}, const Declaration& declared = polled(), bool shadow = false);
  void stream(SubscriberId s, bool resumed = false);
  void stream_breaks(SubscriberId s);
  RequestId subscribe(SubscriberId s, const std::string& uri = "r");
  RequestId unsubscribe(SubscriberId s, const std::string& uri = "r");
  // The client's own read; its answer is delivered at once unless held.
  RequestId read(SubscriberId s, const std::string& uri = "r", bool shareable = true);
  void updated(SubscriberId s, const std::string& uri = "r");
  void pass(Duration d);
  void tell(Event event);

  // --- the upstream ---
  std::map<std::string, std::string> there;         // what it has; anything else is not found
  std::map<std::string, ReadOutcome> instead;       // answers given in place of a content, by URI
  std::map<SubscriberId, std::string> per_session;  // what a session sees in place of `there`
  NativeOutcome native = Accepted{};
  std::vector<std::vector<std::string>> list;  // pages of resources/list; none: it has no such method
  bool holds_reads = false;
  bool holds_natives = false;
  bool holds_notices = false;

  // --- what it was asked ---
  [[nodiscard]] std::size_t reads() const { return sent_reads_; }
  [[nodiscard]] const std::deque<SendRead>& held_reads() const { return reads_; }
  [[nodiscard]] const std::deque<ForwardRead>& held_client_reads() const { return client_reads_; }
  void answer(ReadId read, ReadOutcome outcome, bool delivered = false);
  void answer_held();    // as the upstream is now
  void release_reads();  // the held ones, and holds no more
  [[nodiscard]] std::size_t native_subscribes() const { return native_subscribes_; }
  [[nodiscard]] std::size_t native_unsubscribes() const { return native_unsubscribes_; }
  [[nodiscard]] std::size_t list_pages() const { return list_pages_; }

  // --- what clients got ---
  // Notifications that reached the stream since the last call.
  std::size_t notified(SubscriberId s, const std::string& uri = "r");
  std::optional<Notify> last_notice;
  [[nodiscard]] bool answered(RequestId r) const { return answers_.contains(r); }
  [[nodiscard]] bool accepted(RequestId r) const { return answered(r) && !answers_.at(r).refusal && !refused(r); }
  [[nodiscard]] bool degraded(RequestId r) const { return answered(r) && answers_.at(r).degraded; }
  [[nodiscard]] bool refused(RequestId r) const { return refusals_.contains(r); }
  [[nodiscard]] RefusalPtr refusal(RequestId r) const { return answers_.at(r).refusal; }
  [[nodiscard]] bool served(RequestId r) const { return served_.contains(r); }
  [[nodiscard]] std::size_t relayed() const { return relayed_; }
  [[nodiscard]] std::size_t list_changes(SubscriberId s) { return list_changes_[s]; }
  void settle_notices(bool delivered);
  template <class Fact>
  [[nodiscard]] std::vector<Fact> facts() const {
    std::vector<Fact> found;
    for (const Effect& e : facts_) {
      if (const Fact* f = std::get_if<Fact>(&e)) found.push_back(*f);
    }
    return found;
  }
  [[nodiscard]] std::string state(SubscriberId s, const std::string& uri = "r") const;
  [[nodiscard]] SubscriptionView view(SubscriberId s, const std::string& uri = "r") const;

  Engine engine;
  Instant now{1000s};

 private:
  void perform(const Effect& effect);
  void settle();
  [[nodiscard]] ReadOutcome outcome_of(SubscriberId via, const std::string& uri) const;
  [[nodiscard]] ListOutcome page_of(const SendListPage& asked) const;

  std::deque<Event> outcomes_;
  std::deque<SendRead> reads_;
  std::deque<ForwardRead> client_reads_;
  std::deque<NoticeId> notices_;
  std::map<RequestId, std::pair<SubscriberId, std::string>> asked_;
  std::map<RequestId, AnswerSubscribe> answers_;
  std::map<RequestId, RefuseRequest> refusals_;
  std::map<RequestId, ServeRead> served_;
  std::map<NoticeId, std::pair<SubscriberId, std::string>> on_the_way_;
  std::map<std::pair<SubscriberId, std::string>, std::size_t> told_;
  std::map<SubscriberId, std::size_t> list_changes_;
  std::vector<Effect> facts_;
  std::size_t sent_reads_ = 0;
  std::size_t native_subscribes_ = 0;
  std::size_t native_unsubscribes_ = 0;
  std::size_t list_pages_ = 0;
  std::size_t relayed_ = 0;
  std::uint64_t last_request_ = 0;
};

}  // namespace freshet
