// The connections of one origin: how many may be busy, who waits for one, which are idle.
#pragma once

#include <list>
#include <optional>
#include <vector>

#include "proxy/net/alarm.hpp"
#include "proxy/net/http_client.hpp"
#include "proxy/net/one_shot.hpp"
#include "proxy/net/transport.hpp"

namespace freshet::net {

class ConnectionPool {
 public:
  // `limits` must outlive the pool.
  ConnectionPool(Executor executor, const HttpClientLimits& limits);
  // Requires that no slot is held and nobody waits.
  ~ConnectionPool();
  ConnectionPool(const ConnectionPool&) = delete;
  ConnectionPool& operator=(const ConnectionPool&) = delete;

  // The right to use one connection. Its end lets the call that has waited longest go on.
  class Slot {
   public:
    Slot(ConnectionPool& pool, Lifetime lifetime) : pool_(&pool), lifetime_(lifetime) {}
    Slot(Slot&& other) noexcept : pool_(std::exchange(other.pool_, nullptr)), lifetime_(other.lifetime_) {}
    Slot& operator=(Slot&&) = delete;
    ~Slot() {
      if (pool_) pool_->release(lifetime_);
    }

   private:
    ConnectionPool* pool_;
    Lifetime lifetime_;
  };

  // In the order of the calls. no_buffer_space: too many wait, or too many streams are open.
  Task<Result<Slot>> acquire(Lifetime lifetime);

  // The idle connection used last, if one is left that its peer has not closed.
  std::optional<Transport> take_idle();
  void give_back(Transport transport);
  void close_idle() { idle_.clear(), reaper_.stop(); }

  [[nodiscard]] std::size_t open() const { return idle_.size() + calls_ + streams_; }

 private:
  struct Idle {
    Transport transport;
    Clock::time_point until;
  };
  void release(Lifetime lifetime);
  void reap();

  Executor executor_;
  const HttpClientLimits& limits_;
  std::vector<Idle> idle_;  // the one idle longest first
  std::list<OneShot<bool>*> waiting_;
  std::size_t calls_ = 0;
  std::size_t streams_ = 0;
  Alarm reaper_;
};

}  // namespace freshet::net
