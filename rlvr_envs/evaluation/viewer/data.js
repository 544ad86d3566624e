// The data that `index.py` writes, the address that says what is asked of them, and the episodes that
// fit it.
"use strict";

// ---------------------------------------------------------------- data, loaded as scripts

const waiting = new Map();
const pieces = new Map(); // the pieces of data that are loaded or on their way
const TEXT_PIECES = 24; // of the large ones, so many are held
const HELD = new Set(["text", "problem"]);

globalThis.rlvr = (name, number, data) => waiting.get(`${name}-${number}`)?.(data);

function script(source) {
  return new Promise((resolve, reject) => {
    const element = document.createElement("script");
    element.src = source;
    element.onload = () => { element.remove(); resolve(); };
    element.onerror = () => reject(new Error(`${source} cannot be loaded`));
    document.head.append(element);
  });
}

function load(name, number = 0, file = `data/${name}-${number}.js`) {
  const key = `${name}-${number}`;
  let piece = pieces.get(key);
  pieces.delete(key); // and put last, so that the first is the one that was not used for longest
  piece ??= new Promise((resolve, reject) => {
    waiting.set(key, resolve);
    script(file).catch(error => { pieces.delete(key); reject(error); });
  });
  pieces.set(key, piece);
  const held = [...pieces.keys()].filter(key => HELD.has(key.split("-")[0]));
  for (const old of held.slice(0, Math.max(0, held.length - TEXT_PIECES))) pieces.delete(old);
  return piece;
}

let main; // what there is of everything but episodes
let problems; // columns: question, task, domain, level
const table = { length: 0 }; // columns: series, problem, sample, status, score, …

async function loadTable() {
  main = await load("main", 0, "data/main.js");
  problems = await load("problems");
  for (const name of ["series", "problem", "sample", "status", "turns", "chars", "text", "step"])
    table[name] = new Int32Array(main.rows);
  for (const name of ["score", "reward"]) table[name] = new Float64Array(main.rows).fill(NaN);
  table.answer = [];
  for (let number = 0; number < main.pieces; number++) {
    const columns = await load("table", number);
    pieces.delete(`table-${number}`);
    for (const [name, values] of Object.entries(columns))
      if (name === "answer") for (const value of values) table.answer.push(value);
      else values.forEach((value, i) => { table[name][table.length + i] = value ?? NaN; });
    table.length += columns.series.length;
    if (number === 0 || number === main.pieces - 1) await render(number > 0);
  }
}

async function textOf(name, starts, number) {
  let piece = starts.findIndex(start => start > number) - 1;
  if (piece < 0) piece = starts.length - 1;
  return (await load(name, piece))[number - starts[piece]];
}

const episodeText = row => textOf("text", main.texts, table.text[row]);
const problemText = problem => textOf("problem", main.problems, problem);

const seriesOf = row => main.series[table.series[row]];
const statusOf = row => main.statuses[table.status[row]];
const short = task => task === undefined || task === null ? "–" : task.slice(task.lastIndexOf("/") + 1);
const taskOf = problem => main.tasks[problems.task[problem]];
const levelOf = problem => problems.level[problem] ?? "default";
const seedOf = problem => problems.question[problem].split("|").at(-1);
const keyOf = row =>
  [seriesOf(row).label, problems.question[table.problem[row]], table.sample[row]].join("|");
const rounded = (value, digits = 3) =>
  value === null || value === undefined || Number.isNaN(value) ? "–" : value.toFixed(digits);
const bounds = ([, low, high]) => low === null ? "" : `[${rounded(low)}, ${rounded(high)}]`;
const interval = estimate => `${rounded(estimate[0])} ${bounds(estimate)}`;
const counted = count => count.toLocaleString("en");
const many = (count, word) => `${counted(count)} ${word}${count === 1 ? "" : "s"}`;

function rowOf(key) {
  for (let row = 0; row < table.length; row++)
    if (key.endsWith(`|${table.sample[row]}`) && keyOf(row) === key) return row;
  return -1;
}

let byQuestion; // the rows of each question, once all are there

function asking(question) {
  byQuestion ??= Map.groupBy(table.series.keys(), row => problems.question[table.problem[row]]);
  return byQuestion.get(question) ?? [];
}

// The comparison of two policies, which is stored in one direction.
async function pair(first, second) {
  const stored = (a, b) => main.pairs.findIndex(each => each[0] === a && each[1] === b);
  if (stored(first, second) >= 0) return load("pair", stored(first, second));
  if (stored(second, first) < 0) return null;
  const found = await load("pair", stored(second, first)), minus = value => value === null ? null : -value;
  const turn = ([mean, low, high]) => [mean, high, low].map(minus);
  return {
    ...found,
    alone: found.alone.toReversed(),
    groups: found.groups.map(([kind, name, count, a, b, difference, counts]) =>
      [kind, name, count, b, a, turn(difference), counts.toReversed()]),
    changes: found.changes.map(([text, task, level, a, b, before, after]) =>
      [text, task, level, b, a, after, before]),
  };
}

// ---------------------------------------------------------------- the address

const query = () => new URLSearchParams(location.hash.slice(1));

function addressed(changes, from = query()) {
  const next = new URLSearchParams(from);
  for (const [name, value] of Object.entries(changes)) {
    next.delete(name);
    for (const each of [value].flat()) if (each !== null && each !== "") next.append(name, each);
  }
  return `#${next}`;
}

function go(changes, { replace = false } = {}) {
  const hash = addressed(changes);
  if (hash === (location.hash || "#")) return;
  if (replace) { history.replaceState(null, "", hash); render(true); } else location.hash = hash;
}

// Links to a view take the filters along and nothing else.
const FILTERS = ["run", "policy", "domain", "task", "level", "status", "low", "high", "step", "text"];
const view = (name, more = {}) => {
  const kept = new URLSearchParams([...query()].filter(([key]) => [...FILTERS, "sort"].includes(key)));
  return addressed({ view: name, ...more }, kept);
};

// ---------------------------------------------------------------- which episodes

function filtered(asked) {
  const number = name => asked.get(name) ? Number(asked.get(name)) : null;
  const fits = (name, value) => !asked.has(name) || asked.get(name) === String(value);
  const series = main.series.map(s => fits("run", s.run) && fits("policy", s.policy));
  const statuses = main.statuses.map(status => fits("status", status));
  const asks = problems.question.map((_, i) => fits("task", taskOf(i) ?? "–")
    && fits("domain", main.domains[problems.domain[i]] ?? "–") && fits("level", levelOf(i)));
  const [low, high, step] = ["low", "high", "step"].map(number);
  const rows = [];
  for (let row = 0; row < table.length; row++) {
    if (!series[table.series[row]] || !statuses[table.status[row]] || !asks[table.problem[row]]) continue;
    const score = table.score[row];
    if (low !== null && !(score >= low) || high !== null && !(score <= high)) continue;
    if (step !== null && table.step[row] !== step) continue;
    rows.push(row);
  }
  return rows;
}

function order(rows, by) {
  const down = by?.startsWith("-"), column = COLUMNS.find(column => column.id === by?.replace("-", ""));
  if (!column) return rows;
  const keys = new Map(rows.map(row => [row, column.key(row)]));
  const sign = down ? -1 : 1;
  const last = key => key === null || key === undefined || key !== key; // also NaN
  return rows.sort((a, b) => {
    const x = keys.get(a), y = keys.get(b);
    if (last(x) || last(y)) return last(x) - last(y) || a - b;
    return x < y ? -sign : x > y ? sign : a - b;
  });
}

const selection = { asked: null, rows: [], state: "done", done: 0, total: 0 };

// The rows of the address, at once but for a search for text, which adds to them as it goes on.
function select(asked) {
  const told = JSON.stringify([...FILTERS, "sort"].map(name => asked.get(name)).concat(table.length));
  if (selection.asked === told) return;
  Object.assign(selection, { asked: told, state: "done", rows: filtered(asked) });
  const text = (asked.get("text") ?? "").toLowerCase();
  if (text) search(text, told, asked.get("sort"));
  else order(selection.rows, asked.get("sort"));
}

async function search(text, told, sort) {
  const candidates = selection.rows;
  Object.assign(selection, { rows: [], state: "searching", done: 0, total: candidates.length });
  const current = () => selection.asked === told && selection.state === "searching";
  const holds = each => typeof each === "string" && each.toLowerCase().includes(text);
  const asks = new Map();
  let drawn = performance.now();
  for (const row of candidates.sort((a, b) => table.text[a] - table.text[b])) {
    const problem = table.problem[row];
    if (!asks.has(problem)) asks.set(problem, holds((await problemText(problem)).prompt));
    const { actions, replies, reasoning, calls, detail } = await episodeText(row);
    if (!current()) return;
    if (asks.get(problem) || [...actions, ...replies, ...reasoning, ...calls, detail].some(holds))
      selection.rows.push(row);
    selection.done++;
    if (performance.now() - drawn > 250) {
      await new Promise(resolve => setTimeout(resolve)); // for the reader's clicks
      if (!current()) return;
      if (query().get("view") === null) drawRows();
      drawn = performance.now();
    }
  }
  selection.state = "done";
  order(selection.rows, sort);
  render(true);
}
