// The ledger: filter, search and sort the rows that stand in the page. The whole state is in the address.
"use strict";

const FIRST = 300; // rows shown until all are asked for
const FIELDS = ["view", "paper", "verdict", "data", "words"];
const form = document.getElementById("filters");
const tables = { claims: document.getElementById("claims"), numbers: document.getElementById("numbers") };

const rows = {};
for (const [view, table] of Object.entries(tables)) {
  rows[view] = [...table.tBodies[0].rows].map((line, place) => ({ line, place, text: line.textContent.toLowerCase() }));
}
const placed = { ...rows }; // the order in which they stand in the page

const defaults = { view: "claims", paper: "", verdict: "", data: "", words: "", sort: "", down: "", all: "" };
let state = { ...defaults };

function fromAddress() {
  const found = new URLSearchParams(location.hash.slice(1));
  const read = { ...defaults };
  for (const name of Object.keys(defaults)) if (found.has(name)) read[name] = found.get(name);
  if (!(read.view in tables)) read.view = defaults.view;
  return read;
}

function toAddress() {
  const kept = new URLSearchParams();
  for (const [name, value] of Object.entries(state)) if (value !== defaults[name]) kept.set(name, value);
  const text = kept.toString();
  return text ? `#${text}` : "#";
}

function matches(row, words) {
  const given = row.line.dataset;
  return (!state.paper || given.paper === state.paper) && (!state.verdict || given.verdict === state.verdict)
    && (!state.data || given.data === state.data) && words.every((word) => row.text.includes(word));
}

function keyOf(row, column) {
  const cell = row.line.cells[column];
  const text = (cell.dataset.key ?? cell.textContent).trim();
  const number = text === "" ? NaN : Number(text.replaceAll(",", ""));
  return { text, number, empty: text === "" };
}

// Empty cells last, then numbers in order, then texts; rows that are equal keep their order.
function compare(one, other, down) {
  if (one.key.empty !== other.key.empty) return one.key.empty ? 1 : -1;
  const numbers = [one, other].map((row) => !Number.isNaN(row.key.number));
  if (numbers[0] !== numbers[1]) return numbers[0] ? -1 : 1;
  const order = numbers[0] ? one.key.number - other.key.number : one.key.text.localeCompare(other.key.text);
  return (down ? -order : order) || one.row.place - other.row.place;
}

function sorted(view) {
  const heads = [...tables[view].tHead.rows[0].cells];
  const column = heads.findIndex((head) => head.querySelector("button").dataset.sort === state.sort);
  heads.forEach((head, place) => {
    if (place === column) head.setAttribute("aria-sort", state.down ? "descending" : "ascending");
    else head.removeAttribute("aria-sort");
  });
  if (column < 0) return rows[view];
  const keyed = rows[view].map((row) => ({ row, key: keyOf(row, column) }));
  return keyed.sort((one, other) => compare(one, other, state.down)).map((entry) => entry.row);
}

function show() {
  for (const name of FIELDS) {
    form.elements[name].value = state[name];
    if (form.elements[name].value !== state[name]) state[name] = form.elements[name].value = defaults[name];
  }
  const words = state.words.toLowerCase().split(/\s+/).filter(Boolean);
  for (const [view, table] of Object.entries(tables)) table.hidden = view !== state.view;
  const ordered = sorted(state.view);
  const found = ordered.filter((row) => matches(row, words));
  const shown = new Set(state.all ? found : found.slice(0, FIRST));
  for (const row of ordered) row.line.hidden = !shown.has(row);
  if (placed[state.view] !== ordered) tables[state.view].tBodies[0].append(...ordered.map((row) => row.line));
  placed[state.view] = ordered;
  const part = shown.size < found.length ? `, the first ${shown.size} shown` : "";
  document.getElementById("count").textContent = `${found.length} of ${ordered.length} ${state.view}${part}`;
  document.getElementById("nothing").hidden = found.length > 0;
  const more = document.getElementById("more");
  more.hidden = shown.size === found.length;
  more.textContent = `Show all ${found.length}`;
}

// Typing rewrites the address in place; every other change is a step that the back button takes back.
function change(next, { typing = false } = {}) {
  state = { ...state, ...next };
  show();
  if (typing) history.replaceState(null, "", toAddress());
  else if (toAddress() !== (location.hash || "#")) history.pushState(null, "", toAddress());
}

function restore() {
  state = fromAddress();
  show();
}

form.elements.words.addEventListener("input", (event) => change({ words: event.target.value }, { typing: true }));
for (const list of form.querySelectorAll("select")) {
  list.addEventListener("change", () => change({ [list.name]: list.value }));
}
form.addEventListener("submit", (event) => event.preventDefault());
form.addEventListener("reset", (event) => {
  event.preventDefault();
  change({ ...defaults });
});
for (const button of document.querySelectorAll("[data-sort]")) {
  button.addEventListener("click", () => {
    const again = state.sort === button.dataset.sort;
    if (again && state.down) change({ sort: "", down: "" });
    else change({ sort: button.dataset.sort, down: again ? "1" : "" });
  });
}
document.getElementById("more").addEventListener("click", () => change({ all: "1" }));
addEventListener("popstate", restore);
addEventListener("hashchange", restore);
restore();
