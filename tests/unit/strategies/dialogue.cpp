#include "dialogue.hpp"

#include <functional>
#include <stdexcept>

namespace freshet {

Principal principal(unsigned char name) {
  Principal p;
  p.digest[0] = std::byte{name};
  return p;
}

Content content(const std::string& text) {
  const std::uint64_t h = std::hash<std::string>{}(text);
  Content c;
  c.raw = RawDigest{{h, 7}};
  c.digest = Digest{{h, 8}};
  c.result = std::make_shared<const std::string>(text);
  return c;
}

Settings one_upstream() {
  Settings settings;
  settings.partners.push_back({.name = "partner", .budget = {}, .breaker = {}});
  UpstreamSettings upstream;
  upstream.name = "upstream";
  upstream.principal_check = Duration::zero();
  upstream.freshness.plan.interval = 30s;
  settings.upstreams.push_back(upstream);
  return settings;
}

Declaration polled() {
  return {.resources = true, .server_name = {}, .server_version = {}};
}
Declaration subscribed() {
  return {.resources = true, .subscribe = true, .server_name = {}, .server_version = {}};
}

Dialogue::Dialogue(Settings settings, std::uint64_t seed) : engine(std::move(settings), seed) {}

void Dialogue::session(SubscriberId s, const Principal& who, const Declaration& declared, bool shadow) {
  tell(SubscriberOpened{s, UpstreamId{0}, who, declared, shadow});
}
void Dialogue::stream(SubscriberId s, bool resumed) {
  tell(StreamAttached{s, resumed});
}
void Dialogue::stream_breaks(SubscriberId s) {
  tell(StreamDetached{s});
}
RequestId Dialogue::subscribe(SubscriberId s, const std::string& uri) {
  const RequestId request{++last_request_};
  tell(SubscribeAsked{s, request, uri});
  return request;
}
RequestId Dialogue::unsubscribe(SubscriberId s, const std::string& uri) {
  const RequestId request{++last_request_};
  tell(UnsubscribeAsked{s, request, uri});
  return request;
}
RequestId Dialogue::read(SubscriberId s, const std::string& uri, bool shareable) {
  const RequestId request{++last_request_};
  asked_[request] = {s, uri};
  tell(ReadAsked{s, request, uri, shareable});
  return request;
}
void Dialogue::updated(SubscriberId s, const std::string& uri) {
  tell(UpdateArrived{s, uri, std::make_shared<const std::string>(uri)});
}

void Dialogue::tell(Event event) {
  outcomes_.push_back(std::move(event));
  settle();
}

void Dialogue::settle() {
  while (!outcomes_.empty()) {
    const Event event = std::move(outcomes_.front());
    outcomes_.pop_front();
    Effects effects;
    engine.apply(event, {now, WallTime(std::chrono::duration_cast<std::chrono::milliseconds>(now.time_since_epoch()))},
                 effects);
    for (const Effect& effect : effects) perform(effect);
  }
}

void Dialogue::pass(Duration d) {
  const Instant target = now + d;
  int idle = 0;
  while (engine.next_wake() <= target) {
    const Instant wake = engine.next_wake();
    idle = wake <= now ? idle + 1 : 0;
    if (idle > 1000) throw std::logic_error("the engine wants to be woken for ever");
    now = std::max(now, wake);
    tell(Woken{});
  }
  now = target;
  tell(Woken{});
}

ReadOutcome Dialogue::outcome_of(SubscriberId via, const std::string& uri) const {
  if (const auto it = instead.find(uri); it != instead.end()) return it->second;
  if (const auto it = per_session.find(via); it != per_session.end()) return content(it->second);
  if (const auto it = there.find(uri); it != there.end()) return content(it->second);
  return NotFound{};
}

ListOutcome Dialogue::page_of(const SendListPage& asked) const {
  if (list.empty()) return Rejected{};
  const std::size_t i = asked.cursor ? std::stoul("0" + *asked.cursor) : 0;
  ListPage page;
  for (const std::string& uri : list.at(i)) page.resources.push_back({uri, content(uri).digest});
  if (i + 1 < list.size()) page.next_cursor = std::to_string(i + 1);
  return page;
}

void Dialogue::answer(ReadId read, ReadOutcome outcome, bool delivered) {
  std::erase_if(reads_, [&](const SendRead& r) { return r.read == read; });
  std::erase_if(client_reads_, [&](const ForwardRead& r) { return r.read == read; });
  tell(ReadEnded{read, std::move(outcome), delivered});
}

void Dialogue::release_reads() {
  holds_reads = false;
  answer_held();
}

void Dialogue::answer_held() {
  for (const SendRead& r : std::exchange(reads_, {}))
    outcomes_.push_back(ReadEnded{r.read, outcome_of(r.via, r.uri), false});
  for (const ForwardRead& r : std::exchange(client_reads_, {})) {
    const auto& [s, uri] = asked_.at(r.request);
    outcomes_.push_back(ReadEnded{r.read, outcome_of(s, uri), true});
  }
  settle();
}

void Dialogue::settle_notices(bool delivered) {
  for (const NoticeId n : std::exchange(notices_, {})) {
    if (delivered) ++told_[on_the_way_.at(n)];
    outcomes_.push_back(NoticeSettled{n, delivered});
  }
  settle();
}

void Dialogue::perform(const Effect& effect) {
  facts_.push_back(effect);
  if (const auto* e = std::get_if<SendRead>(&effect)) {
    ++sent_reads_;
    if (holds_reads) {
      reads_.push_back(*e);
    } else {
      outcomes_.push_back(ReadEnded{e->read, outcome_of(e->via, e->uri), false});
    }
  } else if (const auto* f = std::get_if<ForwardRead>(&effect)) {
    const auto& [s, uri] = asked_.at(f->request);
    if (holds_reads) {
      client_reads_.push_back(*f);
    } else {
      outcomes_.push_back(ReadEnded{f->read, outcome_of(s, uri), true});
    }
  } else if (const auto* serve = std::get_if<ServeRead>(&effect)) {
    served_[serve->request] = *serve;
    const auto& [s, uri] = asked_.at(serve->request);
    outcomes_.push_back(ServedDelivered{s, uri, serve->digest, serve->dispatched});
  } else if (const auto* sub = std::get_if<SendNativeSubscribe>(&effect)) {
    ++native_subscribes_;
    if (!holds_natives) outcomes_.push_back(NativeSubscribeEnded{sub->subscriber, sub->uri, sub->generation, native});
  } else if (const auto* unsub = std::get_if<SendNativeUnsubscribe>(&effect)) {
    ++native_unsubscribes_;
    if (!holds_natives) {
      outcomes_.push_back(NativeUnsubscribeEnded{unsub->subscriber, unsub->uri, unsub->generation, native});
    }
  } else if (const auto* page = std::get_if<SendListPage>(&effect)) {
    ++list_pages_;
    outcomes_.push_back(ListPageEnded{page->page, page_of(*page)});
  } else if (const auto* notice = std::get_if<Notify>(&effect)) {
    last_notice = *notice;
    on_the_way_[notice->notice] = {notice->subscriber, notice->uri};
    if (holds_notices) {
      notices_.push_back(notice->notice);
    } else {
      ++told_[{notice->subscriber, notice->uri}];
      outcomes_.push_back(NoticeSettled{notice->notice, true});
    }
  } else if (const auto* gone = std::get_if<Withdraw>(&effect)) {
    std::erase(notices_, gone->notice);
  } else if (const auto* a = std::get_if<AnswerSubscribe>(&effect)) {
    answers_[a->request] = *a;
  } else if (const auto* refuse = std::get_if<RefuseRequest>(&effect)) {
    refusals_[refuse->request] = *refuse;
  } else if (const auto* listed = std::get_if<NotifyListChanged>(&effect)) {
    ++list_changes_[listed->subscriber];
  } else if (std::holds_alternative<Relay>(effect)) {
    ++relayed_;
  }
}

std::size_t Dialogue::notified(SubscriberId s, const std::string& uri) {
  return std::exchange(told_[{s, uri}], 0);
}

SubscriptionView Dialogue::view(SubscriberId s, const std::string& uri) const {
  std::optional<SubscriptionView> found;
  engine.for_each_subscription(now, [&](const SubscriptionView& v) {
    if (v.subscriber == s && v.uri == uri) found = v;
  });
  return found.value();
}

std::string Dialogue::state(SubscriberId s, const std::string& uri) const {
  return std::string(view(s, uri).state);
}

}  // namespace freshet
