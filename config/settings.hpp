// What an operator may set, as plain values: immutable once loaded, shared by everyone, replaced whole by a reload.
// The initialisers here are the defaults; help, the reference and the example file show them through config/fields.
// Byte counts are bytes, fractions lie in [0, 1], rates are requests per second.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "config/secret.hpp"
#include "strategies/ids.hpp"
#include "strategies/time.hpp"
#include "strategies/workload.hpp"

namespace freshet::config {

using namespace std::chrono_literals;

inline constexpr std::size_t kib = 1024;
inline constexpr std::size_t mib = 1024 * kib;

struct TcpAddress {
  std::string host;        // a name or an address, IPv6 without brackets
  std::uint16_t port = 0;  // 0: the system picks one
  bool operator==(const TcpAddress&) const = default;
};
struct UnixAddress {
  std::string path;
  bool operator==(const UnixAddress&) const = default;
};
using Address = std::variant<TcpAddress, UnixAddress>;

// An upstream's address: http://host[:port][/path], https://…, or unix:/socket[:/path].
struct Url {
  bool tls = false;
  std::string host;  // IPv6 without brackets; "localhost" for a Unix socket
  std::uint16_t port = 80;
  std::string unix_path;   // set: a Unix socket
  std::string path = "/";  // begins with '/'
  bool operator==(const Url&) const = default;
};

struct TlsFiles {
  std::string cert_file;  // PEM, the chain; empty: plain
  std::string key_file;   // PEM
};

struct Listen {
  Address address = TcpAddress{"127.0.0.1", 7300};
  TlsFiles tls;
  std::size_t connections_max = 20'000;      // further ones wait in the kernel's backlog
  std::vector<std::string> allowed_hosts;    // empty: loopback names only on a loopback address, any elsewhere
  std::vector<std::string> allowed_origins;  // empty: loopback origins only
  Duration head_time_max = 10s;
  Duration idle_time_max = 75s;
  Duration body_stall_max = 30s;
  Duration write_stall_max = 30s;
};

struct Admin {
  Address address = TcpAddress{"127.0.0.1", 7301};
  std::optional<Secret> token;  // none: read-only
  bool mask_uris = false;
};

enum class LogLevel { trace, debug, info, warn, error, off };
enum class LogFormat { text, json };
struct Log {
  LogLevel level = LogLevel::info;
  LogFormat format = LogFormat::text;
};

struct Limits {
  std::size_t body_bytes_max = 16 * mib;  // a request body that Freshet reads whole; others stream
  std::size_t head_bytes_max = 64 * kib;
  std::size_t read_bytes_max = 8 * mib;    // the answer to a read that Freshet makes
  std::size_t event_bytes_max = 16 * mib;  // one server-sent event
  std::size_t uri_bytes_max = 8 * kib;     // a resource's URI in a subscribe
  std::size_t json_depth_max = 64;
  std::size_t sessions_max = 20'000;
  std::size_t subscriptions_max = 200'000;
  std::size_t subscriptions_per_session_max = 1'000;
  std::size_t seen_per_session_max = 1'000;  // digests kept of URIs that were read and are not watched
  std::size_t seen_by_principals_max = 20'000;
};

struct Streams {
  Duration keepalive_interval = 15s;
  std::size_t outbox_bytes_max = 1 * mib;  // waiting for one slow reader; above: its updates merge per URI
  std::size_t replay_events_max = 100;
  std::size_t replay_bytes_max = 64 * kib;
};

enum class Policy { fixed, adaptive, budget };

// How fresh a resource is to be kept. An upstream has one; a rule has one that differs where the rule says so.
struct Freshness {
  Policy policy = Policy::fixed;
  Duration interval = 30s;
  double jitter = 0.1;
  Duration interval_min = 1s;  // of the adaptive and budget policies and of a server's ttl hint
  Duration interval_max = 1h;
  double weight = 1;
  Duration watchdog_silence = 10min;
  Duration watchdog_grace = 5s;
  std::vector<std::string> volatile_pointers;  // JSON pointers into each item of contents; left out of the digest
  std::vector<std::string> volatile_lines;     // globs; lines of a text that match are left out of the digest
};

struct Rule {
  std::string match;                 // a glob over the whole URI: see strategies/glob.hpp
  Freshness freshness;               // complete: the upstream's, changed by what the rule sets
  std::optional<double> plan_share;  // of what a session subscribes to; none: an even part of what the others leave
};

// A header that is put on every request to an upstream, in place of what a client sent under that name.
struct HeaderAdd {
  std::string name;
  std::string prefix;            // before a referenced value, e.g. "Bearer "
  std::optional<Secret> secret;  // set: the value is prefix + secret
  std::string value;             // otherwise the value is this
};

enum class Mode { active, shadow, off };

struct Upstream {
  std::string name;  // the label in metrics and logs; unique
  Url url;
  std::string path;          // where clients find it here; unique; begins with '/'
  std::string partner_name;  // default: the URL's host
  PartnerId partner{};       // index into Settings::partners
  std::string public_url;    // "https://host[:port]": OAuth discovery is rewritten to it; empty: untouched
  Mode mode = Mode::active;
  double rollout = 1;  // share of the sessions for which Freshet acts
  double share = 1;    // weight among the upstreams of its partner
  bool keep_host = false;
  std::vector<HeaderAdd> headers_add;

  struct Tls {
    std::string ca_file;  // empty: the system's
    bool verify = true;
  } tls;
  struct Connections {
    std::size_t max = 64;
    std::size_t streams_max = 20'000;
    std::size_t waiting_max = 1'024;
    Duration idle_time_max = 4s;
  } connections;
  struct Timeouts {
    Duration connect = 5s;
    Duration head = 5min;
    Duration body_stall = 5min;
  } timeouts;
  struct Reads {
    Duration baseline_wait = 2s;
    Duration timeout = 30s;
    Duration max_age = 2s;  // 0: a client's read is never answered from a poll
  } reads;
  struct Sessions {
    Duration absent_grace = 60s;  // no stream for longer: its polls stop
    Duration idle_max = 30min;
    Duration unused_max = 2min;       // initialised and never used again
    Duration credential_check = 20s;  // 0: off
  } sessions;
  struct Lists {
    bool poll = false;
    Duration interval = 5min;
  } lists;
  Duration notify_min_interval = 100ms;

  Freshness freshness;
  std::vector<Rule> rules;  // the first that matches counts
  Workload plan;            // Settings::plan, changed by what the upstream sets
};

enum class Enforce { polls, all };

// Whoever runs one or more upstreams, and the budget agreed with them.
struct Partner {
  std::string name;
  double rate = 10;
  std::uint32_t burst = 10;
  std::uint32_t poll_burst = 2;
  std::uint32_t concurrency = 4;
  double reserve = 0.1;
  Enforce enforce = Enforce::polls;
  struct Pause {
    Duration retry_after_max = 1h;
    Duration backoff_min = 1s;
    Duration backoff_max = 5min;
  } pause;
};

struct Settings {
  Listen listen;
  Admin admin;
  Log log;
  Limits limits;
  Streams streams;
  Duration drain_time_max = 20s;
  Workload plan;                               // what `freshet plan` reckons with, for each upstream
  std::vector<std::string> principal_headers;  // beside Authorization, X-Api-Key and Cookie; lower case
  std::vector<Upstream> upstreams;             // index: UpstreamId
  std::vector<Partner> partners;               // index: PartnerId; every upstream's partner is here
};

// The first rule that matches, or the upstream's own. Lives as long as `upstream`.
[[nodiscard]] const Freshness& freshness_for(const Upstream& upstream, std::string_view uri);

}  // namespace freshet::config
