// One schedule, played: the engine, an upstream as bad as the script says, and clients that hold what was delivered to
// them. What must never happen is noted as it happens; what must have happened is checked when all is quiet.
#pragma once

#include <array>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <queue>
#include <set>
#include <string>
#include <vector>

#include "figures.hpp"
#include "script.hpp"
#include "strategies/engine.hpp"
#include "truth.hpp"

namespace freshet::sim {

[[nodiscard]] Declaration declaration_of(const World& world);
[[nodiscard]] Principal principal_of(const World& world, unsigned principal);
[[nodiscard]] Settings settings_for(const World& world);

// Empty: the schedule passed.
using Violation = std::string;

class Simulation {
 public:
  // `traced`: prints each event and effect.
  explicit Simulation(const Script& script, bool traced = false);
  Violation run(Figures& figures);

 private:
  // What one client knows of one resource.
  struct Held {
    std::optional<int> content;  // last delivered, by number
    unsigned notices = 0;        // that reached it
    unsigned answered = 0;       // of these, how many came before a read that it got an answer to
    bool subscribed = false;     // asked for, and not given back
    bool confirmed = false;      // and answered
    bool degraded = false;
    std::set<int> baselines;    // what the resource was between the question and the answer
    int written = 0;            // its reads must show at least this
    int told = 0;               // greatest number that a notification named
    bool quiet_broken = false;  // something happened that may be told though the content never changed
    [[nodiscard]] bool unanswered() const { return notices > answered; }
  };
  struct Client {
    SubscriberId id{};
    unsigned principal = 0;
    bool open = false;
    bool attached = false;
    std::optional<Instant> absent_since;  // without a stream
    bool session_ok = true;               // the upstream knows its session
    unsigned session = 0;                 // of the upstream's; grows with each restart
    std::set<unsigned> native;            // what the upstream holds a subscription for
    unsigned stream = 0;                  // grows with each stream
    std::set<unsigned> wanted;            // what its listen stream names
    std::vector<NoticeId> queued;         // for the present stream
    bool lost_on_the_wire = false;
    std::vector<unsigned> lost;  // uris of notices that the last stream swallowed
    std::array<Held, uris> held;
  };
  struct Question {
    unsigned client;
    SubscriberId id;
    SubscriberId via;  // to whom the answer is ascribed; none: nobody
    unsigned uri;
    Instant asked;
    unsigned notices;  // that the client had when it asked
    int written;
    std::optional<int> held;
    bool because_told;
    bool subscribes;
    unsigned principal;  // with whose credential it asked
  };
  struct Debt {
    unsigned client;
    unsigned uri;
    Instant since;
  };
  struct Promise {
    Instant made;
    Duration bound;
  };

  // simulation.cpp: time and clients
  void apply(Event event);
  void at(Duration delay, std::function<void()> action);
  void run_until(Instant end);
  void perform(const Effect& effect);
  void open(unsigned client);
  void attach(unsigned client, bool resumed);
  void detach(unsigned client);
  void subscribe(unsigned client, unsigned uri);
  void unsubscribe(unsigned client, unsigned uri);
  void read(unsigned client, unsigned uri, bool because_told);
  [[nodiscard]] SubscriberId ascribed_to(unsigned client, unsigned uri) const;
  void got(const Question& question, int number);
  void answered(RequestId request, bool refused, bool degraded);
  void notify(const Notify& notice);
  void hand_over(NoticeId notice, unsigned client, unsigned uri, unsigned stream);
  [[nodiscard]] std::optional<unsigned> client_of(SubscriberId id) const;
  [[nodiscard]] static unsigned uri_of(const std::string& name);
  [[nodiscard]] int sees(unsigned client, unsigned uri) const;

  // upstream.cpp: what the upstream does
  void originated();
  void serve_own(const SendRead& asked);
  void serve_client(const ForwardRead& asked);
  void serve_unwatched(RequestId request);
  void read_delivered(const Question& question, const ReadOutcome& outcome);
  [[nodiscard]] bool hears(const Question& question) const;
  void serve_native(SubscriberId id, const std::string& uri, Generation generation, bool subscribe);
  void serve_list(const SendListPage& asked);
  [[nodiscard]] std::optional<ReadOutcome> trouble(unsigned client, unsigned session);
  void announce(unsigned uri, std::optional<unsigned> owner);
  void send_update(unsigned client, unsigned uri, Duration delay);
  void announce_list();
  void outage(Duration length);
  void restart(unsigned client);
  [[nodiscard]] Duration some_latency();

  // deeds.cpp
  void perform(const Step& step);
  void act(const Step& step);
  void change(unsigned uri, unsigned owner);
  void write_ended(unsigned client);
  void revoke(unsigned principal);
  void rotate(unsigned client);
  void leave(unsigned client);
  void come_back(unsigned client, bool resumed);
  void close(unsigned client);
  void listen_again(unsigned client, unsigned uri, bool wanted);
  void reconfigure();
  void calm_down();

  // checks.cpp
  void fail(const std::string& what);
  [[nodiscard]] bool notified_all() const;
  void check_blame(const StrategyChanged& change);
  void expect_told_soon(unsigned client, unsigned uri);
  void check_budget();
  void check_bounds(bool calm);
  void check_versions();
  void check_convergence();
  void check_residue();
  void note_debts();
  void settle_debts();
  void drop_debts(std::optional<unsigned> client);

  const Script& script_;
  World world_;
  bool traced_;
  Engine engine_;
  Truth truth_;
  Random chance_;
  Instant now_{std::chrono::seconds(1)};
  bool faults_ = true;
  Instant down_until_ = Instant::min();
  bool updates_lost_ = false;  // some may have gone to nobody: an outage, a session made anew
  Violation violation_;
  Figures* figures_ = nullptr;

  struct Action {
    Instant at;
    std::uint64_t sequence;
    std::function<void()> run;
    bool operator<(const Action& o) const { return std::pair(at, sequence) > std::pair(o.at, o.sequence); }
  };
  std::priority_queue<Action> queue_;
  std::uint64_t sequence_ = 0;

  std::array<Client, clients> clients_;
  std::map<SubscriberId, unsigned> by_id_;
  std::map<RequestId, Question> questions_;
  std::vector<Instant> originated_;
  std::array<std::optional<Instant>, principals> revoked_at_;
  std::array<Instant, principals> last_own_read_{};
  std::array<std::array<unsigned, uris>, principals> last_reader_{};  // of all clients of the principal
  std::vector<Debt> debts_;
  std::set<unsigned> looked_for_rarely_;  // was gone once: counts for no figure on speed
  std::map<std::pair<SubscriberId, std::string>, Promise> promises_;
  std::map<std::pair<SubscriberId, std::string>, int> shown_;  // the version that was shown last
  std::uint64_t last_id_ = 0;
};

}  // namespace freshet::sim
