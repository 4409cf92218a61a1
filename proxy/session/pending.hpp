// Clients' requests that wait for the engine's answer.
#pragma once

#include <chrono>
#include <unordered_map>
#include <utility>
#include <variant>

#include "proxy/net/one_shot.hpp"
#include "strategies/effect.hpp"

namespace freshet::session {

using EngineAnswer = std::variant<AnswerSubscribe, AnswerUnsubscribe, RefuseRequest, ForwardRead, ServeRead>;

// The engine bounds its answers itself; this only guards them.
inline constexpr auto engine_answers_within = std::chrono::seconds(120);

class Pending {
 public:
  explicit Pending(net::Executor executor) : executor_(executor) {}

  // One request's wait; lives in the coroutine that asks.
  class Wait {
   public:
    explicit Wait(Pending& all) : all_(all), id_{++all.last_id_}, answer_(all.executor_) {
      all_.waiting_.emplace(id_, &answer_);
    }
    ~Wait() { all_.waiting_.erase(id_); }
    Wait(const Wait&) = delete;
    Wait& operator=(const Wait&) = delete;

    [[nodiscard]] RequestId id() const { return id_; }
    net::Task<std::optional<EngineAnswer>> answer(std::chrono::nanoseconds limit) { return answer_.wait(limit); }

   private:
    Pending& all_;
    RequestId id_;
    net::OneShot<EngineAnswer> answer_;
  };

  // False: nobody waits for it any more, since its client is gone or its time was over.
  bool answer(RequestId id, EngineAnswer answer) {
    const auto it = waiting_.find(id);
    if (it == waiting_.end()) return false;
    it->second->set(std::move(answer));
    return true;
  }

 private:
  net::Executor executor_;
  std::unordered_map<RequestId, net::OneShot<EngineAnswer>*> waiting_;
  std::uint64_t last_id_ = 0;
};

}  // namespace freshet::session
