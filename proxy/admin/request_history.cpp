#include "proxy/admin/request_history.hpp"

namespace freshet::admin {

Requests RequestHistory::rate(const Sample& from, const Sample& to) {
  const double s = seconds(to.at - from.at);
  if (s <= 0) return {};
  const Requests sent = to.since_start - from.since_start;
  return {sent.client / s, sent.poll / s, sent.other / s};
}

void RequestHistory::sample(const Requests& since_start, Instant now) {
  recent_.push_back({now, since_start});
  while (recent_.size() > 2 && now - recent_[1].at >= recent) recent_.pop_front();
  if (!hour_.empty() && now - hour_.back().at < step) return;
  hour_.push_back({now, since_start});
  if (hour_.size() > points_max + 1) hour_.pop_front();
}

Requests RequestHistory::per_second() const {
  return recent_.empty() ? Requests{} : rate(recent_.front(), recent_.back());
}

Requests RequestHistory::per_second_last_hour() const {
  return hour_.empty() ? Requests{} : rate(hour_.front(), recent_.back());
}

std::vector<Requests> RequestHistory::points() const {
  std::vector<Requests> rates;
  for (std::size_t i = 1; i < hour_.size(); ++i) rates.push_back(rate(hour_[i - 1], hour_[i]));
  return rates;
}

}  // namespace freshet::admin
