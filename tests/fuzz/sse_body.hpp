// Any bytes, cut anywhere, give the events that a plain reading of the whole gives.
#pragma once

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/codec/sse.hpp"

namespace freshet::fuzz {

inline std::string shown(const codec::SseEvent& event) {
  return "{" + event.id.value_or("-") + '|' + event.event_type + '|' +
         (event.retry_ms ? std::to_string(*event.retry_ms) : "-") + '|' + (event.oversized ? "!" : event.data) + '}';
}

// The standard read aloud: whole lines, no limits, no increments. Shares no code with the decoder.
inline std::vector<std::string> sse_lines(std::string_view stream) {
  std::vector<std::string> lines;
  std::string line;
  for (std::size_t i = 0; i < stream.size(); ++i) {
    if (stream[i] != '\r' && stream[i] != '\n') {
      line += stream[i];
      continue;
    }
    if (stream[i] == '\r' && i + 1 < stream.size() && stream[i + 1] == '\n') ++i;
    lines.push_back(std::move(line));
    line.clear();
  }
  return lines;  // an unfinished line says nothing
}

inline std::uint64_t saturated(const std::string& digits) {
  try {
    return std::stoull(digits);
  } catch (const std::out_of_range&) {
    return UINT64_MAX;
  }
}

struct PlainSseBlock {
  codec::SseEvent event;
  bool first_data = true;

  void add(const std::string& line) {
    const auto colon = line.find(':');
    const auto name = line.substr(0, colon);
    auto value = colon == std::string::npos ? std::string() : line.substr(colon + 1);
    if (value.starts_with(' ')) value.erase(0, 1);
    const bool is_number = !value.empty() && value.find_first_not_of("0123456789") == std::string::npos;
    if (name == "event") event.event_type = value;
    if (name == "id" && value.find('\0') == std::string::npos) event.id = value;
    if (name == "retry" && is_number) event.retry_ms = saturated(value);
    if (name != "data") return;
    event.data += (first_data ? "" : "\n") + value;
    first_data = false;
  }
};

inline std::string plain_reading(std::string_view stream) {
  if (stream.starts_with("\xef\xbb\xbf")) stream.remove_prefix(3);
  std::string out;
  PlainSseBlock block;
  for (const auto& line : sse_lines(stream)) {
    if (!line.empty()) {
      block.add(line);
      continue;
    }
    const auto& event = block.event;
    if (event.id || event.retry_ms || event.has_data()) out += shown(event);
    block = {};
  }
  return out;
}

inline std::string read_in_pieces(std::string_view stream, std::size_t piece_bytes) {
  codec::SseDecoder decoder;
  std::string out;
  for (; !stream.empty(); stream.remove_prefix(std::min(piece_bytes, stream.size())))
    decoder.feed(stream.substr(0, piece_bytes), [&out](const codec::SseEvent& event) { out += shown(event); });
  return out;
}

// Returns what is wrong, or nothing. The first byte says how to cut the rest.
inline std::string fuzz_sse(std::string_view input) {
  if (input.empty()) return {};
  const std::size_t piece_bytes = 1 + static_cast<unsigned char>(input.front());
  const auto stream = input.substr(1);
  if (stream.size() > 4'000) return {};  // the plain reading knows no limits
  const auto whole = read_in_pieces(stream, stream.size() + 1);
  if (plain_reading(stream) != whole) return "the events are not those of a plain reading";
  if (read_in_pieces(stream, piece_bytes) != whole) return "the cut changes the events";
  if (read_in_pieces(stream, 1) != whole) return "single bytes change the events";
  return {};
}

}  // namespace freshet::fuzz
