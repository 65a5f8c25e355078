"""RefCOCO's other objects: every annotation of the picture that is not the target's."""

from __future__ import annotations

import json

import numpy as np
import pytest
from refcoco_files import (
    HEIGHT,
    WIDTH,
    by_reference,
    expected_mask,
    instances,
    one_line,
    parameters,
    samples,
    write_root,
)

from gensight.datasets import refcoco
from gensight.errors import MissingDataError
from gensight.images import decode_mask


@pytest.fixture
def root(tmp_path):
    return write_root(tmp_path)


def test_other_masks_are_all_other_annotations_of_the_picture(root):
    """Referred to or not, in this split or not, crowds too; what has no pixel is left out."""
    found = by_reference(root)
    assert [decode_mask(one).sum() for one in found["1"].other_masks] == [300]
    assert [decode_mask(one).sum() for one in found["2"].other_masks] == [100]
    assert found["3"].other_masks == []
    document = instances()
    crowd = {"size": [HEIGHT, WIDTH], "counts": [HEIGHT * 60, HEIGHT * 4]}
    added = [
        {
            "id": 14,
            "image_id": 7,
            "iscrowd": 0,
            "segmentation": [[40.0, 5.0, 50, 5, 50, 15, 40, 15]],
        },
        {"id": 15, "image_id": 7, "iscrowd": 1, "segmentation": crowd},
        {"id": 16, "image_id": 7, "iscrowd": 0, "segmentation": []},
        {"id": 17, "image_id": 7, "iscrowd": 0, "segmentation": [[1.0, 1.0, 2.0, 2.0]]},
        {"id": 18, "image_id": 8, "iscrowd": 1, "segmentation": crowd},
    ]
    document["annotations"] = [*added[:2], *document["annotations"], *added[2:]]
    (root / "refcoco" / "instances.json").write_text(json.dumps(document))
    more = by_reference(root)
    unnamed, columns = np.zeros((2, HEIGHT, WIDTH), bool), slice(60, 64)
    unnamed[0, 5:15, 40:50] = unnamed[1, :, columns] = True
    for reference, referred in (("1", expected_mask(12)), ("2", expected_mask(11))):
        masks = [decode_mask(one) for one in more[reference].other_masks]
        np.testing.assert_array_equal(masks, [*unnamed, referred])
        assert more[reference].target_mask == found[reference].target_mask
    (only,) = more["3"].other_masks
    assert (decode_mask(only) == unnamed[1]).all()
    # The query's twin stays one that another sentence names.
    assert {name: one.twin_mask for name, one in more.items()} == {
        name: one.twin_mask for name, one in found.items()
    }


def test_a_damaged_other_annotation_is_named(root):
    document = instances()
    document["annotations"].append({"id": 14, "image_id": 7, "iscrowd": 0})
    (root / "refcoco" / "instances.json").write_text(json.dumps(document))
    with pytest.raises(MissingDataError, match="KeyError: 'segmentation'"):
        samples(root)
    document["annotations"][-1]["segmentation"] = {"size": [9, 9], "counts": [81]}
    (root / "refcoco" / "instances.json").write_text(json.dumps(document))
    chosen = parameters(root)
    items = {item.cluster_id: item for item in refcoco.list_items(chosen)}
    assert refcoco.read_item(chosen, items["8"]).target_mask
    with pytest.raises(MissingDataError, match=r"sample 7/.*coded for \[9, 9\]") as error:
        refcoco.read_item(chosen, items["7"])
    one_line(error)
