// SPDX-License-Identifier: MIT
// The picture of an execution for pages, and stepping through it. An execution is an error of the engine's JSON (report.c, the lab), or
// {events} alone. ladeDraw gives SVG text, ladeStep shows the first rows of it: each box has data-id, each arrow data-kind (rf, sync, mo, fr),
// data-from and data-to. execution.css styles it; execution.py makes the pictures for files, where there is no browser.
"use strict";

const LADE_ARROWS = {sync: ["blue", ""], rf: ["green", ""], mo: ["orange", "5 3"], fr: ["red", "2 3"]};

function ladeEscape(text) {
  return String(text).replace(/[&<>"]/g, c => ({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;"})[c]);
}

function ladeShort(text, most) {
  return text.length <= most ? text : text.slice(0, most - 1) + "…";
}

// The rows: events but for starts, ends and second halves, and the plain accesses of an error at their place in program order.
function ladeRows(execution) {
  const {events, other: second} = execution, error = execution.kind && execution.kind !== "shown" ? execution : null;
  const rows = [], other = error && second && second.text ? second : null;
  let told = false;
  for (const e of events) {
    if (other && !told && e.id === other.before) {
      rows.push({...other, id: "other", bad: true});
      told = true;
    }
    if (!("shown_with" in e) && !e.quiet)
      rows.push({...e, bad: !!error && error.kind === "race" && e.thread === error.thread && e.line === error.line && e.column === error.column});
  }
  if (other && !told)
    rows.push({...other, id: "other", bad: true});
  if (error && error.text && !rows.some(r => r.bad && r.id !== "other"))
    rows.push({id: "error", thread: error.thread, text: error.text, line: error.line, code: error.code || "", bad: true});
  return rows;
}

// Arrows between rows, none to the next row of the same thread and one between two events: reads-from, the next write to a location by another
// thread, and, if some read misses a write, from each read to the write that overwrites what it read.
function ladeEdges(events, rows) {
  const row = new Map(rows.map((r, i) => [r.id, i])), thread = id => events[id].thread, at = id => { const e = events[id]; return e && "shown_with" in e ? e.shown_with : id; };
  const writers = {}, edges = [], overwritten = [];
  for (const e of events)
    if (e.writes && e.mo > 0)
      (writers[e.location] = writers[e.location] || [])[e.mo] = e.id;
  for (const e of events) {
    const chain = writers[e.location] || [], after = chain[e.mo + 1];
    if (e.reads && "reads_from" in e)
      edges.push([e.synchronises ? "sync" : "rf", at(e.reads_from), at(e.id)]);
    if (e.writes && after !== undefined && thread(after) !== e.thread)
      edges.push(["mo", at(e.id), at(after)]);
    if (e.reads && after !== undefined && thread(after) !== e.thread)
      overwritten.push(["fr", at(e.id), at(after)]);
  }
  if (overwritten.some(([, a, b]) => row.has(a) && row.get(b) < row.get(a)))
    edges.push(...overwritten);
  return edges.filter(([kind, a, b]) => a !== b && row.has(a) && row.has(b) && (thread(a) !== thread(b) || Math.abs(row.get(a) - row.get(b)) !== 1) &&
    !(kind === "mo" && edges.some(e => e[0] !== "mo" && e[1] === a && e[2] === b)));
}

function ladeDraw(execution, title) {
  const ROW = 46, HIGH = 36, GAP = 62, LEFT = 14, HEADING = 30, CHARACTER = 7.4;
  const rows = ladeRows(execution), edges = ladeEdges(execution.events, rows);
  const threads = [...new Set(rows.map(r => r.thread))].sort((a, b) => a - b);
  const most = Math.min(Math.max(16, ...rows.map(r => r.text.length)), 44), box = Math.round(most * CHARACTER + 14);
  const small = Math.floor((box - 12) / 6.7), row = new Map(rows.map((r, i) => [r.id, i]));
  const column = t => LEFT + threads.indexOf(t) * (box + GAP), top = HEADING;
  const width = LEFT + threads.length * (box + GAP), height = top + ROW * rows.length + 8, parts = [];
  for (const t of threads)
    parts.push(`<text class="head" x="${column(t)}" y="${top - 12}">T${t}</text>`,
               `<path class="life" d="M${column(t) + 8} ${top}V${height - 10}"/>`);
  edges.forEach(([kind, a, b], i) => {
    const [ra, rb] = [rows[row.get(a)], rows[row.get(b)]], loop = ra.thread === rb.thread;
    const xa = column(ra.thread), xb = column(rb.thread), lift = {sync: 10, rf: 10, mo: 26, fr: 18}[kind];
    const x1 = xb < xa ? xa : xa + box, x2 = xb > xa ? xb : xb + box;
    const y1 = top + row.get(a) * ROW + lift, y2 = top + row.get(b) * ROW + lift;
    const head = x2 > x1 && !loop ? -7 : 7, bend = loop ? x1 + 26 + 6 * (i % 4) : (x1 + x2) / 2;
    const [colour, dashes] = LADE_ARROWS[kind];
    parts.push(`<g class="arrow ${colour}" data-kind="${kind}" data-from="${a}" data-to="${b}">` +
      `<path class="line" d="M${x1} ${y1}C${bend} ${y1} ${bend} ${y2} ${x2 + head} ${y2}"${dashes ? ` stroke-dasharray="${dashes}"` : ""}/>` +
      `<path class="tip" d="M${x2} ${y2}l${head} -3.5v7z"/><title>${kind}</title></g>`);
  });
  rows.forEach((r, i) => {
    const x = column(r.thread), y = top + i * ROW, place = r.line ? `${r.line}  ${r.code}` : "";
    parts.push(`<g class="event${r.bad ? " bad" : ""}" data-id="${r.id}"><title>${ladeEscape(r.text)}  ${ladeEscape(place)}</title>` +
      `<rect x="${x}" y="${y}" width="${box}" height="${HIGH}" rx="4"/><text x="${x + 6}" y="${y + 15}">${ladeEscape(ladeShort(r.text, most))}</text>` +
      `<text class="soft" x="${x + 6}" y="${y + 29}">${ladeEscape(ladeShort(place, small))}</text></g>`);
  });
  return `<svg class="execution" xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">` +
    `<title>${ladeEscape(title || "execution")}</title>${parts.join("")}</svg>`;
}

// Shows the first n rows of the picture, and those to come pale. {step, of, values, seen}: the rows shown, of how many, each location's value
// then, and what each thread has last read or written there.
function ladeStep(picture, execution, n) {
  const rows = ladeRows(execution), step = Math.max(0, Math.min(rows.length, n)), known = new Set(rows.slice(0, step).map(r => String(r.id)));
  const last = step ? String(rows[step - 1].id) : "", values = {}, newest = {}, seen = {};
  const done = e => known.has(String("shown_with" in e ? e.shown_with : e.id)), end = (execution.events.find(e => !e.quiet && !done(e)) || {id: Infinity}).id;
  const same = (a, b) => b && a.thread === b.thread && a.line === b.line && a.column === b.column;
  picture.querySelectorAll(".event").forEach(g => {
    g.classList.toggle("later", !known.has(g.dataset.id));
    g.classList.toggle("here", g.dataset.id === last && step < rows.length);
  });
  picture.querySelectorAll(".arrow").forEach(g => g.classList.toggle("later", !known.has(g.dataset.from) || !known.has(g.dataset.to)));
  for (const p of execution.plain || []) // before its thread's next event
    if (step === rows.length || p.before < end || (known.has("other") && same(p, execution.other)))
      values[p.location] = p.value;
  for (const e of execution.events.filter(done)) {
    if (e.writes && e.mo >= (newest[e.location] || 0)) {
      newest[e.location] = e.mo;
      values[e.location] = e.value;
    }
    if (e.location && "value" in e)
      (seen[e.location] = seen[e.location] || {})[e.thread] = e.value;
  }
  return {step, of: rows.length, values, seen};
}
