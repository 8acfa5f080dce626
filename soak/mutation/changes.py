"""Small changes of a Python file, each of which a test should notice.

The operators are most of those of mutmut 3: other operators of arithmetic and comparison, other numbers and texts,
arguments that are None or missing, None as the value of an assignment, and both branches of a conditional expression.
Added are negated conditions, operands of `and` and `or` that are left out, deleted statements, and None as a result.
Functions with decorators are changed too. Not changed are annotations, decorators, docstrings, the text of f-strings,
and the argument `strict` of `zip`, which only guards against defects of its own function.
"""

import ast
import copy
from collections.abc import Iterator
from dataclasses import dataclass
from types import CodeType

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
PLACE = {"lineno", "col_offset", "end_lineno", "end_col_offset"}
COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
OPERATORS: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Div,
    ast.Mod: ast.Div,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.BitXor: ast.BitAnd,
    ast.Pow: ast.Mult,
}


@dataclass(frozen=True)
class Change:
    """A change of one statement of a function.

    Attributes:
        function: the qualified name of the outermost function, such as `Case.loads`.
        line: the number of the first line of the statement.
        lines: the numbers of all lines of the statement, without the bodies of compound statements.
        before: the changed part of the statement, as `ast.unparse` writes it.
        after: the same part after the change.
        code: the compiled file after the change.
    """

    function: str
    line: int
    lines: range
    before: str
    after: str
    code: CodeType


def changes_of(text: str, path: str) -> Iterator[Change]:
    """Yield all changes of the functions in a file with this text and path."""
    tree = ast.parse(text)
    for name, function in _functions(tree, ""):
        for statement in _statements(function):
            before, lines = _head(statement), _lines_of(statement)
            known = {before}
            for part in _parts(statement):
                for changed in _changed(part):
                    with _Swap(part, changed):
                        after = _head(statement)
                        if after not in known:
                            known.add(after)
                            yield Change(name, statement.lineno, lines, before, after, compile(tree, path, "exec"))


def _functions(node: ast.AST, prefix: str) -> Iterator[tuple[str, ast.AST]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, FUNCTIONS) and not _is_overload(child):
            yield prefix + child.name, child
        elif isinstance(child, ast.ClassDef):
            yield from _functions(child, f"{prefix}{child.name}.")


def _is_overload(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    return any(isinstance(each, ast.Name) and each.id == "overload" for each in function.decorator_list)


def _statements(function: ast.AST) -> Iterator[ast.stmt]:
    """Yield the statements of a function and of the functions in it, without docstrings."""
    for node in ast.walk(function):
        if isinstance(node, ast.stmt) and node is not function and not _is_text(node):
            yield node


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _bodies(statement: ast.stmt) -> set[int]:
    """Return the identities of the statements in a compound statement; they have changes of their own."""
    return {id(node) for node in ast.walk(statement) if isinstance(node, ast.stmt) and node is not statement}


def _head(statement: ast.stmt) -> str:
    """Return the text of a statement; of a compound statement, its first line."""
    text = ast.unparse(statement)
    return text.partition("\n")[0] if _bodies(statement) else text


def _lines_of(statement: ast.stmt) -> range:
    inner = [node.lineno for node in ast.walk(statement) if isinstance(node, ast.stmt) and node is not statement]
    last = min(inner) - 1 if inner else (statement.end_lineno or statement.lineno)
    return range(statement.lineno, max(last, statement.lineno) + 1)


def _parts(statement: ast.stmt) -> Iterator[ast.AST]:
    """Yield the nodes of a statement that may be changed, without annotations and the bodies of compound statements."""
    yield statement
    waiting = [child for child in ast.iter_child_nodes(statement) if not isinstance(child, ast.stmt)]
    if isinstance(statement, ast.AnnAssign):
        waiting = [statement.value] if statement.value is not None else []
    if isinstance(statement, (*FUNCTIONS, ast.ClassDef)):
        waiting = []
    while waiting:
        node = waiting.pop(0)
        yield node
        if isinstance(node, ast.JoinedStr):
            waiting += [each for each in node.values if isinstance(each, ast.FormattedValue)]
        elif isinstance(node, ast.FormattedValue):
            waiting.append(node.value)
        elif isinstance(node, ast.keyword) and node.arg == "strict":
            continue
        else:
            waiting += [child for child in ast.iter_child_nodes(node) if not isinstance(child, ast.stmt)]


class _Swap:
    """While it is entered, a node has the class and the fields of another one."""

    def __init__(self, node: ast.AST, other: ast.AST) -> None:
        self.node, self.other = node, other
        self.kept = (node.__class__, dict(node.__dict__))

    def __enter__(self) -> None:
        placed = {name: value for name, value in self.kept[1].items() if name in PLACE}
        self._become(self.other.__class__, placed | dict(self.other.__dict__) | placed)
        ast.fix_missing_locations(self.node)

    def __exit__(self, *_: object) -> None:
        self._become(*self.kept)

    def _become(self, kind: type[ast.AST], fields: dict[str, object]) -> None:
        self.node.__class__ = kind
        self.node.__dict__.clear()
        self.node.__dict__.update(fields)


def _none() -> ast.expr:
    return ast.Constant(value=None)


def _with(node: ast.AST, **fields: object) -> ast.AST:
    """Return a copy of a node, with its own children, except for `fields`."""
    other = copy.copy(node)
    other.__dict__.update(fields)
    return other


def _changed(node: ast.AST) -> Iterator[ast.AST]:  # noqa: C901, PLR0912 (a table of the operators)
    """Yield all changes of a node itself, not of its children."""
    match node:
        case ast.Constant(value=bool(value)):
            yield _with(node, value=not value)
        case ast.Constant(value=int(number)):
            yield _with(node, value=number + 1)
        case ast.Constant(value=str(text)):
            yield _with(node, value=f"XX{text}XX")
        case ast.BinOp(op=operator) | ast.AugAssign(op=operator) if type(operator) in OPERATORS:
            yield _with(node, op=OPERATORS[type(operator)]())
        case ast.Compare(ops=[first, *rest]):
            yield _with(node, ops=[COMPARISONS[type(first)](), *rest])
            if rest:
                yield _with(node, ops=[first, COMPARISONS[type(rest[0])](), *rest[1:]])
        case ast.BoolOp(op=operator, values=values):
            yield _with(node, op=ast.Or() if isinstance(operator, ast.And) else ast.And())
            for place in range(len(values)):
                left = [*values[:place], *values[place + 1 :]]
                yield _with(node, values=left) if len(left) > 1 else left[0]
        case ast.UnaryOp(operand=operand):
            yield operand
        case ast.Lambda():
            yield _with(node, body=_none())
        case ast.Call():
            yield from _calls(node)
        case ast.IfExp():
            yield node.body
            yield node.orelse
        case ast.comprehension(ifs=[_, *_]):
            for place in range(len(node.ifs)):
                yield _with(node, ifs=[*node.ifs[:place], *node.ifs[place + 1 :]])
    yield from _changed_statement(node)


def _calls(call: ast.Call) -> Iterator[ast.AST]:
    """Yield calls with an argument that is None, or without an argument."""
    for place, given in enumerate(call.args):
        others = call.args[:place], call.args[place + 1 :]
        if not isinstance(given, ast.Starred):
            yield _with(call, args=[*others[0], _none(), *others[1]])
        if len(call.args) + len(call.keywords) > 1:
            yield _with(call, args=[*others[0], *others[1]])
    for place, word in enumerate(call.keywords):
        if word.arg != "strict":
            left, right = call.keywords[:place], call.keywords[place + 1 :]
            yield _with(call, keywords=[*left, ast.keyword(arg=word.arg, value=_none()), *right])
            yield _with(call, keywords=[*left, *right])


def _changed_statement(node: ast.AST) -> Iterator[ast.AST]:
    match node:
        case ast.If(test=test) | ast.While(test=test):
            yield _with(node, test=ast.UnaryOp(op=ast.Not(), operand=test))
        case ast.Assign() | ast.AnnAssign(value=ast.expr()):
            yield _with(node, value=_none())
        case ast.AugAssign(target=target, value=value):
            yield ast.Assign(targets=[target], value=value)
            yield ast.Pass()
        case ast.Return(value=ast.expr()):
            yield _with(node, value=_none())
        case ast.Continue():
            yield ast.Break()
        case ast.Break() | ast.Expr() | ast.Raise() | ast.Delete():
            yield ast.Pass()
