"""What only stands in has a page of its own: no report sets it beside what it stands in for."""

from __future__ import annotations

from pathlib import Path

import pytest

from gensight.errors import SpecError
from gensight.specs.base import read_yaml
from gensight.specs.pixel_checks import check_stand_ins
from gensight.specs.project import load_project

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def project():
    return load_project(read_yaml(ROOT / "config/config.yaml"), ROOT)


def mixed(project, first, second, place):
    """Return the first table with one more column: that of the second at a place."""
    columns = [*project.tables[first].columns, project.tables[second].columns[place]]
    return project.tables[first].model_copy(update={"columns": columns})


def test_a_page_of_stand_ins_alone_is_fine(project):
    check_stand_ins("t.yaml", project.tables["icons_stand_ins"], project)
    check_stand_ins("t.yaml", project.tables["pixelbench_table_1"], project)


@pytest.mark.parametrize(
    ("table", "place", "real"),
    [
        ("pixelbench_table_22", 0, "siglip_so400m"),  # an encoder with weights
        ("pixelbench_table_24", 0, "pixel_icon_gemini"),  # a judge that sees
        ("pixelbench_table_1", 5, "siglip_so400m"),  # behind an aggregate, beside others
    ],
)
def test_a_stand_in_beside_what_it_stands_in_for_is_one_line(project, table, place, real):
    with pytest.raises(SpecError) as caught:
        check_stand_ins("t.yaml", mixed(project, "icons_stand_ins", table, place), project)
    message = str(caught.value)
    assert message.startswith("t.yaml: ") and "only stands in" in message
    assert real in message or "pixel_icon_gemini" in message
