"use strict";
// Draws the figures, in the colours of the style sheet; tabs; all of it again for dark and print.
(() => {
  const figures = JSON.parse(document.getElementById("figures").textContent);
  const dark = matchMedia("screen and (prefers-color-scheme: dark)");
  const narrow = matchMedia("screen and (max-width: 44rem)");
  const paper = matchMedia("print");
  const NAMES = /^(paper|ink|soft|rule|quiet|accent|bad|veil|line\d|shade\d)$/;
  const SHADES = [0, 1, 2, 3, 4];
  const PAPER_WIDTH = 660; // what fits a sheet, in pixels of the screen

  const color = (name) => getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();

  // A copy with every colour's name replaced by the colour; other texts are left alone.
  function colored(value, key) {
    if (key === "colorscale") {
      const order = value === "shades" ? SHADES : [...SHADES].reverse();
      return order.map((shade, i) => [i / (order.length - 1), color("shade" + shade)]);
    }
    if (Array.isArray(value)) return value.map((one) => colored(one, key));
    if (value && typeof value === "object") {
      return Object.fromEntries(Object.entries(value).map(([k, one]) => [k, colored(one, k)]));
    }
    const named = /color$/.test(key || "") && typeof value === "string" && NAMES.test(value);
    return named ? color(value) : value;
  }

  function layout(figure) {
    const small = narrow.matches || paper.matches ? figure.narrow : {};
    const found = colored({ ...figure.layout, ...small });
    for (const name of ["xaxis", "yaxis"]) {
      found[name] = { gridcolor: color("rule"), linecolor: color("rule"), ...found[name] };
    }
    return {
      ...found,
      paper_bgcolor: "rgba(0,0,0,0)",
      plot_bgcolor: "rgba(0,0,0,0)",
      font: { family: getComputedStyle(document.body).fontFamily, size: 13, color: color("ink") },
      hoverlabel: { ...found.hoverlabel, bgcolor: color("card"), bordercolor: color("quiet"),
                    font: { color: color("ink") } },
      width: paper.matches ? PAPER_WIDTH : undefined,
      autosize: !paper.matches,
    };
  }

  // Those that are seen; the others keep what they show until their tab is chosen.
  function draw() {
    for (const place of document.querySelectorAll("[data-figure]")) {
      if (place.offsetParent === null) continue;
      const figure = figures[place.dataset.figure];
      Plotly.react(place, colored(figure.data), layout(figure), { displayModeBar: false, responsive: true });
    }
  }

  function show(tab) {
    const tabs = [...tab.parentNode.children];
    for (const one of tabs) {
      const own = one === tab;
      one.setAttribute("aria-selected", String(own));
      one.tabIndex = own ? 0 : -1;
      document.getElementById(one.getAttribute("aria-controls")).classList.toggle("off", !own);
    }
    draw();
  }

  function move(event) {
    const tabs = [...event.currentTarget.children];
    const at = tabs.indexOf(document.activeElement);
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: tabs.length - 1 }[event.key];
    if (at < 0 || to === undefined) return;
    event.preventDefault();
    const next = tabs[(to + tabs.length) % tabs.length];
    next.focus();
    show(next);
  }

  const closed = [];
  function unfold() {
    for (const one of document.querySelectorAll("details:not([open])")) {
      closed.push(one);
      one.open = true;
    }
  }
  function fold() {
    while (closed.length) closed.pop().open = false;
  }

  document.documentElement.classList.add("scripted");
  for (const list of document.querySelectorAll("[role=tablist]")) {
    list.addEventListener("keydown", move);
    for (const tab of list.children) tab.addEventListener("click", () => show(tab));
  }
  draw(); // all of them, while all are seen: print needs every one
  for (const tab of document.querySelectorAll("[role=tab][aria-selected=true]")) show(tab);
  dark.addEventListener("change", draw);
  narrow.addEventListener("change", draw);
  paper.addEventListener("change", () => { (paper.matches ? unfold : fold)(); draw(); });
})();
