// The types of settings: how each is read from what an operator wrote, and shown again.
// What `show` gives is YAML, and reads back as the same value; empty: unset. A mistake repeats what was written, except
// where that may be a secret.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/settings.hpp"
#include "config/value.hpp"

namespace freshet::config {

template <class T>
struct Type {
  std::string kind;  // a word or two for help: "duration", "text|json"
  // Nothing if what was written is not a T: the problems then say why, with `path`.
  std::function<std::optional<T>(const Value&, const std::string& path, Problems&)> read;
  std::function<std::string(const T&)> show;
};

// A type written as one text.
template <class T>
Type<T> scalar_type(std::string kind, std::function<Parsed<T>(std::string_view)> parse,
                    std::function<std::string(const T&)> show);
// [a, b], or in one text "a, b".
template <class T>
Type<std::vector<T>> list_of(Type<T> item);
template <class T>
Type<std::optional<T>> optional_of(Type<T> inner);

// "30s", "250ms", "1m30s", "1.5h", "2d", "0". Between min and max.
Type<Duration> duration(Duration min, Duration max);
// "65536", "64KiB", "4MiB", "1GiB", "10kB", "10MB".
Type<std::size_t> bytes(std::size_t min, std::size_t max);
// A whole number; without and with a fixed width.
Type<std::size_t> count(std::size_t min, std::size_t max);
Type<std::uint32_t> small_count(std::uint32_t min, std::uint32_t max);
// Requests per second: "10", "10/s", "600/m", "3600/h".
Type<double> rate(double min, double max);
// Hours of the day: "9-17", "22-6".
Type<Hours> hours();
// "10%" or "0.1".
Type<double> fraction(double min, double max);
Type<double> number(double min, double max);
Type<bool> boolean();
Type<Address> address();
Type<Url> url();
// "https://host[:port]", nothing after it; empty: unset.
Type<std::string> origin();
Type<Secret> secret();
// Any text. `what` is the kind that help shows.
Type<std::string> text(std::string what);
// As text, not empty.
Type<std::string> name(std::string what);
// Begins with '/'.
Type<std::string> url_path();
Type<std::string> header_name();
Type<std::string> json_pointer();
// A map {name, value_from | value, prefix}, or in one text "Name=env:VAR", "Name=Bearer file:/path".
Type<HeaderAdd> header_add();

template <class E>
Type<E> choice(std::vector<std::pair<std::string_view, E>> names);

// The parsers behind the types, for what is not a setting.
[[nodiscard]] Parsed<Duration> parse_duration(std::string_view text);
[[nodiscard]] Parsed<std::size_t> parse_bytes(std::string_view text);
[[nodiscard]] Parsed<double> parse_rate(std::string_view text);
[[nodiscard]] Parsed<double> parse_fraction(std::string_view text);
[[nodiscard]] Parsed<Hours> parse_hours(std::string_view text);
[[nodiscard]] Parsed<Address> parse_address(std::string_view text);
[[nodiscard]] Parsed<Url> parse_url(std::string_view text);

[[nodiscard]] std::string to_string(Duration duration);  // exact, in the largest unit that is
[[nodiscard]] std::string bytes_text(std::size_t bytes);
[[nodiscard]] std::string number_text(double number);
[[nodiscard]] std::string to_string(const Hours& hours);
[[nodiscard]] std::string to_string(const Address& address);
[[nodiscard]] std::string to_string(const Url& url);

template <class T>
Type<T> scalar_type(std::string kind, std::function<Parsed<T>(std::string_view)> parse,
                    std::function<std::string(const T&)> show) {
  auto read = [kind, parse](const Value& value, const std::string& path, Problems& problems) -> std::optional<T> {
    if (value.kind != Value::Kind::scalar) {
      const bool none = value.kind == Value::Kind::null;
      problems.add(value.place, path, none ? "has no value; leave the key out for the default" : "must be one value");
      return std::nullopt;
    }
    Parsed<T> parsed = parse(value.text);
    if (!parsed) {
      problems.add(value.place, path, parsed.error());
      return std::nullopt;
    }
    return *parsed;
  };
  return {std::move(kind), std::move(read), std::move(show)};
}

template <class T>
Type<std::vector<T>> list_of(Type<T> item) {
  auto read = [item](const Value& value, const std::string& path, Problems& problems) -> std::optional<std::vector<T>> {
    if (value.kind == Value::Kind::map) {
      problems.add(value.place, path, "must be a list");
      return std::nullopt;
    }
    const std::vector<Value> items = value.kind == Value::Kind::scalar ? split_list(value) : value.items;
    std::vector<T> list;
    bool whole = true;
    for (std::size_t i = 0; i < items.size(); ++i) {
      std::optional<T> one = item.read(items[i], path + "[" + std::to_string(i) + "]", problems);
      whole = whole && one.has_value();
      if (one) list.push_back(std::move(*one));
    }
    return whole ? std::optional(std::move(list)) : std::nullopt;
  };
  auto show = [item](const std::vector<T>& list) {
    std::string text;
    for (const T& one : list) text += (text.empty() ? "" : ", ") + item.show(one);
    return text.empty() ? text : "[" + text + "]";
  };
  return {"list of " + item.kind, std::move(read), std::move(show)};
}

template <class T>
Type<std::optional<T>> optional_of(Type<T> inner) {
  auto read = [inner](const Value& value, const std::string& path,
                      Problems& problems) -> std::optional<std::optional<T>> {
    std::optional<T> one = inner.read(value, path, problems);
    return one ? std::optional<std::optional<T>>(std::move(one)) : std::nullopt;
  };
  auto show = [inner](const std::optional<T>& value) { return value ? inner.show(*value) : std::string(); };
  return {inner.kind, std::move(read), std::move(show)};
}

template <class E>
Type<E> choice(std::vector<std::pair<std::string_view, E>> names) {
  std::string kind;
  std::vector<std::string> words;
  for (const auto& [word, value] : names) {
    kind += (kind.empty() ? "" : "|") + std::string(word);
    words.emplace_back(word);
  }
  auto parse = [names, kind, words](std::string_view text) -> Parsed<E> {
    for (const auto& [word, value] : names) {
      if (word == text) return value;
    }
    return Mistake{"must be one of " + kind + ", not \"" + std::string(text) + "\"" + suggestion(text, words)};
  };
  auto show = [names](const E& value) {
    for (const auto& [word, named] : names) {
      if (named == value) return std::string(word);
    }
    return std::string();
  };
  return scalar_type<E>(kind, parse, show);
}

}  // namespace freshet::config
