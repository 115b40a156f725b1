"use strict";
// Checks a card against a head and a ledger's entries, as honestdp.release.verify does.
(() => {
  const form = JSON.parse(document.getElementById("form").textContent);
  const given = { card: null, ledger: null, model: null, tensors: null };
  let turn = 0; // a check that is overtaken shows nothing

  // ---- JSON as Python writes it: numbers keep their text, which the digest is made of.

  class Numeral {
    constructor(text) { this.text = text; }
  }

  function parse(text) {
    const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
    const WORDS = { true: true, false: false, null: null };
    let at = 0;

    const fail = () => { throw new SyntaxError("not JSON"); };
    const space = () => { while (" \t\n\r".includes(text[at] || "x")) at += 1; };
    const eat = (mark) => { space(); if (text[at] !== mark) fail(); at += 1; };
    const next = (mark) => { space(); return text[at] === mark; };

    function string() {
      eat('"');
      const start = at - 1;
      while (text[at] !== '"') {
        if (at >= text.length) fail();
        at += text[at] === "\\" ? 2 : 1;
      }
      at += 1;
      return JSON.parse(text.slice(start, at));
    }

    function members(close, one) {
      at += 1;
      if (!next(close)) {
        do { one(); } while (next(",") && (at += 1));
      }
      eat(close);
    }

    function value() {
      space();
      if (text[at] === "{") {
        const found = new Map();
        members("}", () => {
          space();
          const name = string();
          if (found.has(name)) fail(); // readers differ in which of the two they take
          eat(":");
          found.set(name, value());
        });
        return found;
      }
      if (text[at] === "[") {
        const found = [];
        members("]", () => found.push(value()));
        return found;
      }
      if (text[at] === '"') return string();
      for (const [word, meant] of Object.entries(WORDS)) {
        if (text.startsWith(word, at)) { at += word.length; return meant; }
      }
      NUMBER.lastIndex = at;
      const number = NUMBER.exec(text);
      if (!number) fail();
      at = NUMBER.lastIndex;
      return new Numeral(number[0]);
    }

    const found = value();
    space();
    if (at !== text.length) fail();
    return found;
  }

  const SHORT = { '"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\b": "\\b", "\f": "\\f" };

  function quoted(text) {
    let found = '"';
    for (let i = 0; i < text.length; i += 1) {
      const code = text.charCodeAt(i);
      const plain = code >= 32 && code < 127;
      found += SHORT[text[i]] || (plain ? text[i] : "\\u" + code.toString(16).padStart(4, "0"));
    }
    return found + '"';
  }

  // Python sorts by code points, JavaScript by halves of them.
  function before(one, other) {
    const [a, b] = [Array.from(one), Array.from(other)];
    for (let i = 0; i < Math.min(a.length, b.length); i += 1) {
      const step = a[i].codePointAt(0) - b[i].codePointAt(0);
      if (step) return step;
    }
    return a.length - b.length;
  }

  function canonical(value) {
    if (value instanceof Numeral) return value.text;
    if (typeof value === "string") return quoted(value);
    if (Array.isArray(value)) return "[" + value.map(canonical).join(",") + "]";
    if (value instanceof Map) {
      const names = [...value.keys()].sort(before);
      return "{" + names.map((name) => quoted(name) + ":" + canonical(value.get(name))).join(",") + "}";
    }
    return String(value); // true, false, null
  }

  async function sha256(content) {
    const bytes = typeof content === "string" ? new TextEncoder().encode(content) : content;
    const found = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
    return Array.from(found, (byte) => byte.toString(16).padStart(2, "0")).join("");
  }

  const link = (previous, body) => sha256(previous + "\n" + body);
  const get = (value, ...names) =>
    names.reduce((found, name) => (found instanceof Map ? found.get(name) : undefined), value);
  const same = (one, other) =>
    one instanceof Numeral && other instanceof Numeral ? Number(one.text) === Number(other.text) : one === other;

  // ---- The card and the ledger

  function digest(card) {
    const later = (name) => form.later.includes(name) && card.get(name) === null;
    return sha256(canonical(new Map([...card].filter(([name]) => name !== "ledger" && !later(name)))));
  }

  async function hashes(bodies) {
    const found = [];
    for (const body of bodies) found.push(await link(found.length ? found[found.length - 1] : "", body));
    return found;
  }

  function released(entry, digest_) {
    const facts = { kind: "release", charge: entry.get("charge"), hash: entry.get("entry_hash"),
                    what: digest_, nonce: entry.get("nonce") };
    return canonical(new Map(Object.entries(facts)));
  }

  // The fingerprint of the plan that a charge pays for in the end: a stopped one may have moved.
  function plan(bodies, entry, until) {
    const own = bodies.slice(0, until).map(parse).filter((body) =>
      get(body, "kind") === "move" && same(get(body, "charge"), entry.get("charge")));
    const last = own.length ? own[own.length - 1] : parse(bodies[Number(entry.get("charge").text)]);
    return sha256(canonical(get(last, "plan")));
  }

  async function checks(head) {
    const { card, ledger, model, tensors } = given;
    const found = [];
    const say = (id, state, text) => found.push({ id, state, text });
    const when = (id, holds, yes, no) => say(id, holds ? "holds" : "fails", holds ? yes : no);

    const unknown = [...card.keys()].filter((name) => !form.fields.includes(name));
    if (unknown.length) {
      say("form", "fails", `The card has fields that this page does not know (${unknown.join(", ").slice(0, 200)}): `
        + "write the page again with the version of honestdp that made the card.");
    }
    const entry = card.get("ledger");
    if (!(entry instanceof Map) || card.get("mark") !== "") {
      say("simulation", "fails", "The card is that of a simulation: it protects nobody, and no ledger stands behind it.");
      return found;
    }
    const own = await digest(card);
    const proof = typeof entry.get("previous") === "string" && typeof entry.get("nonce") === "string"
      ? (await link(entry.get("previous"), released(entry, own))) === entry.get("head")
      : null;
    if (proof === false) {
      say("proof", "fails", "The card was altered: the head that it names is not that of a release of this card.");
    }
    const chain = ledger && await hashes(ledger.bodies);
    const place = chain ? chain.indexOf(entry.get("head")) : -1;
    const known = chain ? chain.indexOf(head) : -1;

    if (!head) {
      say("head", "unknown", "No head was given. Whoever alters a card can make a ledger and a head to go with it; "
        + "only a head from elsewhere shows that it is the one that was published.");
    } else if (chain && known >= place && place >= 0) {
      say("head", "holds", "The head that you gave is in the ledger, at the release of this card or after it.");
    } else if (chain && known >= 0) {
      say("head", "unknown", "The head that you gave is in the ledger, but from before the release of this card.");
    } else if (chain) {
      say("head", "fails", "The head that you gave is not in the ledger: it was cut short or replaced.");
    } else {
      when("head", head === entry.get("head"), "The card names the head that you gave.",
        "The head that you gave is not the one on the card. (A head from later on is found in the ledger's entries.)");
    }

    if (!chain) {
      const shown = head === entry.get("head") && proof;
      if (shown) {
        say("card", "holds", "This card, to the letter, is what left at this head.");
      } else if (proof === null) {
        say("card", "unknown", "The card is of an earlier version, which a head alone does not show to be unaltered: "
          + "give the ledger's entries.");
      } else if (proof) {
        say("card", "unknown", "The card and the head that it names go together.");
      }
      say("charge", "unknown", "What was charged stands in the ledger's entries, which were not given.");
    } else {
      when("chain", ledger.head === chain[chain.length - 1], `The ledger's ${chain.length} entries are a whole chain.`,
        "The ledger's entries were altered: they do not give its head.");
      const opening = parse(ledger.bodies[0]);
      when("dataset", get(opening, "dataset") === entry.get("dataset"), "The ledger is for the card's data set.",
        "The ledger is for another data set.");
      const left = place >= 0 ? parse(ledger.bodies[place]) : null;
      const exact = get(left, "kind") === "release" && same(get(left, "charge"), entry.get("charge"))
        && get(left, "hash") === entry.get("entry_hash") && get(left, "what") === own;
      when("card", exact, "This card, to the letter, is what the ledger released.",
        "Something on the card is not what the ledger released.");
      const number = entry.get("charge") instanceof Numeral ? Number(entry.get("charge").text) : -1;
      const charge = number > 0 && number < chain.length ? parse(ledger.bodies[number]) : null;
      const paid = get(charge, "kind") === "charge" && chain[number] === entry.get("entry_hash");
      when("charge", paid && ["epsilon", "delta"].every((name) =>
        same(get(charge, name), get(card, "guarantee", name))),
        "The ledger was charged with the card's epsilon and delta.",
        "The ledger holds no such charge: its epsilon, its delta or its hash differ.");
      when("plan", paid && (await plan(ledger.bodies, entry, place)) === card.get("plan_fingerprint"),
        "The plan of that charge is the card's.", "The plan of that charge is not the card's.");
    }

    if (model) {
      const whole = (await sha256(model.bytes)) === card.get("model_sha256");
      when("model", whole, "model.json is the card's.", "model.json is not the card's, or was altered.");
      if (tensors && whole) {
        when("tensors", (await sha256(tensors)) === model.facts.get("tensors_sha256"),
          "model.safetensors belongs to it.", "model.safetensors does not belong to it, or was altered.");
      }
    }
    return found;
  }

  // ---- The page

  const STATES = { holds: "Holds.", fails: "DOES NOT HOLD.", unknown: "Not known." };
  const element = (name) => document.getElementById(name);

  function verdict(found) {
    const state = (id) => (found.find((one) => one.id === id) || {}).state;
    if (found.some((one) => one.state === "fails")) return ["fails", "Something does not hold: do not trust this card."];
    if (state("card") === "holds" && state("head") === "holds") {
      return ["holds", "The card is genuine, as far as this can be seen: it left, to the letter, at the head that you gave."];
    }
    if (state("card") === "holds") {
      return ["unknown", "The card fits these entries. Whether they are the curator's, a head from elsewhere would show."];
    }
    return ["unknown", "Nothing shows yet that the card is genuine."];
  }

  function fill(list, items) {
    list.replaceChildren(...items);
  }

  function told(one) {
    const item = document.createElement("li");
    const state = document.createElement("span");
    item.className = one.state;
    item.dataset.check = one.id;
    state.className = "state";
    state.textContent = STATES[one.state];
    item.append(state, one.text);
    return item;
  }

  async function facts(card) {
    const shown = {
      "It promises": get(card, "guarantee", "statement"),
      "Made public": get(card, "released"),
      "Published by": get(card, "about", "curator"),
      "Its digest": await digest(card),
      "Head on it": get(card, "ledger", "head"),
    };
    return Object.entries(shown).filter(([, text]) => typeof text === "string").flatMap(([name, text]) => {
      const [term, value] = [document.createElement("dt"), document.createElement("dd")];
      term.textContent = name;
      value.textContent = text;
      return [term, value];
    });
  }

  async function show() {
    const own = (turn += 1);
    const place = element("verdict");
    if (!globalThis.crypto || !crypto.subtle) {
      place.textContent = "This browser computes no SHA-256 on such a page: open it as a file, or over https.";
      return;
    }
    if (!given.card) return;
    let found, about, said;
    try {
      found = await checks(element("head").value.trim().toLowerCase());
      about = await facts(given.card);
      said = verdict(found);
    } catch (error) { // files from strangers may hold anything
      [found, about, said] = [[], [], ["fails", "These files cannot be read as a card and a ledger's entries."]];
    }
    if (own !== turn) return;
    fill(element("checks"), found.map(told));
    fill(element("facts"), about);
    [place.className, place.textContent] = [`lead ${said[0]}`, said[1]];
  }

  // What a file is, by what it holds.
  function take(name, bytes) {
    const start = new TextDecoder("latin1").decode(bytes.slice(0, 15));
    if (start === "SQLite format 3") {
      return "a ledger's own file, which this page does not read: give its entries";
    }
    let facts_ = null;
    try {
      facts_ = parse(new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes));
    } catch (error) {
      if (name.endsWith(".json")) return "not whole: no JSON";
      given.tensors = bytes;
      return "taken as model.safetensors";
    }
    if (get(facts_, "guarantee") && get(facts_, "declared_public")) {
      given.card = facts_;
      return "a privacy card";
    }
    if (Array.isArray(get(facts_, "entries"))) {
      given.ledger = { bodies: get(facts_, "entries"), head: get(facts_, "head") };
      return "a ledger's entries";
    }
    if (get(facts_, "tensors_sha256")) {
      given.model = { bytes, facts: facts_ };
      return "a model";
    }
    return "none of what this page checks";
  }

  async function receive(files) {
    for (const file of files) {
      const item = document.createElement("li");
      item.textContent = `${file.name}: ${take(file.name, new Uint8Array(await file.arrayBuffer()))}`;
      element("given").append(item);
    }
    await show();
  }

  const drop = element("drop");
  element("files").addEventListener("change", (event) => receive([...event.target.files]));
  element("head").addEventListener("input", show);
  for (const name of ["dragover", "dragleave", "drop"]) {
    drop.addEventListener(name, (event) => {
      event.preventDefault();
      drop.classList.toggle("over", name === "dragover");
    });
  }
  drop.addEventListener("drop", (event) => receive([...event.dataTransfer.files]));
})();
