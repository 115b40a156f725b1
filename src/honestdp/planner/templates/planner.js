"use strict";
// The page of `honestdp plan --serve`. It asks, waits and draws; every figure comes from the library as text.

const $ = (id) => document.getElementById(id);
const START = JSON.parse(document.body.dataset.start);
// The ends of each slider; log: equal moves are equal factors.
const SLIDERS = {
  n: { low: 1000, high: 1e7, log: true, whole: true },
  epsilon: { low: 0.1, high: 10, log: true },
  candidates: { low: 1, high: 1000, log: true, whole: true },
  steps: { low: 100, high: 1e5, log: true, whole: true },
  lot_size: { low: 10, high: 1e4, log: true, whole: true },
  hit_probability: { low: 0.05, high: 0.95 },
  noise_multiplier: { low: 0.5, high: 50, log: true },
  subset: { low: 0.05, high: 0.5 },
};
const OPTIONAL = { noise_multiplier: "" };  // with the value they begin with
const NAMES = [...Object.keys(SLIDERS), "delta"];

// ---- the controls -----------------------------------------------------------------------------

function fromSlider(name) {
  const { low, high, log, whole } = SLIDERS[name];
  const share = Number($("slide-" + name).value) / 1000;
  const value = log ? low * (high / low) ** share : low + (high - low) * share;
  return whole ? String(Math.round(Number(value.toPrecision(3)))) : String(Number(value.toPrecision(log ? 3 : 2)));
}

function toSlider(name) {
  const { low, high, log } = SLIDERS[name];
  const value = Number($(name).value);
  if (!(value > 0)) return;
  const share = log ? Math.log(value / low) / Math.log(high / low) : (value - low) / (high - low);
  $("slide-" + name).value = Math.round(1000 * Math.min(1, Math.max(0, share)));
  $("slide-" + name).setAttribute("aria-valuetext", $(name).value);
}

function show(values) {
  for (const name of NAMES) {
    const text = values[name] ?? START[name] ?? OPTIONAL[name] ?? "";
    if (name in OPTIONAL) {
      const used = (values[name] ?? START[name] ?? "") !== "";
      $("use-" + name).checked = used;
      enable(name, used);
    }
    $(name).value = text;
    if (name in SLIDERS) toSlider(name);
  }
}

function enable(name, used) {
  $(name).disabled = $("slide-" + name).disabled = !used;
}

function state() {
  const values = {};
  for (const name of NAMES) {
    const text = $(name).value.trim();
    if (name in OPTIONAL ? $("use-" + name).checked : text !== "") values[name] = text;
  }
  return values;
}

function fromHash() {
  const found = Object.fromEntries(new URLSearchParams(location.hash.slice(1)));
  return Object.fromEntries(Object.entries(found).filter(([name]) => NAMES.includes(name)));
}

// ---- asking -----------------------------------------------------------------------------------

let asking = new AbortController();
let timer = 0;

function changed() {
  for (const part of ["table", "candidates", "plot"]) $("part-" + part).classList.add("stale");
  $("status").textContent = "Computing …";
  history.replaceState(null, "", "#" + new URLSearchParams(state()));
  asking.abort();  // an older answer never overwrites a newer one
  clearTimeout(timer);
  timer = setTimeout(askAll, 60);
}

async function ask(what, values, signal) {
  const reply = await fetch("answers/" + what + "?" + new URLSearchParams(values), { signal });
  if (!reply.ok) throw new Error("the planner answered " + reply.status + " " + reply.statusText);
  const found = await reply.json();
  if (signal.aborted) throw new DOMException("newer inputs", "AbortError");
  if (found.error) throw found.error;
  return found;
}

async function askAll() {
  asking = new AbortController();
  const { signal } = asking;
  const values = state();
  const began = performance.now();
  try {
    const table = await ask("table", values, signal);
    noErrors();
    showTable(table);
    const most = await ask("candidates", values, signal);
    showMost(most);
    const seconds = ((performance.now() - began) / 1000).toFixed(1);
    $("status").textContent = summary(table) + ` Answered in ${seconds} s.`;
    document.body.dataset.answered = String(Number(document.body.dataset.answered ?? 0) + 1);
    await draw(table, values, signal);
    document.body.dataset.drawn = document.body.dataset.answered;
  } catch (error) {
    if (error.name === "AbortError") return;
    showError(error);
  }
}

function noErrors() {
  for (const element of document.querySelectorAll(".error")) element.textContent = "";
  for (const name of NAMES) $(name).removeAttribute("aria-invalid");
}

function showError(error) {
  noErrors();
  const text = error.text ?? "No answer: " + error.message + ". Is the planner still running?";
  $("error-" + (error.name in START ? error.name : "other")).textContent = text;
  if (error.name in START) $(error.name).setAttribute("aria-invalid", "true");
  if ($("more").contains($(error.name))) $("more").open = true;
  const older = $("rows").children.length ? " What is shown is the previous answer." : "";
  $("status").textContent = "Not computed: see the red line." + older;
}

// ---- showing ----------------------------------------------------------------------------------

function element(tag, kind, text) {
  const made = document.createElement(tag);
  if (kind) made.className = kind;
  if (text !== undefined) made.textContent = text;
  return made;
}

function title([procedure, , shape]) {
  return procedure + (shape === "-" ? "" : /^[a-z]/.test(shape) ? ", " + shape : ", shape " + shape);
}

function isSearch(row) {
  return row.smallest && row.cells[0] !== "untuned";
}

function summary(table) {
  const best = table.rows.find(isSearch);
  return best ? `Least noise for a search: ${best.cells[6]} (${title(best.cells)}).` : "No search reaches this budget.";
}

function showTable(table) {
  $("delta").placeholder = table.delta;
  for (const [name, value] of Object.entries(table.usual)) $(name).placeholder = value;
  $("likely").textContent = table.likely ? "How good? " + table.likely[0].toUpperCase() + table.likely.slice(1) + "." : "";
  let best = null;  // the cheapest that searches
  const rows = table.rows.map((row) => {
    const [, bound, , runs, , hit, noise, ratio] = row.cells;
    const line = element("tr", row.smallest ? "" : "other");
    const first = element("td");
    first.append(element("span", "name", title(row.cells)));
    const facts = [bound.replace(" *", "") + " bound"];
    if (runs !== "-") facts.push(runs + (runs === "1" ? " run" : " runs expected"));
    if (hit !== "-") facts.push("finds the best with probability " + hit);
    first.append(element("small", "", facts.join(" · ")));
    if (row.bets !== null) first.append(element("small", "bets", `a bet on one record is right at most ${row.bets} times in 100`));
    if (row.smallest) {
      const bar = element("div", "bar");
      bar.style.width = Math.max(1, 100 * row.share) + "%";
      first.append(bar);
      if (isSearch(row)) best ??= line;
    }
    line.append(first, element("td", "figure noise", noise), element("td", "figure", ratio));
    return line;
  });
  best?.classList.add("best");
  $("rows").replaceChildren(...rows);
  $("worst-bets").textContent = table.worst_bets;
  $("notes").replaceChildren(...table.notes.map((note) => element("li", "", note)));
  $("command").textContent = table.command;
  $("part-table").classList.remove("stale");
}

function showMost(found) {
  const hit = " Here without the hit probability: as many runs are expected as there are candidates.";
  $("said-noise").textContent = `Within the same ε and δ, at noise multiplier ${found.noise_multiplier} (${found.of}): the most candidates each procedure may choose from.${hit}`;
  if (!$("use-noise_multiplier").checked) {
    $("noise_multiplier").value = found.noise_multiplier;
    toSlider("noise_multiplier");
  }
  $("most").replaceChildren(...found.most.map(([name, text]) => {
    const item = element("li");
    item.append(element("span", "", name), element("b", /^\d+$/.test(text) ? "" : "words", text));
    return item;
  }));
  $("part-candidates").classList.remove("stale");
}

// ---- the plot: a point at the chosen number of candidates, then the others as they come ---------

const COLOURS = ["#888888", "#d1495b", "#3a86c8", "#1f9d73", "#9b6bd3", "#e08e2b", "#17a2b8", "#b5651d", "#c9489c"];
let points = [];
let order = [];

async function draw(table, values, signal) {
  points = [table.point];
  order = Object.keys(table.point.costs);
  for (const candidates of table.points) {
    if (points.length > 1) plot(table.point);
    // A number of candidates beyond what any procedure reaches leaves a gap, not an error.
    const found = await ask("point", { ...values, candidates }, signal).catch((error) => {
      if (error.name === "AbortError" || !error.text) throw error;
      return null;
    });
    if (found) points.push(found.point);
  }
  plot(table.point);
  $("part-plot").classList.remove("stale");
}

function plot(chosen) {
  const ink = getComputedStyle(document.body);
  const paint = (name) => ink.getPropertyValue(name).trim();
  points.sort((a, b) => a.candidates - b.candidates);
  const lines = order.map((name) => {
    const known = points.filter((point) => point.costs[name]);
    return {
      name, mode: "lines+markers",
      x: known.map((point) => point.candidates),
      y: known.map((point) => point.costs[name][0]),
      text: known.map((point) => point.costs[name][1]),
      hovertemplate: "%{text} at %{x} candidates<extra>" + name + "</extra>",
      line: { color: COLOURS[[...order].sort().indexOf(name) % COLOURS.length], width: 2 },
      marker: { opacity: 1, size: known.map((point) => (point.candidates === chosen.candidates ? 11 : 4)) },
    };
  });
  const narrow = $("plot").clientWidth < 600;
  const axis = { type: "log", gridcolor: paint("--line"), zeroline: false, automargin: true, tickformat: "~r", dtick: "D2", fixedrange: true };
  const layout = {
    paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", font: { color: paint("--ink"), size: 12 },
    margin: { l: 50, r: 10, t: 10, b: 40 }, hovermode: "closest",
    xaxis: { ...axis, title: { text: "candidates" }, dtick: 1, tickformat: "d" },
    yaxis: { ...axis, title: { text: "noise multiplier" } },
    legend: narrow ? { orientation: "h", y: -0.18, x: 0, font: { size: 11 } } : { font: { size: 12 } },
    shapes: [{ type: "line", x0: chosen.candidates, x1: chosen.candidates, yref: "paper", y0: 0, y1: 1, line: { color: paint("--faint"), width: 1, dash: "dot" } }],
  };
  Plotly.react("plot", lines.reverse(), layout, { displayModeBar: false, responsive: true });
}

// ---- wiring -----------------------------------------------------------------------------------

for (const name of NAMES) {
  $(name).addEventListener("input", () => {
    if (name in SLIDERS) toSlider(name);
    changed();
  });
  if (name in SLIDERS) $("slide-" + name).addEventListener("input", () => {
    $(name).value = fromSlider(name);
    $("slide-" + name).setAttribute("aria-valuetext", $(name).value);
    changed();
  });
  if (name in OPTIONAL) $("use-" + name).addEventListener("change", (event) => {
    enable(name, event.target.checked);
    changed();
  });
}
$("controls").addEventListener("submit", (event) => event.preventDefault());
$("all").addEventListener("change", (event) => document.querySelector("table").classList.toggle("every", event.target.checked));
$("reset").addEventListener("click", () => { show({}); changed(); });
$("copy").addEventListener("click", async () => {
  await navigator.clipboard.writeText($("command").textContent);
  $("copy").textContent = "Copied";
  setTimeout(() => { $("copy").textContent = "Copy"; }, 1500);
});
addEventListener("hashchange", () => { show(fromHash()); changed(); });
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { if (points.length > 1) changed(); });

show(fromHash());
askAll();
