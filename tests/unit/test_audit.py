"""Every derived number in print is recomputed; what does not follow is known, and only that."""

import shutil
from collections import Counter
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pytest

from gensight.errors import GensightError
from gensight.published import PAPERS, find, load, tables
from gensight.published.audit import audit, expected_differences
from gensight.published.comparison import (
    DIFFERS,
    EXACT,
    WITHIN,
    bounded,
    copied,
    half_unit,
    number,
    one,
    recomputed,
)
from gensight.published.formulas_genius import overall

ROOT = Path(__file__).resolve().parents[2]
FOLDER = "resources/published"

# Typed by hand from the survey of the papers: what is printed, and what the other numbers give.
DIFFERENCES = [
    ("probegen", "Seedream-4.5: GB", "×", "–"),
    ("probegen", "Seedream-5.0: GB", "×", "–"),
    ("genius", "GPT-Image: Overall", "47.15", "46.21"),
    ("genius", "SeeDream 4.0: Overall", "21.26", "21.28"),
    ("genius", "Qwen-Image: Overall", "30.58", "31.60"),
    ("genius", "Ours: Overall", "32.92", "34.90"),
    ("genius", "gain over Bagel, from recomputed Overall", "6.18", "8.16"),
    ("pixelbench", "GPT-5.6 Sol: top1_100way", "57.0", "56.0"),
    ("pixelbench", "MMStar: 2k", "0.8", "0.7"),
    ("pixelbench", "Qwen3-VL-Instruct 8B 16x16: Example average", "1.88", "1.96"),
    ("pixelbench", "questions with fixed data", "22554", "22902"),
]
# Checks of each paper: exact, within rounding, differing.
TOTALS = {"probegen": (36, 0, 2), "genius": (10, 1, 5), "pixelbench": (412, 33, 4)}


@pytest.fixture(scope="module")
def found():
    return audit(root=ROOT)


@pytest.fixture
def copy(tmp_path):
    """Return the root of a copy of the published numbers, to be edited."""
    shutil.copytree(ROOT / FOLDER, tmp_path / FOLDER)
    return tmp_path


def edit(root, file, old, new):
    path = root / FOLDER / file
    text = path.read_text(encoding="utf-8")
    assert text.count(old) == 1
    path.write_text(text.replace(old, new), encoding="utf-8")


@pytest.mark.parametrize("paper", PAPERS)
def test_totals_of_a_paper(paper):
    assert tuple(audit([paper], ROOT).totals.values()) == TOTALS[paper]


def test_totals(found):
    """492 checks of the survey (447, 34 and 11), and 11 more that are exact.

    The eleven: four marks × that Table 9 of ProbeGen repeats, four numbers of benchmarks in
    aggregate rows (PixelBench Tables 6 and 14), and one number of samples in each paper's text.
    """
    assert found.totals == {EXACT: 447 + 11, WITHIN: 34, DIFFERS: 11}
    names = Counter((check.paper, check.place, check.name) for check in found.checks)
    assert max(names.values()) == 1
    more = [check for check in found.checks if check.printed == "×" and check.result == EXACT]
    more += [check for check in found.checks if check.name.endswith("number of benchmarks")]
    more += [check for check in found.checks if "samples = " in check.name]
    more += [check for check in found.checks if check.name == "understanding questions"]
    assert Counter(check.result for check in more) == {EXACT: 11}


def test_what_differs_is_known_and_everything_known_differs(found):
    assert (found.new, found.vanished) == ([], [])
    assert found.expected == expected_differences(ROOT)
    listed = [(one.paper, one.name, one.printed) for one in found.expected]
    assert sorted(listed) == sorted((paper, name, p) for paper, name, p, _ in DIFFERENCES)
    assert all(difference.remark for difference in found.expected)


@pytest.mark.parametrize(("paper", "name", "printed", "value"), DIFFERENCES)
def test_a_known_difference_has_the_value_of_the_survey(found, paper, name, printed, value):
    (check,) = [c for c in found.checks if (c.paper, c.name, c.result) == (paper, name, DIFFERS)]
    assert check.printed == printed
    if value == "–":
        assert check.recomputed == value
    else:
        assert abs(float(check.recomputed) - float(value)) <= half_unit(a_cell(value))


def test_every_derived_cell_is_vouched_for(found):
    vouched = {id_of(cell) for check in found.checks for cell in check.cells}
    derived = [
        cell
        for paper in PAPERS
        for table in tables(paper, ROOT)
        for cell in load(paper, table, ROOT)
        if cell.derived not in ("no", "unprinted_inputs", "not_printed")
    ]
    assert len(derived) > 250
    assert [cell for cell in derived if id_of(cell) not in vouched] == []


def id_of(cell):
    setting = tuple(sorted(cell.setting.items()))
    return cell.paper, cell.table, cell.model, cell.benchmark, cell.metric, setting


@pytest.mark.parametrize(
    ("row", "printed"),
    [
        ("GPT-6 Astra", "80.45"),
        ("GPT-5.6 Sol", "57.27"),
        ("Claude Opus 5", "23.16"),
        ("Kimi K3", "8.48"),
        ("Seed-2.1 Pro", "8.52"),
        ("Gemini 3.6 Flash", "1.98"),
        ("Nearest + median cut", "44.11"),
        ("SSIM-optimal + median cut", "61.19"),
        ("PIA (reduced)", "77.50"),
    ],
)
def test_the_min_max_aggregate_reproduces_every_row(found, row, printed):
    name = f"{row}: Agg, min-max over 9 rows"
    (check,) = [check for check in found.checks if check.name == name]
    assert (check.printed, check.result) == (printed, EXACT)


def test_the_overall_of_a_row_by_hand():
    """Nano Banana Pro: 609 of 1018 for RC, 261 of 550 for VC, 954 of 1018 for AQ."""
    sums = {"RC": 115 + 217 + 92 + 107 + 78, "VC": 66 + 131 + 16 + 48, "AQ": 954}
    units = {"RC": 86 + 152 + 60 + 101 + 110, "VC": 74 + 131 + 12 + 58, "AQ": 509}
    assert overall(sums, units) == pytest.approx(57.18866, abs=5e-6)


def test_an_edited_number_is_a_new_difference(copy):
    edit(copy, "probegen_table_5.csv", "otsu,gIoU,68.8,", "otsu,gIoU,68.9,")
    changed = audit(root=copy)
    assert [(check.name, check.printed) for check in changed.new] == [("otsu: mean of 6", "68.9")]
    assert changed.vanished == []


def test_a_known_difference_that_is_gone_is_told(copy):
    row = "MMStar,train=+2k Pixel minus four-seed OV mean;runs=4,delta,"
    edit(copy, "pixelbench_table_12.csv", f"{row}0.8,", f"{row}0.7,")
    changed = audit(root=copy)
    assert [one.name for one in changed.vanished] == ["MMStar: 2k"]
    assert changed.new == []


def test_a_known_difference_with_another_number_is_another(copy):
    edit(copy, "genius_table_2.csv", "Overall,47.15,", "Overall,48.15,")
    changed = audit(["genius"], copy)
    assert [check.printed for check in changed.new] == ["48.15"]
    assert [one.printed for one in changed.vanished] == ["47.15"]


def test_a_paper_alone_misses_nothing_of_the_others(copy):
    (copy / FOLDER / "pixelbench_table_1.csv").unlink()
    assert audit(["probegen", "genius"], copy).vanished == []
    with pytest.raises(GensightError, match=r"pixelbench_table_1\.csv"):
        audit(["pixelbench"], copy)


def test_a_cell_that_is_missing_is_one_line(copy):
    row = "Nano Banana 2,Average,n=100;prompt=mid;extractor=otsu"
    edit(copy, "probegen_table_5.csv", row, row.replace("Average", "Mean"))
    with pytest.raises(GensightError, match=r"0 cells have .*Average; restore the files"):
        audit(["probegen"], copy)


@pytest.mark.parametrize(
    ("paper", "file", "old", "new"),
    [
        ("probegen", "probegen_text.csv", "n_benchmarks,", "n_sets,"),
        ("genius", "genius_counts.csv", "Bagel,Visual Constraint,VC,12,12,3", "Bagel,x,VC,12,,"),
        ("pixelbench", "pixelbench_text.csv", "qwen_batch,64,", "qwen_batch,0,"),
    ],
)
def test_numbers_that_fit_no_formula_are_one_line(copy, paper, file, old, new):
    edit(copy, file, old, new)
    with pytest.raises(GensightError, match="restore") as caught:
        audit([paper], copy)
    assert "\n" not in str(caught.value)


def test_an_unknown_paper_is_one_line():
    with pytest.raises(GensightError, match="paper 'probgen' is not known; allowed"):
        audit(["probgen"], ROOT)


def a_cell(printed):
    value = None if printed in "×–" else Decimal(printed)
    cell = find("probegen", 4, "CountGD++", "PixMo-Points", "MAE", root=ROOT)
    return replace(cell, printed=printed, value=value)


@pytest.mark.parametrize(
    ("printed", "value", "inputs", "result"),
    [
        ("68.2", 68.15, 0.0, EXACT),  # half away from zero
        ("68.1", 68.15, 0.0, WITHIN),  # off by half a unit, which is the tolerance
        ("68.1", 68.16, 0.0, DIFFERS),
        ("68.1", 68.16, 0.05, WITHIN),
        ("-0.2", -0.15, 0.0, EXACT),
        ("-0.0", -0.04, 0.0, EXACT),  # a printed minus zero is zero
        ("87", 87.4, 0.0, EXACT),
        ("87", 87.6, 0.0, DIFFERS),
        ("0.872", 0.8725, 0.0005, WITHIN),
    ],
)
def test_the_rule_of_rounding(printed, value, inputs, result):
    assert recomputed("here", "it", a_cell(printed), value, inputs=inputs).result == result


@pytest.mark.parametrize(
    ("printed", "source", "result"),
    [
        ("×", "×", EXACT),
        ("×", "–", DIFFERS),
        ("×", "3.0", DIFFERS),
        ("0.8", "0.7", DIFFERS),
        ("2.6", "2.6", EXACT),
    ],
)
def test_a_number_printed_twice_is_the_same(printed, source, result):
    assert copied("here", "it", a_cell(printed), a_cell(source)).result == result


@pytest.mark.parametrize(
    ("printed", "result"), [("0.950", EXACT), ("0.975", EXACT), ("0.949", DIFFERS)]
)
def test_a_number_within_bounds(printed, result):
    assert bounded("here", "it", a_cell(printed), (0.95, 0.975)).result == result


def test_a_mark_is_no_number():
    with pytest.raises(GensightError, match=r"probegen Table 4, CountGD.*: × is not a number"):
        number(a_cell("×"))


def test_one_cell_is_neither_none_nor_two():
    cells = load("probegen", 4, ROOT)
    assert one(cells, model="CountGD++", metric="MAE").printed == "16.7"
    for names, n in (({"model": "CountGD"}, 0), ({"model": "CountGD++"}, 2)):
        with pytest.raises(GensightError, match=f"{n} cells have model CountGD"):
            one(cells, **names)
