"""c/whycast.c: compilers accept it, sanitizers find nothing, exhaustive.c agrees."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import numpy as np
import pytest
from c_library import EXHAUSTIVE, FOLDER, ROOT, SANITIZED, SOURCE, STRICT, compiled, run, sections

import whycast

PARTS = ("small", "limits", "blocks", "random")


@pytest.mark.parametrize("optimized", ["-O0", "-O2", "-O3"])
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_compilers_have_nothing_to_say(compiler: str, optimized: str, tmp_path: Path) -> None:
    for source in FOLDER.glob("*.c"):
        binary = compiled(tmp_path / "object", optimized, "-c", source, compiler=compiler)
        assert sections(binary)[1] == 0, "the object keeps memory between two calls"


@pytest.mark.parametrize("compiler", ["g++", "clang++"])
def test_it_is_cpp_too(compiler: str, tmp_path: Path) -> None:
    strict = ("-x", "c++", "-std=c++11", *STRICT[1:], f"-I{FOLDER}")
    compiled(tmp_path / "object", "-c", SOURCE, compiler=compiler, strict=strict)
    (tmp_path / "call.cc").write_text('#include "whycast.h"\nint main() { return 0; }\n')
    words = ("-Wold-style-cast", "-c", tmp_path / "call.cc")
    compiled(tmp_path / "object", *words, compiler=compiler, strict=strict)


@pytest.mark.parametrize("copy", ["memcpy", "other"])
def test_the_header_stands_alone_and_names_are_ours(copy: str, tmp_path: Path) -> None:
    (tmp_path / "call.c").write_text('#include "whycast.h"\n#include "whycast.h"\n')
    compiled(tmp_path / "object", "-c", tmp_path / "call.c", strict=("-std=c99", "-Wall"))
    (tmp_path / "copy.h").write_text("void *other(void *, const void *, unsigned long);\n")
    other = (f"-DWHYCAST_MEMCPY={copy}", "-include", tmp_path / "copy.h")
    # Ubuntu's compiler protects the stack by default.
    words = ("-O0", "-fno-stack-protector", *(other if copy != "memcpy" else ()))
    names = run("nm", "--extern-only", compiled(tmp_path / "it.o", *words, "-c", SOURCE))
    found = {line.split()[-1]: line.split()[-2] for line in names.stdout.splitlines()}
    ours = {name for name, kind in found.items() if kind == "T"}
    assert ours == {
        *("whycast_broadcast_shape", "whycast_numpy_shape", "whycast_broadcast_strides"),
        *("whycast_byte_size", "whycast_broadcast", "whycast_broadcast_all", "whycast_plan"),
        *("whycast_plan_views", "whycast_first", "whycast_next"),
    }
    # With optimisation, a compiler may add memcpy and memset.
    assert found.keys() - ours - {"_GLOBAL_OFFSET_TABLE_"} == {copy}


def test_the_codes_stay_what_they_are() -> None:
    """The codes never change: compiled callers contain them."""
    found = re.findall(r"WHYCAST_(\w+) = (-\d+)", (FOLDER / "whycast.h").read_text("utf-8"))
    assert [name for name, _ in sorted(found, key=lambda each: -int(each[1]))] == [
        *("NOT_BROADCASTABLE", "RANK_MISMATCH", "NEGATIVE_SIZE", "NEGATIVE_RANK", "NO_TENSOR"),
        *("CAPACITY_EXCEEDED", "BAD_WIDTH", "TOO_LARGE", "ROOM_EXCEEDED", "EXTENT_EXCEEDED"),
    ]
    assert sorted(-int(code) for _, code in found) == [*range(1, 11)]


def test_the_example_prints_what_readme_says(tmp_path: Path) -> None:
    done = run(compiled(tmp_path / "example", FOLDER / "example.c", SOURCE))
    assert (done.returncode, done.stderr) == (0, "")
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert done.stdout.startswith("2 loops, runs of 3\n11 12 13\n21 22 23\n")
    assert f"```text\n{done.stdout}```" in readme


HELGRIND = ("valgrind", "--quiet", "--tool=helgrind", "--error-exitcode=9")
# gcc 14 cannot derive that the steps of a plan end within the tensors.
ANALYZED = ("-O3", "-fanalyzer", "-Wno-analyzer-out-of-bounds")


@pytest.mark.parametrize(
    ("words", "under"), [(SANITIZED, ()), (ANALYZED, HELGRIND)], ids=["memory", "race"]
)
def test_the_other_examples_compute_what_numpy_does(
    words: tuple[str, ...], under: tuple[str, ...], tmp_path: Path
) -> None:
    """[E_Broadcast_any_Derived_560] [E_Broadcast_any_Derived_570]"""
    binary = compiled(tmp_path / "it", *words, "-pthread", FOLDER / "examples.c", SOURCE)
    done = run(*under, binary)
    assert (done.returncode, done.stderr) == (0, "")
    x, y, column = np.arange(1, 9).reshape(2, 2, 2), [[10, 20], [30, 40]], [[10], [20]]
    due = {
        "x + y": x + column,
        "w + y": 9 - x + column,
        "x + w": np.full(8, 9),
        "rows of y": np.broadcast_to(y, x.shape),
        "a column of y": np.broadcast_to(column, x.shape),
        "mask ? w : low": np.where([[[True]], [[False]]], 9 - x, -1),
    }
    lines = [f"{name}: {' '.join(map(str, z.ravel()))}" for name, z in due.items()]
    assert done.stdout.splitlines() == lines


# --- packages -----------------------------------------------------------------------------------


def done(*command: str | Path) -> str:
    """Run a command that must succeed, without the options of the surrounding make."""
    found = run("env", "-u", "MAKEFLAGS", *command)
    assert found.returncode == 0, found.stdout + found.stderr
    return found.stdout


def built(folder: Path, text: str, *words: str) -> Path:
    shutil.copytree(FOLDER, folder / "c")
    shutil.copy(FOLDER / "example.c", folder / "example.cc")
    head = "cmake_minimum_required(VERSION 3.18)\n"
    (folder / "CMakeLists.txt").write_text(head + text, encoding="utf-8")
    done("cmake", "-S", folder, "-B", folder / "made", "-Werror=dev", *words)
    done("cmake", "--build", folder / "made")
    return folder / "made"


def files(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


FOUND = """\
project(example CXX)
find_package(whycast 1.0 REQUIRED)
foreach(kind whycast whycast_static)
  add_executable(by_${kind} example.cc)
  target_link_libraries(by_${kind} whycast::${kind})
endforeach()
"""


def test_what_is_installed_is_found(tmp_path: Path) -> None:
    """pkg-config and CMake find the moved library for C and C++; make's variables take effect."""
    shutil.copytree(FOLDER, tmp_path / "c")
    shutil.copy(ROOT / "Makefile", tmp_path)
    prefix, moved, stage = tmp_path / "prefix", tmp_path / "moved", tmp_path / "stage"
    make = ("make", "-C", tmp_path, "install", f"PREFIX={prefix}", "LIBDIR=lib/here")
    done(*make, "INCLUDEDIR=headers")
    there = files(prefix)
    assert {"headers/whycast.h", "lib/here/libwhycast.a", "lib/here/libwhycast.so.1"} <= there
    done("cmake", "--install", tmp_path / "build" / "c", "--prefix", moved)
    shutil.rmtree(prefix)
    assert there == files(moved)

    libraries, settings = moved / "lib" / "here", "-include string.h -DWHYCAST_MEMCPY=memmove"
    package = ("env", f"PKG_CONFIG_PATH={libraries}/pkgconfig", "pkg-config", "whycast")
    assert done(*package, "--modversion") == f"{whycast.__version__}\n"
    flags = done(*package, "--cflags", "--libs").split()
    made = built(tmp_path / "by", FOUND, f"-Dwhycast_DIR={libraries}/cmake/whycast")
    done("cc", FOLDER / "example.c", *flags, "-o", made / "by_flags")
    expected = run(compiled(tmp_path / "example", FOLDER / "example.c", SOURCE)).stdout
    for program in ("by_flags", "by_whycast", "by_whycast_static"):
        assert done("env", f"LD_LIBRARY_PATH={libraries}", made / program) == expected != ""

    done(*make, f"DESTDIR={stage}", "CC=clang", f"CFLAGS={settings}")
    libraries = stage / prefix.relative_to("/") / "lib" / "here"
    assert (libraries / "cmake/whycast/whycastConfig-none.cmake").exists(), "other flags came after"
    library = (libraries / "libwhycast.so").read_bytes()
    assert [word in library for word in (b"clang", b"memmove", b"memcpy")] == [True, True, False]


WITHIN = """\
project(example C CXX)
add_subdirectory(c)
add_executable(example example.cc)
target_link_libraries(example whycast::whycast)
install(TARGETS example RUNTIME DESTINATION bin)
"""


@pytest.mark.parametrize("system", ["Linux", "Generic"])
def test_a_project_may_contain_it(system: str, tmp_path: Path) -> None:
    """As a part of a project the C installs nothing; bare metal has no shared library."""
    made = built(tmp_path / "by", WITHIN, f"-DCMAKE_SYSTEM_NAME={system}")
    assert done(made / "example").startswith("2 loops")
    assert [*made.rglob("*.so")] == ([made / "c" / "libwhycast.so"] if system == "Linux" else [])
    done("cmake", "--install", made, "--prefix", tmp_path / "out")
    assert files(tmp_path / "out") == {"bin/example"}


# --- the exhaustive program ---------------------------------------------------------------------


def expect_no_difference(binary: Path, *words: str, under: tuple[str, ...] = ()) -> None:
    done = run(*under, binary, *words)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    lines = [line.split() for line in done.stdout.splitlines()]
    assert [line[0].rstrip(":") for line in lines] == [*(words or PARTS)]
    assert all(line[2:] == ["calls,", "0", "differ"] for line in lines)
    assert min(int(line[1]) for line in lines) > 2000


SOURCES = (SOURCE, EXHAUSTIVE)
# Slow runs draw fewer calls.
LESS = "-DROUNDS=5000"


def test_every_small_case_and_the_limits(tmp_path: Path) -> None:
    """gcc compiles the program; `make object` also uses clang, and other flags.

    [E_Broadcast_any_Signature_010] [E_Broadcast_any_Restrictions_010]
    [E_Broadcast_any_Steps_010] [E_Broadcast_any_Step1_010] [E_Broadcast_any_Step1_020]
    [E_Broadcast_any_Step2_030] [E_Broadcast_any_Step2_040] [E_Broadcast_any_E1_010]
    [E_Broadcast_any_Inputs_010] [E_Broadcast_any_Outputs_010] [E_Broadcast_any_Derived_120]
    [E_Broadcast_any_Derived_130] [E_Broadcast_any_Derived_140] [E_Broadcast_any_Derived_470]
    [E_Broadcast_any_Derived_480] [E_Broadcast_any_Derived_490] [E_Broadcast_any_Derived_500]
    [E_Broadcast_any_Derived_510] [E_Broadcast_any_Derived_520] [E_Broadcast_any_Derived_530]
    [E_Broadcast_any_Derived_560] [E_Broadcast_any_Derived_570]
    """
    binary = compiled(tmp_path / "exhaustive", "-O3", *SOURCES)
    expect_no_difference(binary)


# Clang's sanitizer also reports an offset from a null pointer, and unsigned wrapping.
KINDS = "undefined,implicit-conversion,unsigned-integer-overflow"
TRAP = (f"-fsanitize={KINDS}", f"-fsanitize-trap={KINDS}")


@pytest.mark.parametrize(("compiler", "words"), [("gcc", SANITIZED), ("clang", TRAP)])
def test_sanitizers_find_nothing(compiler: str, words: tuple[str, ...], tmp_path: Path) -> None:
    library = compiled(tmp_path / "whycast.o", "-O1", *words, "-c", SOURCE, compiler=compiler)
    more = words if compiler == "gcc" else ()
    binary = tmp_path / "exhaustive"
    compiled(binary, "-O1", "-DEXACT", LESS, *more, library, EXHAUSTIVE, compiler=compiler)
    expect_no_difference(binary)


def test_valgrind_finds_nothing(tmp_path: Path) -> None:
    """The deployed code reads no uninitialised memory."""
    binary = compiled(tmp_path / "exhaustive", "-O3", "-DEXACT", "-DROUNDS=1000", *SOURCES)
    valgrind = ("valgrind", "--quiet", "--error-exitcode=9", "--leak-check=full")
    expect_no_difference(binary, "random", under=valgrind)
