"""The way through the house, as README and proofs/README show it."""

import re
from itertools import pairwise

from gate.closed import ROOT
from gate.theories import all_uses, closure, room


def test_each_file_of_the_core_names_the_next() -> None:
    way = (ROOT / "README.md").read_text(encoding="utf-8")
    way = way[way.index("## Read it in an hour") : way.index("`make core`")]
    files = [ROOT / link for link in re.findall(r"\]\((.*?)\)", way)]
    assert len(files) == 14
    for file, following in pairwise(files):
        head = re.split(r"\*\)\n|\"\"\"\n", file.read_text(encoding="utf-8"))[0]
        (name,) = re.findall(r"Next: `(.*?)`", head)
        assert following.as_posix().removesuffix(".py").endswith(name.removesuffix(".py")), file


def test_rooms_use_those_on_their_left_in_the_picture() -> None:
    picture = (ROOT / "proofs/README.md").read_text(encoding="utf-8").split("```")[1][4:]
    at = {
        match[0]: match.start()
        for line in picture.splitlines()
        for match in re.finditer(r"[a-z]\w*", line.partition("─►")[0])
    }
    uses = all_uses(ROOT)
    pairs = {(room(a), room(b)) for a in uses for b in closure(a, uses) if room(a) != room(b)}
    rooms = {each.removeprefix("why3/") for pair in pairs for each in pair}
    assert rooms == {*at}
    for later, earlier in pairs:
        assert at[earlier.removeprefix("why3/")] < at[later.removeprefix("why3/")], (later, earlier)
