"""The page of `rlvr view` in a real browser: Debian's Chromium without a window.

Without the browser, its driver or selenium the tests are skipped, unless RLVR_REQUIRE_BROWSER is
set.
"""

import os
import shutil
import threading

import pytest
from fakes.run_folders import old, problem, record, trained, write_run, write_training

from rlvr_envs.evaluation.runs import open_runs
from rlvr_envs.evaluation.viewer.index import write_page
from rlvr_envs.evaluation.viewer.serve import HOST, server

HOSTILE = "</script><script>window.hacked = 1</script><img src=x onerror='window.hacked = 2'>"
ODD = f"{HOSTILE}\u2028\u2029\x01\x1b[31m\u202e & \ud800 end"
WAIT_S = 60
TURNS = {"response": ["<think>small?</think>first", "<search>cats</search>", "```python\nx\n```"]}


@pytest.fixture(scope="module")
def browser():
    required = bool(os.environ.get("RLVR_REQUIRE_BROWSER"))
    paths = {name: shutil.which(name) for name in ("chromium", "chromedriver")}
    absent = [name for name, path in paths.items() if path is None]
    try:
        from selenium import webdriver
    except ImportError:
        absent.append("selenium")
    if absent:
        told = f"{' and '.join(absent)} missing: apt-get install chromium chromium-driver"
        pytest.fail(told) if required else pytest.skip(told)
    options = webdriver.ChromeOptions()
    options.binary_location = paths["chromium"]
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    for flag in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"):
        options.add_argument(flag)
    service = webdriver.ChromeService(paths["chromedriver"])
    with webdriver.Chrome(options=options, service=service) as found:
        found.set_script_timeout(WAIT_S)
        yield found


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    before, after = [], []
    for seed in range(130):
        for level in (0, 1):
            asked = {"seed": seed, "level": level, "task": "rlvr/Gcd-v0"}
            before.append(record("small", score=float(seed % 2), **asked))
            after.append(record("large", score=float(seed % 10 > 0), **asked))
    played = record(
        "small", task="rlvr/GuessNumber-v0", level=3, score=0.5, domain="puzzles", **TURNS
    )
    played |= {"replies": ["colder", "two pages"], "reasoning": ["apart", None, None]}
    played["verdict"] |= {"detail": "half way", "parts": {"quality": 0.25}}
    odd = record(f"odd {HOSTILE}", level=2, task=f"rlvr/{HOSTILE}", response=ODD, answer=ODD)
    odd["verdict"] |= {"detail": ODD, "parts": {"__proto__": 1, ODD: 0.5}}
    before += [played, odd]
    shots = [
        {"role": "user", "content": "an example"},
        {"role": "assistant", "content": "its answer"},
    ]
    problems = [problem(r) for r in before[:260]]
    problems += [problem(played, shots=shots, reference=["one", "two"]), problem(odd, prompt=ODD)]
    write_run(folder / "before", before, problems)
    write_run(folder / "after", [old(r) for r in after])
    write_training(folder / "grpo", [trained(step, seed=step) for step in (1, 2)])
    write_page(
        open_runs([str(folder / name) for name in ("before", "after", "grpo")]), folder / "page"
    )
    return folder / "page"


@pytest.fixture
def served(page):
    with server(page) as serving:
        thread = threading.Thread(target=serving.serve_forever)
        thread.start()
        yield f"http://{HOST}:{serving.server_address[1]}/"
        serving.shutdown()
        thread.join()


class Reader:
    """Somebody who clicks, types and looks."""

    def __init__(self, browser, address):
        self.browser, self.address = browser, address

    def js(self, script, *given):
        return self.browser.execute_script(script, *given)

    def until(self, script, *given):
        """Wait until a script gives something that is true, and return it."""
        from selenium.webdriver.support.ui import WebDriverWait

        return WebDriverWait(self.browser, WAIT_S).until(lambda _: self.js(script, *given), script)

    def open(self, place=""):
        self.browser.get("about:blank")
        self.browser.get(self.address + place)
        self.until("return !!document.querySelector('h2.title')")

    def text(self, selector="main"):
        script = "return document.querySelector(arguments[0])?.textContent.toWellFormed() ?? ''"
        return self.js(script, selector)

    def texts(self, selector):
        script = "return [...document.querySelectorAll(arguments[0])].map(e => e.textContent.toWellFormed())"
        return self.js(script, selector)

    def titled(self, title):
        self.until("return document.querySelector('h2.title')?.textContent === arguments[0]", title)

    def says(self, text):
        self.until("return document.querySelector('main').textContent.includes(arguments[0])", text)

    def counts(self, text):
        self.until("return document.querySelector('#rows p')?.textContent === arguments[0]", text)

    def choose(self, label, value):
        self.js(
            """const label = [...document.querySelectorAll("label")]
                 .find(label => label.firstChild.textContent === arguments[0]);
               const field = label.querySelector("select, input");
               field.value = arguments[1];
               field.dispatchEvent(new Event("change", { bubbles: true }));""",
            label,
            value,
        )

    def press(self, *keys):
        from selenium.webdriver import ActionChains

        ActionChains(self.browser).send_keys(*keys).perform()

    def click(self, selector):
        self.js("document.querySelector(arguments[0]).click()", selector)

    def hash(self):
        return self.js("return location.hash")

    def messages(self):
        return [e for e in self.browser.get_log("browser") if e["level"] in ("WARNING", "SEVERE")]


@pytest.fixture
def reader(browser, page):
    found = Reader(browser, f"{page.as_uri()}/index.html")
    found.messages()  # of an earlier test
    yield found
    assert found.messages() == []
    assert found.js("return window.hacked") is None


def test_the_table_has_pages_and_is_sorted_and_filtered(reader):
    reader.open()
    reader.counts("524 episodes")
    assert len(reader.texts("tbody tr")) == 100
    assert reader.texts(".tiles a") == [
        "small",
        f"odd {HOSTILE}",
        "large",
        "grpo",
    ]
    reader.choose("task", "rlvr/Gcd-v0")
    reader.counts("522 episodes")
    reader.choose("status", "wrong")
    reader.counts("156 episodes")
    reader.choose("run", "after")
    reader.counts("26 episodes")
    reader.choose("level", "1")
    reader.counts("13 episodes")
    assert set(reader.texts("tbody td:first-child")) == {"wrong"}
    reader.open("#sort=-score&page=2")
    reader.counts("524 episodes")
    scores = reader.texts("tbody td:nth-child(2)")
    assert scores == sorted(scores, reverse=True)
    assert "2 of 6" in reader.text("#rows nav")
    reader.click("th button")
    reader.until("return location.hash === '#sort=status'")
    assert (
        reader.js("return document.querySelector('th[aria-sort=ascending]').textContent")
        == "status ↑"
    )


def test_a_server_gives_the_same_page(reader, served):
    reader.address = served
    reader.open("#status=wrong&run=after")
    reader.counts("26 episodes")
    reader.press("j", "\ue007")  # Enter
    reader.says("Verdict")
    reader.press("3")
    reader.titled("Scores by level")


def test_scores_and_steps_are_ranges(reader):
    reader.open("#low=0.4&high=0.6")
    reader.counts("1 episode")
    reader.open("#step=2")
    reader.counts("1 episode")
    reader.choose("step", "")
    reader.counts("524 episodes")


def test_text_is_searched_in_prompts_responses_and_verdicts(reader):
    reader.open()
    for text, count in (("CATS", 1), ("colder", 1), ("half way", 1), ("apart", 1), ("nowhere", 0)):
        reader.press("/")
        reader.js("const f = document.getElementById('text'); f.value = ''; f.focus()")
        reader.press(text)
        reader.until("return location.hash.includes(arguments[0])", text.replace(" ", "+"))
        reader.counts("1 episode" if count else "0 episodes")
        assert reader.js("return document.activeElement.id") == "text"
        reader.press("\ue00c")  # Escape
    reader.open("#text=asked+by+rlvr%2FGcd-v0%7C1%7C129")
    reader.counts("2 episodes")  # of both runs, which have the same problem


def test_an_episode_is_shown_whole(reader):
    reader.open("#task=rlvr%2FGuessNumber-v0")
    reader.counts("1 episode")
    reader.click("tbody a")
    reader.titled("GuessNumber-v0, level 3")
    assert reader.texts(".conversation h3") == [
        "Prompt", "Action 1", "Reply", "Action 2", "Reply", "Action 3",
    ]  # fmt: skip
    assert reader.texts(".reply pre") == ["colder", "two pages"]
    assert reader.texts("mark") == ["<search>cats</search>", "```python\nx\n```"]
    assert reader.texts(".action details pre") == ["apart", "small?"]
    assert reader.js("return document.querySelector('.action details').open") is False
    assert "2 messages of solved examples" in reader.text(".prompt")
    assert "What is asked by" in reader.text(".prompt > pre")
    verdict = reader.text(".verdict")
    assert [each in verdict for each in ("partial", "score 0.5", "half way", "quality")] == [
        True
    ] * 4
    assert reader.texts("aside .card:nth-of-type(2) pre")[:2] == ["one", "two"]


def test_episodes_follow_each_other_and_back_goes_back(reader):
    reader.open("#status=wrong&run=after")
    reader.counts("26 episodes")
    reader.press("j", "\ue007")  # the first row, Enter
    reader.titled("Gcd-v0, level 0")
    reader.says("1 of 26")
    first = reader.hash()
    reader.press("j")
    reader.says("2 of 26")
    reader.press("\ue014")  # the arrow to the right
    reader.says("3 of 26")
    reader.press("k")
    reader.says("2 of 26")
    second = reader.hash()
    assert first != second
    reader.browser.refresh()
    reader.says("2 of 26")
    reader.browser.back()
    reader.says("3 of 26")
    reader.press("u")
    reader.counts("26 episodes")
    reader.open(first)
    reader.says("1 of 26")
    reader.open("#view=episode&key=none")
    reader.titled("Not found")


def test_an_old_run_says_that_its_prompt_is_not_stored(browser, tmp_path):
    run = write_run(tmp_path / "run", [old(record())])
    write_page(open_runs([str(run)]), tmp_path / "page")
    found = Reader(browser, f"{(tmp_path / 'page').as_uri()}/index.html")
    found.open()
    found.press("j", "\ue007")
    found.says("Not stored by this run.")
    found.press("2")
    found.says("There is one policy here.")


def test_the_same_problem_is_shown_side_by_side(reader):
    reader.open("#view=episode&key=small|rlvr/Gcd-v0|0|4|0")
    reader.says("The same problem")
    reader.press("s")
    reader.until("return document.querySelectorAll('.sides article').length === 2")
    assert reader.texts(".sides h2") == ["small", "large"]
    assert reader.texts(".sides .verdict .status") == ["wrong", "correct"]


def test_runs_are_compared(reader):
    reader.open("#view=compare&other=large")
    reader.titled("Comparison")
    first = reader.texts(".pair tbody tr:first-child > *")
    assert first[:4] == ["all problems", "260", "0.500", "0.900"]
    assert first[6] == "104 · 156 · 0"
    reader.choose("baseline", "large")
    reader.choose("compared with", "small")
    reader.until(
        "return document.querySelector('.pair tbody tr td')?.nextSibling.textContent === '0.900'"
    )
    turned = reader.texts(".pair tbody tr:first-child > *")
    assert turned[6] == "0 · 156 · 104"
    low, high = first[4].split("[")[1].rstrip("]").split(", ")
    assert turned[4] == f"-0.400 [-{high}, -{low}]"
    assert "The problems that changed most (100 of 104)" in reader.text()
    reader.click(".changes a")
    reader.until("return document.querySelectorAll('.sides article').length === 2")
    assert reader.texts(".sides .verdict .status") == ["correct", "wrong"]


def test_scores_by_level_are_drawn_or_listed(reader):
    reader.open("#view=scores")
    reader.titled("Scores by level")
    table = reader.texts(".scores tbody tr:first-child td")
    assert table[:2] == ["0", "0.500 [0.413, 0.587]"]
    plots = reader.js("return document.querySelectorAll('.plot svg.main-svg').length")
    assert (plots > 0) == bool(reader.js("return main.figures"))


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_is_wider_than_the_window(reader, width, scheme):
    size = {"width": width, "height": 844, "deviceScaleFactor": 1, "mobile": False}
    reader.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    reader.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
    try:
        for place in (
            "",
            "#view=episode&key=small|rlvr/GuessNumber-v0|3|1|0",
            "#view=side&question=rlvr/Gcd-v0|0|4",
            "#view=compare",
            "#view=scores",
        ):
            reader.open(place)
            widest = reader.js("return document.documentElement.scrollWidth")
            assert (place, widest) <= (place, width)
        back = reader.js("return getComputedStyle(document.body).backgroundColor")
        assert back == {"light": "rgb(246, 247, 249)", "dark": "rgb(17, 21, 27)"}[scheme]
    finally:
        reader.browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_hostile_text_is_shown_and_does_nothing(reader):
    reader.open(f"#policy=odd+{HOSTILE.replace(' ', '+')}")
    reader.counts("1 episode")
    reader.press("j", "\ue007")
    reader.says("Verdict")
    shown = ODD.replace("\ud800", "\ufffd")  # which the driver can pass on
    assert reader.text(".action pre") == reader.text(".prompt pre") == shown
    assert reader.text(".detail") == shown
    assert "__proto__" in reader.texts(".verdict dt")
    assert reader.js("return document.querySelectorAll('main img, main script').length") == 0
    for view in ("compare", "scores"):
        reader.open(f"#view={view}")
    assert reader.js("return document.querySelectorAll('main img, main script').length") == 0


def test_the_keyboard_is_explained(reader):
    reader.open()
    reader.press("?")
    reader.until("return document.getElementById('help').open")
    reader.press("\ue00c")  # Escape
    reader.until("return !document.getElementById('help').open")
    reader.press("3")
    reader.titled("Scores by level")
    reader.press("\ue004")  # Tab: what has the focus shows it
    outline = "return getComputedStyle(document.activeElement).outlineStyle"
    assert reader.js(outline) == "solid"


def test_a_search_can_be_stopped(reader):
    reader.open()
    reader.counts("524 episodes")
    # In one script, so that the search has no time to end.
    reader.js(
        """search("nowhere", selection.asked, null);
           drawRows();
           window.before = document.querySelector("#rows p").textContent;
           [...document.querySelectorAll("#rows button")].find(b => b.textContent === "stop").click();
        """
    )
    assert reader.js("return window.before") == "0 episodes found in 0 of 524stop"
    assert reader.text("#rows p") == "0 episodes found in 0 of 524, then stopped"
    reader.browser.execute_async_script("setTimeout(arguments[0], 200)")
    assert reader.text("#rows p") == "0 episodes found in 0 of 524, then stopped"
