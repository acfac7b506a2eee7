"""What the theories take for granted of each operation that the driver of the extraction maps.

The contracts are those of Why3's standard library and of why3/kernel/trusted.mlw, written a second
time, as Python. Each clause has the name that it has there: its text. Integer operations are in the
end those that the provers have built in; what is said to them stands in their driver.

Sequences are read by iterating, which no operation of the driver does.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple, TypeAlias

from hypothesis import strategies as st


class Operation:
    """An operation, executed: the Python that the driver has for it, with values in its holes."""

    def __init__(self, templates: Mapping[str, str], name: str) -> None:
        self.templates = templates
        self.name = name

    def __getitem__(self, name: str) -> Operation:
        """Give another operation of the same driver."""
        return Operation(self.templates, name)

    def __call__(self, *arguments: Any) -> Any:
        """Give the value of the expression, or what a statement leaves in its first argument.

        What WhyML's types say is demanded of each: that the result is of its type, that nothing
        changes but the first argument of a statement, and that an array is a new one.
        """
        variables = {f"x{number}": value for number, value in enumerate(arguments, start=1)}
        code = re.sub(r"%(\d)", r"x\1", self.templates[self.name])
        before = [list(value) if isinstance(value, list) else value for value in arguments]
        if is_statement(code):
            exec(code, {}, variables)
            result = variables["x1"]
            assert result is arguments[0] or not isinstance(result, list)
            before[0] = result
        else:
            result = eval(code, {}, variables)
            assert not isinstance(result, list) or all(result is not value for value in arguments)
        expected = CONTRACTS[self.name].result
        assert expected is None or type(result) is expected
        assert all(map(same, before, variables.values()))
        return result


def is_statement(code: str) -> bool:
    """Tell an assignment from an expression; anything else is no Python."""
    try:
        compile(code, "the driver", "eval")
    except SyntaxError:
        compile(code, "the driver", "exec")
        return True
    return False


def same(left: object, right: object) -> bool:
    """Compare sequences by their lengths and elements, all else by identity."""
    if isinstance(left, list | tuple) and isinstance(right, list | tuple):
        return size(left) == size(right) and all(map(operator.is_, left, right))
    return left is right


def size(values: Sequence[object]) -> int:
    """Count the elements."""
    return sum(1 for _ in values)


def at(values: Sequence[Any], index: int) -> Any:
    """Give the element at an index, which has to be in range."""
    (found,) = islice(values, index, index + 1)
    return found


# Arguments that satisfy what is required. Elements are told apart by identity: a copy of one shows.

Values: TypeAlias = st.SearchStrategy[tuple[Any, ...]]
Clauses: TypeAlias = dict[str, Callable[..., Any]]

BOOL = st.booleans()
# Small ones, any, and such as are often equal without being the same object.
INT = (
    st.integers(-3, 3)
    | st.integers()
    | st.integers(10**20, 10**20 + 1).map(lambda number: int(str(number)))
)
COUNT = st.integers(0, 6)
ELEMENT = st.builds(object)
ARRAY = st.lists(ELEMENT, max_size=6)
SEQ = ARRAY.map(tuple)
INTS_OF_A_SEQ = st.lists(INT, max_size=4)
# Two sequences of integers, every second time equal ones that are not the same object.
INT_SEQS = st.tuples(INTS_OF_A_SEQ, INTS_OF_A_SEQ, BOOL).map(
    lambda drawn: (tuple(drawn[0]), tuple(drawn[0] if drawn[2] else drawn[1]))
)

NONE: Values = st.tuples()
BOOLS: Values = st.tuples(BOOL, BOOL)
INTS: Values = st.tuples(INT, INT, INT)


def cut(values: st.SearchStrategy[Any]) -> Values:
    """Give a sequence and a number up to its length."""
    return values.flatmap(lambda some: st.tuples(st.just(some), st.integers(0, len(some))))


def indexed(values: st.SearchStrategy[Any], *more: st.SearchStrategy[Any]) -> Values:
    """Give a sequence and an index of it."""
    return values.filter(bool).flatmap(
        lambda some: st.tuples(st.just(some), st.integers(0, len(some) - 1), *more)
    )


def cut_twice(values: st.SearchStrategy[Any]) -> Values:
    """Give a sequence and two numbers up to its length, the second not below the first."""
    return cut(values).flatmap(
        lambda found: st.tuples(st.just(found[0]), st.integers(0, found[1]), st.just(found[1]))
    )


class Contract(NamedTuple):
    """The contract of an operation, and templates that do not meet it."""

    result: type | None
    arguments: Values
    clauses: Clauses
    wrong: tuple[str, ...]


def built_in(kind: str, symbol: str, sent: str, meaning: Callable[..., object]) -> Clauses:
    """Give the clause that an operation on integers is the one of this meaning in the provers."""
    parameters = sent.count("%")
    return {
        f'syntax {kind} {symbol} "{sent}"': (
            lambda do, *numbers: do(*numbers[:parameters]) == meaning(*numbers[:parameters])
        )
    }


ADD, MINUS, TIMES, LESS, AT_MOST = (
    f"int.Int.{name}" for name in ("(+)", "(-_)", "(*)", "(<)", "(<=)")
)
EQUAL, ZERO, ONE = "int.Int.(=)", "int.Int.zero", "int.Int.one"

ASSOCIATIVE: Clauses = {
    "axiom Assoc : forall x y z : t. op (op x y) z = op x (op y z)": (
        lambda do, x, y, z: do(do(x, y), z) == do(x, do(y, z))
    )
}
COMMUTATIVE: Clauses = {
    "axiom Comm : forall x y : t. op x y = op y x": lambda do, x, y, z: do(x, y) == do(y, x)
}
NEUTRAL: Clauses = {
    "axiom Unit_def_l : forall x:t. op unit x = x": lambda do, x, y, z: do(do[ZERO](), x) == x,
    "axiom Unit_def_r : forall x:t. op x unit = x": lambda do, x, y, z: do(x, do[ZERO]()) == x,
}
INVERSE: Clauses = {
    "axiom Inv_def_l : forall x:t. op (inv x) x = unit": (
        lambda do, x, y, z: do[ADD](do[MINUS](x), x) == do[ZERO]()
    ),
    "axiom Inv_def_r : forall x:t. op x (inv x) = unit": (
        lambda do, x, y, z: do[ADD](x, do[MINUS](x)) == do[ZERO]()
    ),
}
DISTRIBUTIVE: Clauses = {
    "axiom Mul_distr_l : forall x y z : t. x * (y + z) = x * y + x * z": (
        lambda do, x, y, z: do(x, do[ADD](y, z)) == do[ADD](do(x, y), do(x, z))
    ),
    "axiom Mul_distr_r : forall x y z : t. (y + z) * x = y * x + z * x": (
        lambda do, x, y, z: do(do[ADD](y, z), x) == do[ADD](do(y, x), do(z, x))
    ),
}
UNIT: Clauses = {
    "axiom Unitary : forall x:t. one * x = x": lambda do, x, y, z: do(do[ONE](), x) == x,
    "axiom NonTrivialRing : zero <> one": lambda do, x, y, z: do[ZERO]() != do[ONE](),
}
ORDER: Clauses = {
    "axiom Refl : forall x:t. rel x x": lambda do, x, y, z: do(x, x),
    "axiom Trans : forall x y z:t. rel x y -> rel y z -> rel x z": (
        lambda do, x, y, z: not (do(x, y) and do(y, z)) or do(x, z)
    ),
    "axiom Antisymm : forall x y:t. rel x y -> rel y x -> x = y": (
        lambda do, x, y, z: not (do(x, y) and do(y, x)) or x == y
    ),
    "axiom Total : forall x y:t. rel x y \\/ rel y x": lambda do, x, y, z: do(x, y) or do(y, x),
    "axiom ZeroLessOne : zero <= one": lambda do, x, y, z: do(do[ZERO](), do[ONE]()),
    "axiom CompatOrderAdd : forall x y z : t. x <= y -> x + z <= y + z": (
        lambda do, x, y, z: not do(x, y) or do(do[ADD](x, z), do[ADD](y, z))
    ),
    "axiom CompatOrderMult : forall x y z : t. x <= y -> zero <= z -> x * z <= y * z": (
        lambda do, x, y, z: (
            not (do(x, y) and do(do[ZERO](), z)) or do(do[TIMES](x, z), do[TIMES](y, z))
        )
    ),
}

BOOLEANS = {
    "bool.Bool.andb": Contract(
        bool,
        BOOLS,
        {"match x with | True -> y | False -> False end": lambda do, x, y: do(x, y) is (x and y)},
        ("%1 or %2", "%1 == %2", "%2 and %2"),
    ),
    "bool.Bool.orb": Contract(
        bool,
        BOOLS,
        {"match x with | False -> y | True -> True end": lambda do, x, y: do(x, y) is (x or y)},
        ("%1 and %2", "%1 != %2", "%1"),
    ),
    "bool.Bool.xorb": Contract(
        bool,
        BOOLS,
        {
            "match x with | False -> y | True -> notb y end": (
                lambda do, x, y: do(x, y) is (do["bool.Bool.notb"](y) if x else y)
            )
        },
        ("%1 == %2", "%1 or %2", "%1 - %2"),
    ),
    "bool.Bool.notb": Contract(
        bool,
        st.tuples(BOOL),
        {"match x with | False -> True | True -> False end": lambda do, x: do(x) is (not x)},
        ("%1", "-%1", "False"),
    ),
    "bool.Bool.implb": Contract(
        bool,
        BOOLS,
        {"match x with | False -> True | True -> y end": lambda do, x, y: do(x, y) is (not x or y)},
        ("not %2 or %1", "not (%1 or %2)", "not %1 and %2"),
    ),
}

REFERENCES = {
    "ref.Ref.(!_)": Contract(
        None,
        st.tuples(ELEMENT),
        {"let function (!) (r: ref 'a) = r.contents": lambda do, r: do(r) is r},
        ("[%1]", "not %1"),
    ),
    "ref.Ref.(:=)": Contract(
        None,
        st.tuples(ELEMENT, ELEMENT),
        {"ensures { r = v }": lambda do, r, v: do(r, v) is v},
        ("%2 = %1", "%1 = [%2]", "%1 == %2"),
    ),
    "ref.Refint.incr": Contract(
        int,
        st.tuples(INT),
        {"ensures { r = old r + 1 }": lambda do, r: do(r) == do[ADD](r, 1)},
        ("%1 -= 1", "%1 += 2", "%1 = 1"),
    ),
    "ref.Refint.decr": Contract(
        int,
        st.tuples(INT),
        {"ensures { r = old r - 1 }": lambda do, r: do(r) == do["int.Int.(-)"](r, 1)},
        ("%1 += 1", "%1 -= 2", "%1 = -1"),
    ),
    "ref.Refint.(+=)": Contract(
        int,
        st.tuples(INT, INT),
        {"ensures { r = old r + v }": lambda do, r, v: do(r, v) == do[ADD](r, v)},
        ("%1 -= %2", "%1 = %2", "%2 += %1", "%1 + %2 if %1 else %1"),
    ),
    "ref.Refint.(-=)": Contract(
        int,
        st.tuples(INT, INT),
        {"ensures { r = old r - v }": lambda do, r, v: do(r, v) == do["int.Int.(-)"](r, v)},
        ("%1 += %2", "%1 = %2 - %1"),
    ),
    "ref.Refint.(*=)": Contract(
        int,
        st.tuples(INT, INT),
        {"ensures { r = old r * v }": lambda do, r, v: do(r, v) == do[TIMES](r, v)},
        ("%1 += %2", "%1 //= %2", "%1 *= %1"),
    ),
}

INTEGERS = {
    ZERO: Contract(
        int, NONE, {"let constant zero : int = 0": lambda do: do() == 0}, ("1", "-1", "False")
    ),
    ONE: Contract(
        int, NONE, {"let constant one : int = 1": lambda do: do() == 1}, ("0", "2", "True")
    ),
    EQUAL: Contract(
        bool,
        INTS,
        {"ensures { result <-> x = y }": lambda do, x, y, z: do(x, y) is (x == y)},
        ("%1 != %2", "%1 <= %2", "%1 is %2"),
    ),
    LESS: Contract(
        bool,
        INTS,
        built_in("predicate", "(<)", "(< %1 %2)", operator.lt),
        ("%1 <= %2", "%2 < %1", "%1 != %2"),
    ),
    AT_MOST: Contract(
        bool,
        INTS,
        {
            "let predicate (<=) (x y : int) = x < y || x = y": (
                lambda do, x, y, z: do(x, y) is (do[LESS](x, y) or do[EQUAL](x, y))
            )
        }
        | ORDER
        | built_in("predicate", "(<=)", "(<= %1 %2)", operator.le),
        ("%1 < %2", "%2 <= %1", "%1 == %2"),
    ),
    "int.Int.(>)": Contract(
        bool,
        INTS,
        {"let predicate (>) (x y : int) = y < x": (lambda do, x, y, z: do(x, y) is do[LESS](y, x))}
        | built_in("predicate", "(>)", "(> %1 %2)", operator.gt),
        ("%1 >= %2", "%1 < %2"),
    ),
    "int.Int.(>=)": Contract(
        bool,
        INTS,
        {
            "let predicate (>=) (x y : int) = y <= x": (
                lambda do, x, y, z: do(x, y) is do[AT_MOST](y, x)
            )
        }
        | built_in("predicate", "(>=)", "(>= %1 %2)", operator.ge),
        ("%1 > %2", "%1 <= %2"),
    ),
    MINUS: Contract(
        int,
        INTS,
        INVERSE | built_in("function", "(-_)", "(- %1)", operator.neg),
        ("%1", "-%1 - 1", "-abs(%1)"),
    ),
    ADD: Contract(
        int,
        INTS,
        ASSOCIATIVE
        | COMMUTATIVE
        | NEUTRAL
        | INVERSE
        | built_in("function", "(+)", "(+ %1 %2)", operator.add),
        ("%1 - %2", "%1 * %2", "%1 | %2", "%1 + %1"),
    ),
    "int.Int.(-)": Contract(
        int,
        INTS,
        {
            "let function (-) (x y : int) = x + -y": (
                lambda do, x, y, z: do(x, y) == do[ADD](x, do[MINUS](y))
            )
        }
        | built_in("function", "(-)", "(- %1 %2)", operator.sub),
        ("%1 + %2", "%2 - %1", "abs(%1 - %2)"),
    ),
    TIMES: Contract(
        int,
        INTS,
        ASSOCIATIVE
        | COMMUTATIVE
        | DISTRIBUTIVE
        | UNIT
        | built_in("function", "(*)", "(* %1 %2)", operator.mul),
        ("%1 + %2", "%1 // %2", "%1"),
    ),
    "int.Abs.abs": Contract(
        int,
        st.tuples(INT),
        {
            "let function abs (x:int) : int = if x >= 0 then x else -x": (
                lambda do, x: do(x) == (x if do["int.Int.(>=)"](x, 0) else do[MINUS](x))
            ),
            "lemma Abs_pos: forall x:int. abs x >= 0": lambda do, x: do(x) >= 0,
        },
        ("%1", "-%1", "%1 * %1"),
    ),
    "int.MinMax.min": Contract(
        int,
        st.tuples(INT, INT),
        {
            "ensures { result = min x y }": lambda do, x, y: do(x, y) == min(x, y),
            "function min (x y : t) : t = if le x y then x else y": (
                lambda do, x, y: do(x, y) == (x if do[AT_MOST](x, y) else y)
            ),
        },
        ("max(%1, %2)", "%1", "min(%1, abs(%2))"),
    ),
    "int.MinMax.max": Contract(
        int,
        st.tuples(INT, INT),
        {
            "ensures { result = max x y }": lambda do, x, y: do(x, y) == max(x, y),
            "function max (x y : t) : t = if le x y then y else x": (
                lambda do, x, y: do(x, y) == (y if do[AT_MOST](x, y) else x)
            ),
        },
        ("min(%1, %2)", "%2", "max(%1, %2, 0)"),
    ),
}

SEQUENCES = {
    "seq.Seq.length": Contract(
        int,
        st.tuples(SEQ),
        {
            "axiom length_nonnegative: forall s: seq 'a. 0 <= length s": lambda do, s: do(s) >= 0,
            "val constant empty : seq 'a ensures { length result = 0 }": (
                lambda do, s: do(do["seq.Seq.empty"]()) == 0
            ),
            "ensures { length result = 1 + length s }": (
                lambda do, s: do(do["seq.Seq.cons"](None, s)) == 1 + do(s)
            ),
        },
        ("len(%1) + 1", "len(%1[1:])", "-len(%1)", "0"),
    ),
    "seq.Seq.empty": Contract(
        tuple,
        NONE,
        {"ensures { length result = 0 }": lambda do: size(do()) == 0},
        ("[]", "(0,)"),
    ),
    "seq.Seq.singleton": Contract(
        tuple,
        st.tuples(ELEMENT),
        {
            "ensures { length result = 1 }": lambda do, v: size(do(v)) == 1,
            "ensures { result[0] = v }": lambda do, v: at(do(v), 0) is v,
        },
        ("%1", "[%1]", "(%1, %1)", "((%1,),)"),
    ),
    "seq.Seq.cons": Contract(
        tuple,
        st.tuples(ELEMENT, SEQ),
        {
            "ensures { length result = 1 + length s }": (
                lambda do, x, s: size(do(x, s)) == 1 + size(s)
            ),
            "ensures { result[0] = x }": lambda do, x, s: at(do(x, s), 0) is x,
            "ensures { forall i. 0 < i <= length s -> result[i] = s[i-1] }": (
                lambda do, x, s: all(at(do(x, s), i) is at(s, i - 1) for i in range(1, size(s) + 1))
            ),
        },
        ("(*%2, %1)", "(%1, %2)", "(%1, *%2[::-1])", "[%1, *%2]"),
    ),
    "seq.Seq.snoc": Contract(
        tuple,
        st.tuples(SEQ, ELEMENT),
        {
            "ensures { length result = 1 + length s }": (
                lambda do, s, x: size(do(s, x)) == 1 + size(s)
            ),
            "ensures { result[length s] = x }": lambda do, s, x: at(do(s, x), size(s)) is x,
            "ensures { forall i. 0 <= i < length s -> result[i] = s[i] }": (
                lambda do, s, x: all(at(do(s, x), i) is at(s, i) for i in range(size(s)))
            ),
        },
        ("(%2, *%1)", "(%1, %2)", "(*%1[::-1], %2)", "[*%1, %2]"),
    ),
    "seq.Seq.([..])": Contract(
        tuple,
        cut_twice(SEQ),
        {
            "ensures { length result = j - i }": lambda do, s, i, j: size(do(s, i, j)) == j - i,
            "ensures { forall k. 0 <= k < j - i -> result[k] = s[i + k] }": (
                lambda do, s, i, j: all(at(do(s, i, j), k) is at(s, i + k) for k in range(j - i))
            ),
        },
        ("%1[%2:%3 + 1]", "%1[%3:%2]", "%1[%2:%2 + %3]", "%1[%3 - 1:%2 - 1:-1]"),
    ),
    "seq.Seq.([_..])": Contract(
        tuple,
        cut(SEQ),
        {
            "= s[i .. length s]": lambda do, s, i: same(
                do(s, i), do["seq.Seq.([..])"](s, i, do["seq.Seq.length"](s))
            )
        },
        ("%1[:%2]", "%1[%2 + 1:]", "%1[-%2:]"),
    ),
    "seq.Seq.([.._])": Contract(
        tuple,
        cut(SEQ),
        {"= s[0 .. j]": lambda do, s, j: same(do(s, j), do["seq.Seq.([..])"](s, 0, j))},
        ("%1[%2:]", "%1[:%2 - 1]", "%1[:%2 + 1]"),
    ),
    "seq.Seq.(++)": Contract(
        tuple,
        st.tuples(SEQ, SEQ),
        {
            "ensures { length result = length s1 + length s2 }": (
                lambda do, s1, s2: size(do(s1, s2)) == size(s1) + size(s2)
            ),
            "ensures { forall i. 0 <= i < length s1 -> result[i] = s1[i] }": (
                lambda do, s1, s2: all(at(do(s1, s2), i) is at(s1, i) for i in range(size(s1)))
            ),
            "ensures { forall i. length s1 <= i < length result -> "
            "result[i] = s2[i - length s1] }": (
                lambda do, s1, s2: all(
                    at(do(s1, s2), i) is at(s2, i - size(s1))
                    for i in range(size(s1), size(do(s1, s2)))
                )
            ),
        },
        ("%2 + %1", "%1", "(%1, %2)", "[*%1, *%2]"),
    ),
}

ARRAYS = {
    "array.Array.length": Contract(
        int,
        st.tuples(ARRAY, COUNT),
        {
            "invariant { 0 <= length }": lambda do, a, n: do(a) >= 0,
            "ensures { result.length = n }": (
                lambda do, a, n: do(do["array.Array.make"](n, None)) == n
            ),
        },
        ("len(%1) + 1", "len(%1[1:])", "abs(%1 == [])"),
    ),
    "array.Array.([])": Contract(
        None,
        indexed(ARRAY),
        {"ensures { result = a[i] }": lambda do, a, i: do(a, i) is at(a, i)},
        ("%1[%2 - 1]", "%1[-%2]", "%1[0]", "%1[%2:]", "%1.pop(%2)"),
    ),
    "array.Array.([]<-)": Contract(
        list,
        indexed(ARRAY, ELEMENT),
        {
            "ensures { a.elts = Map.set (old a).elts i v }": (
                lambda do, a, i, v: at(do(a, i, v), i) is v
            ),
            "ensures { a = (old a)[i <- v] }": (
                lambda do, a, i, v: same([*islice(a, i), v, *islice(a, i + 1, None)], do(a, i, v))
            ),
        },
        ("%1[%2 - 1] = %3", "%1[%2:] = [%3]", "%1 = [*%1[:%2], %3, *%1[%2 + 1:]]", "%1[%2]"),
    ),
    "array.Array.make": Contract(
        list,
        st.tuples(COUNT, ELEMENT),
        {
            "ensures { forall i:int. 0 <= i < n -> result[i] = v }": (
                lambda do, n, v: all(at(do(n, v), i) is v for i in range(n))
            ),
            "ensures { result.length = n }": lambda do, n, v: size(do(n, v)) == n,
        },
        ("[%2] * (%1 + 1)", "[%2 for _ in range(1, %1)]", "(%2,) * %1", "[None] * %1", "[%2 * %1]"),
    ),
    "array.Array.empty": Contract(
        list, NONE, {"ensures { result.length = 0 }": lambda do: size(do()) == 0}, ("()", "[0]")
    ),
    "array.Array.copy": Contract(
        list,
        st.tuples(ARRAY),
        {
            "ensures { length result = length a }": lambda do, a: size(do(a)) == size(a),
            "ensures { forall i:int. 0 <= i < length result -> result[i] = a[i] }": (
                lambda do, a: all(at(do(a), i) is at(a, i) for i in range(size(do(a))))
            ),
        },
        ("%1", "tuple(%1)", "%1[1:]", "%1[::-1]"),
    ),
    "array.Array.append": Contract(
        list,
        st.tuples(ARRAY, ARRAY),
        {
            "ensures { length result = length a1 + length a2 }": (
                lambda do, a1, a2: size(do(a1, a2)) == size(a1) + size(a2)
            ),
            "ensures { forall i. 0 <= i < length a1 -> result[i] = a1[i] }": (
                lambda do, a1, a2: all(at(do(a1, a2), i) is at(a1, i) for i in range(size(a1)))
            ),
            "ensures { forall i. 0 <= i < length a2 -> result[length a1 + i] = a2[i] }": (
                lambda do, a1, a2: all(
                    at(do(a1, a2), size(a1) + i) is at(a2, i) for i in range(size(a2))
                )
            ),
        },
        ("%2 + %1", "%1.__iadd__(%2)", "%1 + %2 if %2 else %1", "%1 += %2"),
    ),
    "array.Array.sub": Contract(
        list,
        cut_twice(ARRAY).map(lambda found: (found[0], found[1], found[2] - found[1])),
        {
            "ensures { length result = len }": (
                lambda do, a, ofs, length: size(do(a, ofs, length)) == length
            ),
            "ensures { forall i:int. 0 <= i < len -> result[i] = a[ofs + i] }": (
                lambda do, a, ofs, length: all(
                    at(do(a, ofs, length), i) is at(a, ofs + i) for i in range(length)
                )
            ),
        },
        ("%1[%2:%3]", "%1[%2:]", "%1[%3:%3 + %2]", "tuple(%1[%2:%2 + %3])"),
    ),
}

TUPLES = {
    "kernel.trusted.Tuple.ix": Contract(
        None,
        indexed(SEQ),
        {"ensures { result = s[i] }": lambda do, s, i: do(s, i) is at(s, i)},
        ("%1[%2 - 1]", "%1[-%2]", "%1[-1]", "%1[%2:]"),
    ),
    "kernel.trusted.Tuple.same": Contract(
        bool,
        INT_SEQS,
        {
            "ensures { result <-> s = t }": (
                lambda do, s, t: (
                    do(s, t)
                    == (size(s) == size(t) and all(at(s, i) == at(t, i) for i in range(size(s))))
                )
            )
        },
        ("%1 is %2", "%1 != %2", "len(%1) == len(%2)", "%1 <= %2"),
    ),
    "kernel.trusted.Tuple.thaw": Contract(
        list,
        st.tuples(SEQ),
        {
            "ensures { A.length result = length s }": lambda do, s: size(do(s)) == size(s),
            "ensures { forall i. 0 <= i < length s -> A.(result[i]) = s[i] }": (
                lambda do, s: all(at(do(s), i) is at(s, i) for i in range(size(s)))
            ),
        },
        ("%1", "[%1]", "list(%1[::-1])", "[*%1, None]"),
    ),
    "kernel.trusted.Tuple.freeze": Contract(
        tuple,
        st.tuples(ARRAY),
        {
            "ensures { length result = A.length a }": lambda do, a: size(do(a)) == size(a),
            "ensures { forall i. 0 <= i < length result -> result[i] = A.(a[i]) }": (
                lambda do, a: all(at(do(a), i) is at(a, i) for i in range(size(do(a))))
            ),
        },
        ("%1", "(%1,)", "tuple(%1[::-1])", "tuple(%1[1:])"),
    ),
    "kernel.trusted.Tuple.repeat": Contract(
        list,
        st.tuples(ARRAY, COUNT),
        {
            "ensures { A.length result = A.length a * n }": (
                lambda do, a, n: size(do(a, n)) == size(a) * n
            ),
            "ensures { forall i. 0 <= i < A.length result -> "
            "A.(result[i] = if i < length a then a[i] else result[i - length a]) }": (
                lambda do, a, n: all(
                    at(do(a, n), i) is (at(a, i) if i < size(a) else at(do(a, n), i - size(a)))
                    for i in range(size(do(a, n)))
                )
            ),
        },
        (
            "[x for x in %1 for _ in range(%2)]",
            "[%1] * %2",
            "%1 * (%2 + 1)",
            "%1",
            "tuple(%1 * %2)",
        ),
    ),
    "kernel.trusted.Tuple.overwrite": Contract(
        list,
        cut_twice(ARRAY).flatmap(
            lambda found: st.tuples(
                *map(st.just, found),
                st.lists(ELEMENT, min_size=found[2] - found[1], max_size=found[2] - found[1]),
            )
        ),
        {
            "writes { a }": lambda do, a, i, j, b: size(a) == size(do([*a], i, j, b)),
            "ensures { forall k. 0 <= k < i \\/ j <= k < A.length a -> A.(a[k] = old a[k]) }": (
                lambda do, a, i, j, b: all(
                    at(do([*a], i, j, b), k) is at(a, k) for k in [*range(i), *range(j, size(a))]
                )
            ),
            "ensures { forall k. i <= k < j -> A.(a[k] = b[k - i]) }": (
                lambda do, a, i, j, b: all(
                    at(do([*a], i, j, b), k) is at(b, k - i) for k in range(i, j)
                )
            ),
        },
        (
            "%1[%2] = %4",
            "%1[%2:] = %4",
            "%1[:%3] = %4",
            "%1[%2:%2] = %4",
            "%1[%2:%3] = %4[::-1]",
            "%1[%2 + 1:%3 + 1] = %4",
            "%1 = [*%1[:%2], *%4, *%1[%3:]]",
        ),
    ),
}

CONTRACTS: dict[str, Contract] = BOOLEANS | REFERENCES | INTEGERS | SEQUENCES | ARRAYS | TUPLES

# A value of a WhyML type is one of this type in Python.
TYPES = {
    "BuiltIn.int": int,
    "BuiltIn.string": str,
    "Bool.bool": bool,
    "seq.Seq.seq": tuple,
    "array.Array.array": list,
}
