#include "proxy/codec/jsonrpc.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "proxy/codec/text.hpp"

namespace freshet::codec {

namespace {

// An id is echoed and kept: what nobody needs is not worth the memory.
constexpr std::size_t id_bytes_max = 1'024;

// A string or an integer as JSON, equal for equal ids (2025-11-25 basic, Requests); nullopt for anything else.
std::optional<std::string> canonical_id(JsonKind kind, std::string_view token) {
  if (token.size() > id_bytes_max) return std::nullopt;
  if (kind == JsonKind::string)
    return token.find('\\') == std::string_view::npos ? std::string(token) : quote(unquote(token));
  const bool negative = token.starts_with('-');
  if (kind == JsonKind::number && all_digits(token.substr(negative ? 1 : 0))) return std::string(token);
  return std::nullopt;
}

class MessageReader {
 public:
  MessageReader(JsonReader& reader, std::string_view body) : reader_(reader), body_(body) {}

  Message read() {
    if (reader_.peek() != JsonKind::object) {
      message_.span = reader_.skip();
      return std::move(message_);
    }
    message_.span.begin = reader_.position();
    members([this](std::string_view name) { read_member(name); });
    message_.span.end = reader_.position();
    message_.kind = kind();
    return std::move(message_);
  }

  [[nodiscard]] bool has_version() const { return has_version_; }

 private:
  template <class Visit>
  void members(Visit visit) {
    MemberNames names;
    reader_.members([&](std::string_view token) { visit(names.add(token)); });
    message_.duplicate_members |= names.has_duplicates();
  }

  // The text of the value that comes next if it is a string; passes over it in any case.
  std::optional<std::string> take_string() {
    const bool is_string = reader_.peek() == JsonKind::string;
    const auto token = reader_.skip().in(body_);
    if (!is_string || !reader_.ok()) return std::nullopt;
    return unquote(token);
  }

  std::optional<std::string> take_id(Span& span) {
    id_kind_ = reader_.peek();
    span = reader_.skip();
    return canonical_id(id_kind_, span.in(body_));
  }

  void read_member(std::string_view name) {
    if (name == "jsonrpc") {
      has_version_ = take_string() == "2.0";
    } else if (name == "id") {
      message_.id_json = take_id(message_.id).value_or("");
      message_.id_is_null = id_kind_ == JsonKind::null;
    } else if (name == "method") {
      auto method = take_string();
      has_method_ = method.has_value();
      message_.method = std::move(method).value_or("");
    } else if (name == "params") {
      read_params();
    } else if (name == "result") {
      message_.result = reader_.skip();
    } else if (name == "error") {
      read_error();
    } else {
      reader_.skip();
    }
  }

  void read_params() {
    const bool is_object = reader_.peek() == JsonKind::object;
    message_.params.begin = reader_.position();
    if (is_object) {
      members([this](std::string_view name) { read_param(name); });
    } else {
      reader_.skip();
    }
    message_.params.end = reader_.position();
  }

  void read_param(std::string_view name) {
    message_.params_extra |= name != "uri" && name != "_meta";
    if (name == "uri") {
      auto uri = take_string();
      message_.has_uri = uri.has_value();
      message_.uri = std::move(uri).value_or("");
    } else if (name == "requestId") {
      Span span;
      message_.request_id_json = take_id(span).value_or("");
    } else if (name == "protocolVersion") {
      message_.protocol_version = take_string().value_or("");
    } else if (name == "_meta" && reader_.peek() == JsonKind::object) {
      members([this](std::string_view key) { read_meta(key); });
    } else {
      reader_.skip();
    }
  }

  void read_meta(std::string_view key) {
    if (key == "io.modelcontextprotocol/protocolVersion") {
      message_.meta_protocol_version = take_string().value_or("");
    } else {
      reader_.skip();
    }
  }

  void read_error() {
    message_.is_error = true;
    const bool is_object = reader_.peek() == JsonKind::object;
    message_.error.begin = reader_.position();
    if (is_object) {
      reader_.members([this](std::string_view name) {
        if (token_equals(name, "code")) {
          const auto token = reader_.skip().in(body_);
          std::from_chars(token.data(), token.data() + token.size(), message_.error_code);
        } else if (token_equals(name, "message")) {
          message_.error_message = take_string().value_or("");
        } else {
          reader_.skip();
        }
      });
    } else {
      reader_.skip();
    }
    message_.error.end = reader_.position();
  }

  [[nodiscard]] MessageKind kind() const {
    const bool has_id = !message_.id.empty();
    const bool has_result = !message_.result.empty();
    if (has_id && message_.id_json.empty() && !message_.id_is_null) return MessageKind::invalid;
    if (has_method_) {
      if (has_result || message_.is_error) return MessageKind::invalid;
      return has_id ? MessageKind::request : MessageKind::notification;
    }
    return has_result != message_.is_error ? MessageKind::response : MessageKind::invalid;
  }

  JsonReader& reader_;
  std::string_view body_;
  Message message_;
  JsonKind id_kind_ = JsonKind::end;
  bool has_version_ = false;
  bool has_method_ = false;
};

Message read_strictly(JsonReader& reader, std::string_view body) {
  MessageReader message_reader(reader, body);
  auto message = message_reader.read();
  if (!message_reader.has_version()) message.kind = MessageKind::invalid;
  return message;
}

std::string with_params(std::string out, std::string_view method, std::string_view params_json) {
  out.append("\"method\":").append(quote(method));
  if (!params_json.empty()) out.append(",\"params\":").append(params_json);
  return out += '}';
}

std::string beginning(std::string_view id_json) {
  return std::string(R"({"jsonrpc":"2.0","id":)").append(id_json.empty() ? "null" : id_json) += ',';
}

}  // namespace

std::string_view describe(EnvelopeFault fault) {
  switch (fault) {
    case EnvelopeFault::malformed:
      return "the body is not valid JSON";
    case EnvelopeFault::too_deep:
      return "the body is nested too deeply";
    case EnvelopeFault::empty_batch:
      return "the batch is empty";
    case EnvelopeFault::batch_too_long:
      return "the batch has too many members";
  }
  return {};
}

boost::system::result<Envelope, EnvelopeFault> read_envelope(std::string_view body, const EnvelopeLimits& limits) {
  JsonReader reader(body, limits.depth_max);
  Envelope envelope;
  bool too_long = false;
  envelope.is_batch = reader.peek() == JsonKind::array;
  if (envelope.is_batch) {
    reader.elements([&] {
      too_long |= envelope.messages.size() == limits.batch_members_max;
      if (too_long) {
        reader.skip();
      } else {
        envelope.messages.push_back(read_strictly(reader, body));
      }
    });
  } else {
    envelope.messages.push_back(read_strictly(reader, body));
  }
  if (!reader.finish())
    return reader.fault() == JsonFault::too_deep ? EnvelopeFault::too_deep : EnvelopeFault::malformed;
  if (too_long) return EnvelopeFault::batch_too_long;
  if (envelope.messages.empty()) return EnvelopeFault::empty_batch;
  return envelope;
}

Reply read_reply(std::string_view body, std::string_view our_id_json, const EnvelopeLimits& limits) {
  JsonReader reader(body, limits.depth_max);
  auto message = MessageReader(reader, body).read();
  Reply reply;
  if (!reader.finish() || message.kind == MessageKind::invalid) return reply;
  reply.code = message.error_code;
  reply.message = std::move(message.error_message);
  reply.id = message.id;
  reply.result = message.result;
  reply.error = message.error;
  reply.opaque = reader.saw_unrepresentable();
  const bool ours = message.id_json == our_id_json || (message.is_error && message.id_json.empty());
  if (message.kind != MessageKind::response || !ours) {
    reply.kind = Reply::Kind::not_ours;
  } else {
    reply.kind = message.is_error ? Reply::Kind::error : Reply::Kind::result;
  }
  return reply;
}

std::string error_response(std::string_view id_json, long long code, std::string_view message,
                           std::string_view data_json) {
  auto out = beginning(id_json);
  out.append("\"error\":{\"code\":").append(std::to_string(code)).append(",\"message\":").append(quote(message));
  if (!data_json.empty()) out.append(",\"data\":").append(data_json);
  return out += "}}";
}

std::string result_response(std::string_view id_json, std::string_view result_json) {
  return beginning(id_json).append("\"result\":").append(result_json) += '}';
}

std::string request(std::string_view id_json, std::string_view method, std::string_view params_json) {
  return with_params(beginning(id_json), method, params_json);
}

std::string notification(std::string_view method, std::string_view params_json) {
  return with_params(R"({"jsonrpc":"2.0",)", method, params_json);
}

}  // namespace freshet::codec
