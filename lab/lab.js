// SPDX-License-Identifier: MIT
// The page of the lab: text and orders on one side, outcomes and an execution on the other. The worker explores.
"use strict";
const EXAMPLES = {
  "message passing": "// A flag is not a message: which orders make it one?\nint data;\natomic int flag;\n\nthread {\n  data = 1;\n  store(flag, 1, relaxed);\n}\n" +
    "thread {\n  r = load(flag, acquire);\n  if (r == 1) {\n    s = data;\n    assert(s == 1);\n  }\n}\n",
  "store buffering": "// Can both threads read 0?\natomic int x, y;\n\nthread {\n  store(x, 1, relaxed);\n  r = load(y, relaxed);\n}\n" +
    "thread {\n  store(y, 1, relaxed);\n  r = load(x, relaxed);\n}\n",
  "lock": "// A spinlock: which order must the unlock have?\natomic int lock;\nint n;\n\nthread {\n  while (exchange(lock, 1, acquire));\n  n = n + 1;\n" +
    "  store(lock, 0, relaxed);\n}\nthread {\n  while (exchange(lock, 1, acquire));\n  n = n + 1;\n  store(lock, 0, relaxed);\n}\n",
  "four readers": "// Do all threads see two independent stores in one order?\natomic int x, y;\n\nthread { store(x, 1, release); }\nthread { store(y, 1, release); }\n" +
    "thread {\n  a = load(x, acquire);\n  b = load(y, acquire);\n}\nthread {\n  a = load(y, acquire);\n  b = load(x, acquire);\n}\n",
};
const MODELS = ["RC11", "RA", "TSO", "SC"], SECONDS = 5, WAIT = 120;
const $ = id => document.getElementById(id), text = $("text");
let worker, busy = false, serial = 0, pending = null, timer, shown = null, now = {step: 0, of: 0}, results = [];

// ---- the worker: one task at a time; one that takes too long ends with its worker ----

function begin() {
  worker = new Worker(URL.createObjectURL(new Blob([WORKER], {type: "text/javascript"})));
  return call({task: "start", wasm: WASM});
}

function call(message) {
  return new Promise((done, failed) => {
    const id = ++serial, end = () => { clearTimeout(limit); pending = null; };
    pending = () => { end(); failed(new Error("stopped")); };
    const limit = setTimeout(() => { worker.terminate(); end(); begin().catch(() => 0); failed(new Error("too large")); }, SECONDS * 1000);
    worker.onmessage = m => {
      if (m.data.id !== id)
        return;
      end();
      m.data.problem ? failed(new Error(m.data.problem)) : done(m.data.answer);
    };
    worker.postMessage({...message, id});
  });
}

// A newer task replaces one that runs.
let queue = Promise.resolve();
function ask(message) {
  if (pending) {
    worker.terminate();
    const stop = pending;
    stop();
    queue = begin();
  }
  return queue = queue.catch(() => 0).then(() => call(message));
}

// ---- the program ----

function findOrders(source) {
  const clean = source.replace(/\/\/[^\n]*/g, c => " ".repeat(c.length)), found = [];
  const word = /\b(?:memory_order_)?(relaxed|acquire|release|acq_rel|seq_cst)\b/g;
  for (let m; (m = word.exec(clean));)
    found.push({at: m.index + m[0].length - m[1].length, order: m[1]});
  return found;
}

// The text once more, with a select box in place of each order, and an error marked.
function showOrders(problem) {
  const source = text.value, box = $("orders"), found = findOrders(source);
  let from = 0;
  box.textContent = "";
  const plain = to => {
    if (problem && problem.at >= from && problem.at < Math.max(to, from + 1)) {
      box.append(source.slice(from, problem.at));
      const mark = document.createElement("mark");
      mark.textContent = source.slice(problem.at, problem.at + problem.length) || " ";
      mark.title = problem.message;
      box.append(mark);
      from = problem.at + problem.length;
    }
    box.append(source.slice(from, Math.max(from, to)));
  };
  for (const f of found) {
    plain(f.at);
    const select = document.createElement("select");
    const line = source.slice(0, f.at).split("\n").length;
    select.setAttribute("aria-label", `order in line ${line}`);
    for (const order of ["relaxed", "acquire", "release", "acq_rel", "seq_cst"])
      select.add(new Option(order, order, false, order === f.order));
    select.onchange = () => {
      text.value = source.slice(0, f.at) + select.value + source.slice(f.at + f.order.length);
      const index = found.indexOf(f);
      changed(0);
      $("orders").querySelectorAll("select")[index].focus();
    };
    box.append(select);
    from = f.at + f.order.length;
  }
  plain(source.length);
}

function changed(wait = WAIT) {
  showOrders(null);
  $("answer").textContent = "";
  clearTimeout(timer);
  timer = setTimeout(explore, wait);
}

function explore() {
  const source = text.value;
  try { localStorage.setItem("lade-lab", source); } catch (e) { /* a private window */ }
  document.body.dataset.state = "busy";
  const begun = performance.now();
  ask({task: "explore", text: source}).then(answer => { document.body.dataset.first = performance.now() - begun; show(answer); document.body.dataset.state = "ready"; }, e => {
    if (e.message !== "stopped") {
      note("verdict", "This program is too large for the lab. Export it as C: verify/explore takes larger ones.", "error");
      document.body.dataset.state = "ready";
    }
  });
}

function note(id, words, kind) {
  const p = document.createElement("p");
  p.className = kind;
  p.textContent = words;
  $(id).replaceChildren(p);
}

// ---- outcomes ----

function lines(words) {
  return words.replace(/\bline:(\d+)/g, "line $1");
}

function title(error) {
  return `${error.kind}${error.line ? ` in line ${error.line}` : ""}: ${error.message}${error.address ? ` (${error.address})` : ""}`;
}

function show(answer) {
  results = answer;
  const first = answer[0];
  $("outcomes").textContent = $("picture").textContent = $("sentence").textContent = $("values").textContent = "";
  shown = null;
  if (first.verdict === "text") {
    showOrders(first);
    note("verdict", `Line ${first.line}, column ${first.column}: ${first.message}.`, "error");
    return;
  }
  const words = {pass: "no race, no failed assertion", bound: "too large: only a part was explored", vacuous: "no execution completes: an assume always fails"};
  const list = answer.map((r, i) => `${MODELS[i]}: ${r.error ? title(r.error) : words[r.verdict] || r.verdict}`);
  note("verdict", new Set(list.map(l => l.replace(/^\w+: /, ""))).size === 1 ? list[0].replace(/^\w+: /, "All models: ") : list.join(". "),
       answer.some(r => r.error || r.verdict === "bound") ? "error" : "pass");
  const names = [...new Set(answer.flatMap(r => r.outcomes.map(o => o.outcome)))].sort();
  const table = document.createElement("table"), head = table.createTHead().insertRow();
  for (const name of ["outcome", ...MODELS]) {
    const th = document.createElement("th");
    th.scope = "col";
    th.textContent = name;
    head.append(th);
  }
  const body = table.createTBody();
  if (answer.some(r => r.error)) {
    const row = body.insertRow();
    row.insertCell().textContent = "an error";
    answer.forEach((r, i) => cell(row, r.error && r.error.events.length ? "✗" : "–", r.error, () => select(r.error, title(r.error) + (r.error.why ? ". Why: " + lines(r.error.why) : ""), MODELS[i])));
  }
  for (const name of names) {
    const row = body.insertRow();
    row.insertCell().textContent = name;
    answer.forEach((r, i) => {
      const o = r.outcomes.find(x => x.outcome === name);
      cell(row, o ? String(o.executions) : r.error || r.verdict === "bound" ? "?" : "–", o, () => select({events: o.events}, sentence(o), MODELS[i]));
    });
  }
  $("outcomes").append(table);
  const button = table.querySelector("button");
  if (button)
    button.click();
}

function cell(row, words, there, action) {
  const td = row.insertCell();
  if (!there) {
    td.textContent = words;
    td.className = "no";
    return;
  }
  const button = document.createElement("button");
  button.textContent = words;
  button.onclick = action;
  td.append(button);
}

// What is remarkable about an execution: loads that miss a store, or none.
function sentence(o) {
  const newest = {};
  for (const e of o.events)
    if (e.writes)
      newest[e.location] = Math.max(newest[e.location] || 0, e.mo);
  const old = o.events.filter(e => e.reads && e.mo < (newest[e.location] || 0) && e.text.includes("stale"));
  if (!old.length)
    return `${o.outcome}: each load reads the newest store of its location; this is one interleaving of the threads.`;
  return `${o.outcome}: ` + old.map(e => `T${e.thread} (line ${e.line}) reads an old value of ${e.location}: nothing orders the newer store before it`).join("; ") + ".";
}

// ---- the execution ----

function select(execution, words, model) {
  shown = execution;
  $("sentence").textContent = `${model}. ${words}`;
  $("picture").innerHTML = ladeDraw(execution, words);
  stepTo(Infinity);
}

// Shows the first n rows: what comes later is pale, and the values are those after them.
function stepTo(n) {
  if (!shown)
    return;
  now = ladeStep($("picture"), shown, n);
  $("values").textContent = `${now.step} of ${now.of}  ` + Object.keys(now.values).sort().map(k => `${k}=${now.values[k]}`).join("  ");
}

$("back").onclick = () => stepTo(now.step - 1);
$("on").onclick = () => stepTo(now.step === now.of ? 1 : now.step + 1);
$("all").onclick = () => stepTo(Infinity);

// ---- repair, audit, share, export ----

function tool(task, use) {
  $("answer").textContent = "…";
  ask({task, text: text.value, model: Number($("model").value)}).then(use, e => {
    if (e.message !== "stopped")
      note("answer", e.message === "too large" ? "The program is too large for this, or its text has an error." : e.message, "error");
  });
}

function place(f) {
  return `line ${text.value.slice(0, f.at).split("\n").length}, ${f.call}${f.failure ? " on failure" : ""}`;
}

$("repair").onclick = () => tool("repair", r => {
  if (!r.chosen)
    return note("answer", "No memory order repairs it: it fails with the strongest orders, too.", "error");
  const changes = r.orders.map((f, i) => f.order === r.chosen[i] ? "" : `${place(f)}: ${r.chosen[i]} instead of ${f.order}`).filter(Boolean);
  if (!changes.length)
    return note("answer", "Nothing to repair.", "pass");
  note("answer", changes.join("; ") + ". ", "pass");
  const button = document.createElement("button");
  button.textContent = "apply";
  button.onclick = () => {
    let source = text.value;
    for (let i = r.orders.length; i-- > 0;)
      source = source.slice(0, r.orders[i].at) + r.chosen[i] + source.slice(r.orders[i].at + r.orders[i].length);
    text.value = source;
    changed(0);
  };
  $("answer").firstChild.append(button);
});

$("audit").onclick = () => {
  if (results.length && results[["0", "1", "3", "2"].indexOf($("model").value)].error)
    return note("answer", "The program is wrong as it is: repair it first.", "error");
  tool("audit", a => {
    if (!a.rows.length)
      return note("answer", "No order is stronger than relaxed.", "pass");
    const list = document.createElement("ul");
    for (const r of a.rows) {
      const li = document.createElement("li"), f = a.orders[r.index];
      li.textContent = `${place(f)}, ${f.order}: ${r.needed ? `needed: with ${r.weaker}, ${title(r.error)} ` : `not needed, ${r.weaker} is enough for this program`}`;
      if (r.needed) {
        const button = document.createElement("button");
        button.textContent = "show";
        button.onclick = () => select(r.error, title(r.error), $("model").selectedOptions[0].text);
        li.append(button);
      }
      list.append(li);
    }
    $("answer").replaceChildren(list);
  });
};

// What a solution of an exercise must leave alone: as fixed_part() of verify/tool/lab.py.
function fixedPart(source, free) {
  source = source.replace(/\/\/[^\n]*|\s/g, "");
  if (free)
    return (source.match(/assert\([^;]*;/g) || []).sort().join("");
  return source.replace(/fence\(\w+\);/g, "").replace(/\b(?:memory_order_)?(?:relaxed|consume|acquire|release|acq_rel|seq_cst)\b/g, "ORDER");
}

let given = ""; // the exercise that the link has opened
function takeExercise(source) {
  given = /^\s*\/\/\s*(exercise|problem)\s+[\w.-]+\s*:/.test(source) ? source : "";
}

$("grade").onclick = () => {
  const free = /^\s*\/\/\s*problem/.test(given), source = text.value;
  if (given && fixedPart(source, free) !== fixedPart(given, free))
    return note("answer", `Not a solution of this exercise: only ${free ? "the assertions must stay" : "orders and fences may change"}.`, "error");
  tool("grade", g => {
    if (g.error) {
      note("answer", `Too weak: ${title(g.error)}.${g.repairable ? "" : " No memory order repairs it: the code must change."} The execution is drawn.`, "error");
      return select(g.error, title(g.error), $("model").selectedOptions[0].text);
    }
    note("answer", g.rows.length ? "Stronger than needed: " + g.rows.map(r => `${place(g.orders[r.index])}: ${r.weaker} is enough, not ${g.orders[r.index].order}`).join("; ") + "."
      : "Minimal: correct, and each order is needed.", g.rows.length ? "error" : "pass");
  });
};

$("share").onclick = () => {
  own = text.value;
  location.hash = encodeURIComponent(own);
  note("answer", "The address of this page now holds the program.", "pass");
  if (navigator.clipboard)
    navigator.clipboard.writeText(location.href).catch(() => 0);
};

$("export").onclick = () => tool("c", source => {
  if (!source)
    return note("answer", "The text has an error.", "error");
  const pre = document.createElement("pre");
  pre.textContent = source;
  const link = document.createElement("a");
  link.textContent = "save as lab.c, then: verify/explore --outcomes lab.c";
  link.href = URL.createObjectURL(new Blob([source], {type: "text/plain"}));
  link.download = "lab.c";
  $("answer").replaceChildren(link, pre);
});

for (const name of Object.keys(EXAMPLES)) {
  const button = document.createElement("button");
  button.textContent = name;
  button.onclick = () => { text.value = EXAMPLES[name]; changed(0); };
  $("examples").append(button);
}
function fromLink() {
  try { return decodeURIComponent(location.hash.slice(1)); } catch (e) { return ""; }
}
let own = ""; // the program that this page itself has put there
onhashchange = () => { const source = fromLink(); if (source && source !== own && source !== text.value) { takeExercise(source); text.value = source; changed(0); } };
text.oninput = () => changed();
let stored = "";
try { stored = localStorage.getItem("lade-lab") || ""; } catch (e) { /* a private window */ }
takeExercise(fromLink());
text.value = fromLink() || stored || EXAMPLES["message passing"];
showOrders(null);
queue = begin();
queue.then(() => changed(0), e => note("verdict", "The engine does not start in this browser: " + e.message, "error"));
