"""Programs in OCaml: references for what changes, arrays (or vectors, where lists grow) for lists.

OCaml has no ``return``. Where every return of a function can be the value of a branch it becomes
that; a function that returns from within a loop raises a local exception.
"""

from rlvr_envs.generators.programs import nodes
from rlvr_envs.generators.programs.blocks import BlockWriter, assigned, before
from rlvr_envs.generators.programs.check import walk_expressions, walk_statements
from rlvr_envs.generators.programs.rename import words
from rlvr_envs.generators.programs.writer import ATOM, LEVELS, UNARY, Text

BOUNDS_ONCE = True
RESERVED = words("""
and as asr assert begin class constraint do done downto else end exception external false for fun
function functor if in include inherit initializer land lazy let lor lsl lsr lxor match method mod
module mutable new nonrec object of open or private rec sig struct then to true try type val virtual
when while with not ref min max failwith ignore incr decr raise fst snd vector push get set
copy size data show read_items floor_div floor_mod
""")

_TYPES: dict[nodes.Type, str] = {"int": "int", "bool": "bool", "str": "string"}
_FORMATS: dict[nodes.Type, str] = {"int": "%d", "str": "%s"}

_FLOOR_DIV = """
let floor_div a b =
  let quotient = a / b in
  if a mod b <> 0 && (a < 0) <> (b < 0) then quotient - 1 else quotient
"""
_FLOOR_MOD = """
let floor_mod a b =
  let rest = a mod b in
  if rest <> 0 && (rest < 0) <> (b < 0) then rest + b else rest
"""
_VECTOR = """
(* An array that can grow: only the first [size] items of [data] count. *)
type vector = { mutable data : int array; mutable size : int }

let vector data = { data; size = Array.length data }
let copy v = { v with data = Array.copy v.data }

let push v item =
  if v.size = Array.length v.data then
    v.data <- Array.append v.data (Array.make (v.size + 1) 0);
  v.data.(v.size) <- item;
  v.size <- v.size + 1
"""
_READ_LIST = """
let read_items () =
  String.split_on_char ' ' (read_line ())
  |> List.filter (fun word -> word <> "")
  |> List.map int_of_string |> Array.of_list
"""
_SHOW = """
let show items = String.concat " " (List.map string_of_int (Array.to_list items))
"""
_SHOW_VECTOR = """
let show v =
  String.concat " " (List.map string_of_int (Array.to_list (Array.sub v.data 0 v.size)))
"""


def emit(program: nodes.Program) -> str:
    """Return the program in OCaml."""
    return _OCaml(program).program_text()


class _OCaml(BlockWriter):
    indent = "  "
    if_line, elif_line = "if {} then begin", "end else if {} then begin"
    else_line, if_end = "end else begin", "end"
    while_line, while_end = "while {} do", "done"
    operators = {  # noqa: RUF012 - declared a ClassVar by the base
        **{op: op for op in LEVELS if op not in ("//", "%")},
        "==": "=",
        "!=": "<>",
        "and": "&&",
        "or": "||",
        "concat": "^",
    }

    def __init__(self, program: nodes.Program) -> None:
        super().__init__(program)
        self.growing = "Append" in self.features
        self.mutable: set[str] = set()
        self.data = ".data" if self.growing else ""
        self.copied = "copy {}" if self.growing else "Array.copy {}"
        self.last: nodes.Statement | None = (
            None  # the only return that raises nothing, where others do
        )

    def program_text(self) -> str:
        for needed, text in (
            ("//" in self.features, _FLOOR_DIV),
            ("%" in self.features, _FLOOR_MOD),
            (self.growing, _VECTOR),
            (any(kind == "list" for _, kind in self.program.inputs), _READ_LIST),
            (self.prints_a_list(), _SHOW_VECTOR if self.growing else _SHOW),
        ):
            if needed:
                self.lines += text.strip("\n").splitlines()
                self.line()
        self.functions()
        self.enter(None)
        self.mutable = assigned(self.program.body)
        self.line("let () =")
        self.depth += 1
        for name, kind in self.program.inputs:
            self.read(name, kind)
        self.depth -= 1
        self.block(self.program.body)
        return self.result()

    def prints_a_list(self) -> bool:
        self.enter(None)
        return any(
            isinstance(s, nodes.Print) and self.kind(s.items[0]) == "list"
            for s in walk_statements(self.program.body)
        )

    def functions(self) -> None:
        order = [function.name for function in self.program.functions]
        called = {f.name: _called(f) for f in self.program.functions}
        together = any(
            order.index(callee) > place for place, n in enumerate(order) for callee in called[n]
        )
        for place, function in enumerate(self.program.functions):
            if together:
                word = "and" if place else "let rec"
            else:
                word = "let rec" if function.name in called[function.name] else "let"
            self.function(function, word)

    def function(self, function: nodes.Function, word: str) -> None:
        self.enter(function)
        self.mutable = assigned(function.body)
        params = " ".join(f"({name} : {self.type_of(kind)})" for name, kind in function.params)
        returns = self.type_of(function.returns)
        self.line(f"{word} {function.name} {params or '()'} : {returns} =")
        body = _tails(function.body)
        self.last = function.body[-1] if body is None else None
        if body is None:
            self.depth += 1
            self.line(f"let exception Return of {returns} in")
            self.line("try")
            self.block(function.body)
            self.line("with Return value -> value")
            self.depth -= 1
        else:
            self.block(body)
        self.line()

    def type_of(self, kind: nodes.Type) -> str:
        return _TYPES.get(kind) or ("vector" if self.growing else "int array")

    def read(self, name: str, kind: nodes.Type) -> None:
        text = "read_int ()" if kind == "int" else "read_line ()"
        if kind == "list":
            self.line("let _count = read_int () in")
            text = "vector (read_items ())" if self.growing else "read_items ()"
        self.line(f"let {name} = {f'ref ({text})' if name in self.mutable else text} in")

    # Statements are separated by semicolons, except after `let … in`; a block has a value.

    def block(self, body: nodes.Block) -> None:
        self.depth += 1
        for place, statement in enumerate(body):
            self.statement(statement)
            if place + 1 < len(body) and not isinstance(statement, nodes.Let):
                self.lines[-1] += ";"
        if not body or isinstance(body[-1], nodes.Let):
            self.line("()")
        self.depth -= 1

    def stored_arg(self, value: nodes.Expression) -> str:
        """Return a value that is stored, as the argument of a function."""
        stored, plain = self.stored(value), self.text(value)
        return f"({stored})" if stored != plain else self.arg(value)

    def let(self, node: nodes.Let) -> None:
        mutable = node.name in self.mutable
        value = f"ref {self.stored_arg(node.value)}" if mutable else self.stored(node.value)
        self.line(f"let {node.name} = {value} in")

    def assign(self, node: nodes.Assign) -> None:
        match node.value:
            case nodes.Binary("+", nodes.Var(name), nodes.Int(1)) if name == node.name:
                self.line(f"incr {name}")
            case _:
                self.line(f"{node.name} := {self.stored(node.value)}")

    def set_item(self, node: nodes.SetItem) -> None:
        target = f"{self.text(nodes.Var(node.name))}{self.data}.({self.text(node.index)})"
        self.line(f"{target} <- {self.text(node.value)}")

    def append(self, node: nodes.Append) -> None:
        self.line(f"push {self.text(nodes.Var(node.name))} {self.arg(node.value)}")

    def for_(self, node: nodes.For) -> None:
        self.line(f"for {node.var} = {self.text(node.start)} to {before(self, node.stop)} do")
        self.block(node.body)
        self.line("done")

    def return_(self, node: nodes.Return) -> None:
        if self.last is None or node is self.last:
            self.line(self.returned(node.value))
        else:
            self.line(f"raise (Return {self.stored_arg(node.value)})")

    def print_(self, node: nodes.Print) -> None:
        first = node.items[0]
        if self.kind(first) == "list":
            self.line(f"print_endline (show {self.arg(first)})")
            return
        form = " ".join(_FORMATS[self.kind(item)] for item in node.items)
        args = " ".join(self.arg(item) for item in node.items)
        self.line(f'Printf.printf "{form}\\n" {args}')

    # Expressions. An application such as `f x` binds like a unary operator.

    def arg(self, value: nodes.Expression) -> str:
        """Return the text of an argument of a function."""
        return self.text(value, ATOM)

    def int_(self, node: nodes.Int) -> Text:
        return str(node.value) if node.value >= 0 else f"({node.value})", ATOM

    def var(self, node: nodes.Var) -> Text:
        return f"!{node.name}" if node.name in self.mutable else node.name, ATOM

    def special(self, node: nodes.Binary) -> Text:
        name = {"//": "floor_div", "%": "floor_mod"}.get(node.op, node.op)
        return f"{name} {self.arg(node.left)} {self.arg(node.right)}", UNARY

    def not_(self, node: nodes.Not) -> Text:
        return f"not {self.arg(node.operand)}", UNARY

    def neg(self, node: nodes.Neg) -> Text:
        text = self.arg(node.operand)
        # -! would be read as one operator.
        return f"(-{' ' if text.startswith('!') else ''}{text})", ATOM

    def call(self, node: nodes.Call) -> Text:
        return f"{node.function} {' '.join(map(self.arg, node.args)) or '()'}", UNARY

    def length(self, node: nodes.Length) -> Text:
        text = self.arg(node.operand)
        if self.kind(node.operand) == "str":
            return f"String.length {text}", UNARY
        return (f"{text}.size", ATOM) if self.growing else (f"Array.length {text}", UNARY)

    def index(self, node: nodes.Index) -> Text:
        text, at = self.arg(node.sequence), self.text(node.index)
        if self.kind(node.sequence) == "str":
            return f"String.make 1 {text}.[{at}]", UNARY
        return f"{text}{self.data}.({at})", ATOM

    def list_of(self, node: nodes.ListOf) -> Text:
        items = "; ".join(self.text(item) for item in node.items)
        array = f"[| {items} |]" if items else "[||]"
        return (f"vector {array}", UNARY) if self.growing else (array, ATOM)


def _called(function: nodes.Function) -> set[str]:
    return {e.function for e in walk_expressions(function.body) if isinstance(e, nodes.Call)}


def _returns(body: nodes.Block) -> bool:
    return any(isinstance(statement, nodes.Return) for statement in walk_statements(body))


def _ends(body: nodes.Block) -> bool:
    """Return whether running the body always ends in a `Return`."""
    match body[-1:]:
        case (nodes.Return(),):
            return True
        case (nodes.If(_, then, otherwise),):
            return _ends(then) and _ends(otherwise)
    return False


def _tails(body: nodes.Block) -> nodes.Block | None:
    """Return the body with each `Return` at the end of a branch, or None if one is in a loop."""
    for place, statement in enumerate(body):
        if not _returns((statement,)) or isinstance(statement, nodes.Return):
            continue
        if not isinstance(statement, nodes.If):
            return None
        rest = body[place + 1 :]
        then, otherwise = statement.then, statement.otherwise
        if _ends(then):
            otherwise += rest
        elif _ends(otherwise):
            then += rest
        else:
            return None
        first, second = _tails(then), _tails(otherwise)
        if first is None or second is None:
            return None
        return (*body[:place], nodes.If(statement.condition, first, second))
    return body
