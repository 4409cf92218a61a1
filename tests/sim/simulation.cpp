#include "simulation.hpp"

#include "trace.hpp"

namespace freshet::sim {

namespace {

using namespace std::chrono_literals;

}  // namespace

Principal principal_of(const World& world, unsigned principal) {
  Principal p;
  if (!world.anonymous) p.digest[0] = std::byte(principal + 1);
  return p;
}

Declaration declaration_of(const World& world) {
  return {.resources = true,
          .subscribe = world.upstream != Upstream::polled,
          .list_changed = true,
          .sessions = world.subscribers == Subscribers::sessions,
          .server_name = {},
          .server_version = {}};
}

Settings settings_for(const World& world) {
  Settings settings;
  settings.partners.push_back({.name = "p", .budget = {}, .breaker = {}});
  UpstreamSettings upstream;
  upstream.name = "u";
  upstream.freshness.plan.interval = world.interval;
  upstream.freshness.watchdog_silence = 30s;
  upstream.read_timeout = 5s;
  upstream.absent_grace = 15s;
  upstream.list_interval = 60s;
  settings.upstreams.push_back(upstream);
  return settings;
}

Simulation::Simulation(const Script& script, bool traced)
    : script_(script),
      world_(script.world),
      traced_(traced),
      engine_(settings_for(script.world), script.seed + 1),
      truth_(script.world),
      chance_(script.seed ^ 0xabcdef) {}

Violation Simulation::run(Figures& figures) {
  figures_ = &figures;
  ++figures.schedules;
  for (unsigned c = 0; c < clients; ++c) {
    clients_[c].principal = world_.anonymous || c < 2 ? 0 : 1;
    at(Duration(c), [this, c] {
      for (const unsigned uri : {0U, uris - 1}) clients_[c].wanted.insert(uri);
      if (world_.subscribers == Subscribers::listens) {
        for (const unsigned uri : clients_[c].wanted) read(c, uri, false);
        return come_back(c, false);
      }
      open(c);
      attach(c, false);
      for (const unsigned uri : clients_[c].wanted) {
        read(c, uri, false);
        subscribe(c, uri);
      }
    });
  }
  for (const Step& step : script_.steps) at(1s + step.at, [this, &step] { perform(step); });
  run_until(now_ + 1s + script_.length);
  calm_down();
  const Duration length = world_.interval * 12 + 90s;
  const Instant settled = now_ + length / 2;  // what happened last is known by then
  for (const Instant quiet = now_ + length; now_ < quiet && violation_.empty();) {
    run_until(now_ + world_.interval / 2);
    check_bounds(now_ > settled);
  }
  check_convergence();
  check_budget();
  for (unsigned p = 0; p < principals; ++p) {
    if (!revoked_at_[p] || world_.unreliable) continue;
    figures.quiet_s.push_back(static_cast<float>(std::max(0.0, seconds(last_own_read_[p] - *revoked_at_[p]))));
  }
  for (Client& c : clients_) {
    if (c.open) apply(SubscriberClosed{c.id});
    c.open = false;
  }
  run_until(now_ + 20s);
  check_residue();
  return violation_;
}

void Simulation::at(Duration delay, std::function<void()> action) {
  queue_.push({now_ + delay, ++sequence_, std::move(action)});
}

void Simulation::run_until(Instant end) {
  unsigned in_place = 0;
  while (violation_.empty()) {
    const Instant wake = engine_.next_wake();
    const bool act = !queue_.empty() && queue_.top().at <= wake;
    const Instant next = act ? queue_.top().at : wake;
    if (next > end) break;
    in_place = next <= now_ ? in_place + 1 : 0;
    if (in_place > 10'000) return fail("the engine wants to be woken for ever");
    now_ = std::max(now_, next);
    if (act) {
      const std::function<void()> run = std::move(const_cast<Action&>(queue_.top()).run);
      queue_.pop();
      run();
    } else {
      apply(Woken{});
    }
    if (!debts_.empty()) settle_debts();
  }
  now_ = std::max(now_, end);
}

void Simulation::apply(Event event) {
  ++figures_->events;
  Effects effects;
  if (traced_) std::visit([&](const auto& e) { trace(" <- ", now_, e); }, event);
  engine_.apply(event, {now_, WallTime(std::chrono::duration_cast<std::chrono::milliseconds>(now_.time_since_epoch()))},
                effects);
  for (const Effect& effect : effects) {
    if (traced_) std::visit([&](const auto& e) { trace(" -> ", now_, e); }, effect);
    perform(effect);
  }
}

void Simulation::perform(const Effect& effect) {
  if (const auto* e = std::get_if<SendRead>(&effect)) return serve_own(*e);
  if (const auto* e = std::get_if<ForwardRead>(&effect)) return serve_client(*e);
  if (const auto* e = std::get_if<SendListPage>(&effect)) return serve_list(*e);
  if (const auto* e = std::get_if<Notify>(&effect)) return notify(*e);
  if (const auto* e = std::get_if<SendNativeSubscribe>(&effect)) {
    if (world_.upstream == Upstream::polled) fail("P10: subscribed where the upstream did not declare it");
    return serve_native(e->subscriber, e->uri, e->generation, true);
  }
  if (const auto* e = std::get_if<SendNativeUnsubscribe>(&effect)) {
    return serve_native(e->subscriber, e->uri, e->generation, false);
  }
  if (const auto* e = std::get_if<AnswerSubscribe>(&effect)) {
    return answered(e->request, e->refusal != nullptr, e->degraded);
  }
  if (const auto* e = std::get_if<RefuseRequest>(&effect)) return answered(e->request, true, false);
  if (const auto* e = std::get_if<Withdraw>(&effect)) std::erase(clients_[by_id_.at(e->subscriber)].queued, e->notice);
  if (const auto* e = std::get_if<StrategyChanged>(&effect)) return check_blame(*e);
  if (const auto* e = std::get_if<LateAfterClose>(&effect)) figures_->late_results += e->upstream == UpstreamId{0};
  if (const auto* e = std::get_if<ReadJudged>(&effect)) figures_->stale_reads += e->verdict == Verdict::stale;
  if (const auto* e = std::get_if<ServeRead>(&effect)) {
    const Question q = questions_.at(e->request);
    questions_.erase(e->request);
    if (!hears(q)) return;
    const int number = Truth::number(e->digest);
    const unsigned owner = truth_.owner(q.client, q.principal);
    if (Truth::owner_of(number) != owner) fail("P8: served what is not its own");
    const bool comparable = !world_.reverts && q.held && *q.held > 0 && Truth::owner_of(*q.held) == owner;
    if (comparable && *q.held > number) fail("P4: a served read went back behind what was read before");
    at(Duration{}, [this, q, e = *e, number] {
      if (!hears(q)) return;
      got(q, number);
      if (world_.subscribers == Subscribers::listens) {
        return apply(ReadDelivered{UpstreamId{0}, principal_of(world_, q.principal), uri_name(q.uri), e.digest});
      }
      apply(ServedDelivered{q.via, uri_name(q.uri), e.digest, e.dispatched});
    });
  }
}

std::optional<unsigned> Simulation::client_of(SubscriberId id) const {
  const auto it = by_id_.find(id);
  if (it == by_id_.end() || clients_[it->second].id != id || !clients_[it->second].open) return std::nullopt;
  return it->second;
}

unsigned Simulation::uri_of(const std::string& name) {
  return static_cast<unsigned>(name.back() - '0');
}

int Simulation::sees(unsigned client, unsigned uri) const {
  return truth_.sees(client, clients_[client].principal, uri);
}

void Simulation::open(unsigned client) {
  Client& c = clients_[client];
  const Client before = std::exchange(c, Client{});
  c.principal = before.principal;
  c.session = before.session + 1;
  c.stream = before.stream;
  c.wanted = before.wanted;
  if (world_.subscribers == Subscribers::listens) {
    // The client goes on, with what it read last; where another of its principal read later, only its own next read
    // can tell.
    for (unsigned uri = 0; uri < uris; ++uri) {
      c.held[uri].written = before.held[uri].written;
      c.held[uri].quiet_broken = before.held[uri].quiet_broken;
      if (last_reader_[c.principal][uri] == client) c.held[uri].content = before.held[uri].content;
    }
  }
  c.id = SubscriberId{++last_id_};
  c.open = true;
  by_id_[c.id] = client;
  apply(SubscriberOpened{c.id, UpstreamId{0}, principal_of(world_, c.principal), declaration_of(world_), false,
                         world_.subscribers == Subscribers::listens});
}

void Simulation::attach(unsigned client, bool resumed) {
  Client& c = clients_[client];
  if (!c.open || c.attached) return;
  c.attached = true;
  c.absent_since.reset();
  ++c.stream;
  if (resumed) {  // replayed
    for (const unsigned uri : c.lost) ++c.held[uri].notices;
  }
  c.lost.clear();
  c.lost_on_the_wire = false;
  apply(StreamAttached{c.id, resumed});
}

void Simulation::detach(unsigned client) {
  Client& c = clients_[client];
  if (!c.open || !c.attached) return;
  c.attached = false;
  c.absent_since = now_;
  ++c.stream;
  drop_debts(client);
  apply(StreamDetached{c.id});
  for (const NoticeId notice : std::exchange(c.queued, {})) apply(NoticeSettled{notice, false});
}

void Simulation::subscribe(unsigned client, unsigned uri) {
  Client& c = clients_[client];
  if (!c.open) return;
  Held& held = c.held[uri];
  if (!held.subscribed) {
    held.subscribed = true;
    held.confirmed = false;
    held.told = 0;
    held.baselines = {sees(client, uri)};
  }
  const RequestId request{++last_id_};
  questions_[request] = {client, c.id, c.id, uri, now_, 0, 0, {}, false, true, c.principal};
  apply(SubscribeAsked{c.id, request, uri_name(uri)});
}

void Simulation::answered(RequestId request, bool refused_, bool degraded) {
  const Question q = questions_.at(request);
  questions_.erase(request);
  if (!q.subscribes) return;  // a read that joined another, and whose session was closed
  Client& c = clients_[q.client];
  if (now_ - q.asked > 2s) fail("P1: a subscribe was not answered in time");
  if (!c.open || c.id != q.id) return;
  Held& held = c.held[q.uri];
  if (!held.subscribed) return;
  held.baselines.insert(sees(q.client, q.uri));
  if (refused_) {
    held.subscribed = held.confirmed = false;
  } else if (!held.confirmed) {
    held.confirmed = true;
    held.degraded = degraded;
  }
}

void Simulation::unsubscribe(unsigned client, unsigned uri) {
  Client& c = clients_[client];
  if (!c.open) return;
  c.held[uri].subscribed = c.held[uri].confirmed = false;
  const RequestId request{++last_id_};
  apply(UnsubscribeAsked{c.id, request, uri_name(uri)});
}

void Simulation::read(unsigned client, unsigned uri, bool because_told) {
  Client& c = clients_[client];
  if (!c.open && world_.subscribers != Subscribers::listens) return;
  const RequestId request{++last_id_};
  const Held& held = c.held[uri];
  const SubscriberId via = ascribed_to(client, uri);
  questions_[request] = {client,       c.id,         via,          uri,   now_,       held.notices,
                         held.written, held.content, because_told, false, c.principal};
  if (via == SubscriberId{}) return serve_unwatched(request);
  apply(ReadAsked{via, request, uri_name(uri)});
}

// Modern: the newest stream of the principal that names the resource, whichever client has it.
SubscriberId Simulation::ascribed_to(unsigned client, unsigned uri) const {
  const Client& asking = clients_[client];
  if (world_.subscribers != Subscribers::listens) return asking.id;
  SubscriberId newest{};
  for (const Client& c : clients_) {
    if (c.open && c.principal == asking.principal && c.wanted.contains(uri)) newest = std::max(newest, c.id);
  }
  return newest;
}

// Is the client still there that asked? A modern one is, whatever became of its stream.
bool Simulation::hears(const Question& question) const {
  const Client& c = clients_[question.client];
  return world_.subscribers == Subscribers::listens || (c.open && c.id == question.id);
}

// A read's answer reached the client, whole.
void Simulation::got(const Question& q, int number) {
  Client& c = clients_[q.client];
  Held& held = c.held[q.uri];
  held.content = number;
  last_reader_[c.principal][q.uri] = q.client;
  if (c.id == q.id) held.answered = std::max(held.answered, q.notices);
  if (!world_.reverts && number > 0 && number < q.written) fail("a client that wrote read what was there before");
}

void Simulation::notify(const Notify& notice) {
  const std::optional<unsigned> client = client_of(notice.subscriber);
  if (!client) return fail("P3: told a session that is closed");
  Client& c = clients_[*client];
  const unsigned uri = uri_of(notice.uri);
  Held& held = c.held[uri];
  if (!held.subscribed || !held.confirmed) return fail("P3: told a subscriber that is not subscribed");
  if (!c.attached) return fail("told a subscriber that has no stream");
  if (uri == uris - 1 && !held.quiet_broken) return fail("told of a resource that never changed");
  if (!notice.version.empty() && !world_.reverts) {
    int number = Truth::number(notice.version);
    if (Truth::owner_of(number) != truth_.owner(*client, c.principal)) number = held.told;
    if (number < held.told) return fail("P4: told of an older version after a newer one");
    held.told = number;
  }
  c.queued.push_back(notice.notice);
  const Duration delay = from_seconds(0.02 * chance_.unit());
  at(delay,
     [this, id = notice.notice, client = *client, uri, stream = c.stream] { hand_over(id, client, uri, stream); });
}

void Simulation::hand_over(NoticeId notice, unsigned client, unsigned uri, unsigned stream) {
  Client& c = clients_[client];
  if (std::erase(c.queued, notice) == 0) return;  // withdrawn, or lost with its stream
  Held& held = c.held[uri];
  if (!held.subscribed) return fail("P3: a notification went out after the unsubscribe");
  if (faults_ && (c.lost_on_the_wire || chance_.below(12) == 0)) {
    // The socket took it, and broke before the client had it.
    c.lost.push_back(uri);
    if (!std::exchange(c.lost_on_the_wire, true)) {
      at(10ms, [this, client, stream] {
        if (clients_[client].stream == stream) leave(client);
      });
      at(2s, [this, client, stream, resumed = chance_.below(3) == 0] {
        if (clients_[client].stream == stream + 1) come_back(client, resumed);
      });
    }
    return apply(NoticeSettled{notice, true});
  }
  ++held.notices;
  ++figures_->notices;
  apply(NoticeSettled{notice, true});
  if (!faults_ || chance_.below(8) != 0) {
    at(from_seconds(0.005 + 0.045 * chance_.unit()), [this, client, uri, id = c.id] {
      if (clients_[client].id == id) read(client, uri, true);
    });
  }
}

}  // namespace freshet::sim
