"""What methods minimize, as their pages show it."""

import pytest

from catalog.components import build_page
from catalog.equations import read_equations
from despur.specs.declarations import list_components

METHODS = read_equations()["methods"]


def test_equations_are_of_methods_and_are_their_own_or_that_of_another():
    assert set(METHODS) <= set(list_components("methods"))
    for name, entry in METHODS.items():
        assert set(entry) <= {"equation", "where"} or set(entry) == {"like", "but"}, name
        assert "like" not in entry or "equation" in METHODS[entry["like"]], name


@pytest.mark.parametrize("name", [name for name in METHODS if "equation" in METHODS[name]])
def test_an_equation_can_be_set(name):
    converter = pytest.importorskip("latex2mathml.converter", reason="make docs installs latex2mathml")
    equation = METHODS[name]["equation"]
    assert equation.count("{") == equation.count("}") and equation.count(r"\left") == equation.count(r"\right")
    assert "\\" not in converter.convert(equation)


def test_a_variant_shows_the_equation_of_what_it_varies():
    text = build_page("methods", "subg")
    assert "As [`erm`](erm.md), but on a random subset" in text and METHODS["erm"]["equation"] in text
