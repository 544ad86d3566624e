// What is shown of the data of `data.js`, and the keyboard. What is seen follows from the address
// (after #) alone, so every view has a link and the browser's Back works. Text from runs goes into
// text nodes only.
"use strict";

// ---------------------------------------------------------------- elements

function el(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes))
    if (typeof value === "function") element.addEventListener(key, value);
    else if (value || value === 0) element.setAttribute(key, value === true ? "" : value);
  element.append(...children.flat().filter(child => child !== null && child !== undefined));
  return element;
}

const note = (...inside) => el("p", { class: "note" }, ...inside);
const link = (href, ...inside) => el("a", { href }, ...inside);
const button = (click, ...inside) => el("button", { type: "button", click }, ...inside);
const section = (kind, title, ...inside) => el("section", { class: kind }, el("h3", {}, title), ...inside);
const folded = (title, ...inside) => el("details", {}, el("summary", {}, title), ...inside);
const block = text => el("pre", { tabindex: 0 }, text);
const cell = (kind, ...inside) => el("td", { class: kind }, ...inside);
const facts = pairs =>
  el("dl", { class: "facts" }, pairs.flatMap(([name, value]) => [el("dt", {}, name), el("dd", {}, value)]));

// A table under heads, each with the kind of its column: number, wide (left out on narrow screens).
const grid = (kind, heads, rows) => el("table", { class: kind },
  el("thead", {}, el("tr", {}, heads.map(([text, kind]) => el("th", { class: kind, scope: "col" }, text)))),
  el("tbody", {}, rows));

const chooser = (label, options, chosen, change) => el("label", {}, el("span", {}, label),
  el("select", { change: event => change(event.target.value) },
    options.map(([value, text]) => el("option", { value, selected: value === chosen }, text))));

const swatch = place => el("i", { class: "swatch", "data-colour": place % 7, "aria-hidden": true });
const named = place => el("span", { class: "series" }, swatch(place), main.series[place].label);
const words = status => status.replaceAll("_", " ");
const badge = status => el("span", { class: "status", "data-status": status }, words(status));

// ---------------------------------------------------------------- the table of episodes

const PAGE = 100;
const problemOf = row => table.problem[row];
const column = (id, kind, key, shown = row => String(key(row) ?? "–")) => ({ id, kind, key, shown });
const COLUMNS = [
  column("status", "", statusOf, row => badge(statusOf(row))),
  column("score", "number", row => table.score[row], row => rounded(table.score[row])),
  column("reward", "number wide training", row => table.reward[row], row => rounded(table.reward[row])),
  column("step", "number wide training", row => table.step[row] < 0 ? null : table.step[row]),
  column("task", "", row => short(taskOf(problemOf(row)))),
  column("level", "number", row => problems.level[problemOf(row)], row => String(levelOf(problemOf(row)))),
  column("problem", "wide", problemOf, row => seedOf(problemOf(row))),
  column("sample", "number wide", row => table.sample[row]),
  column("policy", "", row => seriesOf(row).label, row => named(table.series[row])),
  column("turns", "number wide", row => table.turns[row]),
  column("chars", "number wide", row => table.chars[row], row => counted(table.chars[row])),
  column("answer", "wide answer", row => table.answer[row]),
];

function tiles() {
  const tile = ({ label, run, policy, score, episodes, problems }, place) =>
    el("li", { "data-colour": place % 7 },
      link(addressed({ view: null, run, policy, page: null }), label),
      el("strong", {}, score ? rounded(score[0]) : "training"),
      el("small", {}, !score ? "samples that differ in score"
        : score[1] === null ? "mean score" : `95 % CI ${rounded(score[1])} to ${rounded(score[2])}`),
      el("small", {}, `${many(episodes, "episode")} · ${many(problems, "problem")}`));
  return el("ul", { class: "tiles" }, main.series.map(tile));
}

function filters(asked) {
  const set = (name, replace = false) => value => go({ [name]: value, page: null }, { replace });
  const sorted = values => [...new Set(values)].sort((a, b) => a < b ? -1 : a > b ? 1 : 0);
  const choice = (name, values, text = value => value) => {
    const options = values.map(value => [String(value), text(value)]);
    return values.length < 2 ? null : chooser(name, [["", "all"], ...options], asked.get(name) ?? "", set(name));
  };
  const bound = (name, label, limits) => el("label", {}, el("span", {}, label), el("input", {
    type: "number", value: asked.get(name), change: event => set(name)(event.target.value), ...limits }));
  let timer;
  const typed = event => {
    clearTimeout(timer);
    timer = setTimeout(set("text", true), 300, event.target.value);
  };
  const active = FILTERS.some(name => asked.has(name));
  const open = active || matchMedia("(min-width: 721px)").matches;
  const form = el("form", { class: "filters", role: "search", submit: event => event.preventDefault() },
    choice("run", sorted(main.series.map(series => series.run))),
    choice("policy", sorted(main.series.map(series => series.policy))),
    choice("domain", sorted(main.domains)),
    choice("task", sorted(main.tasks), short),
    choice("level", sorted(problems.level.map(level => level ?? -1)).map(level => level < 0 ? "default" : level)),
    choice("status", sorted(main.statuses), words),
    bound("low", "score from", { min: 0, max: 1, step: "any" }),
    bound("high", "to", { min: 0, max: 1, step: "any" }),
    main.training ? bound("step", "step", { min: 0 }) : null,
    el("label", { class: "text" }, el("span", {}, "text of prompt, response or verdict"),
      el("input", { type: "search", id: "text", value: asked.get("text"), input: typed })),
    active ? el("a", { class: "clear", href: "#" }, "clear filters") : null);
  return el("details", { class: "folded", open }, el("summary", {}, "Filters and search"), form);
}

function sorter({ id, kind }, sort) {
  const up = sort === id, down = sort === `-${id}`;
  const next = up ? `-${id}` : down ? null : id;
  return el("th", { class: kind, scope: "col", "aria-sort": up ? "ascending" : down ? "descending" : null },
    button(() => go({ sort: next, page: null }), id, up ? " ↑" : down ? " ↓" : ""));
}

function drawRows() {
  const asked = query(), { rows, state } = selection, last = Math.max(1, Math.ceil(rows.length / PAGE));
  const columns = COLUMNS.filter(({ kind }) => main.training || !kind.includes("training"));
  const page = Math.min(Math.max(1, Number(asked.get("page")) || 1), last);
  const turn = (to, text) => to < 1 || to > last ? el("span", { class: "off", "aria-hidden": true }, text)
    : link(addressed({ page: to === 1 ? null : to }), text);
  const line = row => {
    const href = view("episode", { key: keyOf(row) });
    return el("tr", { click: event => { if (!event.target.closest("a")) location.hash = href; } },
      columns.map(({ shown, kind }, i) => cell(kind, i ? shown(row) : link(href, shown(row)))));
  };
  document.getElementById("rows").replaceChildren(
    el("div", { class: "bar" }, progress(), last === 1 ? null : el("nav", { "aria-label": "Pages" },
      turn(page - 1, "← previous"), ` ${page} of ${last} `, turn(page + 1, "next →"))),
    !rows.length ? note(state === "searching" ? "Searching …" : "No episode fits these filters.")
      : el("table", { class: "rows" },
        el("thead", {}, el("tr", {}, columns.map(each => sorter(each, asked.get("sort"))))),
        el("tbody", {}, rows.slice((page - 1) * PAGE, page * PAGE).map(line))));
}

// How many episodes were found, and how far a search is.
function progress() {
  const { rows, state, done, total } = selection, found = many(rows.length, "episode");
  const loading = table.length < main.rows ? ` (loading ${counted(main.rows)})` : "";
  if (state === "done") return el("p", { role: "status" }, found + loading);
  const stop = button(() => { selection.state = "stopped"; drawRows(); }, "stop");
  return el("p", {}, `${found} found in ${counted(done)} of ${counted(total)}`,
    state === "stopped" ? ", then stopped" : stop);
}

function viewEpisodes(asked) {
  const field = document.getElementById("text");
  select(asked);
  if (field === null || document.activeElement !== field)
    return ["Episodes", [tiles(), filters(asked), el("div", { id: "rows" })], drawRows];
  drawRows(); // and the form stays, with the cursor in it
  return null;
}

// ---------------------------------------------------------------- one episode, several episodes

// Splits a text at code blocks and tags of calls and thoughts; linear, whatever the text.
function* segments(text) {
  const opener = /```|<(think|search|open|find|answer|tool_call|python|code)\b[^<>\n]{0,200}>/g;
  const missing = new Set();
  let plain = 0, found;
  while ((found = opener.exec(text)) !== null) {
    const [opened, tag] = found, close = tag ? `</${tag}>` : "```";
    const end = missing.has(close) ? -1 : text.indexOf(close, opener.lastIndex);
    if (end < 0) { missing.add(close); continue; }
    if (found.index > plain) yield ["text", text.slice(plain, found.index)];
    plain = opener.lastIndex = end + close.length;
    if (tag !== "think") yield ["call", text.slice(found.index, plain)];
    else {
      yield ["thought", text.slice(found.index + opened.length, end).trim()];
      while (/\s/.test(text[plain] ?? "")) plain++; // thoughts are shown apart, without a gap
    }
  }
  if (plain < text.length) yield ["text", text.slice(plain)];
}

function actionBlock(text) {
  if (!text) return [note("(empty)")];
  const thoughts = [], pre = block("");
  for (const [kind, part] of segments(text))
    if (kind === "thought") thoughts.push(folded("Reasoning", block(part)));
    else pre.append(kind === "call" ? el("mark", {}, part) : part);
  return [...thoughts, pre];
}

function turns({ actions, replies, reasoning, calls }) {
  if (!actions.length) return [note("There is no response.")];
  const several = actions.length > 1 || replies.length > 0;
  return actions.flatMap((action, turn) => [
    section("turn action", several ? `Action ${turn + 1}` : "Response",
      reasoning[turn] ? folded("Reasoning", block(reasoning[turn])) : null,
      ...actionBlock(action),
      calls[turn] ? folded("As the endpoint called it", block(calls[turn])) : null),
    replies[turn] ? section("turn reply", "Reply", block(replies[turn])) : null,
  ]).filter(Boolean);
}

function verdict(row, { detail, parts, facts: more }, wrapped = numbers => numbers) {
  const score = table.score[row], step = table.step[row];
  return section("card verdict", "Verdict",
    el("p", {}, badge(statusOf(row)),
      el("strong", {}, Number.isNaN(score) ? "not scored" : `score ${Number(score.toFixed(6))}`)),
    detail ? el("p", { class: "detail" }, detail) : null,
    wrapped(facts([
      ...step < 0 ? [] : [["reward", rounded(table.reward[row])], ["step", step]],
      ...parts, ["turns", table.turns[row]], ["characters", counted(table.chars[row])], ...more])));
}

function question({ shots, prompt }) {
  const message = ([role, text]) => el("div", {}, el("h4", {}, role), block(text));
  return section("turn prompt", "Prompt",
    shots?.length
      ? folded(`${many(shots.length, "message")} of solved examples before it`, shots.map(message)) : null,
    prompt === null ? note("Not stored by this run.") : block(prompt));
}

function reference({ reference, facts: about, config }) {
  const found = [reference ?? []].flat();
  return section("card", "Oracle's answer",
    found.length ? found.map(block) : note("Not stored."),
    about ? folded("Problem", facts(about), config === "null" ? null : block(config)) : null);
}

const problemTitle = problem => `${short(taskOf(problem))}, level ${levelOf(problem)}`;

async function viewEpisode(asked) {
  const row = rowOf(asked.get("key") ?? "");
  if (row < 0) return missing("episode");
  select(asked);
  const problem = problemOf(row), { rows } = selection, place = rows.indexOf(row);
  const [texts, asks] = await Promise.all([episodeText(row), problemText(problem)]);
  const step = (other, text, id) => place < 0 || other === undefined
    ? el("span", { class: "off", "aria-hidden": true }, text)
    : el("a", { id, href: view("episode", { key: keyOf(other) }) }, text);
  return [problemTitle(problem), [
    el("div", { class: "bar" },
      el("p", {}, named(table.series[row]), ` · problem ${seedOf(problem)} · sample ${table.sample[row]}`),
      el("nav", { "aria-label": "Episodes" },
        el("a", { id: "up", href: view(null) }, "table"),
        step(rows[place - 1], "← previous", "previous"),
        place < 0 ? null : `${counted(place + 1)} of ${counted(rows.length)}`,
        step(rows[place + 1], "next →", "next"))),
    el("div", { class: "columns" },
      el("div", { class: "conversation" }, question(asks), turns(texts)),
      el("aside", {}, verdict(row, texts), reference(asks), sameProblem(row))),
  ]];
}

function sameProblem(row) {
  const text = problems.question[problemOf(row)];
  const others = asking(text).toSorted((a, b) => table.series[a] - table.series[b]);
  if (others.length < 2) return null;
  const line = other => el("li", {},
    el("a", { href: view("episode", { key: keyOf(other) }), "aria-current": other === row ? "true" : null },
      named(table.series[other]), ` sample ${table.sample[other]}`),
    badge(statusOf(other)), rounded(table.score[other]));
  return section("card", "The same problem",
    el("ul", { class: "others" }, others.slice(0, 50).map(line)),
    el("a", { id: "side", href: view("side", { question: text }) }, "side by side"));
}

// Episodes of one problem side by side: those of the address, or the first of every policy.
async function viewSide(asked) {
  const rows = asking(asked.get("question") ?? "");
  if (!rows.length) return missing("problem");
  const wanted = asked.getAll("key").map(rowOf).filter(row => rows.includes(row));
  const firsts = main.series.map((_, series) => rows.find(row => table.series[row] === series));
  const shown = wanted.length ? wanted : firsts.filter(row => row !== undefined);
  const texts = await Promise.all(shown.map(episodeText));
  const asks = await Promise.all([...new Set(shown.map(problemOf))].map(problemText));
  const samples = place => {
    const own = rows.filter(row => table.series[row] === table.series[shown[place]]);
    const options = own.map(row => [String(row), `${table.sample[row]}: ${words(statusOf(row))}`]);
    const pick = row => go({ key: shown.map((old, i) => keyOf(i === place ? Number(row) : old)) });
    return own.length < 2 ? null : chooser("sample", options, String(shown[place]), pick);
  };
  return [problemTitle(problemOf(shown[0])), [
    el("div", { class: "bar" },
      el("p", {}, `problem ${seedOf(problemOf(shown[0]))}`),
      el("nav", {}, el("a", { id: "up", href: view(null) }, "table"), link(view("compare"), "comparison"))),
    el("div", { class: "columns" }, el("div", {}, asks.map(question)), el("aside", {}, reference(asks[0]))),
    el("div", { class: "sides" }, shown.map((row, place) => el("article", {},
      el("h2", {}, named(table.series[row])), samples(place),
      verdict(row, texts[place], numbers => folded("Numbers", numbers)), turns(texts[place])))),
  ]];
}

// ---------------------------------------------------------------- comparison

// The interval of a difference, from -1 to 1 around a line at 0.
function reach([mean, low, high]) {
  const range = el("i"), point = el("b"), at = value => `${50 + 50 * value}%`;
  range.style.left = at(low ?? mean);
  range.style.width = `${50 * ((high ?? mean) - (low ?? mean))}%`;
  point.style.left = at(mean);
  return el("span", { class: "reach", "aria-hidden": true }, range, point);
}

function differences(groups) {
  const heads = [["", ""], ["problems", "number wide"], ["baseline", "number wide"], ["other", "number wide"],
    ["difference [95 % CI]", "number"], ["", "wide"], ["won · tied · lost", "number"]];
  const names = { overall: () => "all problems", domain: name => name ?? "–", task: short,
    difficulty: name => `level ${name ?? "default"}` };
  const alone = kind => kind === "domain" && groups.filter(group => group[0] === kind).length < 2;
  const rows = groups.map(([kind, name, count, first, second, difference, counts], i) =>
    alone(kind) ? null : el("tr", { class: groups[i - 1]?.[0] === kind ? null : "begins" },
      el("th", { scope: "row" }, names[kind](name)),
      ...[counted(count), rounded(first), rounded(second)].map(text => cell("number wide", text)),
      cell("number", rounded(difference[0]), " ", el("span", { class: "interval" }, bounds(difference))),
      cell("wide", reach(difference)), cell("number", counts.join(" · "))));
  return groups.length ? grid("pair", heads, rows) : null;
}

function changed(first, second, { changes, changed: total }) {
  if (!changes.length) return [];
  const ended = statuses => statuses.map(([status, count]) =>
    el("span", {}, badge(status), statuses.length > 1 || count > 1 ? ` ×${count} ` : ""));
  const keyed = text => [first, second].map(series =>
    keyOf(asking(text).find(row => table.series[row] === series)));
  const rows = changes.slice(0, PAGE).map(([text, task, level, ours, theirs, before, after]) => el("tr", {},
    cell("", link(view("side", { question: text, key: keyed(text) }), `${short(task)}, level ${level ?? "default"}`)),
    cell("wide", text.split("|").at(-1)),
    cell("", rounded(ours), " ", ended(before)), cell("", rounded(theirs), " ", ended(after))));
  return [el("h3", {}, `The problems that changed most (${rows.length} of ${counted(total)})`),
    grid("changes", [["problem", ""], ["seed", "wide"], [named(first), ""], [named(second), ""]], rows)];
}

async function comparison(first, second) {
  const title = el("h2", {}, named(second), " compared with ", named(first)), found = await pair(first, second);
  if (found === null)
    return el("section", {}, title, note("Of so many policies, each is compared with the first one only."));
  const alone = [first, second].map((place, i) => found.alone[i]
    ? `Only ${main.series[place].label} has ${many(found.alone[i], "further problem")}. ` : "").join("");
  return el("section", {}, title,
    found.note ? el("p", { class: "note warning" }, `Note: ${found.note}.`) : null,
    differences(found.groups),
    found.groups.length && alone ? note(alone) : null,
    changed(first, second, found));
}

async function viewCompare(asked) {
  if (main.series.length < 2)
    return ["Comparison", [note("There is one policy here. Give rlvr view a second run.")]];
  const place = name => main.series.findIndex(series => series.label === asked.get(name));
  const first = Math.max(0, place("baseline")), chosen = place("other");
  const others = [...main.series.keys()].filter(other => other !== first);
  const options = main.series.map(({ label }) => [label, label]);
  return ["Comparison", [
    sampled(),
    note("Mean scores on the problems that both answered. The difference is the other's minus the ",
      "baseline's, paired by problem, with its 95 % confidence interval; won, tied and lost count problems."),
    el("form", { class: "filters" },
      chooser("baseline", options, main.series[first].label, label => go({ baseline: label, other: null })),
      chooser("compared with", [["", "all others"], ...others.map(other => options[other])],
        asked.get("other") ?? "", label => go({ other: label }))),
    ...await Promise.all((others.includes(chosen) ? [chosen] : others).map(other => comparison(first, other))),
  ]];
}

// ---------------------------------------------------------------- scores by level

async function viewScores() {
  const heads = [["task", ""], ["level", "number"], ...main.series.map((_, place) => [named(place), "number"])];
  const rows = main.scores.map(([task, level, ...found], i) =>
    el("tr", { class: i && main.scores[i - 1][0] === task ? null : "begins" },
      el("th", { scope: "row" }, task === null ? "all tasks" : short(task)),
      cell("number", String(level ?? "default")), found.map(each => cell("number", interval(each)))));
  const listed = el("div", { class: "scroll", tabindex: 0 }, grid("scores", heads, rows));
  const figures = await Promise.all(Array.from({ length: main.figures }, (_, number) => load("figure", number)));
  if (figures.length && !globalThis.Plotly) await script("data/plotly.js");
  const places = figures.map(() => el("div", { class: "plot" }));
  return ["Scores by level", [
    sampled(),
    note("Mean score with its 95 % confidence interval, clustered by problem."),
    el("ul", { class: "legend" }, main.series.map((_, place) => el("li", {}, named(place)))),
    el("div", { class: "plots" }, places),
    figures.length ? folded("As a table", listed) : listed,
  ], () => places.forEach((place, i) => draw(place, figures[i]))];
}

function draw(place, { title, data, layout }) {
  const style = getComputedStyle(document.documentElement), clear = "rgba(0,0,0,0)";
  const [ink, line] = ["--ink", "--line"].map(name => style.getPropertyValue(name).trim());
  const axis = given => ({ ...given, gridcolor: line, linecolor: line, tickcolor: line, fixedrange: true });
  const inside = el("div");
  place.replaceChildren(el("h3", {}, title), inside);
  globalThis.Plotly.newPlot(inside, data, {
    ...layout, xaxis: axis(layout.xaxis), yaxis: axis(layout.yaxis), showlegend: false,
    paper_bgcolor: clear, plot_bgcolor: clear, font: { color: ink, family: "system-ui, sans-serif", size: 12 },
  }, { responsive: true, displayModeBar: false });
}

// ---------------------------------------------------------------- the page

const VIEWS = { episode: viewEpisode, side: viewSide, compare: viewCompare, scores: viewScores };
const TABS = [[null, "Episodes"], ["compare", "Comparison"], ["scores", "Scores"]];
const INSIDE = { episode: null, side: null }; // of a tab
const help = document.getElementById("help");
let drawing = 0;
let shownBefore;

// Above means of scores, where a run of training takes part.
const sampled = () => main.training
  ? el("p", { class: "note warning" }, "Samples of training are chosen to differ in score: their means say nothing ",
    "about the run. Its metrics.jsonl has its scores (rlvr plot).") : null;

const missing = what =>
  ["Not found", [note(`These runs have no such ${what}. `, link("#", "All episodes"))]];

function show(title, parts, after) {
  document.title = `${title} · ${main.series.map(each => each.label).join(", ")}`.slice(0, 100);
  document.getElementById("main").replaceChildren(el("h2", { class: "title", tabindex: -1 }, title),
    ...parts.filter(part => part !== null));
  after?.();
}

async function render(still = false) {
  const asked = query(), name = asked.get("view"), number = ++drawing;
  if (!main || !table.length || name && table.length < main.rows) return; // and again when it is there
  document.querySelector("header nav").replaceChildren(...TABS.map(([tab, text]) => el("a",
    { href: view(tab), "aria-current": tab === (name in INSIDE ? INSIDE[name] : name) ? "page" : null }, text)));
  const found = await Promise.resolve(asked).then(VIEWS[name] ?? viewEpisodes)
    .catch(error => ["Something is missing", [note(error.message)]]);
  if (number !== drawing) return; // the reader has gone on
  if (found) show(...found);
  const place = [name, asked.get("key"), asked.get("question")].join();
  if (!still && shownBefore !== place) {
    scrollTo(0, 0);
    document.querySelector(".title")?.focus({ preventScroll: true });
  }
  shownBefore = place;
  performance.mark("shown");
}

function pressed(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || help.open) return;
  if (event.target.closest("input, select, textarea")) {
    if (event.key === "Escape") event.target.blur();
    return;
  }
  const click = id => document.getElementById(id)?.click();
  const focus = by => {
    const links = [...document.querySelectorAll("tbody a")], here = links.indexOf(document.activeElement);
    links[Math.min(links.length - 1, Math.max(0, here < 0 ? 0 : here + by))]?.focus();
  };
  const one = query().get("view") === "episode";
  const keys = {
    j: () => one ? click("next") : focus(1), k: () => one ? click("previous") : focus(-1),
    u: () => click("up"), s: () => click("side"), "?": () => help.showModal(),
    "/": () => {
      document.querySelector(".folded")?.setAttribute("open", "");
      document.getElementById("text")?.focus();
    },
  };
  if (one) Object.assign(keys, { ArrowRight: keys.j, ArrowLeft: keys.k });
  TABS.forEach(([tab], place) => { keys[place + 1] = () => { location.hash = view(tab); }; });
  if (!Object.hasOwn(keys, event.key)) return;
  event.preventDefault();
  keys[event.key]();
}

addEventListener("hashchange", () => render());
addEventListener("keydown", pressed);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => render(true));
document.getElementById("help-button").addEventListener("click", () => help.showModal());
loadTable().catch(error => document.getElementById("main").replaceChildren(
  el("p", { class: "note", role: "alert" }, error.message)));
