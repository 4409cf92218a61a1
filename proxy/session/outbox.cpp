#include "proxy/session/outbox.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

#include "proxy/codec/sse.hpp"

namespace freshet::session {

bool Outbox::push(std::string data, std::string event_type) {
  if (queued_bytes_ + data.size() > limits_.queued_bytes_max) return false;
  queued_bytes_ += data.size();
  queue_.push_back({std::nullopt, std::move(data), std::move(event_type)});
  return true;
}

void Outbox::push(NoticeId notice, std::string data) {
  queued_bytes_ += data.size();
  queue_.push_back({notice, std::move(data), {}});
}

void Outbox::withdraw(NoticeId notice) {
  std::erase_if(queue_, [&](const Queued& q) {
    if (q.notice != notice) return false;
    queued_bytes_ -= q.data.size();
    return true;
  });
}

std::optional<Outbox::Item> Outbox::pop() {
  if (queue_.empty()) return std::nullopt;
  Queued next = std::move(queue_.front());
  queue_.pop_front();
  queued_bytes_ -= next.data.size();
  const std::uint64_t sequence = next.replayed_as != 0 ? next.replayed_as : ++sequence_;
  const std::string id = stream_.empty() ? "" : stream_ + "-" + std::to_string(sequence);
  Item item{next.notice, codec::format_event(id, next.event_type, next.data)};
  if (!stream_.empty()) keep({sequence, std::move(next.data), std::move(next.event_type)});
  return item;
}

void Outbox::keep(Sent sent) {
  sent_bytes_ += sent.data.size();
  sent_.push_back(std::move(sent));
  while (sent_.size() > limits_.replay_events_max || sent_bytes_ > limits_.replay_bytes_max) {
    sent_bytes_ -= sent_.front().data.size();
    sent_.pop_front();
  }
}

std::vector<NoticeId> Outbox::drop_notices() {
  std::vector<NoticeId> dropped;
  std::erase_if(queue_, [&](const Queued& q) {
    if (!q.notice) return false;
    queued_bytes_ -= q.data.size();
    dropped.push_back(*q.notice);
    return true;
  });
  return dropped;
}

bool Outbox::made_here(std::string_view event_id) {
  return event_id.starts_with(stream_prefix);
}

bool Outbox::replay_after(std::string_view last_event_id) {
  if (stream_.empty() || !last_event_id.starts_with(stream_ + "-")) return false;
  const std::string_view digits = last_event_id.substr(stream_.size() + 1);
  std::uint64_t last = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), last);
  if (error != std::errc{} || end != digits.data() + digits.size() || last > sequence_) return false;
  const std::uint64_t oldest_kept = sent_.empty() ? sequence_ + 1 : sent_.front().sequence;
  if (last + 1 < oldest_kept) return false;
  while (!sent_.empty() && sent_.back().sequence > last) {
    Sent again = std::move(sent_.back());
    sent_.pop_back();
    sent_bytes_ -= again.data.size();
    queued_bytes_ += again.data.size();
    queue_.push_front({std::nullopt, std::move(again.data), std::move(again.event_type), again.sequence});
  }
  return true;
}

}  // namespace freshet::session
