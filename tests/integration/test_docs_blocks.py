"""Every code block of the README and of docs/ runs as its page shows it.

`docs_blocks` says what comments before a block mean. Of the libraries for this, pytest-examples and
mktestdocs know neither outputs of commands nor files, and sybil makes a test of each block, which
several test processes would share out although the blocks of a page go together.
"""

import subprocess
import sys
from collections import Counter

import pytest

pytest.importorskip("markdown_it", reason="markdown-it-py is not installed")

import docs_blocks
from docs_blocks import PAGES, ROOT, Block, BlockError, blocks, run_page

NAMES = [str(page.relative_to(ROOT)) for page in PAGES]
READ = {name: list(blocks((ROOT / name).read_text("utf-8"), name)) for name in NAMES}
WITH_BLOCKS = [name for name in NAMES if any(block.directive != "not run" for block in READ[name])]
SLOW = [name for name in NAMES if any(block.directive == "slow" for block in READ[name])]


def run(name, folder, *options):
    """Run a page in a process and a folder of its own."""
    done = subprocess.run(
        [sys.executable, docs_blocks.__file__, str(ROOT / name), *options],
        cwd=folder,
        env=docs_blocks.environment(folder),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode in (0, 3), done.stdout + done.stderr
    if done.returncode == 3:
        pytest.skip(done.stdout.strip())


@pytest.mark.parametrize("name", WITH_BLOCKS)
def test_every_block_runs_as_shown(name, tmp_path):
    run(name, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("name", SLOW)
@pytest.mark.timeout(3600)
def test_slow_blocks_too(name, tmp_path):
    run(name, tmp_path, "--slow")


def test_what_is_not_run_is_the_smaller_part():
    kinds = Counter(block.directive for found in READ.values() for block in found)
    assert kinds["not run"] < sum(kinds.values()) / 2, kinds


def test_what_is_not_run_names_a_test_that_exists():
    reasons = [
        (block, word.strip(",;"))
        for found in READ.values()
        for block in found
        if block.directive == "not run"
        for word in block.argument.split()
    ]
    missing = [
        (str(b), w) for b, w in reasons if w.startswith("tests/") and not (ROOT / w).exists()
    ]
    assert not missing


def page(tmp_path, text, **options):
    (tmp_path / "page.md").write_text(text, "utf-8")
    return run_page(tmp_path / "page.md", tmp_path, **options)


PRINTS = "```python\nprint('one', 7)\n```\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("```python\nx = 1\nx + 1  # 3\n```\n", "page.md:3: is 2, and its comment says 3"),
        ("```python\nx = [1]\nx  # [2]: two\n```\n", "is .1., and its comment says"),
        ("```python\nprint(1)  # 2\n```\n", "prints '1', and its comment says '2'"),
        (PRINTS + "\n<!-- output -->\n```text\ntwo …\n```\n", "printed was instead\none 7"),
        ("```bash\nfalse\ntrue\n```\n", "page.md:2: status 1"),
        ("```bash\npip install '.[nothing]'\n```\n", "no extra nothing"),
        ("```console\n$ echo one\ntwo\n```\n", "echo one printed instead\none"),
        ("```text\nx\n```\n", "page.md:2: blocks of the languages python, bash, console run"),
        ("<!-- not run -->\n```python\n```\n", "is none of the comments"),
        ("<!-- never: x -->\n```python\n```\n", "is none of the comments"),
        ("<!-- output: x -->\n```text\n```\n", "is none of the comments"),
    ],
)
def test_a_block_that_is_not_as_shown_is_an_error(tmp_path, text, message):
    with pytest.raises(BlockError, match=message):
        page(tmp_path, text)


def test_an_error_of_python_names_the_line_of_the_page(tmp_path):
    with pytest.raises(ZeroDivisionError) as raised:
        page(tmp_path, "# Title\n\n```python\nx = 0\n1 / x\n```\n")
    assert raised.traceback[-1].lineno + 1 == 5


def test_blocks_share_a_namespace_a_folder_and_what_was_printed(tmp_path):
    page(
        tmp_path,
        "<!-- file: sub/one.py -->\n```python\nvalue = 7\n```\n\n"
        "```bash\ncp sub/one.py two.py\n```\n\n"
        "```python\nfrom pathlib import Path\n\ntext = Path('two.py').read_text()\n```\n\n"
        "```python\ntext  # 'value = 7\\n'\nprint(text)  # value = ...\n```\n\n"
        + PRINTS
        + "\n<!-- output -->\n```text\none …\n```\n\n"
        "```console\n$ echo 1 \\\n    2\n1 ...\n$ echo 3\n3\n```\n",
    )


def test_spaces_at_the_ends_of_printed_lines_do_not_count(tmp_path):
    page(tmp_path, "```python\nprint('a \\nb ')\n```\n\n<!-- output -->\n```text\na\nb\n```\n")


def test_what_is_slow_or_needs_something_is_left_out(tmp_path):
    text = "<!-- slow: minutes -->\n```bash\ntouch slow\n```\n\n"
    text += "<!-- needs: no_such_tool -->\n```bash\ntouch needs\n```\n"
    done = page(tmp_path, text)
    assert done.left_out == ["page.md:8: not installed: no_such_tool"]
    assert not (tmp_path / "slow").exists()
    page(tmp_path, text, slow=True)
    assert (tmp_path / "slow").exists()
    assert not (tmp_path / "needs").exists()


def test_options_make_the_last_command_shorter(tmp_path):
    page(tmp_path, "<!-- shorter: > made -->\n```bash\necho one\necho \\\n    two\n```\n")
    assert (tmp_path / "made").read_text() == "two\n"


def test_a_block_knows_its_place():
    (block,) = blocks("one\n\n<!-- slow: long -->\n\n```bash\ntrue\n```\n", "a.md")
    assert block == Block("a.md", 6, "bash", "true\n", "slow", "long")
