// SPDX-License-Identifier: MIT
// The menu on a phone, and the search. The index is a script, so that it loads from disk too; it comes when the search is first used.
"use strict";
const up = document.documentElement.dataset.up, field = document.getElementById("lade-search"), found = document.getElementById("lade-found");
const menu = document.getElementById("lade-menu");
const MOST = 14;
let chosen = -1, loading = null;

menu.onclick = () => {
  const open = document.body.classList.toggle("menu");
  menu.setAttribute("aria-expanded", open);
};

function load() {
  loading = loading || new Promise(done => {
    const script = document.createElement("script");
    script.src = up + "search.js";
    script.onload = done;
    document.head.append(script);
  });
  return loading;
}

// How well an entry fits: all words must be there; a title counts more than the text, a whole word more than its beginning.
function points(entry, words, whole) {
  const title = entry[0].toLowerCase(), text = entry[3].toLowerCase();
  let sum = title === whole ? 60 : title.split(", ").includes(whole) ? 50 : 0;
  for (const word of words) {
    const at = title.indexOf(word), parts = title.split(/[^a-z0-9]+/);
    if (parts.includes(word)) sum += 20;
    else if (at === 0) sum += 16;
    else if (at > 0) sum += 8;
    else if (text.includes(word)) sum += Math.min(4, text.split(word).length - 1) + (text.indexOf(word) < 120 ? 3 : 0);
    else return 0;
  }
  if (entry[2] === "Start" || entry[1].startsWith("guide/index.html")) sum -= 4; // they list what others describe
  return sum + (text.includes(whole) && words.length > 1 ? 6 : 0);
}

function mark(text, words) {
  const span = document.createElement("span");
  const at = words.map(w => text.toLowerCase().indexOf(w)).filter(i => i >= 0).sort((a, b) => a - b)[0] ?? 0;
  const begin = at > 50 ? text.indexOf(" ", at - 50) + 1 : 0;
  const shown = (begin ? "… " : "") + text.slice(begin, begin + 150);
  const pattern = new RegExp("(" + words.map(w => w.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).join("|") + ")", "i");
  shown.split(pattern).forEach((piece, i) => span.append(i % 2 ? Object.assign(document.createElement("mark"), {textContent: piece}) : piece));
  return span;
}

async function search() {
  const whole = field.value.trim().toLowerCase(), words = whole.split(/[\s()]+/).filter(Boolean);
  if (!words.length) return close();
  await load();
  const best = window.LADE_INDEX.map(entry => [points(entry, words, whole), entry]).filter(e => e[0]).sort((a, b) => b[0] - a[0]).slice(0, MOST);
  found.replaceChildren();
  chosen = -1;
  for (const [, [title, address, kind, text]] of best) {
    const link = document.createElement("a");
    link.href = up + address;
    link.setAttribute("role", "option");
    link.append(Object.assign(document.createElement("b"), {textContent: title}), Object.assign(document.createElement("i"), {textContent: kind}));
    if (text) link.append(mark(text, words));
    link.onclick = close;
    found.append(link);
  }
  if (!best.length) found.append(Object.assign(document.createElement("p"), {textContent: "Nothing has all of these words."}));
  found.hidden = false;
  found.dataset.query = whole;
}

function close() {
  found.hidden = true;
  chosen = -1;
}

function choose(step) {
  const links = [...found.querySelectorAll("a")];
  if (!links.length) return;
  chosen = (chosen + step + links.length) % links.length;
  links.forEach((link, i) => link.setAttribute("aria-selected", i === chosen));
  links[chosen].scrollIntoView({block: "nearest"});
}

field.onfocus = load;
field.oninput = search;
field.onkeydown = event => {
  if (event.key === "ArrowDown" || event.key === "ArrowUp") choose(event.key === "ArrowDown" ? 1 : -1);
  else if (event.key === "Enter") (found.querySelectorAll("a")[Math.max(chosen, 0)] || {click() {}}).click();
  else if (event.key === "Escape") close();
  else return;
  event.preventDefault();
};
document.addEventListener("keydown", event => {
  if (event.key === "/" && !/INPUT|TEXTAREA|SELECT/.test(document.activeElement.tagName)) {
    field.focus();
    event.preventDefault();
  }
});
document.addEventListener("click", event => {
  if (!event.target.closest(".search")) close();
});
const here = document.querySelector(".side [aria-current]");
if (here && innerWidth > 900) here.scrollIntoView({block: "center"});
