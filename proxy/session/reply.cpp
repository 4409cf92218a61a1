#include "proxy/session/reply.hpp"

#include <algorithm>
#include <cctype>

#include "proxy/codec/http_date.hpp"
#include "proxy/codec/mcp.hpp"
#include "proxy/codec/media_type.hpp"

namespace freshet::session {

namespace {

std::string_view content_type(const codec::ResponseHead& head) {
  return head.fields.find("Content-Type").value_or("");
}

RefusalPtr refusal_of(const Answer& answer) {
  auto refusal = std::make_shared<Refusal>();
  refusal->http_status = answer.status;
  for (const codec::Field& field : answer.fields) {
    if (codec::names_equal(field.name, "WWW-Authenticate")) refusal->fields.emplace_back(field.name, field.value);
  }
  if (answer.reply.kind == codec::Reply::Kind::error) refusal->rpc_error = answer.reply.error.in(answer.message);
  return refusal;
}

bool speaks_of_session(std::string_view text) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return lower.find("session") != std::string::npos || lower.find("not initialized") != std::string::npos;
}

bool success(int status) {
  return status >= 200 && status < 300;
}

ReadOutcome content_outcome(const Answer& answer, const KnownDigests& known, const VolatileParts& parts) {
  const std::string_view result = answer.reply.result.in(answer.message);
  const codec::CacheHint hint = codec::read_cache_hint(result);
  // What needs input to be read cannot be polled (2026-07-28 mrtr).
  if (hint.result_type == "input_required") return Rejected{refusal_of(answer)};
  Content content;
  content.raw = raw_digest(answer.message, answer.reply.id.begin, answer.reply.id.end);
  content.result = std::make_shared<const std::string>(result);
  content.shareable_across_principals = hint.is_public;
  if (hint.ttl_ms) content.ttl = from_seconds(static_cast<double>(*hint.ttl_ms) / 1000.0);
  if (known && known->first == content.raw && is_content(known->second)) {
    content.digest = known->second;
    return content;
  }
  const auto digested = content_digest(result, parts);
  if (!digested) return Failed{Failure::malformed};
  content.digest = digested->empty ? absent_digest : digested->digest;
  content.mime_type = digested->mime_type;
  return content;
}

ReadOutcome error_outcome(const Answer& answer) {
  switch (answer.reply.code) {
    // A read's invalid_params is a not-found since 2026-07-28 (server/resources, Error Handling).
    case codec::error_codes::resource_not_found:
    case codec::error_codes::invalid_params:
      return NotFound{refusal_of(answer)};
    case codec::error_codes::internal_error:
      return Failed{Failure::internal};
    default:
      return Rejected{refusal_of(answer)};
  }
}

}  // namespace

ReplyCollector::ReplyCollector(const codec::ResponseHead& head, std::string id_json, std::size_t bytes_max)
    : id_json_(std::move(id_json)),
      bytes_max_(bytes_max),
      event_stream_(codec::is_event_stream(content_type(head))),
      json_(codec::is_json(content_type(head))),
      events_({.data_bytes_max = bytes_max}) {
  // A coded body is nobody's to read here: own requests ask for identity.
  if (head.fields.contains("Content-Encoding")) event_stream_ = json_ = false;
}

void ReplyCollector::feed(std::string_view piece) {
  if (found_ || too_large_) return;
  if (event_stream_) {
    events_.feed(piece, [this](codec::SseEvent&& event) {
      if (event.oversized) too_large_ = true;
      if (!found_ && event.has_data()) take(std::move(event.data));
    });
  } else if (json_) {
    if (message_.size() + piece.size() > bytes_max_) {
      too_large_ = true;
      message_.clear();
    } else {
      message_ += piece;
    }
  }
}

void ReplyCollector::take(std::string text) {
  codec::Reply reply = codec::read_reply(text, id_json_);
  if (reply.kind != codec::Reply::Kind::result && reply.kind != codec::Reply::Kind::error) return;
  found_ = true;
  reply_ = std::move(reply);
  message_ = std::move(text);
}

void ReplyCollector::end() {
  if (json_ && !too_large_) take(std::move(message_));
}

Answer answer_of(const codec::ResponseHead& head, const ReplyCollector& collected) {
  return {.status = head.status,
          .fields = head.fields,
          .too_large = collected.too_large(),
          .message = collected.message(),
          .reply = collected.reply()};
}

bool session_refused(const Answer& answer) {
  const bool error = answer.reply.kind == codec::Reply::Kind::error;
  if (answer.status == 404) return !(error && answer.reply.code == codec::error_codes::method_not_found);
  if (!error || !speaks_of_session(answer.reply.message)) return false;
  switch (answer.reply.code) {
    // An application's own error may speak of sessions too: a call must not be made twice for that.
    case codec::error_codes::invalid_request:
    case codec::error_codes::server_error:
    case codec::error_codes::session_not_found:
      return answer.status == 200 || answer.status == 400 || answer.status == 500;
    case codec::error_codes::internal_error:
      return answer.status == 500;
    default:
      return false;
  }
}

std::optional<Duration> retry_after_of(const codec::Fields& fields, std::chrono::sys_seconds wall_now) {
  const auto value = fields.find("Retry-After");
  return value ? codec::retry_after(*value, wall_now) : std::nullopt;
}

// The answers that say nothing of what was asked for. Unset: it is not one of those.
template <class Outcome>
static std::optional<Outcome> refused_outcome(const Answer& answer, std::chrono::sys_seconds wall_now) {
  if (answer.status == 401) return Unauthorized{refusal_of(answer)};
  if (answer.status == 403) return Forbidden{refusal_of(answer)};
  if (answer.status == 429 || answer.status == 503) return Throttled{retry_after_of(answer.fields, wall_now)};
  return std::nullopt;
}

ReadOutcome read_outcome(const Answer& answer, const KnownDigests& known, const VolatileParts& parts,
                         std::chrono::sys_seconds wall_now) {
  if (auto refused = refused_outcome<ReadOutcome>(answer, wall_now)) return *refused;
  // Whatever the status: what asks for more than Freshet can do is never read by it (2026-07-28 mrtr).
  const bool asks_for_more = answer.reply.kind == codec::Reply::Kind::error &&
                             answer.reply.code == codec::error_codes::missing_client_capability;
  if (asks_for_more) return Rejected{refusal_of(answer)};
  if (session_refused(answer)) return Failed{Failure::session_lost};
  if (!success(answer.status)) return Failed{Failure::status};
  if (answer.too_large) return Failed{Failure::too_large};
  switch (answer.reply.kind) {
    case codec::Reply::Kind::result:
      return content_outcome(answer, known, parts);
    case codec::Reply::Kind::error:
      return error_outcome(answer);
    default:
      return Failed{Failure::malformed};
  }
}

ListOutcome list_outcome(const Answer& answer, bool had_cursor, std::chrono::sys_seconds wall_now) {
  if (auto refused = refused_outcome<ListOutcome>(answer, wall_now)) return *refused;
  if (session_refused(answer)) return Failed{Failure::session_lost};
  if (!success(answer.status)) return Failed{Failure::status};
  if (answer.too_large) return Failed{Failure::too_large};
  if (answer.reply.kind == codec::Reply::Kind::error) {
    if (answer.reply.code == codec::error_codes::internal_error) return Failed{Failure::internal};
    return had_cursor ? ListOutcome(CursorRefused{}) : ListOutcome(Rejected{refusal_of(answer)});
  }
  if (answer.reply.kind != codec::Reply::Kind::result) return Failed{Failure::malformed};
  const std::string_view result = answer.reply.result.in(answer.message);
  const codec::UriList list = codec::read_uri_list(result);
  if (!list.ok) return Failed{Failure::malformed};
  ListPage page{.resources = {}, .next_cursor = list.next_cursor, .snapshot = {}};
  for (const codec::ListedUri& listed : list.resources) {
    page.resources.push_back({listed.uri, Digest{raw_digest(listed.entry.in(result), 0, 0)}});
  }
  return page;
}

NativeOutcome native_outcome(const Answer& answer, std::chrono::sys_seconds wall_now) {
  if (auto refused = refused_outcome<NativeOutcome>(answer, wall_now)) return *refused;
  const bool error = answer.reply.kind == codec::Reply::Kind::error;
  if (error && (answer.reply.code == codec::error_codes::method_not_found ||
                answer.reply.code == codec::error_codes::invalid_request)) {
    return NotSupported{refusal_of(answer)};
  }
  if (answer.status == 405 || answer.status == 501) return NotSupported{refusal_of(answer)};
  if (!success(answer.status)) return Failed{Failure::status};
  if (answer.reply.kind == codec::Reply::Kind::result) return Accepted{};
  if (error && answer.reply.code != codec::error_codes::internal_error) return Rejected{refusal_of(answer)};
  return Failed{error ? Failure::internal : Failure::malformed};
}

}  // namespace freshet::session
