// SPDX-License-Identifier: MIT
// Runs the engine: each exploration in a fresh instance, so that none sees what another has left.
"use strict";
let compiled = null;

function explore(text, model, most) {
  const imports = {};
  for (const i of WebAssembly.Module.imports(compiled)) {
    imports[i.module] = imports[i.module] || {};
    imports[i.module][i.name] = i.name === "proc_exit" ? () => { throw new Error("internal error"); } : () => 8;
  }
  const x = new WebAssembly.Instance(compiled, imports).exports, bytes = new TextEncoder().encode(text.replace(/[^\x01-\x7f]/g, "?")); // offsets are those of the text, and zero would end it
  if (x._initialize)
    x._initialize();
  const at = x.lab_text(bytes.length);
  if (!at)
    return {verdict: "text", message: "the program is too long", at: 0, length: 1, line: 1, column: 1};
  new Uint8Array(x.memory.buffer, at, bytes.length + 1).set([...bytes, 0]);
  const read = from => {
    const memory = new Uint8Array(x.memory.buffer);
    return new TextDecoder().decode(memory.slice(from, memory.indexOf(0, from)));
  };
  if (model === -2)
    return JSON.parse(read(x.lab_orders_of()));
  return model < 0 ? read(x.lab_c()) : JSON.parse(read(x.lab_explore(model, most)));
}

// Orders in the text, with what they may be: {at, length, order, kinds}.
const STEPS = {relaxed: "", consume: "a", acquire: "a", release: "r", acq_rel: "ar", seq_cst: "ars"};
const COST = {relaxed: 0, consume: 1, acquire: 1, release: 1, acq_rel: 2, seq_cst: 3};

function stronger(a, b) {
  return [...STEPS[b]].every(c => STEPS[a].includes(c));
}

function orders(text) {
  return explore(text, -2);
}

function change(text, found, chosen) {
  for (let i = found.length; i-- > 0;)
    text = text.slice(0, found[i].at) + chosen[i] + text.slice(found[i].at + found[i].length);
  return text;
}

function passes(text, model) {
  const result = explore(text, model, 20000);
  if (!["pass", "error"].includes(result.verdict))
    throw new Error("too large");
  return result;
}

// Each order weakened by one step: is it needed?
function audit(text, model) {
  const found = orders(text), rows = [];
  found.forEach((f, i) => {
    const weaker = f.kinds.filter(k => stronger(f.order, k) && !stronger(k, f.order));
    for (const k of weaker.filter(w => !weaker.some(v => v !== w && stronger(v, w)))) {
      const result = passes(change(text, found, found.map((g, j) => j === i ? k : g.order)), model);
      rows.push({index: i, weaker: k, needed: result.verdict === "error", error: result.error || null});
    }
  });
  return {orders: found, rows};
}

// Too weak, stronger than needed or minimal: as verify/grade.
function grade(text, model) {
  const first = passes(text, model), found = orders(text);
  if (first.verdict === "error") {
    const strongest = found.map(f => f.kinds.reduce((a, b) => COST[b] > COST[a] ? b : a));
    return {verdict: "too weak", error: first.error, repairable: passes(change(text, found, strongest), model).verdict === "pass"};
  }
  const rows = audit(text, model).rows.filter(r => !r.needed);
  return {verdict: rows.length ? "stronger than needed" : "minimal", orders: found, rows};
}

// The cheapest stronger orders under which the program passes; null: there are none.
function repair(text, model) {
  const found = orders(text), up = found.map(f => f.kinds.filter(k => stronger(k, f.order)));
  const verdict = chosen => passes(change(text, found, chosen), model).verdict === "pass";
  if (!verdict(found.map((f, i) => up[i].reduce((a, b) => COST[b] > COST[a] ? b : a))))
    return {orders: found, chosen: null};
  const start = found.map(f => f.order), cost = c => c.reduce((n, o) => n + COST[o], 0);
  const heap = [start], seen = new Set([start.join()]), failed = [];
  for (let runs = 0; heap.length && runs < 3000;) {
    heap.sort((a, b) => cost(b) - cost(a));
    const c = heap.pop();
    if (!failed.some(f => f.every((o, i) => stronger(o, c[i])))) {
      runs++;
      if (verdict(c))
        return {orders: found, chosen: c};
      failed.push(c);
    }
    c.forEach((o, i) => {
      for (const k of up[i].filter(u => u !== o && stronger(u, o))) {
        const d = c.map((p, j) => j === i ? k : p);
        if (!seen.has(d.join())) {
          seen.add(d.join());
          heap.push(d);
        }
      }
    });
  }
  throw new Error("too large");
}

onmessage = async message => {
  const {id, task, text, model, wasm} = message.data;
  try {
    if (task === "start")
      compiled = await WebAssembly.compile(Uint8Array.from(atob(wasm), c => c.charCodeAt(0)));
    const answer = task === "start" ? true : task === "c" ? explore(text, -1) : task === "audit" ? audit(text, model)
      : task === "grade" ? grade(text, model) : task === "repair" ? repair(text, model) : [0, 1, 3, 2].map(m => explore(text, m, 20000));
    postMessage({id, answer});
  } catch (e) {
    postMessage({id, problem: e.message});
  }
};
