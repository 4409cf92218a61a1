"use strict";

// Shows what /events tells each second, and one page of /status's subscriptions. Rows are changed in place, so that the
// focus stays where the reader put it.

const rowsPerPage = 50;
const rowsIntervalMs = 2000;
const historyIntervalMs = 15000;
// Asking for rows walks all subscriptions: it takes at most one part in so many of the time.
const thrift = 20;

const byId = (id) => document.getElementById(id);
const view = { offset: 0, search: "", matched: 0, rows: [], rowsAt: 0, rowsDue: 0, history: new Map(), status: null };

function element(name, attributes = {}, ...children) {
  const made = name === "svg" || name === "path" || name === "line"
    ? document.createElementNS("http://www.w3.org/2000/svg", name) : document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

// As many children as items: made once, then filled again and again.
function fill(parent, items, make, update) {
  while (parent.children.length > items.length) parent.lastElementChild.remove();
  while (parent.children.length < items.length) parent.append(make());
  items.forEach((item, i) => update(parent.children[i], item));
}

function rate(value) {
  return value >= 100 ? value.toFixed(0) : value >= 1 ? value.toFixed(1) : value.toFixed(2);
}

function span(seconds) {
  if (seconds === null || seconds === undefined) return "–";
  const s = Math.max(0, Math.round(seconds));
  if (s < 120) return `${s} s`;
  if (s < 7200) return `${Math.round(s / 60)} min`;
  if (s < 172800) return `${Math.round(s / 3600)} h`;
  return `${Math.round(s / 86400)} d`;
}

function ago(text) {
  return text === null ? "–" : `${span((Date.now() - Date.parse(text)) / 1000)} ago`;
}

// --- partners ---

const kinds = ["client", "poll", "other"];

function makePartner() {
  const figures = element("p", { class: "kinds" });
  for (const kind of kinds) figures.append(element("b", { class: kind }), ` ${kind}  `);
  return element("article", { class: "card" }, element("h3"),
    element("p", { class: "figure" }, element("span"), " ", element("small")),
    element("meter", { min: 0 }), figures, element("p", { class: "planned" }),
    element("p", { class: "paused amber" }),
    element("svg", { viewBox: "0 0 240 60", preserveAspectRatio: "none", role: "img",
                    "aria-label": "Requests per second over the last hour" }),
    element("p", { class: "action" }, element("button", { type: "button" })));
}

function updatePartner(card, partner) {
  const { requests_per_s: now, requests_per_s_last_hour: hour, rate_per_s: budget } = partner;
  setText(card.querySelector("h3"), partner.name);
  setText(card.querySelector(".figure span"), rate(now.total));
  setText(card.querySelector(".figure small"), `of ${rate(budget)} requests/s`);
  const meter = card.querySelector("meter");
  meter.max = budget;
  meter.high = budget * 0.9;
  meter.value = Math.min(now.total, budget);
  meter.setAttribute("aria-label", `${partner.name}: requests per second against the budget`);
  for (const kind of kinds) setText(card.querySelector(`.kinds .${kind}`), rate(now[kind]));
  setText(card.querySelector(".planned"),
    `Polls wished: ${rate(partner.wished_per_s)}/s. Last hour: ${rate(hour.total)}/s. Waiting: ${partner.waiting}.`);
  setText(card.querySelector(".paused"), partner.paused === null ? ""
    : `Paused (${partner.paused.reason})` +
      (partner.paused.seconds_left === null ? "" : `, ${span(partner.paused.seconds_left)} left`));
  const button = card.querySelector("button");
  const paused = partner.paused !== null && partner.paused.reason === "operator";
  setText(button, paused ? "Resume polls" : "Pause polls");
  button.onclick = () => act(paused ? "resume" : "pause", { partner: partner.name });
  const points = view.history.get(partner.name);
  if (points !== undefined && card.drawn !== points) draw(card, points);
}

// The last hour: one bar a step, the kinds on top of each other, the budget as a line.
function draw(card, points) {
  card.drawn = points;
  const svg = card.querySelector("svg");
  const sums = points.client.map((_, i) => kinds.reduce((sum, kind) => sum + points[kind][i], 0));
  const top = Math.max(points.rate_per_s, ...sums) * 1.05;
  const y = (value) => 60 - (60 * value) / top;
  const first = 240 - sums.length;
  const below = sums.map(() => 0);
  svg.replaceChildren();
  for (const kind of ["other", "poll", "client"]) {
    let path = "";
    points[kind].forEach((value, i) => {
      if (value > 0) path += `M${first + i} ${y(below[i])}h1V${y(below[i] + value)}h-1z`;
      below[i] += value;
    });
    svg.append(element("path", { class: kind, d: path }));
  }
  const budget = y(points.rate_per_s);
  svg.append(element("line", { class: "budget", x1: 0, x2: 240, y1: budget, y2: budget }));
  svg.setAttribute("aria-label", `Requests per second over the last hour, at most ${rate(Math.max(0, ...sums))}`);
}

// --- upstreams ---

function makeCells(classes, label) {
  return () => {
    const row = element("tr", {}, ...classes.map((name) => element("td", name === "" ? {} : { class: name })));
    row.lastElementChild.append(element("button", { type: "button" }, label));
    return row;
  };
}

function setCells(row, texts) {
  texts.forEach((text, i) => setText(row.children[i], text));
}

const makeUpstream = makeCells(["", "", "extra", "", "extra", "extra", "health", "extra", "number", "number",
  "number overdue", "number extra", "action"], "Read again");

// A server may be met in both eras, by different clients.
function era({ declared, sessions: { by_era: { legacy, modern } } }) {
  if (legacy > 0 && modern > 0) return `legacy (${legacy}), modern (${modern})`;
  return declared === null ? "–" : declared.era;
}

function updateUpstream(row, upstream) {
  const { declared, health, heals, subscriptions } = upstream;
  setCells(row, [upstream.name, era(upstream), declared === null ? "–" : declared.declares,
    (declared === null ? "–" : declared.strategy) + (upstream.mode === "active" ? "" : ` (${upstream.mode})`),
    declared === null ? "no session" : declared.why,
    declared === null ? "–" : `${declared.server_name} ${declared.server_version}`,
    health.state, heals.failed > 0 ? `${heals.healed}, ${heals.failed} failed` : `${heals.healed}`,
    `${upstream.sessions.total}`, `${subscriptions.total}`, `${subscriptions.overdue}`,
    span(subscriptions.worst_age_s)]);
  row.querySelector(".health").classList.toggle("amber", health.state === "failing");
  row.querySelector(".overdue").classList.toggle("amber", subscriptions.overdue > 0);
  row.querySelector("button").onclick = () => act("refresh", { upstream: upstream.name });
}

// --- subscriptions ---

const makeSubscription = makeCells(
  ["", "freshness", "", "extra", "extra", "", "number extra", "number", "number", "action"], "Read again");

// Why a row is amber; empty: it is not. The bound grows with what delays the reads, since it says what the schedule really
// gives; what the settings ask for does not.
function concern(item, age) {
  if (item.absent || age === null) return "";
  if (age > item.bound_s) return "past its bound";
  const upstream = view.status?.upstreams.find(({ name }) => name === item.upstream);
  if (upstream?.health.state === "failing") return "its upstream fails";
  return item.overdue_after_s !== null && age > item.overdue_after_s ? "overdue" : "";
}

// Until new rows are overdue, a row may have been renewed since it was loaded: its age then is what counts.
function judgedAge(item, age) {
  return performance.now() < view.rowsDue ? item.age_s : age;
}

function freshness(item, age) {
  if (item.absent) return "client away";
  if (age === null) return "not read yet";
  const why = concern(item, judgedAge(item, age));
  if (why !== "") return `updated ${span(age)} ago, ${why}`;
  if (item.strategy === "subscribe") return "live";
  return `updated ${span(age)} ago`;
}

function updateSubscription(row, item) {
  const passed = (performance.now() - view.rowsAt) / 1000;
  const age = item.age_s === null ? null : item.age_s + passed;
  setCells(row, [item.uri, freshness(item, age), item.strategy + (item.degraded ? " (degraded)" : ""), item.upstream,
    item.presence === "present" ? item.state : `${item.state}, ${item.presence}`, ago(item.changed_at),
    item.changes_per_hour.toFixed(1), item.next_read_in_s === null ? "–" : span(item.next_read_in_s - passed),
    span(item.bound_s)]);
  row.classList.toggle("late", concern(item, judgedAge(item, age)) !== "");
  row.children[1].classList.toggle("live-word", row.children[1].textContent === "live");
  row.querySelector("button").onclick = () => act("refresh", { upstream: item.upstream, uri: item.uri });
}

function showRows() {
  fill(byId("subscriptions"), view.rows, makeSubscription, updateSubscription);
  const last = Math.min(view.offset + view.rows.length, view.matched);
  setText(byId("page"), view.matched === 0 ? "none" : `${view.offset + 1} to ${last}`);
  byId("previous").disabled = view.offset === 0;
  byId("next").disabled = last >= view.matched;
}

let rowsTimer;
async function loadRows() {
  clearTimeout(rowsTimer);
  if (document.hidden) return;
  const begun = performance.now();
  const asked = `/status?limit=${rowsPerPage}&offset=${view.offset}&search=${encodeURIComponent(view.search)}`;
  try {
    const { subscriptions } = await (await fetch(asked)).json();
    const current = subscriptions.offset === view.offset;
    if (current) {
      Object.assign(view, { rows: subscriptions.items, rowsAt: performance.now(), matched: subscriptions.matched });
      setText(byId("matched"), `${subscriptions.matched} of ${subscriptions.total}`);
      showRows();
    }
  } catch {
    // The stream's state says that the sidecar cannot be reached.
  }
  const pause = Math.max(rowsIntervalMs, thrift * (performance.now() - begun));
  view.rowsDue = view.rowsAt + pause + rowsIntervalMs;
  rowsTimer = setTimeout(loadRows, pause);
}

function turn(by) {
  view.offset = Math.max(0, view.offset + by * rowsPerPage);
  loadRows();
}

// --- events ---

function updateEvent(line, event) {
  setText(line.querySelector("time"), new Date(event.at).toLocaleTimeString());
  line.querySelector("time").dateTime = event.at;
  const what = line.querySelector("span");
  what.className = event.level;
  const parts = [event.kind.replaceAll("_", " "), event.subject, event.uri, event.detail].filter((part) => part !== "");
  setText(what, parts.join(" · ") + (event.count > 1 ? ` (${event.count} times)` : ""));
}

// --- the whole ---

function show(status) {
  view.status = status;
  byId("server").hidden = true;
  byId("live").hidden = false;
  document.body.classList.toggle("may-act", status.actions);
  byId("operator").hidden = !status.actions;
  setText(byId("about"), `${status.version}, up ${span(status.uptime_s)}`);
  setLink(status.draining ? "draining" : "live", status.draining ? "amber" : "good");
  fill(byId("partners"), status.partners, makePartner, updatePartner);
  fill(byId("upstreams"), status.upstreams, makeUpstream, updateUpstream);
  fill(byId("events"), status.events, () => element("li", {}, element("time"), element("span")), updateEvent);
  showRows();
}

function setLink(text, tone) {
  setText(byId("link"), text);
  byId("link").className = `badge ${tone}`;
}

let stream;
function connect() {
  stream?.close();
  if (document.hidden) return;
  stream = new EventSource("/events");
  stream.addEventListener("status", (event) => show(JSON.parse(event.data)));
  stream.onerror = () => {
    setLink("not connected", "amber");
    // A refused stream (too many viewers) is not tried again by the browser.
    if (stream.readyState === EventSource.CLOSED) setTimeout(connect, 5000);
  };
}

async function loadHistory() {
  if (document.hidden) return;
  try {
    const history = await (await fetch("/history")).json();
    view.history = new Map(history.partners.map((partner) => [partner.name, partner]));
  } catch {
    // Drawn at the next turn.
  }
}

async function act(action, what) {
  const outcome = byId("outcome");
  const token = byId("token").value;
  if (token === "") {
    byId("token").focus();
    return setText(outcome, "An action needs the admin token.");
  }
  const answer = await fetch(`/actions/${action}`, {
    method: "POST",
    headers: { "Authorization": `Bearer ${token}`, "Content-Type": "application/json" },
    body: JSON.stringify(what),
  });
  setText(outcome, (await answer.text()).trim());
}

byId("previous").onclick = () => turn(-1);
byId("next").onclick = () => turn(1);
byId("search").onsubmit = (event) => event.preventDefault();
let searchTimer;
byId("needle").oninput = (event) => {
  clearTimeout(searchTimer);
  searchTimer = setTimeout(() => {
    Object.assign(view, { search: event.target.value, offset: 0 });
    loadRows();
  }, 200);
};
document.addEventListener("visibilitychange", () => {
  connect();
  loadRows();
  loadHistory();
});
setInterval(loadHistory, historyIntervalMs);
setInterval(showRows, 1000);
connect();
loadRows();
loadHistory();
