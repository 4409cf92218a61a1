#include "proxy/session/upstream.hpp"

#include <algorithm>

#include "strategies/glob.hpp"

namespace freshet::session {

namespace {

// A declaration without a ttl is asked for again soon, one with a long ttl not never.
constexpr Duration declaration_kept_min = std::chrono::seconds(30);
constexpr Duration declaration_kept_max = std::chrono::hours(1);

std::chrono::milliseconds ms(Duration d) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(d);
}

net::Origin origin_of(const config::Url& url) {
  return {.tls = url.tls, .host = url.host, .port = url.port, .unix_path = url.unix_path};
}

net::HttpClientLimits limits_of(const config::Upstream& u, std::size_t head_bytes_max) {
  return {.connections_max = u.connections.max,
          .streams_max = u.connections.streams_max,
          .waiting_max = u.connections.waiting_max,
          .connect_time_max = ms(u.timeouts.connect),
          .idle_time_max = ms(u.connections.idle_time_max),
          .head_time_max = ms(u.timeouts.head),
          .body_stall_max = ms(u.timeouts.body_stall),
          .head_bytes_max = head_bytes_max};
}

VolatileParts parts_of(const config::Freshness& f) {
  return {.pointers = f.volatile_pointers, .lines = f.volatile_lines};
}

}  // namespace

Upstream::Upstream(net::Executor executor, UpstreamId id, const config::Upstream& settings, std::size_t head_bytes_max,
                   net::asio::ssl::context* tls, const config::Environment& environment)
    : id_(id),
      environment_(environment),
      http_(executor, origin_of(settings.url), limits_of(settings, head_bytes_max), tls) {
  configure(settings);
}

void Upstream::configure(const config::Upstream& settings) {
  settings_ = settings;
  added_.clear();
  for (const config::HeaderAdd& header : settings_.headers_add) {
    const bool from_file = header.secret && header.secret->source == config::Secret::Source::file;
    added_.push_back({header, from_file ? std::optional(config::SecretFile(header.secret->name)) : std::nullopt});
  }
  volatile_parts_ = parts_of(settings_.freshness);
  volatile_by_rule_.clear();
  for (const config::Rule& rule : settings_.rules) volatile_by_rule_.emplace_back(rule.match, parts_of(rule.freshness));
}

const VolatileParts& Upstream::volatile_parts(std::string_view uri) const {
  for (const auto& [match, parts] : volatile_by_rule_) {
    if (glob_match(match, uri)) return parts;
  }
  return volatile_parts_;
}

std::string Upstream::target_for(std::string_view downstream_target) const {
  const std::string_view path = downstream_target.substr(0, downstream_target.find('?'));
  if (path != settings_.path) return std::string(downstream_target);
  return settings_.url.path + std::string(downstream_target.substr(path.size()));
}

std::optional<std::string> Upstream::prepare(codec::RequestHead& head) {
  for (AddedHeader& header : added_) {
    std::string value = header.settings.prefix + header.settings.value;
    if (header.settings.secret) {
      auto secret = header.file ? header.file->read() : config::resolve(*header.settings.secret, environment_);
      if (!secret) return "the header " + header.settings.name + " cannot be added: " + secret.error();
      value = header.settings.prefix + *secret;
    }
    head.fields.set(header.settings.name, value);
  }
  return std::nullopt;
}

void Upstream::declared(const codec::InitializeResult& result, std::optional<std::uint64_t> ttl_ms, Instant now) {
  declaration_ = result;
  const double ttl_s = ttl_ms ? static_cast<double>(*ttl_ms) / 1000.0 : 0.0;
  declaration_until_ = now + std::clamp<Duration>(from_seconds(ttl_s), declaration_kept_min, declaration_kept_max);
}

std::optional<codec::InitializeResult> Upstream::declaration(Instant now) const {
  return now < declaration_until_ ? declaration_ : std::nullopt;
}

std::string Upstream::shown(const Declaration& declared, std::string message) const {
  if (choose_strategy(declared) == Strategy::poll) message = codec::show_subscribe(message);
  if (settings_.lists.poll && !declared.list_changed) message = codec::show_list_changed(message);
  return message;
}

std::string Upstream::origin_url() const {
  return (settings_.url.tls ? "https://" : "http://") + http_.origin().authority();
}

}  // namespace freshet::session
