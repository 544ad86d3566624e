"""Sources as tokens and parts."""

import pytest

from rlvr_envs.core.seeding import stream
from rlvr_envs.generators.hardware.families import FAMILIES, draw_design
from rlvr_envs.generators.hardware.syntax import read_code, tokens

SOURCE = """module m (input clk, input [1:0] a, output reg [3:0] q);
    wire [1:0] b = ~a; // else q <= 1;
    always @(posedge clk or negedge rst_n) begin
        if (a == 2'd1 && (b != 0)) q <= {a, b};
        else case (a)
            2'd0, 2'd2: q[1:0] <= 2'b1_0;
            default begin q <= 4'hf; end
        endcase
    end
    function [1:0] f; input [1:0] x; f = x <= 1 ? x : 'd3; endfunction
endmodule
"""


def parts(kind):
    code = read_code(SOURCE)
    return [code.text(part.first, part.last) for part in code.of(kind)]


def test_comments_are_no_tokens_and_operators_are_whole():
    found = [token.text for token in tokens("a<=b/* <= */>>>2'sb1_0+'0;// x\n$signed(c)!==`d 1?2")]
    assert found == [
        *("a", "<=", "b", ">>>", "2'sb1_0", "+", "'0", ";"),
        *("$signed", "(", "c", ")", "!==", "`d", "1", "?", "2"),
    ]


def test_tokens_say_where_they_stand():
    assert all(SOURCE[token.start : token.end] == token.text for token in tokens(SOURCE))


def test_the_parts_of_a_module():
    assert parts("value") == ["~a", "{a, b}", "2'b1_0", "4'hf", "x <= 1 ? x : 'd3"]
    assert parts("condition") == ["a == 2'd1 && (b != 0)"]
    assert parts("selector") == ["a"]
    assert parts("edges") == ["posedge clk or negedge rst_n"]
    assert parts("arm") == ["q[1:0] <= 2'b1_0;", "begin q <= 4'hf; end"]
    assert [text.split()[0] for text in parts("entry")] == ["2'd0,", "default"]
    assert parts("branch")[0] == "q <= {a, b};"
    assert [text.split()[:2] for text in parts("else")] == [["else", "case"]]
    assert parts("range") == ["[1:0]"]
    assert read_code(SOURCE).widths == {"clk": "", "a": "[1:0]", "q": "[3:0]", "b": "[1:0]"}


def test_a_line_is_that_of_the_source():
    code = read_code(SOURCE)
    assert [code.line(part.first) for part in code.of("condition")] == [4]


@pytest.mark.parametrize("family", FAMILIES)
def test_all_of_a_family_is_read(family):
    for level in (0, 5, 10):
        design = draw_design(stream(family, level), level, (family,))
        for source in (design.golden, design.alternative):
            code = read_code(source)
            words = [token.text for token in code.tokens]
            assert sum(words.count(w) for w in ("always", "always_ff", "always_comb")) == len(
                code.of("process")
            )
            assert words.count("begin") >= len(code.of("body"))
            assert words.count("else") == len(code.of("else"))
            assert words.count("endcase") == len(code.of("selector"))


@pytest.mark.parametrize(
    "text", ["", "module", "if (", "case (a", "begin begin", "always @(", "assign x =", ")]}"]
)
def test_broken_text_is_read_without_an_error(text):
    code = read_code(f"module m; always {text}")
    assert [token.text for token in code.tokens][:3] == ["module", "m", ";"]
