// Draws the report from the JSON in #data. Whatever models wrote becomes text
// nodes only; nothing here parses HTML.
"use strict";
(() => {
const D = JSON.parse(document.getElementById("data").textContent);
const $ = (id) => document.getElementById(id);
const state = { mode: "", filter: "", sort: "", down: true, by: "changed", picked: new Set(), shown: 0, open: {} };
const charts = {};
const PAGE = 40, NAME = innerWidth < 640 ? 18 : 30;

function el(tag, props, ...children) {
  const node = document.createElement(tag);
  for (const [key, value] of Object.entries(props || {})) {
    if (key.startsWith("--")) node.style.setProperty(key, value);
    else if (key.startsWith("aria-") || key === "role" || key === "colspan" || key === "scope") node.setAttribute(key, value);
    else if (key === "style") Object.assign(node.style, value);
    else node[key] = value;
  }
  node.append(...children);
  return node;
}

// percent never rounds up to 100 nor down to 0.
function percent(x, digits = 1) {
  const s = (100 * x).toFixed(digits), step = 10 ** -digits;
  if (x < 1 && Number(s) === 100) return (100 - step).toFixed(digits);
  if (x > 0 && Number(s) === 0) return step.toFixed(digits);
  return s;
}
const compact = new Intl.NumberFormat("en", { notation: "compact", maximumSignificantDigits: 3 });
const money = (x) => x ? "$" + (x < 0.01 ? x.toPrecision(2) : x < 100 ? x.toFixed(2) : compact.format(x)) : "–";
const millis = (x) => !x ? "–" : x < 1 ? x.toPrecision(2) + " ms" : x >= 1000 ? (x / 1000).toFixed(1) + " s" : x >= 10 ? x.toFixed(0) + " ms" : x.toFixed(1) + " ms";
const headline = (e) => e.survived ? e.survived.share : e.score;
const perThousand = (e) => e.steps ? 1000 * e.cost / e.steps : 0;
const passAll = (e) => e.pass && e.pass.length ? e.pass[e.pass.length - 1] : 0;
const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

// short keeps both ends of a name: what tells models apart is often the last part.
const short = (name, most) => name.length <= most ? name : name.slice(0, Math.ceil(most * 0.4)) + "…" + name.slice(-Math.floor(most * 0.6) + 1);

// Colours belong to models, so that they are the same in all modes.
const hue = new Map();
for (const e of D.entries) if (!hue.has(e.model)) hue.set(e.model, hue.size);
const ink = (model) => "--c" + hue.get(model) % 8;
const dash = (model) => [[], [6, 3], [2, 3], [9, 3, 2, 3], [12, 4]][Math.floor(hue.get(model) / 8) % 5];

const inMode = () => D.entries.filter((e) => e.mode === state.mode);
const visible = () => inMode().filter((e) => e.model.toLowerCase().includes(state.filter.toLowerCase()));
const plotted = (mode) => D.entries.filter((e) => e.mode === mode && state.picked.has(e.model));

// ---- leaderboard

function columns() {
  const list = inMode(), rollout = state.mode === "rollout", live = state.mode === "live";
  const k = Math.max(1, ...list.map((e) => (e.pass || []).length));
  const pct = (x) => percent(x) + "%";
  const all = [
    { key: "rank", head: "#", get: (e) => e.rank, show: (e) => String(e.rank) },
    { key: "model", head: "model", words: true, get: (e) => e.model, show: nameCell, name: true },
    { key: "score", head: rollout ? "survived ±95%" : "score ±95%", words: true, get: (e) => headline(e).share, show: scoreCell, down: true },
    rollout && { key: "half", head: "half-life", title: "steps that half of the rollouts survive", get: half, show: halfText, down: true },
    rollout && { key: "whole", head: "whole traces", get: (e) => e.survived ? e.survived.completed / Math.max(1, e.survived.rollouts) : 0, show: (e) => e.survived ? e.survived.completed + "/" + e.survived.rollouts : "–", down: true },
    rollout && { key: "right", head: "steps right", title: "of those that were asked", get: (e) => e.score.share, show: (e) => pct(e.score.share), down: true },
    live && { key: "whole", head: "whole scenarios", title: "all of whose commands are right", get: (e) => e.whole ? e.whole.right / Math.max(1, e.whole.of) : 0, show: (e) => e.whole ? e.whole.right + "/" + e.whole.of : "–", down: true },
    k > 1 && { key: "pass", head: "pass^" + k, title: "all of " + k + " trials right, unbiased estimate", get: passAll, show: (e) => pct(passAll(e)), down: true },
    { key: "funnel", head: "outcomes", words: true, get: (e) => e.outcomes[0], show: stackCell, down: true },
    { key: "data", head: "wrong data", get: (e) => e.outcomes[1], show: (e) => pct(e.outcomes[1]), down: true },
    { key: "errno", head: "wrong errno", get: (e) => e.outcomes[2], show: (e) => pct(e.outcomes[2]), down: true },
    { key: "invalid", head: "unusable", title: "the kernel refuses it, it is not by the schema, or there is none", get: unusable, show: (e) => pct(unusable(e)), down: true },
    { key: "refused", optional: true, head: "refusals", get: (e) => e.refused, show: (e) => pct(e.refused), down: true },
    { key: "cost", optional: true, head: "$ / 1k steps", get: perThousand, show: (e) => money(perThousand(e)) },
    { key: "total", optional: true, head: "$", get: (e) => e.cost, show: (e) => money(e.cost) },
    { key: "in", optional: true, head: "tokens in", get: (e) => e.input_tokens, show: (e) => compact.format(e.input_tokens) },
    { key: "out", optional: true, head: "out", get: (e) => e.output_tokens, show: (e) => compact.format(e.output_tokens) },
    { key: "p50", optional: true, head: "p50", get: (e) => e.p50_ms, show: (e) => millis(e.p50_ms) },
    { key: "p95", optional: true, head: "p95", get: (e) => e.p95_ms, show: (e) => millis(e.p95_ms) },
    { key: "steps", head: "steps", get: (e) => e.steps, show: (e) => String(e.steps), down: true },
  ];
  all.push({ key: "infra", optional: true, head: "infra", title: "errors of the infrastructure: counted apart, never as wrong", get: (e) => e.infra, show: (e) => String(e.infra), down: true });
  return all.filter((c) => c && (!c.optional || list.some((e) => c.get(e) > 0)));
}

const unusable = (e) => e.outcomes[3] + e.outcomes[4] + e.outcomes[5];
const half = (e) => !e.survived ? 0 : e.survived.half_life ?? 1e9;
function halfText(e) {
  if (!e.survived) return "–";
  return e.survived.half_life !== undefined ? String(e.survived.half_life) : ">" + e.survived.curve.at(-1).step;
}

function nameCell(e) {
  const box = el("input", { type: "checkbox", className: "swatch", checked: state.picked.has(e.model), "--ink": `var(${ink(e.model)})`, title: "draw in the plots" });
  box.addEventListener("change", () => { box.checked ? state.picked.add(e.model) : state.picked.delete(e.model); drawPlots(); });
  return el("label", { title: e.model }, box, short(e.model, NAME));
}

function scoreCell(e) {
  const h = headline(e);
  if (!e.steps) return "–";
  return el("span", { className: "score", title: `${percent(h.share, 2)}%, 95% interval ${percent(h.low, 2)}–${percent(h.high, 2)}` },
    el("b", {}, percent(h.share)),
    el("span", { className: "bar" }, el("i", { style: { width: 100 * h.share + "%" } }), el("u", { style: { left: 100 * h.low + "%", width: 100 * (h.high - h.low) + "%" } })),
    el("small", {}, percent(h.low) + "–" + percent(h.high)));
}

function stackCell(e) {
  const title = e.outcomes.map((x, i) => D.outcome_names[i] + " " + percent(x) + "%").join(", ");
  return el("span", { className: "stack", title, role: "img", "aria-label": title },
    ...e.outcomes.map((x, i) => el("i", { style: { width: 100 * x + "%", background: `var(--o${i})` } })));
}

function drawLeaders() {
  const cols = columns(), sortBy = cols.find((c) => c.key === state.sort) || cols[0];
  $("leaders").tHead.replaceChildren(el("tr", {}, ...cols.map((c) => headCell(c, sortBy))));
  const rows = visible().sort((a, b) => {
    const x = sortBy.get(a), y = sortBy.get(b);
    const order = typeof x === "string" ? x.localeCompare(y) : x - y;
    return (state.down ? -order : order) || a.rank - b.rank;
  });
  $("leaders").tBodies[0].replaceChildren(...rows.map((e) => el("tr", {}, ...cols.map((c) => el("td", { className: cellClass(c) }, c.show(e))))));
  $("count").textContent = `${rows.length} of ${inMode().length} models`;
  $("leaders-hint").textContent = state.mode === "rollout"
    ? "Ranked by the share of a trace’s steps survived before the first divergence. Whiskers: 95%, clustered by trace. Ticked models are drawn below."
    : (state.mode === "live" ? "Share of the scenarios’ commands that gave what they gave over the reference." : "Share of steps answered right.") + " Whiskers: 95%, clustered by trace. Ticked models are drawn below.";
}

const cellClass = (c) => c.name ? "name" : c.words ? "words" : "";

function headCell(c, sortBy) {
  const button = el("button", { type: "button", title: c.title || "sort by " + c.head }, c.head);
  button.addEventListener("click", () => {
    state.down = state.sort === c.key ? !state.down : !!c.down;
    state.sort = c.key;
    drawLeaders();
  });
  const sorted = c === sortBy ? { "aria-sort": state.down ? "descending" : "ascending" } : {};
  return el("th", { className: cellClass(c), scope: "col", ...sorted }, button);
}

// ---- heat maps

function drawHeat(id, dimension) {
  const list = visible(), keys = [], seen = new Set();
  for (const e of inMode()) for (const p of e.by[dimension] || []) if (!seen.has(p.key)) { seen.add(p.key); keys.push(p.key); }
  keys.sort();
  const head = el("thead", {}, el("tr", {}, el("th"), ...keys.map((k) => el("th", { scope: "col" }, el("span", {}, k)))));
  const body = el("tbody", {}, ...list.map((e) => {
    const parts = new Map((e.by[dimension] || []).map((p) => [p.key, p]));
    return el("tr", {}, el("th", { scope: "row", title: e.model }, short(e.model, NAME)), ...keys.map((k) => heatCell(e, dimension, k, parts.get(k))));
  }));
  $(id).replaceChildren(head, body);
}

// Most steps are right, so that colour is spent on the last ten percent.
function heatCell(e, dimension, key, part) {
  if (!part) return el("td", { className: "none" }, "·");
  const x = part.score.share, bad = Math.min(1, Math.sqrt(1 - x));
  const td = el("td", {
    className: x < 1 ? "has" : "", title: `${e.model}, ${key}: ${percent(x)}% of ${part.steps} steps, 95% interval ${percent(part.score.low)}–${percent(part.score.high)}`,
    "--tone": x === 1 ? "var(--good)" : "var(--bad)", "--depth": x === 1 ? "32%" : Math.round(12 + 78 * bad) + "%",
  }, x === 1 ? "100" : percent(x, 0));
  if (x < 1) {
    td.tabIndex = 0;
    const go = () => { setFilters({ model: e.model, [dimension]: key }); $("failures").scrollIntoView(); };
    td.addEventListener("click", go);
    td.addEventListener("keydown", (event) => { if (event.key === "Enter") go(); });
  }
  return td;
}

// ---- plots

function options(x, y, extra) {
  const grid = { color: css("--line") }, ticks = { color: css("--dim"), maxRotation: 0, autoSkipPadding: 10 };
  return {
    animation: false, responsive: true, maintainAspectRatio: false, color: css("--fg"),
    interaction: { mode: "nearest", intersect: false },
    layout: { padding: { right: 8, top: 6 } },
    scales: {
      x: { grid, ticks, title: { display: true, text: x, color: css("--dim") }, ...extra.x },
      y: { grid, ticks: { ...ticks, callback: (v) => +v.toFixed(2) + "%" }, title: { display: !!y, text: y, color: css("--dim") }, ...extra.y },
    },
    plugins: {
      legend: { display: false }, // beside the canvas, so that long names take nothing from the plot
      tooltip: { callbacks: extra.tooltip || {} },
    },
  };
}

function draw(id, config) {
  if (charts[id]) charts[id].destroy();
  charts[id] = new Chart($(id), config);
}

function drawKeys(id, list) {
  $(id).replaceChildren(...list.map((e) => el("span", { title: e.model }, el("i", { style: { borderTop: `3px ${dash(e.model).length ? "dashed" : "solid"} var(${ink(e.model)})` } }), short(e.model, 30))));
}

function line(e, data, more) {
  return { label: e.model, data, borderColor: css(ink(e.model)), backgroundColor: css(ink(e.model)), borderDash: dash(e.model), borderWidth: 2, ...more };
}

// named writes models' names beside their points, where there is room.
const named = {
  id: "named",
  afterDatasetsDraw(chart) {
    const points = chart.data.datasets.map((_, i) => chart.getDatasetMeta(i).data[0]).filter(Boolean);
    const taken = points.map((p) => ({ x: p.x - 5, y: p.y, width: 10 })), area = chart.chartArea, ctx = chart.ctx;
    ctx.save();
    ctx.font = "12px system-ui, sans-serif";
    ctx.fillStyle = css("--fg");
    ctx.textBaseline = "middle";
    chart.data.datasets.forEach((set, i) => {
      const point = chart.getDatasetMeta(i).data[0];
      if (!point) return;
      const label = short(set.label, 22), width = ctx.measureText(label).width;
      const spots = [[point.x + 9, point.y], [point.x - 9 - width, point.y], [point.x - width / 2, point.y - 14], [point.x - width / 2, point.y + 15]];
      const free = spots.find(([x, y]) => x >= area.left && x + width <= area.right && y >= area.top + 6 && y <= area.bottom - 6 && !taken.some((t) => x < t.x + t.width && t.x < x + width && Math.abs(t.y - y) < 13));
      if (!free) return;
      taken.push({ x: free[0], y: free[1], width });
      ctx.fillText(label, free[0], free[1]);
    });
    ctx.restore();
  },
};

function drawCost() {
  const all = visible().filter((e) => e.steps), priced = all.filter((e) => e.cost > 0);
  const useTokens = !priced.length, list = useTokens ? all.filter((e) => e.output_tokens > 0) : priced;
  const x = (e) => useTokens ? e.output_tokens / e.steps : perThousand(e);
  const unit = useTokens ? "tokens written per step" : "US $ per 1,000 steps";
  $("cost-title").textContent = (useTokens ? "Tokens" : "Cost") + " against " + (state.mode === "rollout" ? "survival" : "accuracy");
  const without = all.length - list.length;
  $("cost-figure").hidden = !list.length;
  $("cost-note").textContent = without ? `${without} of ${all.length} models have no ${useTokens ? "tokens" : "price"} and are left out.` : "";
  if (!list.length) return;
  const floor = Math.min(...list.map((e) => headline(e).share)), xs = list.map(x);
  draw("cost", {
    type: "scatter",
    data: { datasets: list.map((e) => line(e, [{ x: x(e), y: 100 * headline(e).share }], { pointRadius: 5, pointHoverRadius: 7, clip: 12 })) },
    options: options(unit, "", {
      x: { type: "logarithmic", min: Math.min(...xs) / 1.6, max: Math.max(...xs) * 1.6, ticks: { color: css("--dim"), maxRotation: 0, autoSkipPadding: 16, callback: (v) => compact.format(v) } },
      y: { min: Math.max(0, Math.floor((100 * floor - 5) / 10) * 10), max: 100, grace: 0 },
      tooltip: { label: (c) => `${c.dataset.label}: ${c.parsed.y.toFixed(1)}%, ${useTokens ? compact.format(c.parsed.x) + " tokens" : money(c.parsed.x)}` },
    }),
    plugins: [named],
  });
}

const DIMENSIONS = {
  changed: ["changed fields", "Fields of the filesystem’s state that the step changes."],
  history: ["history length", "Steps before the one that is asked."],
  distance: ["distance", "Steps back to the fact that decides the answer; 0 where the request does."],
  dir: ["directory size", "Entries of the largest directory that the step is about."],
  bytes: ["bytes of payload", "Asked or answered."],
  kind: ["static or mutating", "Whether the step changes what later replies say."],
};

function drawAccuracy() {
  const list = plotted(state.mode), order = new Map();
  for (const e of inMode()) for (const p of e.by[state.by] || []) order.set(p.key, state.by === "kind" ? p.key === "static" ? 0 : 1 : parseInt(p.key, 10));
  const keys = [...order.keys()].sort((a, b) => order.get(a) - order.get(b));
  const at = (e, key) => (e.by[state.by] || []).find((p) => p.key === key);
  const shares = list.flatMap((e) => keys.map((k) => at(e, k)?.score.share ?? 1));
  drawKeys("accuracy-keys", list);
  $("by-note").textContent = DIMENSIONS[state.by][1];
  draw("accuracy", {
    type: "line",
    data: { labels: keys, datasets: list.map((e) => line(e, keys.map((k) => { const p = at(e, k); return p ? 100 * p.score.share : null; }), { pointRadius: 3.5, spanGaps: true, clip: 12 })) },
    options: options(DIMENSIONS[state.by][0], "", {
      x: { type: "category" }, y: { min: Math.max(0, Math.floor((100 * Math.min(1, ...shares) - 3) / 10) * 10), max: 100 },
      tooltip: { label: (c) => { const p = at(list[c.datasetIndex], c.label); return `${c.dataset.label}: ${percent(p.score.share)}% of ${p.steps}, 95% ${percent(p.score.low)}–${percent(p.score.high)}`; } },
    }),
  });
}

function drawSurvival() {
  const list = plotted("rollout").filter((e) => e.survived);
  $("survival-figure").hidden = !D.entries.some((e) => e.survived);
  drawKeys("survival-keys", list);
  if (!list.length && !charts.survival) return;
  draw("survival", {
    type: "line",
    data: { datasets: list.map((e) => line(e, e.survived.curve.map((p) => ({ x: p.step, y: 100 * p.share })), { stepped: "before", clip: 4, pointRadius: 0, pointHitRadius: 8 })) },
    options: options("steps", "", { x: { type: "linear", min: 0, grace: 0 }, y: { min: 0, max: 100 }, tooltip: { title: (c) => c.length ? c[0].parsed.x + " steps" : "", label: (c) => `${c.dataset.label}: ${c.parsed.y.toFixed(1)}%` } }),
  });
}

function drawPlots() { drawCost(); drawAccuracy(); drawSurvival(); }

// ---- failed steps

const filters = { model: $("f-model"), area: $("f-area"), op: $("f-op"), outcome: $("f-outcome") };

// Those who failed at the same step stand together.
D.failures.sort((a, b) => D.steps[a.s].trace.localeCompare(D.steps[b.s].trace) || D.steps[a.s].pair - D.steps[b.s].pair || a.e - b.e || a.t - b.t);

function fillFilters() {
  const values = { model: new Set(), area: new Set(), op: new Set(), outcome: new Set() };
  for (const f of D.failures) {
    if (D.entries[f.e].mode !== state.mode) continue;
    values.model.add(D.entries[f.e].model);
    values.area.add(D.steps[f.s].area);
    values.op.add(D.steps[f.s].op);
    values.outcome.add(D.outcome_names[f.o]);
  }
  const all = { model: "all models", area: "all areas", op: "all opcodes", outcome: "all that went wrong" };
  for (const [name, select] of Object.entries(filters)) {
    const kept = select.value;
    select.replaceChildren(el("option", { value: "" }, all[name]), ...[...values[name]].sort().map((v) => el("option", { value: v }, v)));
    select.value = values[name].has(kept) ? kept : "";
  }
}

function setFilters(to) {
  for (const [name, select] of Object.entries(filters)) select.value = to[name] || "";
  $("f-text").value = "";
  drawFailures();
}

function matching() {
  const text = $("f-text").value.toLowerCase();
  return D.failures.filter((f) => {
    const e = D.entries[f.e], s = D.steps[f.s];
    if (e.mode !== state.mode || !e.model.toLowerCase().includes(state.filter.toLowerCase())) return false;
    if (filters.model.value && e.model !== filters.model.value || filters.area.value && s.area !== filters.area.value) return false;
    if (filters.op.value && s.op !== filters.op.value || filters.outcome.value && D.outcome_names[f.o] !== filters.outcome.value) return false;
    return !text || [e.model, s.trace, s.op, f.want, f.have, why(f), D.texts[f.reply]].some((t) => t.toLowerCase().includes(text));
  });
}

function why(f) {
  if (f.o === 2) return `want ${f.want}, have ${f.have || "none"}`;
  const d = (f.diffs || [])[0];
  if (d) return `${d[0]}: want ${d[2]}, have ${d[3]}` + (f.diffs.length > 1 ? ` (+${f.diffs.length - 1})` : "");
  return (f.problems || [])[0] || (f.refused ? "refused" : "");
}

function drawFailures() {
  state.found = matching();
  state.shown = 0;
  $("list").replaceChildren();
  const kept = D.failures.filter((f) => D.entries[f.e].mode === state.mode).length;
  const all = D.entries.reduce((sum, e, i) => sum + (e.mode === state.mode ? D.failed[i] : 0), 0);
  $("failures-hint").textContent = `${state.found.length} match of ${kept} in this page` + (kept < all ? `, a sample of ${all} that failed: the same steps for each model. The logs hold all.` : ".");
  moreFailures();
}

function moreFailures() {
  const next = state.found.slice(state.shown, state.shown + PAGE);
  $("list").append(...next.map(failure));
  state.shown += next.length;
  const left = state.found.length - state.shown;
  $("more").hidden = left <= 0;
  $("more").textContent = `show ${Math.min(PAGE, left)} more of ${left}`;
}

// failure is one line; what it opens is made when it is opened.
function failure(f) {
  const e = D.entries[f.e], s = D.steps[f.s];
  const node = el("details", {}, el("summary", {},
    el("span", { className: "chip", "--ink": `var(--o${f.o})` }, D.outcome_names[f.o]),
    el("span", { className: "m" }, e.model), el("span", {}, s.op),
    el("span", { className: "s" }, `${s.trace} #${s.pair}` + (e.trials > 1 ? `, trial ${f.t + 1}` : "")),
    el("span", { className: "w" }, why(f))));
  node.addEventListener("toggle", () => { if (node.open && node.children.length === 1) node.append(detail(f, e, s)); });
  return node;
}

function detail(f, e, s) {
  const t = s.tags;
  const facts = [`area ${s.area}`, `reached ${f.stage}`, t.mutating ? `mutating, ${t.changed} fields changed` : "static", `distance ${t.distance}`, `history ${t.history}`,
    t.dir && `directory of ${t.dir}`, t.bytes && `${t.bytes} bytes`, millis(f.ms), f.refused && "refused", f.ended && "ended the rollout"].filter(Boolean).join(" · ");
  const node = el("div", { className: "detail" }, el("h3", {}, facts));
  if ((f.problems || []).length) node.append(el("h3", {}, "Problems"), el("div", {}, ...f.problems.map((p) => el("div", {}, p))));
  if (f.want !== f.have || (f.diffs || []).length) node.append(el("h3", {}, "Difference"), diffTable(f));
  node.append(el("div", { className: "texts" }, text("Request", f.request), text("Expected", f.expected), text("Reply", f.reply)));
  return node;
}

function diffTable(f) {
  const rows = f.want !== f.have ? [["Errno", "determined", f.want, f.have || "none could be read"]] : [];
  rows.push(...(f.diffs || []).filter((d) => !(rows.length && d[0] === "Errno")));
  return el("table", {}, el("thead", {}, el("tr", {}, ...["field", "class", "want", "have"].map((h) => el("th", {}, h)))),
    el("tbody", {}, ...rows.map((d) => el("tr", {}, el("td", {}, d[0]), el("td", {}, d[1]), el("td", { className: "want" }, d[2]), el("td", { className: "have" }, d[3])))));
}

function text(title, index) {
  return el("div", {}, el("h3", {}, title), el("pre", {}, indent(D.texts[index]) || "(empty)"));
}

// indent lays JSON out without parsing it: numbers beyond 2^53 stay as they are,
// and what is no JSON, or was cut, is still shown whole.
function indent(s) {
  if (!/^\s*[{[]/.test(s)) return s;
  let out = "", depth = 0, quoted = false;
  for (let i = 0; i < s.length; i++) {
    const c = s[i];
    if (quoted) {
      out += c;
      if (c === "\\") out += s[++i] ?? "";
      else if (c === '"') quoted = false;
    } else if (c === '"') { quoted = true; out += c; }
    else if ((c === "{" || c === "[") && /[}\]]/.test(s[i + 1] ?? "")) { out += c + s[++i]; }
    else if (c === "{" || c === "[") out += c + "\n" + "  ".repeat(++depth);
    else if (c === "}" || c === "]") out += "\n" + "  ".repeat(depth = Math.max(0, depth - 1)) + c;
    else if (c === ",") out += ",\n" + "  ".repeat(depth);
    else if (c === ":") out += ": ";
    else if (!/\s/.test(c) || depth === 0) out += c;
  }
  return out;
}

// ---- page

function setMode(mode) {
  state.mode = mode;
  state.sort = "rank";
  state.down = false;
  state.picked = picks();
  const telling = Object.keys(DIMENSIONS).find((d) => inMode().some((e) => (e.by[d] || []).length > 1));
  state.by = $("by").value = telling || "changed";
  for (const b of $("modes").children) b.setAttribute("aria-pressed", String(b.value === mode));
  fillFilters();
  drawAll();
}

// picks are the best six, one of those that are equally good.
function picks() {
  const best = new Map();
  for (const e of inMode()) if (!best.has(headline(e).share)) best.set(headline(e).share, e.model);
  return new Set([...best.values()].slice(0, 6));
}

function drawAll() {
  drawLeaders();
  drawHeat("areas", "area");
  drawHeat("ops", "op");
  drawPlots();
  drawFailures();
}

function about() {
  const trials = Math.max(1, ...D.entries.map((e) => e.trials));
  const src = D.sources || [], uniq = (f) => [...new Set(src.map(f).filter(Boolean))].join(", ");
  const parts = [new Date(D.created).toISOString().slice(0, 10), `tier ${uniq((s) => s.tier)}`, `${D.steps.length} steps`,
    trials === 1 ? "1 trial" : `${trials} trials`, `context ${uniq((s) => s.context)}`, `llmfs-raw ${uniq((s) => s.program)}`];
  $("about").textContent = parts.join(" · ");
  $("notes").replaceChildren(...(D.notes || []).map((n) => el("li", {}, n)));
  $("footer").textContent = `Commit ${uniq((s) => s.commit)}; seed ${uniq((s) => String(s.seed))}; fields ${uniq((s) => s.fields)}; ` +
    Object.entries(Object.assign({}, ...src.map((s) => s.hashes))).map(([k, v]) => `${k} ${String(v).slice(0, 12)}`).join(", ") + ". Plots: Chart.js " + Chart.version + ", MIT.";
  $("legend").replaceChildren(...D.outcome_names.map((n, i) => el("span", {}, el("i", { style: { background: `var(--o${i})` } }), n)));
}

function theme(to) {
  const auto = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
  const now = to || document.documentElement.dataset.theme || auto;
  if (to) document.documentElement.dataset.theme = to;
  $("theme").lastElementChild.textContent = now === "dark" ? "light" : "dark";
  return now;
}

function remember(key, value) { // storage may be forbidden to a file
  try { return value === undefined ? localStorage.getItem(key) : localStorage.setItem(key, value); } catch { return null; }
}

function start() {
  const modes = [...new Set(D.entries.map((e) => e.mode))];
  $("modes").replaceChildren(...modes.map((m) => { const b = el("button", { type: "button", value: m }, m); b.addEventListener("click", () => setMode(m)); return b; }));
  $("by").replaceChildren(...Object.entries(DIMENSIONS).map(([k, v]) => el("option", { value: k }, v[0])));
  $("by").addEventListener("change", () => { state.by = $("by").value; drawAccuracy(); });
  $("filter").addEventListener("input", () => { state.filter = $("filter").value; drawAll(); });
  for (const f of [...Object.values(filters), $("f-text")]) f.addEventListener("input", drawFailures);
  $("more").addEventListener("click", moreFailures);
  $("theme").addEventListener("click", () => { const to = theme() === "dark" ? "light" : "dark"; theme(to); remember("llmfs-raw-theme", to); drawPlots(); });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { theme(); drawPlots(); });
  theme(remember("llmfs-raw-theme") || "");
  about();
  setMode(modes[0]);
}
start();
})();
