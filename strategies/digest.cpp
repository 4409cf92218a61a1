#include "strategies/digest.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <charconv>
#include <tuple>
#include <utility>

#include <nlohmann/json.hpp>

#include "strategies/glob.hpp"
#include "strategies/tree_hash.hpp"

namespace freshet {

namespace {

// nlohmann's SAX interface in front of a plain reader of events.
template <class Reader>
struct Sax {
  Reader& reader;

  bool null() { return reader.null(), true; }
  bool boolean(bool value) { return reader.boolean(value), true; }
  bool number_integer(std::int64_t value) { return integer(value); }
  bool number_unsigned(std::uint64_t value) { return integer(value); }
  bool number_float(double, const std::string& token) { return reader.number(token), true; }
  bool string(const std::string& text) { return reader.string(text), true; }
  bool binary(const nlohmann::json::binary_t&) { return false; }
  bool start_object(std::size_t) { return reader.start_object(), true; }
  bool key(const std::string& name) { return reader.key(name), true; }
  bool end_object() { return reader.end_object(), true; }
  bool start_array(std::size_t) { return reader.start_array(), true; }
  bool end_array() { return reader.end_array(), true; }
  bool parse_error(std::size_t, const std::string&, const nlohmann::json::exception&) { return false; }

 private:
  template <class Integer>
  bool integer(Integer value) {
    std::array<char, 24> digits;
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
    return reader.number({digits.data(), static_cast<std::size_t>(end - digits.data())}), true;
  }
};

template <class Reader>
bool parse(std::string_view text, Reader& reader) {
  // The parser takes a NUL for the end of its input; RFC 8259 has no place for one.
  if (text.find('\0') != std::string_view::npos) return false;
  Sax<Reader> sax{reader};
  return nlohmann::json::sax_parse(text.begin(), text.end(), &sax);
}

bool equal_ignoring_case(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c; };
  return std::ranges::equal(a, b, {}, lower, lower);
}

// RFC 6839 §3.1: a `+json` suffix says that the text is JSON.
bool is_json(std::string_view mime_type) {
  mime_type = mime_type.substr(0, mime_type.find_first_of("; \t"));
  constexpr std::string_view suffix = "+json";
  if (equal_ignoring_case(mime_type, "application/json")) return true;
  return mime_type.size() > suffix.size() &&
         equal_ignoring_case(mime_type.substr(mime_type.size() - suffix.size()), suffix);
}

std::string without_lines(std::string_view text, const std::vector<std::string>& globs) {
  std::string out;
  while (!text.empty()) {
    const auto size = std::min(text.find('\n'), text.size() - 1) + 1;
    auto line = text.substr(0, size);
    text.remove_prefix(size);
    const auto whole = line;
    if (line.ends_with('\n')) line.remove_suffix(1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (std::ranges::none_of(globs, [line](const auto& glob) { return glob_match(glob, line); })) out += whole;
  }
  return out;
}

// The pointers that go on below `text`, from the root of the JSON that it holds.
std::vector<Pointer> below_text(const std::vector<Pointer>& pointers) {
  std::vector<Pointer> out;
  for (const auto& pointer : pointers) {
    if (pointer.size() > 1 && pointer.front() == "text") out.emplace_back(pointer.begin() + 1, pointer.end());
  }
  return out;
}

// The same text in spellings that the parser can hold, for the grammar's sake only: surrogate escapes become U+FFFD,
// runs of digits end after their first one that is not zero.
std::string plain_spelling(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string && c == '\\' && i + 1 < text.size()) {
      const auto escape = text.substr(i, 6);
      const bool surrogate = escape.size() == 6 && escape[1] == 'u' && (escape[2] == 'd' || escape[2] == 'D') &&
                             std::string_view("89abcdefABCDEF").find(escape[3]) != std::string_view::npos;
      const auto hex = [](char h) {
        return std::string_view("0123456789abcdefABCDEF").find(h) != std::string_view::npos;
      };
      if (surrogate && hex(escape[4]) && hex(escape[5])) {
        out += "\\ufffd";
        i += 5;
      } else {
        out += c;
        out += text[++i];
      }
      continue;
    }
    if (c == '"') in_string = !in_string;
    const bool more_digits = c >= '0' && c <= '9' && !out.empty() && out.back() >= '1' && out.back() <= '9';
    if (in_string || !more_digits) out += c;
  }
  return out;
}

// Reads a resources/read result: hashes the items of `contents`, passes over everything else.
class ResultReader {
 public:
  explicit ResultReader(const VolatileParts& parts)
      : parts_(parts), pointers_(parse_pointers(parts.pointers)), text_pointers_(below_text(pointers_)) {}

  void null() {
    scalar([](TreeHash& tree) { tree.null(); });
  }
  void boolean(bool value) {
    scalar([value](TreeHash& tree) { tree.boolean(value); });
  }
  void number(std::string_view token) {
    scalar([token](TreeHash& tree) { tree.number(token); });
  }
  void string(std::string_view text);
  void key(std::string_view name);
  void start_object() { start(false); }
  void end_object() { end(false); }
  void start_array() { start(true); }
  void end_array() { end(true); }

  [[nodiscard]] bool found_contents() const { return found_; }
  [[nodiscard]] bool too_deep() const { return too_deep_; }
  [[nodiscard]] ContentDigest digest() const;

 private:
  // How many containers are open where these stand.
  static constexpr std::size_t in_result = 1;
  static constexpr std::size_t in_contents = 2;
  static constexpr std::size_t in_item = 3;
  static constexpr std::size_t in_member = 4;

  struct Item {
    std::string uri;
    Hash128 hash;
  };
  struct HeldText {
    std::size_t place;
    std::string text;
  };

  template <class Feed>
  void scalar(Feed feed) {
    if (!within_) return;
    begin_item_here();
    feed(tree_);
    end_item_here();
  }
  void start(bool array);
  void end(bool array);
  void begin_item_here();
  void end_item_here();
  void note_field(std::string_view text);
  [[nodiscard]] Hash128 text_hash(std::string_view text) const;

  const VolatileParts& parts_;
  const std::vector<Pointer> pointers_;
  const std::vector<Pointer> text_pointers_;
  TreeHash tree_{pointers_, false};
  std::size_t open_ = 0;
  bool object_ = false;    // the result is an object
  bool contents_ = false;  // its last key is `contents`
  bool within_ = false;    // inside the array of that name
  bool found_ = false;
  bool too_deep_ = false;
  std::string member_;  // of the item
  std::string field_;   // of that member
  std::string uri_;
  std::string mime_type_;
  std::string last_modified_;
  std::string first_mime_type_;
  std::vector<HeldText> texts_;  // their MIME type may come after them
  std::vector<Item> items_;
};

void ResultReader::key(std::string_view name) {
  if (open_ == in_result && object_) contents_ = name == "contents";
  if (!within_) return;
  if (open_ == in_item) member_ = name;
  if (open_ == in_member) field_ = name;
  tree_.key(name);
}

void ResultReader::string(std::string_view text) {
  if (!within_) return;
  note_field(text);
  const bool has_rules = !parts_.lines.empty() || !text_pointers_.empty();
  if (has_rules && open_ == in_item && member_ == "text" && !tree_.skips_member()) {
    texts_.push_back({tree_.reserve(), std::string(text)});
    return;
  }
  scalar([text](TreeHash& tree) { tree.string(text); });
}

void ResultReader::note_field(std::string_view text) {
  if (open_ == in_item && member_ == "uri") uri_ = text;
  if (open_ == in_item && member_ == "mimeType") mime_type_ = text;
  const bool first = items_.empty();
  if (first && open_ == in_member && member_ == "annotations" && field_ == "lastModified") last_modified_ = text;
}

void ResultReader::start(bool array) {
  if (open_ == 0) object_ = !array;
  if (within_) {
    begin_item_here();
    array ? tree_.start_array() : tree_.start_object();
  } else if (open_ == in_result && array && contents_) {
    within_ = found_ = true;
  }
  ++open_;
}

void ResultReader::end(bool array) {
  --open_;
  if (open_ == in_result) within_ = false;
  if (!within_) return;
  if (open_ == in_contents) {
    for (const auto& held : texts_) tree_.fill(held.place, text_hash(held.text));
  }
  array ? tree_.end_array() : tree_.end_object();
  end_item_here();
}

void ResultReader::begin_item_here() {
  if (open_ != in_contents) return;
  tree_.clear();
  texts_.clear();
  for (auto* text : {&member_, &field_, &uri_, &mime_type_}) text->clear();
}

void ResultReader::end_item_here() {
  if (open_ != in_contents) return;
  if (items_.empty()) first_mime_type_ = mime_type_;
  too_deep_ = too_deep_ || tree_.too_deep();
  items_.push_back({uri_, tree_.hash()});
}

Hash128 ResultReader::text_hash(std::string_view text) const {
  if (!text_pointers_.empty() && is_json(mime_type_)) {
    TreeHash json(text_pointers_, true);
    if (parse(text, json) && !json.too_deep()) return hash_sequence({json.hash()}, HashOf::json_text);
  }
  if (parts_.lines.empty()) return hash_bytes(text, HashOf::string);
  return hash_bytes(without_lines(text, parts_.lines), HashOf::string);
}

ContentDigest ResultReader::digest() const {
  std::vector<const Item*> order;
  for (const auto& item : items_) order.push_back(&item);
  std::ranges::sort(order, [](const Item* a, const Item* b) { return std::tie(a->uri, a) < std::tie(b->uri, b); });
  std::vector<Hash128> hashes;
  for (const auto* item : order) hashes.push_back(item->hash);
  return {.digest = Digest{hash_sequence(hashes, HashOf::contents)},
          .mime_type = first_mime_type_,
          .last_modified = last_modified_,
          .empty = items_.empty()};
}

}  // namespace

std::string to_hex(const Hash128& hash) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string out;
  for (const auto half : {hash.high, hash.low}) {
    for (int shift = 60; shift >= 0; shift -= 4) out += digits[(half >> shift) & 0xf];
  }
  return out;
}

RawDigest raw_digest(std::string_view body, std::size_t id_begin, std::size_t id_end) {
  assert(id_begin <= id_end && id_end <= body.size());
  const auto before = hash_bytes(body.substr(0, id_begin), HashOf::bytes);
  const auto after = hash_bytes(body.substr(id_end), HashOf::bytes);
  return RawDigest{hash_sequence({before, after}, HashOf::bytes)};
}

boost::system::result<ContentDigest, DigestError> content_digest(std::string_view result, const VolatileParts& parts) {
  ResultReader reader(parts);
  if (parse(result, reader) && !reader.too_deep()) {
    if (!reader.found_contents()) return DigestError::not_contents;
    return reader.digest();
  }
  ResultReader plain(parts);
  if (!parse(plain_spelling(result), plain)) return DigestError::malformed;
  if (!plain.found_contents()) return DigestError::not_contents;
  auto digest = plain.digest();
  digest.digest = Digest{hash_bytes(result, HashOf::bytes)};
  return digest;
}

}  // namespace freshet
