"""What `throughput.py` compares with what: tasks of ours and the nearest ones of other libraries.

A pair is set to sizes as alike as both sides allow, and says which. It compares how fast problems
of about a size are made and judged, not how hard they are or what is promised about them: our
puzzles are proven to have one solution wherever their prompt says so, and our references are
proven optima wherever the search ends in its budget; `sizes` says where the other side differs.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

RG = "reasoning_gym"
RLVE = "rlve_gym"


@dataclass(frozen=True)
class Pair:
    """A task of ours with its knobs, and a data set or environment with its parameters."""

    task: str
    library: str
    name: str
    sizes: str
    ours: Mapping[str, Any] | None = None  # None: a difficulty level, see --pair-difficulty
    theirs: Mapping[str, Any] = field(default_factory=dict)


_MATH = {
    "BaseConversion-v0": "base_conversion",
    "CalendarArithmetic-v0": "calendar_arithmetic",
    "ComplexArithmetic-v0": "complex_arithmetic",
    "CoordinateGeometry-v0": "advanced_geometry",
    "DecimalArithmetic-v0": "decimal_arithmetic",
    "FractionArithmetic-v0": "fraction_simplification",
    "FunctionComposition-v0": "list_functions",
    "Gcd-v0": "gcd",
    "IndefiniteIntegral-v0": "intermediate_integration",
    "LinearEquation-v0": "simple_equations",
    "MatrixProduct-v0": "manipulate_matrix",
    "NextTerm-v0": "number_sequence",
    "PolynomialDivision-v0": "polynomial_multiplication",
    "PolynomialRoots-v0": "polynomial_equations",
    "PrimeFactorization-v0": "prime_factorization",
    "Probability-v0": "coin_flip",
    "RandomCalculation-v0": "basic_arithmetic",
    "UnitConversion-v0": "bitwise_arithmetic",
    "WordProblem-v0": "gsm_symbolic",
}

_PUZZLES = (
    Pair(
        "Sudoku-v0",
        RG,
        "sudoku",
        "9 by 9; 41 clues, theirs 31 to 51",
        {"box_height": 3, "box_width": 3, "n_clues": 41},
    ),
    Pair(
        "Sudoku-v0",
        RG,
        "mini_sudoku",
        "4 by 4; 6 clues, theirs 4 to 8",
        {"box_height": 2, "box_width": 2, "n_clues": 6},
    ),
    Pair(
        "Sudoku-v0",
        RLVE,
        "Sudoku",
        "4 by 4, 7 clues; theirs may have several solutions",
        {"box_height": 2, "box_width": 2, "n_clues": 7},
        {"MAX_N_M": 2, "sparsity": 0.6},
    ),
    Pair(
        "Binairo-v0",
        RLVE,
        "Binario",
        "4 by 4, half of it given; theirs from 2 to 7 a side (larger ones can take it seconds), "
        "counts of 1s given, several solutions possible",
        {"size": 4, "n_givens": 8},
        {"MAX_N_M": 7, "sparsity": 0.5},
    ),
    Pair(
        "Futoshiki-v0",
        RG,
        "futoshiki",
        "5 by 5; 3 numbers and 12 signs given, theirs by its four levels",
        {"size": 5, "n_givens": 3, "n_signs": 12},
        {"min_board_size": 5, "max_board_size": 5},
    ),
    Pair(
        "Futoshiki-v0",
        RLVE,
        "FutoshikiPuzzle",
        "5 by 5, 5 numbers given; 10 signs, theirs 1 to 10 and several solutions possible",
        {"size": 5, "n_givens": 5, "n_signs": 10},
        {"N": 5, "sparsity": 0.8},
    ),
    Pair(
        "KnightsAndKnaves-v0",
        RG,
        "knights_knaves",
        "4 people; statements about 2 of them, theirs of depth and width 2",
        {"n_people": 4, "n_parts": 2},
        {"n_people": 4},
    ),
    Pair(
        "KnightsAndKnaves-v0",
        RLVE,
        "KnightsAndKnaves",
        "4 people; statements about 2 of them, theirs of depth and width 2",
        {"n_people": 4, "n_parts": 2},
        {"N": 4, "depth_constraint": 2, "width_constraint": 2},
    ),
    Pair(
        "ZebraPuzzle-v0",
        RG,
        "zebra_puzzles",
        "4 houses, 4 categories; theirs asks for one cell of the table, ours for all",
        {"n_houses": 4, "n_categories": 4},
    ),
    Pair(
        "Countdown-v0",
        RG,
        "countdown",
        "4 numbers up to 50, targets up to 300",
        {"n_numbers": 4, "max_number": 50, "max_target": 300},
        {"min_numbers": 4, "max_numbers": 4, "max_value": 50, "min_target": 10, "max_target": 300},
    ),
    Pair(
        "Countdown-v0",
        RLVE,
        "CountdownEqual",
        "4 numbers up to 50, targets up to 300; theirs keeps no answer: making only",
        {"n_numbers": 4, "max_number": 50, "max_target": 300},
        {"num_operands": 4, "max_operand": 50, "max_target": 300},
    ),
    Pair(
        "Game24-v0",
        RG,
        "puzzle24",
        "4 numbers up to 10, target 24",
        {"n_numbers": 4, "max_number": 10},
    ),
    Pair(
        "Cryptarithm-v0",
        RG,
        "cryptarithm",
        "2 addends of 4 letters; theirs of 3 to 5, several solutions possible",
        {"n_addends": 2, "length": 4},
        {"max_words": 2},
    ),
    Pair(
        "Cryptarithm-v0",
        RLVE,
        "Cryptarithmetic",
        "2 addends of 4 letters in base 10; in theirs several solutions are possible",
        {"n_addends": 2, "length": 4},
        {"N": 10, "addend_length": 4},
    ),
    Pair(
        "Sokoban-v0",
        RG,
        "sokoban",
        "a room of 5 by 5 within its walls, 2 boxes",
        {"side": 5, "n_floor": 16, "n_boxes": 2},
        {"min_w": 7, "max_w": 7, "min_h": 7, "max_h": 7, "min_boxes": 2, "max_boxes": 2},
    ),
    Pair(
        "RushHour-v0",
        RG,
        "rush_hour",
        "6 by 6, up to 13 vehicles; theirs are read from a list of boards and keep no answer: "
        "making only",
        {"side": 6, "n_vehicles": 13},
    ),
    Pair(
        "SlidingPuzzle-v0",
        RLVE,
        "EightDigitPuzzle",
        "3 by 3, 20 slides; theirs 2 to 4 a side, and its slides may undo each other",
        {"n_rows": 3, "n_columns": 3, "n_slides": 20},
        {"MAX_N_M": 4, "steps": 20},
    ),
    Pair(
        "TowerOfHanoi-v0",
        RG,
        "tower_of_hanoi",
        "4 discs, up to 4 pegs; theirs starts and ends with a whole tower",
        {"n_discs": 4, "max_pegs": 4},
        {"min_disks": 4, "max_disks": 4},
    ),
    Pair(
        "WaterJugs-v0",
        RG,
        "jugs",
        "3 jugs up to 13; theirs takes at least 10 moves",
        {"n_jugs": 3, "max_capacity": 13},
    ),
    Pair(
        "WaterJugs-v0",
        RLVE,
        "JugPuzzle",
        "3 jugs up to 30; theirs is drawn by 10 random moves",
        {"n_jugs": 3, "max_capacity": 30},
        {"N": 3, "steps": 10},
    ),
    Pair(
        "Maze-v0",
        RG,
        "maze",
        "8 by 8, 8 moves; theirs asks for the number of moves only",
        {"n_rows": 8, "n_columns": 8, "path_length": 8, "n_turns": 3},
        {"min_grid_size": 8, "max_grid_size": 8, "min_dist": 8, "max_dist": 8},
    ),
    Pair(
        "Maze-v0",
        RLVE,
        "Maze",
        "8 by 8, 14 moves; theirs from corner to corner through 30% of walls at random",
        {"n_rows": 8, "n_columns": 8, "path_length": 14, "n_turns": 5},
        {"N": 8, "density": 0.3},
    ),
    Pair(
        "WordLadder-v0",
        RG,
        "word_ladder",
        "4 letters; 5 steps and 40 words listed, theirs any number of steps and no list",
        {"word_length": 4, "n_steps": 5},
        {"size": 20000},
    ),
    Pair(
        "NQueens-v0",
        RG,
        "n_queens",
        "8 by 8; 4 queens given, theirs 1 to 7",
        {"size": 8, "n_given": 4},
    ),
    Pair(
        "NQueens-v0",
        RLVE,
        "QueenPlacement",
        "8 by 8, 4 queens given; theirs asks for a few more queens that fit",
        {"size": 8, "n_given": 4},
        {"N": 8},
    ),
    Pair(
        "Syllogism-v0",
        RG,
        "syllogism",
        "3 terms, 2 premises; 2 conclusions, theirs 1",
        {"n_terms": 3, "n_premises": 2, "n_conclusions": 2, "compound_percent": 0},
    ),
    Pair(
        "PropositionalEntailment-v0",
        RG,
        "propositional_logic",
        "3 facts, 3 premises; theirs 2 to 4 of each, and asks to find a conclusion",
        {"n_facts": 3, "n_premises": 3, "n_conclusions": 2, "n_parts": 2},
    ),
    Pair(
        "CellularAutomaton-v0",
        RG,
        "game_of_life",
        "10 by 10, 1 step; theirs always Life, with up to 10 live cells",
        {"kind": "life_like", "side": 10, "grid_steps": 1},
    ),
    Pair(
        "CircuitEvaluation-v0",
        RG,
        "circuit_logic",
        "about 14 gates; 2 outputs, theirs 1",
        {"n_inputs": 5, "n_gates": 14, "n_outputs": 2},
    ),
    Pair(
        "GridTransformation-v0",
        RG,
        "arc_1d",
        "3 examples; grids of 3 to 5 a side, theirs rows of 10 to 30",
        {"length": 1, "n_examples": 3},
    ),
    Pair(
        "Anagram-v0",
        RG,
        "group_anagrams",
        "about 21 words; another question: theirs sorts anagrams into groups",
        {"n_words": 21},
    ),
    Pair(
        "Hitori-v0",
        RLVE,
        "HitoriPuzzle",
        "5 by 5; theirs 2 to 8 a side, several solutions possible",
        {"n_rows": 5, "n_columns": 5},
        {"MAX_N_M": 8},
    ),
    Pair(
        "StarBattle-v0",
        RLVE,
        "StarBattle",
        "6 by 6, 1 star; theirs 2 to 9 a side, without regions, several solutions possible",
        {"size": 6, "n_stars": 1},
        {"MAX_N_M": 9, "sparsity": 0.5},
    ),
    Pair(
        "Skyscrapers-v0",
        RLVE,
        "SkyscraperPuzzle",
        "5 by 5, all 20 views; in theirs several solutions are possible",
        {"size": 5, "n_views": 20, "n_givens": 0},
        {"N": 5},
    ),
    Pair(
        "Minesweeper-v0",
        RLVE,
        "Minesweeping",
        "6 by 6; theirs 2 to 10 a side, denser, and asks for a placing that fits",
        {"n_rows": 6, "n_columns": 6},
        {"MAX_N_M": 10, "density": 0.8},
    ),
    Pair(
        "RubiksCube-v0",
        RG,
        "rubiks_cube",
        "3 by 3 by 3, 5 moves; ours proven to need 5, theirs 5 random turns",
        {"size": 3, "distance": 5},
        {"min_scramble_steps": 5, "max_scramble_steps": 5},
    ),
    Pair(
        "Cipher-v0",
        RG,
        "caesar_cipher",
        "a Caesar cipher without its key, 8 words or a few more; theirs 8 words of a book",
        {"kinds": ("caesar",), "n_words": 8},
        {"min_words": 8, "max_words": 8},
    ),
    Pair(
        "Kakurasu-v0",
        RG,
        "kakurasu",
        "5 by 5, all totals, one solution",
        {"size": 5, "total_percent": 100},
        {"min_rows": 5, "max_rows": 5, "min_cols": 5, "max_cols": 5},
    ),
    Pair(
        "Kakurasu-v0",
        RLVE,
        "Kakurasu",
        "5 by 5, all totals; theirs 2 to 8 a side, several solutions possible",
        {"size": 5, "total_percent": 100},
        {"MAX_N_M": 8},
    ),
    Pair(
        "SurvoPuzzle-v0",
        RG,
        "survo",
        "3 by 3, 4 numbers given; theirs 4 to 6, numbers may repeat, several solutions possible",
        {"n_rows": 3, "n_columns": 3, "given_percent": 45},
        {"min_board_size": 4, "max_board_size": 4},
    ),
    Pair(
        "SurvoPuzzle-v0",
        RLVE,
        "SurvoPuzzle",
        "3 by 4, half of it given; theirs 2 to 5 a side, several solutions possible",
        {"n_rows": 3, "n_columns": 4, "given_percent": 50},
        {"MAX_N_M": 5, "sparsity": 0.5},
    ),
    Pair(
        "LightUp-v0",
        RLVE,
        "LightUpPuzzle",
        "5 by 5, a number in every wall; theirs in 95% of them, 2 to 8 a side with 60 to 95% of "
        "walls, several solutions possible",
        {"size": 5, "number_percent": 100},
        {"MAX_N_M": 8, "density": 0.95},
    ),
    Pair(
        "Numbrix-v0",
        RLVE,
        "Numbrix",
        "4 by 4, 40% given; theirs 2 to 6 a side, several solutions possible",
        {"size": 4, "given_percent": 40},
        {"MAX_N_M": 6, "sparsity": 0.6},
    ),
)

_NP_HARD = (
    Pair(
        "GraphColoring-v0",
        RG,
        "graph_color",
        "10 vertices, about 5 edges; theirs any colouring with 3 colours, and no answer as text: "
        "making only",
        {"n_vertices": 10, "n_parts": 3, "edge_percent": 14},
        {"num_colors": 3, "edge_probability": 0.1},
    ),
    Pair(
        "GraphColoring-v0",
        RLVE,
        "MinimumChromaticNumber",
        "10 vertices, about 15 edges",
        {"n_vertices": 10, "n_parts": 3, "edge_percent": 45},
        {"N": 10, "edge_density": 0.34},
    ),
    Pair(
        "Knapsack-v0",
        RLVE,
        "Knapsack",
        "20 items up to 20; theirs keeps no answer: making only",
        {"n_planted": 8, "n_distractors": 12, "max_weight": 20},
        {"N": 20},
    ),
    Pair(
        "MaxSat-v0",
        RLVE,
        "SAT",
        "10 variables, 45 clauses of 3; theirs of 3 on average and always satisfiable",
        {"n_variables": 10, "n_clauses": 45, "clause_size": 3},
        {"N": 10, "M": 45, "density": 0.3},
    ),
    Pair(
        "MaximumClique-v0",
        RLVE,
        "MaximumClique",
        "12 vertices, about half of the edges",
        {"n_vertices": 12, "n_clique": 4, "missing_percent": 50},
        {"N": 12, "edge_density": 0.5},
    ),
    Pair(
        "MaximumIndependentSet-v0",
        RLVE,
        "MaximumIndependentSetGrid",
        "25 vertices; theirs a weighted board of 2 to 8 a side, which a flow solves, and keeps no "
        "answer: making only",
        {"n_vertices": 25, "n_independent": 9, "edge_percent": 30},
        {"MAX_N_M": 8},
    ),
    Pair(
        "SetCover-v0",
        RLVE,
        "SetCover",
        "15 elements; 16 sets, theirs 3 to 30 and asks for an exact cover",
        {"n_elements": 15, "n_sets": 16},
        {"N": 15},
    ),
    Pair(
        "SteinerTree-v0",
        RLVE,
        "MinimumSteinerTree",
        "8 vertices, 16 edges; 5 terminals, theirs 3 to 7 and keeps no answer: making only",
        {"n_vertices": 8, "n_terminals": 5, "edges_per_vertex": 2},
        {"N": 8, "edge_density": 0.58},
    ),
    Pair(
        "SubsetSum-v0",
        RLVE,
        "SubsetSum",
        "12 numbers up to 12; theirs any subset with the sum, ours the one of most numbers",
        {"n_planted": 6, "n_decoys": 3, "n_fillers": 3, "max_value": 12},
        {"N": 12},
    ),
    Pair(
        "TravelingSalesman-v0",
        RLVE,
        "HamiltonianPath",
        "8 cities; theirs a directed walk over 80% of the pairs, each at least once",
        {"n_cities": 8},
        {"N": 8, "edge_density": 0.8},
    ),
    Pair(
        "VertexCover-v0",
        RLVE,
        "Minimum_VertexCover",
        "9 vertices, 40% of the edges; theirs are weighted",
        {"n_vertices": 9, "n_cover": 5, "edge_percent": 40},
        {"N": 9, "edge_density": 0.4},
    ),
)


def _labelled(pairs: tuple[Pair, ...]) -> dict[str, Pair]:
    """Return the pairs by what their results are stored under."""
    return {f"{pair.task} / {pair.library} {pair.name}": pair for pair in pairs}


PAIRS: dict[str, dict[str, Pair]] = {
    "math": {
        task: Pair(task, RG, name, "theirs at its defaults, ours on a low level")
        for task, name in _MATH.items()
    },
    "np_hard": _labelled(_NP_HARD),
    "puzzles": _labelled(_PUZZLES),
    "verilog": {},  # of which no other library makes problems
}
