#include "config/fields.hpp"

namespace freshet::config {
namespace {

constexpr Reload live = Reload::live;
constexpr Reload new_sessions = Reload::sessions;
constexpr Reload restart = Reload::restart;

constexpr Duration day = 24h;
constexpr Duration hour = 1h;

// "limits.sessions_max" -> "limits-sessions-max"
std::string flag_for(const std::string& prefix, std::string path) {
  for (char& c : path) c = c == '.' || c == '_' ? '-' : c;
  return prefix + path;
}

// One of the few flags that every operator meets: first in help, and short.
void make_common(FieldInfo& field, std::string flag) {
  field.common = true;
  field.flag = std::move(flag);
}

template <class S>
class Table {
 public:
  explicit Table(std::string flag_prefix) : flag_prefix_(std::move(flag_prefix)) {}

  // What is returned may be refined until the next add.
  template <class Access, class T>
  Field<S>& add(std::string path, Access access, Type<T> type, Reload reload, std::string help) {
    Field<S> made = field<S>(std::move(path), access, std::move(type), reload, std::move(help));
    made.flag = flag_for(flag_prefix_, made.path);
    fields_.push_back(std::move(made));
    return fields_.back();
  }

  void add_all(const Fields<S>& fields) { fields_.insert(fields_.end(), fields.begin(), fields.end()); }

  Fields<S> take() { return std::move(fields_); }

 private:
  std::string flag_prefix_;
  Fields<S> fields_;
};

void add_listen(Table<Settings>& t) {
  const auto in = [](auto member) { return at(&Settings::listen, member); };
  make_common(t.add("listen.address", in(&Listen::address), address(), restart,
                    "Where clients connect: host:port, [v6]:port or unix:/socket. Port 0 picks a free one."),
              "listen");
  const auto tls = [](auto member) { return [member](auto& s) -> auto& { return s.listen.tls.*member; }; };
  t.add("listen.tls.cert_file", tls(&TlsFiles::cert_file), name("file"), restart,
        "PEM certificate chain; with key_file, clients connect by HTTPS.")
      .example = "/etc/freshet/tls/tls.crt";
  t.add("listen.tls.key_file", tls(&TlsFiles::key_file), name("file"), restart, "PEM private key of cert_file.")
      .example = "/etc/freshet/tls/tls.key";
  t.add("listen.connections_max", in(&Listen::connections_max), count(1, 1'000'000), restart,
        "Connections at once; further ones wait.");
  t.add("listen.allowed_hosts", in(&Listen::allowed_hosts), list_of(name("host")), live,
        "Host fields that are answered. Unset: on a loopback address only loopback names, elsewhere any.")
      .example = "[freshet.example.com]";
  t.add("listen.allowed_origins", in(&Listen::allowed_origins), list_of(origin()), live,
        "Origin fields that are answered, for browsers. Unset: only loopback origins.")
      .example = "[https://app.example.com]";
  t.add("listen.head_time_max", in(&Listen::head_time_max), duration(100ms, hour), restart,
        "Longest time from the first byte of a request's head to its end.");
  t.add("listen.idle_time_max", in(&Listen::idle_time_max), duration(1s, day), restart,
        "Longest time that an idle client connection stays open.");
  t.add("listen.body_stall_max", in(&Listen::body_stall_max), duration(100ms, hour), restart,
        "Longest silence inside a request's body.");
  t.add("listen.write_stall_max", in(&Listen::write_stall_max), duration(100ms, hour), restart,
        "Longest time that a client may leave what was sent unread.");
}

void add_admin_and_log(Table<Settings>& t) {
  make_common(t.add("admin.address", at(&Settings::admin, &Admin::address), address(), restart,
                    "Where metrics, health, status and the live page are served."),
              "admin");
  t.add("admin.token", at(&Settings::admin, &Admin::token), optional_of(secret()), live,
        "The bearer token that an operator's actions need: env:NAME or file:/path. Unset: the page is read-only.")
      .example = "env:FRESHET_ADMIN_SECRET";
  t.add("admin.mask_uris", at(&Settings::admin, &Admin::mask_uris), boolean(), live,
        "Hides resource URIs on the page, in status and in logs.");
  make_common(t.add("log.level", at(&Settings::log, &Log::level),
                    choice<LogLevel>({{"trace", LogLevel::trace},
                                      {"debug", LogLevel::debug},
                                      {"info", LogLevel::info},
                                      {"warn", LogLevel::warn},
                                      {"error", LogLevel::error},
                                      {"off", LogLevel::off}}),
                    live, "The least grave lines that are logged."),
              "log-level");
  t.add("log.format", at(&Settings::log, &Log::format),
        choice<LogFormat>({{"text", LogFormat::text}, {"json", LogFormat::json}}), live,
        "Lines for people or one JSON object a line.");
}

void add_limits(Table<Settings>& t) {
  const auto in = [](auto member) { return at(&Settings::limits, member); };
  constexpr std::size_t many = 10'000'000;
  t.add("limits.body_bytes_max", in(&Limits::body_bytes_max), bytes(kib, 1024 * mib), live,
        "Largest request body on the MCP endpoint; above: 413.");
  t.add("limits.head_bytes_max", in(&Limits::head_bytes_max), bytes(kib, 16 * mib), restart,
        "Largest head of a request or a response; above: 431 or 502.");
  t.add("limits.read_bytes_max", in(&Limits::read_bytes_max), bytes(kib, 1024 * mib), live,
        "Largest answer to a read that Freshet makes itself; above, the read has failed.");
  t.add("limits.event_bytes_max", in(&Limits::event_bytes_max), bytes(kib, 1024 * mib), new_sessions,
        "Largest server-sent event from an upstream.");
  t.add("limits.uri_bytes_max", in(&Limits::uri_bytes_max), bytes(64, mib), live,
        "Longest resource URI that can be subscribed to.");
  t.add("limits.json_depth_max", in(&Limits::json_depth_max), count(8, 1'000), live,
        "Deepest nesting of a message that Freshet reads.");
  t.add("limits.sessions_max", in(&Limits::sessions_max), count(1, many), live, "Sessions at once, all upstreams.");
  t.add("limits.subscriptions_max", in(&Limits::subscriptions_max), count(1, many), live, "Subscriptions at once.");
  t.add("limits.subscriptions_per_session_max", in(&Limits::subscriptions_per_session_max), count(1, many), live,
        "Subscriptions of one session or listen stream.");
  t.add("limits.seen_per_session_max", in(&Limits::seen_per_session_max), count(0, many), new_sessions,
        "Resources that a session read without subscribing, whose digests are kept.");
  t.add("limits.seen_by_principals_max", in(&Limits::seen_by_principals_max), count(0, many), restart,
        "The same for the clients of one server that have no sessions (2026-07-28), all together.");
}

void add_streams_and_rest(Table<Settings>& t) {
  const auto in = [](auto member) { return at(&Settings::streams, member); };
  t.add("streams.keepalive_interval", in(&Streams::keepalive_interval), duration(1s, hour), live,
        "A comment is sent on a stream that was silent for so long.");
  t.add("streams.outbox_bytes_max", in(&Streams::outbox_bytes_max), bytes(kib, 1024 * mib), new_sessions,
        "What may wait for one slow reader; above, updates merge per URI.");
  t.add("streams.replay_events_max", in(&Streams::replay_events_max), count(0, 100'000), new_sessions,
        "Events kept per session for a client that returns with Last-Event-ID.");
  t.add("streams.replay_bytes_max", in(&Streams::replay_bytes_max), bytes(0, 1024 * mib), new_sessions,
        "Bytes of such events kept per session.");
  t.add("drain_time_max", at(&Settings::drain_time_max), duration(0s, hour), live,
        "On SIGTERM, what is in flight may take so long to finish.");
  t.add("principal_headers", at(&Settings::principal_headers), list_of(header_name()), restart,
        "Headers that tell callers apart, beside Authorization, X-Api-Key and Cookie.")
      .example = "[x-tenant-id]";
}

Fields<Workload> make_workload() {
  constexpr std::size_t many = 10'000'000;
  Table<Workload> t("plan-");
  t.add("sessions_per_day", at(&Workload::sessions_per_day), count(0, many), live,
        "What freshet plan reckons with: sessions that begin in a day.");
  t.add("session_length", at(&Workload::session_length), duration(1s, 30 * day), live, "How long one lasts.");
  t.add("resources_per_session", at(&Workload::resources_per_session), count(0, many), live,
        "Resources that one subscribes to.");
  t.add("distinct_resources", at(&Workload::distinct_resources), count(1, many), live,
        "Resources that one principal's sessions choose among.");
  t.add("principals", at(&Workload::principals), count(0, many), live,
        "Credentials that the sessions carry between them: those of one share their polls. 0: each has its own; 1: all "
        "share.");
  t.add("client_requests_per_session", at(&Workload::client_requests_per_session), count(0, many), live,
        "Requests that a session's client makes itself; they count against the budget first.");
  t.add("busy_hours", at(&Workload::busy_hours), hours(), live, "The busy part of the day.");
  t.add("busy_share", at(&Workload::busy_share), fraction(0, 1), live,
        "Share of the day's sessions that begin in the busy hours.");
  return t.take();
}

template <class S>
Fields<S> without_flags(Fields<S> fields) {
  for (Field<S>& field : fields) field.flag.clear();
  return fields;
}

void add_identity(Table<Upstream>& t) {
  const auto one = [](Field<Upstream>& field, std::string example) {
    field.one_upstream = true;
    field.example = std::move(example);
  };
  one(t.add("name", at(&Upstream::name), name("text"), restart,
            "Its name in metrics and logs. Default: host and port of the URL."),
      "files");
  Field<Upstream>& url_field =
      t.add("url", at(&Upstream::url), url(), restart, "The MCP endpoint: http://…, https://… or unix:/socket:/path.");
  make_common(url_field, "upstream");
  url_field.required = true;
  one(url_field, "http://127.0.0.1:3000/mcp");
  one(t.add("path", at(&Upstream::path), url_path(), restart,
            "The path at which clients find it here. Default: the URL's."),
      "/mcp");
  one(t.add("partner", at(&Upstream::partner_name), name("text"), restart,
            "Whose budget it spends. Default: the URL's host. Need not stand in partners."),
      "127.0.0.1");
  one(t.add("public_url", at(&Upstream::public_url), origin(), live,
            "The address that clients dial: OAuth discovery documents are rewritten to it. Unset: untouched."),
      "https://freshet.example.com");
}

void add_upstream(Table<Upstream>& t) {
  t.add("mode", at(&Upstream::mode),
        choice<Mode>({{"active", Mode::active}, {"shadow", Mode::shadow}, {"off", Mode::off}}), new_sessions,
        "active; shadow: decide, poll and measure, but deliver nothing; off: only pass through.");
  t.add("rollout", at(&Upstream::rollout), fraction(0, 1), new_sessions,
        "Share of the sessions for which Freshet acts; the others pass through.");
  t.add("share", at(&Upstream::share), number(0.001, 1'000), live,
        "Weight among the upstreams that share one partner's budget.");
  t.add("keep_host", at(&Upstream::keep_host), boolean(), live,
        "Passes the client's Host field on in place of the URL's host.");
  Field<Upstream>& headers = t.add("headers_add", at(&Upstream::headers_add), list_of(header_add()), live,
                                   "Headers set on every request to it. A credential is given by reference: "
                                   "value_from: env:NAME or file:/path (read again when it changes).");
  headers.example = "[{name: Authorization, prefix: \"Bearer \", value_from: env:UPSTREAM_TOKEN}]";
  headers.one_upstream = true;
}

void add_wire(Table<Upstream>& t) {
  const auto connections = [](auto member) { return at(&Upstream::connections, member); };
  const auto timeouts = [](auto member) { return at(&Upstream::timeouts, member); };
  using C = Upstream::Connections;
  using T = Upstream::Timeouts;
  t.add("tls.ca_file", at(&Upstream::tls, &Upstream::Tls::ca_file), name("file"), restart,
        "PEM certificates that are trusted in place of the system's.")
      .example = "/etc/freshet/ca.pem";
  t.add("tls.verify", at(&Upstream::tls, &Upstream::Tls::verify), boolean(), restart,
        "Checks the certificate and its name. false is for tests only.");
  t.add("connections.max", connections(&C::max), count(1, 100'000), restart,
        "Connections to it at once, streams apart.");
  t.add("connections.streams_max", connections(&C::streams_max), count(1, 1'000'000), restart,
        "Long-lived event streams from it at once.");
  t.add("connections.waiting_max", connections(&C::waiting_max), count(0, 1'000'000), restart,
        "Calls that may wait for a free connection; above: 503 at once.");
  t.add("connections.idle_time_max", connections(&C::idle_time_max), duration(0s, day), restart,
        "An idle connection is closed after it. Keep it below the server's own limit (Node: 5s).");
  t.add("timeouts.connect", timeouts(&T::connect), duration(10ms, hour), restart,
        "Name lookup, connecting and TLS together.");
  t.add("timeouts.head", timeouts(&T::head), duration(10ms, day), restart,
        "From a request sent to the head of its response. Tools may take long.");
  t.add("timeouts.body_stall", timeouts(&T::body_stall), duration(10ms, day), restart,
        "Longest silence inside a response's body; streams have none.");
}

void add_behaviour(Table<Upstream>& t) {
  const auto reads = [](auto member) { return at(&Upstream::reads, member); };
  const auto sessions = [](auto member) { return at(&Upstream::sessions, member); };
  using R = Upstream::Reads;
  using S = Upstream::Sessions;
  t.add("reads.baseline_wait", reads(&R::baseline_wait), duration(0s, 5min), live,
        "A subscribe or a listen waits so long for first reads before it is answered.");
  t.add("reads.timeout", reads(&R::timeout), duration(10ms, hour), live,
        "Longest time that one of our reads may take.");
  t.add(
      "reads.max_age", reads(&R::max_age), duration(0s, hour), live,
      "A read that follows a notification is answered from the poll that found the change, up to this age. 0: never.");
  t.add("sessions.absent_grace", sessions(&S::absent_grace), duration(0s, day), live,
        "A session without a stream for longer costs no polls until its client returns.");
  t.add("sessions.idle_max", sessions(&S::idle_max), duration(1s, 30 * day), live,
        "A session without a request or a stream for longer is forgotten.");
  t.add("sessions.unused_max", sessions(&S::unused_max), duration(1s, 30 * day), live,
        "The same for a session that was opened and never used.");
  t.add("sessions.credential_check", sessions(&S::credential_check), duration(0s, hour), live,
        "A client with subscriptions has one of them read at least this often, so that a revoked credential is noticed "
        "between rare polls. 0: never.");
  t.add("lists.poll", at(&Upstream::lists, &Upstream::Lists::poll), boolean(), restart,
        "Polls resources/list where the server does not announce list changes, and announces them.");
  t.add("lists.interval", at(&Upstream::lists, &Upstream::Lists::interval), duration(1s, day), live,
        "Time between two such polls.");
  t.add("notify_min_interval", at(&Upstream::notify_min_interval), duration(0s, hour), live,
        "Changes of one resource within it are told once.");
}

Fields<Freshness> make_freshness() {
  Table<Freshness> t("freshness-");
  t.add("policy", at(&Freshness::policy),
        choice<Policy>({{"fixed", Policy::fixed}, {"adaptive", Policy::adaptive}, {"budget", Policy::budget}}), live,
        "fixed: poll at the interval; adaptive: follow the learned change rate; budget: spend the partner's whole "
        "poll budget as well as possible.");
  make_common(t.add("interval", at(&Freshness::interval), duration(100ms, 30 * day), live,
                    "Time between two polls of a resource."),
              "interval");
  t.add("jitter", at(&Freshness::jitter), fraction(0, 0.5), live, "Each interval varies by so much, either way.");
  t.add("interval_min", at(&Freshness::interval_min), duration(100ms, 30 * day), live,
        "Shortest interval that a policy or a server's ttl hint may choose.");
  t.add("interval_max", at(&Freshness::interval_max), duration(100ms, 30 * day), live, "Longest such interval.");
  t.add("weight", at(&Freshness::weight), number(0.001, 1'000), live,
        "How much a resource matters when the budget cannot serve every interval.");
  t.add("watchdog_silence", at(&Freshness::watchdog_silence), duration(1s, 30 * day), live,
        "A resource whose server should notify, silent for longer, is read once to check.");
  t.add("watchdog_grace", at(&Freshness::watchdog_grace), duration(100ms, hour), live,
        "A notification may come so long after the check found a change; then polling takes over.");
  t.add("volatile_pointers", at(&Freshness::volatile_pointers), list_of(json_pointer()), restart,
        "JSON pointers into each item of contents, * for any one segment, to parts whose changes do not count; below "
        "/text "
        "they reach into a text that is JSON.")
      .example = "[/annotations/lastModified, /text/generated_at]";
  t.add("volatile_lines", at(&Freshness::volatile_lines), list_of(name("glob")), restart,
        "Lines of a text that do not count as content; * is any text.")
      .example = "[\"generated at *\"]";
  return t.take();
}

Fields<Upstream> make_upstream() {
  Table<Upstream> t("upstream-");
  add_identity(t);
  add_upstream(t);
  t.add_all(lifted<Upstream>(freshness_fields(), "freshness.", at(&Upstream::freshness)));
  add_behaviour(t);
  add_wire(t);
  t.add_all(without_flags(lifted<Upstream>(workload_fields(), "plan.", at(&Upstream::plan))));
  return t.take();
}

Fields<Rule> make_rule() {
  Table<Rule> t("");
  Field<Rule>& match = t.add("match", at(&Rule::match), name("glob"), live,
                             "The URIs it is for; * is any text. The first rule that matches counts.");
  match.example = "\"deploy://*\"";
  match.required = true;
  t.add_all(lifted<Rule>(freshness_fields(), "", at(&Rule::freshness)));
  t.add("plan_share", at(&Rule::plan_share), optional_of(fraction(0, 1)), live,
        "For freshet plan: the share of what a session subscribes to. Unset: an even part of what the other rules "
        "leave.")
      .example = "20%";
  return without_flags(t.take());
}

Fields<Partner> make_partner() {
  const auto pause = [](auto member) { return at(&Partner::pause, member); };
  Table<Partner> t("partner-");
  Field<Partner>& name_field =
      t.add("name", at(&Partner::name), name("text"), restart, "As upstreams name it; by default a URL's host.");
  name_field.example = "127.0.0.1";
  name_field.required = true;
  name_field.flag.clear();
  make_common(t.add("rate", at(&Partner::rate), rate(0.0001, 100'000), live,
                    "Requests per second agreed with the partner: 10, 10/s, 600/m. Our own requests never exceed it."),
              "partner-rps");
  t.add("burst", at(&Partner::burst), small_count(1, 100'000), live,
        "Requests that the partner allows at once, on top of the rate.");
  t.add("poll_burst", at(&Partner::poll_burst), small_count(1, 100'000), live, "What polls take of the burst at once.");
  t.add("concurrency", at(&Partner::concurrency), small_count(1, 10'000), live,
        "Requests in flight at once that our own ones fit into.");
  t.add("reserve", at(&Partner::reserve), fraction(0, 0.9), live, "Share of the rate that is kept for client traffic.");
  t.add("enforce", at(&Partner::enforce), choice<Enforce>({{"polls", Enforce::polls}, {"all", Enforce::all}}), live,
        "polls: client traffic is counted, never limited. all: above the rate a client gets 429 and Retry-After.");
  t.add("pause.retry_after_max", pause(&Partner::Pause::retry_after_max), duration(1s, 7 * day), live,
        "Longest pause that a Retry-After of the partner can cause.");
  t.add("pause.backoff_min", pause(&Partner::Pause::backoff_min), duration(100ms, hour), live,
        "First pause after a 429 or 503 without Retry-After; it doubles each time, with jitter.");
  t.add("pause.backoff_max", pause(&Partner::Pause::backoff_max), duration(100ms, day), live, "Longest such pause.");
  return t.take();
}

}  // namespace

const Fields<Settings>& global_fields() {
  static const Fields<Settings> fields = [] {
    Table<Settings> t("");
    add_listen(t);
    add_admin_and_log(t);
    add_limits(t);
    add_streams_and_rest(t);
    t.add_all(lifted<Settings>(workload_fields(), "plan.", at(&Settings::plan)));
    return t.take();
  }();
  return fields;
}

const Fields<Freshness>& freshness_fields() {
  static const Fields<Freshness> fields = make_freshness();
  return fields;
}

const Fields<Workload>& workload_fields() {
  static const Fields<Workload> fields = make_workload();
  return fields;
}

const Fields<Upstream>& upstream_fields() {
  static const Fields<Upstream> fields = make_upstream();
  return fields;
}

const Fields<Rule>& rule_fields() {
  static const Fields<Rule> fields = make_rule();
  return fields;
}

const Fields<Partner>& partner_fields() {
  static const Fields<Partner> fields = make_partner();
  return fields;
}

}  // namespace freshet::config
