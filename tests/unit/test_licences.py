"""What may be shown: the table of licences, and every data set's place in it."""

import pytest

from gensight import datasets
from gensight.licences import LICENCES, may_show
from gensight.specs import declared

ON_DISK = [n for n in declared.names("datasets") if "FOLDER" in declared.constants("datasets", n)]


def test_only_what_is_known_to_be_free_is_shown():
    shown = {tag for tag in LICENCES if may_show(tag)}
    assert shown == {"gensight", "middlebury", "diode", "kitti", "noto_emoji"}


@pytest.mark.parametrize("tag", [None, "", "Apache-2.0", "DIODE", "nobody knows"])
def test_silence_is_no_permission(tag):
    assert not may_show(tag)


def test_built_in_data_sets_say_that_they_may_be_shown():
    asked = {"scenes": {"task": "depth", "width": 128, "height": 128}, "photographs": {}}
    for name, given in asked.items():
        module = datasets.load(name)
        (sample,) = module.iter_samples({**module.DEFAULTS, **given}, [0])
        assert may_show(sample.licence)


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
