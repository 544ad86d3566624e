"""How long texts become, and what a source is taken for, counted by hand."""

import pytest

from rlvr_envs.verifiers.hdl.macros import ENDLESS, Macro, expanded
from rlvr_envs.verifiers.hdl.source import MOST_MACROS, read_source


def replaced(macros, text):
    """Replace macros of one-word arguments for real, to count what comes of it."""
    found = []
    words = list(text)
    while words:
        word = words.pop(0)
        if word.startswith("`") and word[1:] in macros:
            macro = macros[word[1:]]
            arguments = []
            if macro.parameters:
                end = words.index(")")
                arguments = [one for one in words[1:end] if one != ","]
                del words[: end + 1]
            given = dict(zip(macro.parameters, arguments, strict=True))
            words = [given.get(one, one) for one in macro.body] + words
        else:
            found.append(word)
    return found


MACROS = {
    "NONE": Macro((), ()),
    "ONE": Macro((), ("x",)),
    "TWO": Macro((), ("`ONE", "`ONE")),
    "FOUR": Macro((), ("`TWO", "+", "`TWO", "+")),
}


@pytest.mark.parametrize(
    "text", ["`NONE", "`ONE", "`TWO y", "`FOUR `TWO", "a ( `ONE ) b", ") `TWO (", "`NOBODY"]
)
def test_plain_macros_are_measured_exactly(text):
    words = text.split()
    assert expanded({name: [one] for name, one in MACROS.items()}, words) == len(
        replaced(MACROS, words)
    )


@pytest.mark.parametrize("text", ["`D ( a )", "`D ( a ) `D ( b )", "`S ( a )", "`E ( a )"])
def test_macros_with_arguments_are_never_measured_too_short(text):
    macros = {
        "D": Macro(("p",), ("p", "*", "p")),
        "S": Macro(("p",), ("1",)),
        "E": Macro(("p", ), ("`D", "(", "p", ")", "p")),
    }  # fmt: skip
    words = text.split()
    most = expanded({name: [one] for name, one in macros.items()}, words)
    assert len(replaced(macros, words)) <= most <= 4 * len(replaced(macros, words)) + 4


def test_definitions_of_one_name_add_up_and_loops_are_endless():
    one, three = Macro((), ("x",)), Macro((), ("x", "y", "z"))
    assert expanded({"A": [one, three]}, ["`A"]) == 4
    assert expanded({"A": [Macro((), ("`B",))], "B": [Macro((), ("`A",))]}, ["`A"]) == ENDLESS
    assert expanded({"A": [Macro((), ("`A",))]}, ["x"]) == 1
    doubled = {f"A{n}": [Macro((), (f"`A{n - 1}", f"`A{n - 1}"))] for n in range(1, 60)}
    assert expanded(doubled, ["`A10"]) == 2**10
    assert expanded(doubled, ["`A59"]) == ENDLESS


def test_parameters_are_told_from_a_body_in_parentheses():
    assert Macro.of(["(", "a", ")", "+", "a"], glued=True) == Macro(("a",), ("+", "a"))
    assert Macro.of(["(", "a", ")"], glued=False) == Macro((), ("(", "a", ")"))
    assert Macro.of(["(", "a"], glued=True) == Macro((), ("(", "a"))


def test_as_many_macros_as_the_limit():
    lines = "".join(f"`define M{n} 1\n" for n in range(MOST_MACROS))
    module = "module T; endmodule"
    assert read_source(lines + module, "T").modules == ("T",)
    refused = read_source("`define N 1\n" + lines + module, "T")
    assert refused.detail == f"the source defines more than {MOST_MACROS} macros"


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("module A; endmodule module B(); endmodule", ("A", "B")),
        ("module automatic A; endmodule", ("A",)),
        ("module /* x */ A; endmodule", ("A",)),
        ("// module A\nwire w;", ()),
        ("module", ()),
        ("module automatic", ()),
        ("macromodule A; endmodule", ()),
    ],
)
def test_modules_are_named(text, names):
    assert read_source(text, "T").modules == names


@pytest.mark.parametrize(
    "attribute",
    ["full_case", "KEEP", 'ram_style = "block", full_case', "keep = 8'hff\n, mine = -1"],
)
def test_attributes_are_no_hardware(attribute):
    found = read_source(f"module T; (* {attribute} *) wire w; endmodule", "T")
    assert attribute in found.text
    assert found.hardware.split() == ["module", "T;", "wire", "w;", "endmodule"]
    assert found.hardware.count("\n") == found.text.count("\n")


@pytest.mark.parametrize("attribute", ["`M", "a = (1)", "a; b", "a = {1}", "always @"])
def test_odd_attributes_are_refused(attribute):
    text = f"`define M keep\nmodule T; (* {attribute} *) wire w; endmodule"
    assert "an attribute is" in read_source(text, "T").detail
