// What is shown of the data of `data.js`, and the keyboard. What is seen follows from the address
// (after #) alone, so every view has a link and the browser's Back works. Text from runs goes into
// text nodes only.
"use strict";

// ---------------------------------------------------------------- elements

function el(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes))
    if (typeof value === "function") element.addEventListener(key, value);
    else if (value !== null && value !== false) element.setAttribute(key, value === true ? "" : value);
  element.append(...children.flat().filter(child => child !== null && child !== undefined));
  return element;
}

const swatch = place => el("i", { class: "swatch", "data-colour": place % 7, "aria-hidden": true });
const named = place => el("span", { class: "series" }, swatch(place), main.series[place].label);
const badge = status => el("span", { class: "status", "data-status": status }, status.replaceAll("_", " "));
const block = text => el("pre", { tabindex: 0 }, text);
const folded = (title, ...inside) => el("details", {}, el("summary", {}, title), ...inside);
const facts = pairs =>
  el("dl", { class: "facts" }, pairs.flatMap(([k, v]) => [el("dt", {}, k), el("dd", {}, v)]));
const chooser = (label, options, chosen, change) => el("label", {}, el("span", {}, label),
  el("select", { change: event => change(event.target.value) },
    options.map(([value, text]) => el("option", { value, selected: value === chosen }, text))));

// ---------------------------------------------------------------- the table of episodes

const PAGE = 100;
const COLUMNS = [
  { id: "status", key: statusOf, cell: row => badge(statusOf(row)) },
  { id: "score", number: true, key: row => table.score[row], cell: row => rounded(table.score[row]) },
  { id: "reward", number: true, wide: true, training: true, key: row => table.reward[row], cell: row => rounded(table.reward[row]) },
  { id: "step", number: true, training: true, key: row => table.step[row] < 0 ? null : table.step[row], cell: row => table.step[row] < 0 ? "–" : String(table.step[row]) },
  { id: "task", key: row => taskOf(table.problem[row]), cell: row => short(taskOf(table.problem[row])) },
  { id: "level", number: true, key: row => problems.level[table.problem[row]], cell: row => String(levelOf(table.problem[row])) },
  { id: "problem", wide: true, key: row => table.problem[row], cell: row => seedOf(table.problem[row]) },
  { id: "sample", number: true, wide: true, key: row => table.sample[row], cell: row => String(table.sample[row]) },
  { id: "policy", key: row => seriesOf(row).label, cell: row => named(table.series[row]) },
  { id: "turns", number: true, wide: true, key: row => table.turns[row], cell: row => String(table.turns[row]) },
  { id: "chars", number: true, wide: true, key: row => table.chars[row], cell: row => table.chars[row].toLocaleString("en") },
  { id: "answer", wide: true, key: row => table.answer[row], cell: row => table.answer[row] ?? "–" },
];

function tiles() {
  return el("ul", { class: "tiles" }, main.series.map((each, place) => el("li", { "data-colour": place % 7 },
    el("a", { href: link({ view: null, run: each.run, policy: each.policy, page: null }) }, each.label),
    el("strong", {}, rounded(each.score[0])),
    el("small", {}, each.score[1] === null ? "mean score" : `95 % CI ${rounded(each.score[1])} to ${rounded(each.score[2])}`),
    el("small", {}, `${many(each.episodes, "episode")} · ${many(each.problems, "problem")}`))));
}

function filters(asked) {
  const set = (name, replace = false) => value => go({ [name]: value, page: null }, { replace });
  const distinct = values => [...new Set(values)].sort((a, b) => a < b ? -1 : a > b ? 1 : 0);
  const choice = (name, values, text = value => value) => values.length < 2 ? null
    : chooser(name, [["", "all"], ...values.map(value => [String(value), text(value)])], asked.get(name) ?? "", set(name));
  const bound = (name, label, least, most, step) => el("label", {}, el("span", {}, label), el("input", {
    type: "number", min: least, max: most, step, value: asked.get(name), change: event => set(name)(event.target.value) }));
  let timer;
  const open = matchMedia("(min-width: 721px)").matches || FILTERS.some(name => asked.has(name));
  return el("details", { class: "folded", open }, el("summary", {}, "Filters and search"),
  el("form", { class: "filters", role: "search", submit: event => event.preventDefault() },
    choice("run", distinct(main.series.map(s => s.run))),
    choice("policy", distinct(main.series.map(s => s.policy))),
    choice("domain", distinct(main.domains)),
    choice("task", distinct(main.tasks), short),
    choice("level", [...new Set(problems.level)].sort((a, b) => (a ?? -1) - (b ?? -1)).map(level => level ?? "default")),
    choice("status", distinct(main.statuses), status => status.replaceAll("_", " ")),
    bound("low", "score from", 0, 1, "any"), bound("high", "to", 0, 1, "any"),
    main.training ? bound("step", "step", 0, null, 1) : null,
    el("label", { class: "text" }, el("span", {}, "text of prompt, response or verdict"), el("input", {
      type: "search", id: "text", value: asked.get("text"), input: event => {
        clearTimeout(timer);
        timer = setTimeout(set("text", true), 300, event.target.value);
      } })),
    FILTERS.some(name => asked.has(name)) ? el("a", { class: "clear", href: "#" }, "clear filters") : null));
}

function drawRows() {
  const asked = query(), columns = COLUMNS.filter(column => !column.training || main.training);
  const { rows, state, done, total } = selection, last = Math.max(1, Math.ceil(rows.length / PAGE));
  const page = Math.min(Math.max(1, Number(asked.get("page")) || 1), last), sort = asked.get("sort");
  const head = columns.map(({ id, number, wide }) => {
    const up = sort === id, down = sort === `-${id}`;
    return el("th", { class: [number && "number", wide && "wide"].filter(Boolean).join(" "),
      "aria-sort": up ? "ascending" : down ? "descending" : null },
    el("button", { type: "button", click: () => go({ sort: up ? `-${id}` : down ? null : id, page: null }) },
      id, up ? " ↑" : down ? " ↓" : ""));
  });
  const body = rows.slice((page - 1) * PAGE, page * PAGE).map(row => {
    const href = view("episode", { key: keyOf(row) });
    return el("tr", { click: event => { if (!event.target.closest("a")) location.hash = href; } },
      columns.map(({ cell, number, wide }, place) => el("td", { class: [number && "number", wide && "wide"].filter(Boolean).join(" ") },
        place ? cell(row) : el("a", { href }, cell(row)))));
  });
  const loading = table.length < main.rows ? ` (loading ${main.rows.toLocaleString("en")})` : "";
  const turn = (to, text) => to < 1 || to > last ? el("span", { class: "off", "aria-hidden": true }, text)
    : el("a", { href: link({ page: to === 1 ? null : to }) }, text);
  document.getElementById("rows").replaceChildren(
    el("div", { class: "bar" },
      el("p", { role: "status" }, state === "done" ? many(rows.length, "episode") + loading
        : `${many(rows.length, "episode")} found in ${done.toLocaleString("en")} of ${total.toLocaleString("en")}`,
      state === "searching" ? el("button", { type: "button", click: () => { selection.state = "stopped"; drawRows(); } }, "stop") : "",
      state === "stopped" ? ", then stopped" : ""),
      last > 1 ? el("nav", { "aria-label": "Pages" }, turn(page - 1, "← previous"), ` ${page} of ${last} `, turn(page + 1, "next →")) : null),
    rows.length ? el("table", { class: "rows" }, el("thead", {}, el("tr", {}, head)), el("tbody", {}, body))
      : el("p", { class: "note" }, state === "searching" ? "Searching …" : "No episode fits these filters."));
}

function viewEpisodes(asked) {
  const typed = document.getElementById("text");
  const typing = typed !== null && document.activeElement === typed;
  select(asked);
  if (!typing) return ["Episodes", [tiles(), filters(asked), el("div", { id: "rows" })], drawRows];
  drawRows(); // and the form stays, with the cursor in it
  return null;
}

// ---------------------------------------------------------------- one episode, several episodes

const CALLS = ["search", "open", "find", "answer", "tool_call", "python", "code"];

// Splits a text at code blocks and tags of calls and thoughts; linear, whatever the text.
function* segments(text) {
  const opener = /```|<(think|search|open|find|answer|tool_call|python|code)\b[^<>\n]{0,200}>/g;
  const missing = new Set();
  let plain = 0, found;
  while ((found = opener.exec(text)) !== null) {
    const close = found[1] ? `</${found[1]}>` : "```";
    const end = missing.has(close) ? -1 : text.indexOf(close, opener.lastIndex);
    if (end < 0) { missing.add(close); continue; }
    if (found.index > plain) yield ["text", text.slice(plain, found.index)];
    plain = opener.lastIndex = end + close.length;
    const thought = found[1] === "think";
    yield thought ? ["thought", text.slice(found.index + found[0].length, end).trim()] : ["call", text.slice(found.index, plain)];
    while (thought && /\s/.test(text[plain] ?? "")) plain++; // as the block of thoughts is shown apart
  }
  if (plain < text.length) yield ["text", text.slice(plain)];
}

function actionBlock(text) {
  if (!text) return el("p", { class: "note" }, "(empty)");
  const pre = block("");
  const parts = [pre];
  for (const [kind, part] of segments(text))
    if (kind === "thought") parts.unshift(folded("Reasoning", block(part)));
    else pre.append(kind === "call" ? el("mark", {}, part) : part);
  return el("div", {}, parts);
}

function turns(row, { actions, replies, reasoning }) {
  if (!actions.length) return [el("p", { class: "note" }, "There is no response.")];
  const several = actions.length > 1 || replies.length > 0;
  return actions.flatMap((action, turn) => [
    el("section", { class: "turn action" },
      el("h3", {}, several ? `Action ${turn + 1}` : "Response"),
      reasoning[turn] ? folded("Reasoning", block(reasoning[turn])) : null, actionBlock(action)),
    replies[turn] ? el("section", { class: "turn reply" }, el("h3", {}, "Reply"), block(replies[turn])) : null,
  ]).filter(Boolean);
}

function verdict(row, { detail, parts, facts: more }, inside = numbers => numbers) {
  return el("section", { class: "card verdict" }, el("h3", {}, "Verdict"),
    el("p", {}, badge(statusOf(row)), el("strong", {}, Number.isNaN(table.score[row]) ? "not scored" : `score ${+table.score[row].toFixed(6)}`)),
    detail ? el("p", { class: "detail" }, detail) : null,
    inside(facts([
      ...table.step[row] >= 0 ? [["reward", rounded(table.reward[row])], ["step", table.step[row]]] : [],
      ...parts, ["turns", table.turns[row]], ["characters", table.chars[row].toLocaleString("en")], ...more])));
}

function question(texts) {
  return el("section", { class: "turn prompt" }, el("h3", {}, "Prompt"),
    texts.shots?.length ? folded(`${many(texts.shots.length, "message")} of solved examples before it`,
      texts.shots.map(([role, text]) => el("div", {}, el("h4", {}, role), block(text)))) : null,
    texts.prompt === null ? el("p", { class: "note" }, "Not stored by this run.") : block(texts.prompt));
}

function reference(texts) {
  const found = [texts.reference ?? []].flat();
  return el("section", { class: "card" },
    el("h3", {}, "Oracle's answer"),
    found.length ? found.map(block) : el("p", { class: "note" }, "Not stored."),
    texts.facts ? folded("Problem", facts(texts.facts), texts.config === "null" ? "" : block(texts.config)) : null);
}

const asking = text => {
  const found = [];
  for (let row = 0; row < table.length; row++) if (problems.question[table.problem[row]] === text) found.push(row);
  return found;
};

async function viewEpisode(asked) {
  const row = rowOf(asked.get("key") ?? "");
  if (row < 0) return missing("episode");
  select(asked);
  const problem = table.problem[row], [texts, asks] = await Promise.all([episodeText(row), problemText(problem)]);
  const others = asking(problems.question[problem]), place = selection.rows.indexOf(row);
  const step = (by, text, id) => {
    const other = selection.rows[place + by];
    return place < 0 || other === undefined ? el("span", { class: "off", "aria-hidden": true }, text)
      : el("a", { id, href: view("episode", { key: keyOf(other) }), rel: by < 0 ? "prev" : "next" }, text);
  };
  const side = view("side", { question: problems.question[problem] });
  return [`${short(taskOf(problem))}, level ${levelOf(problem)}`, [
    el("div", { class: "bar" },
      el("p", {}, named(table.series[row]), ` · problem ${seedOf(problem)} · sample ${table.sample[row]}`),
      el("nav", { "aria-label": "Episodes" }, el("a", { id: "up", href: view(null) }, "table"), step(-1, "← previous", "previous"),
        place < 0 ? "" : `${(place + 1).toLocaleString("en")} of ${selection.rows.length.toLocaleString("en")}`, step(1, "next →", "next"))),
    el("div", { class: "columns" },
      el("div", { class: "conversation" }, question(asks), turns(row, texts)),
      el("aside", {}, verdict(row, texts), reference(asks),
        others.length > 1 ? el("section", { class: "card" }, el("h3", {}, "The same problem"),
          el("ul", { class: "others" }, others.slice(0, 50).map(other => el("li", {},
            el("a", { href: view("episode", { key: keyOf(other) }), "aria-current": other === row ? "true" : null },
              named(table.series[other]), ` sample ${table.sample[other]}`), badge(statusOf(other)), rounded(table.score[other])))),
          el("a", { id: "side", href: side }, "side by side")) : null))]];
}

// Episodes of one problem side by side: those of the address, or the first of every series.
async function viewSide(asked) {
  const rows = asking(asked.get("question") ?? "");
  if (!rows.length) return missing("problem");
  const wanted = asked.getAll("key").map(rowOf).filter(row => rows.includes(row));
  const firsts = main.series.map((_, series) => rows.find(row => table.series[row] === series));
  const shown = wanted.length ? wanted : firsts.filter(row => row !== undefined);
  const texts = await Promise.all(shown.map(episodeText));
  const asks = await Promise.all([...new Set(shown.map(row => table.problem[row]))].map(problemText));
  const pick = (place, row) => go({ key: shown.map((old, i) => keyOf(i === place ? row : old)) });
  const problem = table.problem[shown[0]];
  return [`${short(taskOf(problem))}, level ${levelOf(problem)}`, [
    el("div", { class: "bar" }, el("p", {}, `problem ${seedOf(problem)}`),
      el("nav", {}, el("a", { id: "up", href: view(null) }, "table"), el("a", { href: view("compare") }, "comparison"))),
    el("div", { class: "columns" }, el("div", {}, asks.map(question)), el("aside", {}, reference(asks[0]))),
    el("div", { class: "sides" }, shown.map((row, place) => {
      const samples = rows.filter(other => table.series[other] === table.series[row]);
      return el("article", {},
        el("h2", {}, named(table.series[row])),
        samples.length > 1 ? chooser("sample", samples.map(other =>
          [String(other), `${table.sample[other]}: ${statusOf(other)}`]), String(row), value => pick(place, Number(value))) : null,
        verdict(row, texts[place], numbers => folded("Numbers", numbers)), turns(row, texts[place]));
    }))]];
}

// ---------------------------------------------------------------- comparison, scores

function seriesByLabel(label, otherwise) {
  const found = main.series.findIndex(each => each.label === label);
  return found < 0 ? otherwise : found;
}

async function pair(first, second) {
  const straight = main.pairs.findIndex(([a, b]) => a === first && b === second);
  if (straight >= 0) return load("pair", straight);
  const turned = main.pairs.findIndex(([a, b]) => a === second && b === first);
  if (turned < 0) return null;
  const found = await load("pair", turned), minus = value => value === null ? null : -value;
  return { ...found, alone: found.alone.toReversed(),
    groups: found.groups.map(([kind, name, n, a, b, [mean, low, high], counts]) =>
      [kind, name, n, b, a, [minus(mean), minus(high), minus(low)], counts.toReversed()]),
    changes: found.changes.map(([asked, task, level, a, b, ours, theirs]) => [asked, task, level, b, a, theirs, ours]) };
}

// The interval of a difference, from -1 to 1 around a line at 0.
function reach([mean, low, high]) {
  const bar = el("span", { class: "reach", "aria-hidden": true }, el("i"), el("b"));
  const at = value => `${50 + 50 * value}%`;
  bar.children[0].style.left = at(low ?? mean);
  bar.children[0].style.width = `${50 * ((high ?? mean) - (low ?? mean))}%`;
  bar.children[1].style.left = at(mean);
  return bar;
}

const ended = statuses => statuses.map(([status, count]) =>
  el("span", {}, badge(status), statuses.length > 1 || count > 1 ? ` ×${count} ` : ""));

function comparison(first, second, found) {
  const title = el("h2", {}, named(second), " compared with ", named(first));
  if (found === null) return el("section", {}, title, el("p", { class: "note" }, "Not computed: of more than 12 policies, each is compared with the first."));
  const kinds = { overall: "all problems", domain: "domain", task: "task", difficulty: "level" };
  const rows = found.groups.map(([kind, name, count, a, b, difference, counts], place) => {
    const begins = found.groups[place - 1]?.[0] !== kind;
    if (kind === "domain" && found.groups.filter(group => group[0] === kind).length < 2) return null;
    return el("tr", { class: begins ? "begins" : null },
      el("th", { scope: "row" }, kind === "overall" ? "all problems" : kind === "task" ? short(name) : `${kinds[kind]} ${name ?? "default"}`.replace("domain ", "")),
      ...[String(count), rounded(a), rounded(b)].map((text, i) => el("td", { class: i ? "number" : "number wide" }, text)),
      el("td", { class: "number" }, rounded(difference[0]), " ", el("span", { class: "interval" }, bounds(difference))), el("td", { class: "wide" }, reach(difference)),
      el("td", { class: "number" }, counts.join(" · ")));
  });
  const labels = [first, second].map(place => main.series[place].label);
  const changes = found.changes.slice(0, 100).map(([asked, task, level, a, b, ours, theirs]) => el("tr", {},
    el("td", {}, el("a", { href: view("side", { question: asked, key: [first, second].map(place => firstOf(asked, place)) }) }, `${short(task)}, level ${level ?? "default"}`)),
    el("td", { class: "wide" }, asked.split("|").at(-1)),
    el("td", {}, rounded(a), " ", ended(ours)), el("td", {}, rounded(b), " ", ended(theirs))));
  const alone = found.alone.map((count, i) => count ? `${many(count, "problem")} of ${labels[i]} ${count === 1 ? "is" : "are"} not in the other run.` : "");
  return el("section", {}, title,
    found.note ? el("p", { class: "note warning" }, `Note: ${found.note}.`) : null,
    rows.length ? el("table", { class: "pair" },
      el("thead", {}, el("tr", {}, ["", "problems", "baseline", "other", "difference [95 % CI]", "", "won · tied · lost"].map((text, i) =>
        el("th", { class: i === 5 ? "wide" : i === 1 ? "number wide" : i ? "number" : "" }, text)))), el("tbody", {}, rows)) : null,
    rows.length && alone.some(Boolean) ? el("p", { class: "note" }, alone.join(" ")) : null,
    changes.length ? [el("h3", {}, `The problems that changed most (${Math.min(100, changes.length)} of ${found.changed})`),
      el("table", { class: "changes" }, el("thead", {}, el("tr", {}, el("th", {}, "problem"), el("th", { class: "wide" }, "seed"), el("th", {}, named(first)), el("th", {}, named(second)))),
        el("tbody", {}, changes))] : null);
}

function firstOf(asked, series) {
  const row = asking(asked).find(row => table.series[row] === series);
  return row === undefined ? "" : keyOf(row);
}

async function viewCompare(asked) {
  if (main.series.length < 2)
    return ["Comparison", [el("p", { class: "note" }, "There is one policy here. Give rlvr view a second run, or a run with several policies.")]];
  const first = seriesByLabel(asked.get("baseline"), 0);
  const chosen = seriesByLabel(asked.get("other"), -1);
  const others = main.series.map((_, place) => place).filter(place => place !== first && (chosen < 0 || chosen === first || chosen === place));
  const found = await Promise.all(others.map(other => pair(first, other)));
  const options = main.series.map(({ label }) => [label, label]);
  return ["Comparison", [
    el("p", { class: "note" }, "Mean scores on the problems that both answered. The difference is the other's minus the baseline's, paired by problem, with its 95 % confidence interval; won, tied and lost count problems."),
    el("form", { class: "filters" },
      chooser("baseline", options, main.series[first].label, value => go({ baseline: value })),
      chooser("compared with", [["", "all others"], ...options.filter((_, place) => place !== first)], asked.get("other") ?? "", value => go({ other: value }))),
    ...others.map((other, i) => comparison(first, other, found[i]))]];
}

async function viewScores() {
  const head = ["task", "level", ...main.series.keys()];
  const rows = main.scores.map(([task, level, ...found], i) => el("tr", { class: main.scores[i - 1]?.[0] === task ? null : "begins" },
    el("th", { scope: "row" }, task === null ? "all tasks" : short(task)), el("td", { class: "number" }, String(level ?? "default")),
    found.map(each => el("td", { class: "number" }, interval(each)))));
  const body = el("table", { class: "scores" },
    el("thead", {}, el("tr", {}, head.map((name, i) => el("th", { class: i ? "number" : "" }, i < 2 ? name : named(name))))), el("tbody", {}, rows));
  const places = Array.from({ length: main.figures }, () => el("div", { class: "plot" }));
  const figures = await Promise.all(places.map((_, number) => load("figure", number)));
  if (main.figures && !globalThis.Plotly) await script("data/plotly.js");
  return ["Scores by level", [
    el("p", { class: "note" }, "Mean score with its 95 % confidence interval, clustered by problem."),
    el("ul", { class: "legend" }, main.series.map((_, place) => el("li", {}, named(place)))),
    el("div", { class: "plots" }, places),
    main.figures ? folded("As a table", el("div", { class: "scroll" }, body)) : el("div", { class: "scroll" }, body)],
  () => places.forEach((place, i) => draw(place, figures[i]))];
}

function draw(place, { title, data, layout }) {
  const style = getComputedStyle(document.documentElement), clear = "rgba(0,0,0,0)";
  const [ink, line] = ["--ink", "--line"].map(name => style.getPropertyValue(name).trim());
  const axis = given => ({ ...given, gridcolor: line, linecolor: line, tickcolor: line, fixedrange: true });
  const inside = el("div");
  place.replaceChildren(el("h3", {}, title), inside);
  globalThis.Plotly.newPlot(inside, data, { ...layout, xaxis: axis(layout.xaxis), yaxis: axis(layout.yaxis),
    showlegend: false, paper_bgcolor: clear, plot_bgcolor: clear, font: { color: ink, family: style.fontFamily, size: 12 } },
  { responsive: true, displayModeBar: false });
}

// ---------------------------------------------------------------- the page

const VIEWS = { episode: viewEpisode, side: viewSide, compare: viewCompare, scores: viewScores };
const TABS = [[null, "Episodes"], ["compare", "Comparison"], ["scores", "Scores"]];
let drawing = 0;
let shownView;

function show(title, parts, after) {
  document.title = `${title} · ${main.series.map(each => each.label).join(", ")}`.slice(0, 100);
  const heading = el("h2", { class: "title", tabindex: -1 }, title);
  document.getElementById("main").replaceChildren(heading, ...parts);
  after?.();
}

const missing = what => ["Not found", [el("p", { class: "note" },
  `These runs have no such ${what}. `, el("a", { href: "#" }, "All episodes"))]];

async function render(still = false) {
  const asked = query(), name = asked.get("view"), number = ++drawing;
  if (!main || !table.length || name && table.length < main.rows) return; // and again when it is
  document.querySelector("header nav").replaceChildren(...TABS.map(([tab, text]) =>
    el("a", { href: view(tab), "aria-current": tab === name || tab === null && ["episode", "side"].includes(name) ? "page" : null }, text)));
  const found = await Promise.resolve(asked).then(VIEWS[name] ?? viewEpisodes).catch(error =>
    ["Something is missing", [el("p", { class: "note", role: "alert" }, error.message)]]);
  if (number !== drawing) return; // the reader has gone on
  if (found) show(...found);
  const key = asked.get("key") + asked.get("question");
  if (!still && shownView !== `${name}${key}`) {
    scrollTo(0, 0);
    document.querySelector(".title")?.focus({ preventScroll: true });
  }
  shownView = `${name}${key}`;
  performance.mark("shown");
}

function pressed(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
  if (event.target.closest("input, select, textarea")) {
    if (event.key === "Escape") event.target.blur();
    return;
  }
  const click = id => document.getElementById(id)?.click();
  const row = by => {
    const links = [...document.querySelectorAll("tbody a")];
    const here = links.indexOf(document.activeElement);
    links[Math.min(links.length - 1, Math.max(0, here < 0 ? 0 : here + by))]?.focus();
  };
  const one = query().get("view") === "episode";
  const keys = {
    j: () => one ? click("next") : row(1), k: () => one ? click("previous") : row(-1),
    ArrowRight: () => one && click("next"), ArrowLeft: () => one && click("previous"),
    u: () => click("up"), s: () => click("side"), "?": () => document.getElementById("help").showModal(),
    "/": () => document.getElementById("text")?.focus(),
  };
  TABS.forEach(([tab], place) => { keys[place + 1] = () => { location.hash = view(tab); }; });
  if (Object.hasOwn(keys, event.key)) {
    event.preventDefault();
    keys[event.key]();
  }
}

addEventListener("hashchange", () => render());
addEventListener("keydown", pressed);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => render(true));
document.getElementById("help-button").addEventListener("click", () => document.getElementById("help").showModal());
loadTable().catch(error => document.getElementById("main").replaceChildren(
  el("p", { class: "note", role: "alert" }, error.message)));
