// The life of a subscription, as types: a transition is a member function of the state that it leaves and returns the
// state that it enters. What the table does not allow has no function and cannot be written.
//
//   discovered -> subscribing -> active
//   active -> update_seen -> read_pending -> version_accepted -> active
//   active -> unsubscribing -> closed | unsubscribe_unknown
//   anything whose identity is in doubt -> reconciliation_required -> subscribing
#pragma once

#include <string_view>
#include <variant>

namespace freshet::state {

struct Discovered;
struct Subscribing;
struct Active;
struct UpdateSeen;
struct ReadPending;
struct VersionAccepted;
struct Unsubscribing;
struct Closed;
struct UnsubscribeUnknown;
struct ReconciliationRequired;

// Fenced, and nothing is left to learn: silent for ever.
struct Closed {
  static constexpr std::string_view name = "closed";
};

// The unsubscribe's answer was lost: silent, reconciled in the session or closed with it.
struct UnsubscribeUnknown {
  static constexpr std::string_view name = "unsubscribe_unknown";
  [[nodiscard]] Closed reconcile() const { return {}; }
};

// Fenced; the upstream has been asked to stop.
struct Unsubscribing {
  static constexpr std::string_view name = "unsubscribing";
  [[nodiscard]] Closed confirm() const { return {}; }
  [[nodiscard]] UnsubscribeUnknown lose_answer() const { return {}; }
};

// The upstream's side was replaced: whether it still notifies is not known.
struct ReconciliationRequired {
  static constexpr std::string_view name = "reconciliation_required";
  [[nodiscard]] inline Subscribing resubscribe() const;
  [[nodiscard]] Unsubscribing unsubscribe() const { return {}; }
};

// A version that the subscriber has not read yet was accepted.
struct VersionAccepted {
  static constexpr std::string_view name = "version_accepted";
  [[nodiscard]] inline Active settle() const;
  [[nodiscard]] inline UpdateSeen see_update() const;
  [[nodiscard]] Unsubscribing unsubscribe() const { return {}; }
  [[nodiscard]] ReconciliationRequired doubt() const { return {}; }
};

// A read dispatched after the update is on its way.
struct ReadPending {
  static constexpr std::string_view name = "read_pending";
  [[nodiscard]] VersionAccepted accept() const { return {}; }
  [[nodiscard]] inline UpdateSeen lose_read() const;
  [[nodiscard]] inline UpdateSeen see_update() const;
  [[nodiscard]] Unsubscribing unsubscribe() const { return {}; }
  [[nodiscard]] ReconciliationRequired doubt() const { return {}; }
};

// Something newer than the accepted version is known to exist.
struct UpdateSeen {
  static constexpr std::string_view name = "update_seen";
  [[nodiscard]] ReadPending dispatch_read() const { return {}; }
  [[nodiscard]] Unsubscribing unsubscribe() const { return {}; }
  [[nodiscard]] ReconciliationRequired doubt() const { return {}; }
};

// The subscriber holds the accepted version, as far as is known.
struct Active {
  static constexpr std::string_view name = "active";
  [[nodiscard]] UpdateSeen see_update() const { return {}; }
  [[nodiscard]] Unsubscribing unsubscribe() const { return {}; }
  [[nodiscard]] ReconciliationRequired doubt() const { return {}; }
};

// The upstream subscribe or the baseline read is on its way.
struct Subscribing {
  static constexpr std::string_view name = "subscribing";
  [[nodiscard]] Active activate() const { return {}; }
  [[nodiscard]] Closed refuse() const { return {}; }
  [[nodiscard]] Unsubscribing unsubscribe() const { return {}; }
  [[nodiscard]] ReconciliationRequired doubt() const { return {}; }
};

// Asked for, nothing sent yet.
struct Discovered {
  static constexpr std::string_view name = "discovered";
  [[nodiscard]] Subscribing subscribe() const { return {}; }
};

inline Subscribing ReconciliationRequired::resubscribe() const {
  return {};
}
inline Active VersionAccepted::settle() const {
  return {};
}
inline UpdateSeen VersionAccepted::see_update() const {
  return {};
}
inline UpdateSeen ReadPending::lose_read() const {
  return {};
}
inline UpdateSeen ReadPending::see_update() const {
  return {};
}

using Any = std::variant<Discovered, Subscribing, Active, UpdateSeen, ReadPending, VersionAccepted, Unsubscribing,
                         Closed, UnsubscribeUnknown, ReconciliationRequired>;

[[nodiscard]] inline std::string_view name(const Any& state) {
  return std::visit([](const auto& s) { return s.name; }, state);
}

// Live: the subscriber may be told something.
[[nodiscard]] inline bool live(const Any& state) {
  return std::holds_alternative<Active>(state) || std::holds_alternative<UpdateSeen>(state) ||
         std::holds_alternative<ReadPending>(state) || std::holds_alternative<VersionAccepted>(state) ||
         std::holds_alternative<ReconciliationRequired>(state);
}

// Fenced: nothing may reach the subscriber any more.
[[nodiscard]] inline bool fenced(const Any& state) {
  return std::holds_alternative<Unsubscribing>(state) || std::holds_alternative<Closed>(state) ||
         std::holds_alternative<UnsubscribeUnknown>(state);
}

}  // namespace freshet::state
