"""What may be shown: the table of licences, and every data set's place in it."""

import pytest

from gensight.licences import LICENCES, may_show
from gensight.specs import declared

ON_DISK = [n for n in declared.names("datasets") if "FOLDER" in declared.constants("datasets", n)]


def test_only_what_is_known_to_be_free_is_shown():
    shown = {tag for tag in LICENCES if may_show(tag)}
    assert shown == {"gensight", "middlebury", "diode", "kitti"}


@pytest.mark.parametrize("tag", ["", "Apache-2.0", "DIODE", "nobody knows"])
def test_silence_is_no_permission(tag):
    assert not may_show(tag)


def test_what_is_made_here_needs_no_tag():
    assert may_show(None)


@pytest.mark.parametrize("name", sorted(LICENCES))
def test_a_licence_is_told_in_one_line(name):
    told = LICENCES[name].name
    assert told
    assert "\n" not in told


@pytest.mark.parametrize("module", ON_DISK)
def test_every_data_set_on_disk_has_a_licence_of_the_table(module):
    declares = declared.constants("datasets", module)
    assert declares["LICENCE"] in LICENCES
    assert declares["SOURCE"]
    assert "/" not in declares["FOLDER"]


def test_no_two_data_sets_share_a_folder():
    folders = [declared.constants("datasets", module)["FOLDER"] for module in ON_DISK]
    assert len(folders) == len(set(folders))
    assert "pixmo_points" in ON_DISK
