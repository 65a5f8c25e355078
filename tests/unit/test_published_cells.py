"""The papers' numbers: every digit in print, looked up by the names in print."""

import re
from decimal import Decimal
from pathlib import Path

import pytest

from gensight.errors import GensightError
from gensight.published import PAPERS, facts, find, genius_counts, load, select, tables

ROOT = Path(__file__).resolve().parents[2]
PAPER_TEXTS = ROOT.parent / "shared" / "papers"
RUN = 8

NBP, NB2, GPT = "Nano Banana Pro", "Nano Banana 2", "GPT-Image-2"
SD4, SD5 = "Seedream-4.5", "Seedream-5.0"
FLUX, QWEN = "Flux.2-dev-NF4 (32B)", "Qwen-Edit-2511 (20B)"
SAM8, SAM32 = "SAM3 + Qwen3-VL-8B-Thinking", "SAM3 + Qwen3-VL-32B-Thinking-FP8"
SAMTOK, DAV2 = "Qwen3-VL-8B-SAMTok", "Depth Anything V2-Large"
SEG, DEPTH = "Segmentation (ReasonSeg subset)", "Depth (NYUv2 subset)"
COUNT, PIXMO = "Counting (PixMo-Points subset)", "PixMo-Points"

# Typed by hand from the paper: table, model, benchmark, metric, setting, what is printed, status.
PRINTED = [
    (1, SAM8, "ReasonSeg", "gIoU", {}, "60.7", "ok"),
    (1, SAM32, "DRAM", "gIoU", {}, "63.0", "ok"),
    (1, SAM32, "Manga109", "cIoU", {}, "17.6", "ok"),
    (1, SAMTOK, SEG, "IMG/min", {}, "54", "ok"),
    (1, "Vision Banana", "ReasonSeg", "gIoU", {}, "79.3", "other_protocol"),
    (1, "Vision Banana", "DRAM", "gIoU", {}, "–", "unavailable"),
    (1, NBP, "Manga109", "cIoU", {}, "58.8", "ok"),
    (1, NB2, "DRAM", "gIoU", {"prompt": "mid", "extractor": "otsu"}, "82.5", "ok"),
    (1, GPT, "Manga109", "gIoU", {}, "28.4", "ok"),
    (1, SD4, "ReasonSeg", "gIoU", {}, "×", "failed"),
    (1, SD5, "DRAM", "cIoU", {}, "31.1", "ok"),
    (1, FLUX, SEG, "GB", {}, "39", "ok"),
    (1, QWEN, "Manga109", "gIoU", {}, "13.0", "ok"),
    (2, SAM8, "RefCOCO", "gIoU", {}, "70.7", "ok"),
    (2, SAM32, "RefCOCO+", "cIoU", {}, "65.5", "ok"),
    (2, SAMTOK, "RefCOCOg", "cIoU", {}, "75.4", "ok"),
    (2, "Vision Banana", "RefCOCOg", "cIoU", {}, "73.8", "other_protocol"),
    (2, NBP, "RefCOCOg", "gIoU", {}, "72.0", "ok"),
    (2, NB2, "RefCOCO+", "cIoU", {}, "53.0", "ok"),
    (2, GPT, "RefCOCO", "cIoU", {}, "50.0", "ok"),
    (2, SD4, "RefCOCO+", "gIoU", {}, "×", "failed"),
    (2, QWEN, "RefCOCOg", "gIoU", {}, "32.0", "ok"),
    (3, DAV2, "NYUv2", "AbsRel", {}, "4.5", "ok"),
    (3, "Marigold v1.1", "NYUv2", "AbsRel", {}, "6.0", "ok"),
    (3, "Lotus-2", "KITTI", "AbsRel", {}, "10.2", "ok"),
    (3, "Vision Banana", "DIODE", "AbsRel", {}, "10.8", "other_protocol"),
    (3, NBP, "DIODE", "AbsRel", {}, "34.9", "ok"),
    (3, GPT, "ScanNet", "AbsRel", {}, "10.6", "ok"),
    (3, SD4, "KITTI", "AbsRel", {}, "23.4", "ok"),
    (3, SD5, "NYUv2", "AbsRel", {}, "×", "failed"),
    (3, QWEN, "KITTI", "AbsRel", {}, "8.9", "ok"),
    (3, QWEN, DEPTH, "GB", {}, "62", "ok"),
    (4, "CountGD++", PIXMO, "RMSE", {}, "46.7", "ok"),
    (4, "Gemini-3.5-Flash", PIXMO, "MAE", {}, "4.4", "ok"),
    (4, "GPT-5.4", PIXMO, "RMSE", {}, "44.4", "ok"),
    (4, "Claude-Opus-4.7", PIXMO, "RMSE", {}, "19.9", "ok"),
    (4, NB2, PIXMO, "RMSE", {}, "15.5", "ok"),
    (4, FLUX, PIXMO, "MAE", {}, "×", "failed"),
    (5, NB2, "RefCOCO+", "gIoU", {"extractor": "kmeans_k2"}, "52.8", "ok"),
    (5, NB2, "DRAM", "gIoU", {"extractor": "otsu"}, "79.6", "ok"),
    (5, NB2, "Average", "gIoU", {"extractor": "threshold_225"}, "68.0", "ok"),
    (5, NB2, "Average", "gIoU", {"extractor": "otsu"}, "68.8", "ok"),
    (6, NB2, "RefCOCOg", "gIoU", {"prompt": "short"}, "77.0", "ok"),
    (6, GPT, "RefCOCOg", "gIoU", {"prompt": "long"}, "57.9", "ok"),
    (6, SD5, "RefCOCOg", "gIoU", {"prompt": "short"}, "8.0", "ok"),
    (6, QWEN, "NYUv2", "AbsRel", {"prompt": "mid"}, "6.1", "ok"),
    (6, QWEN, PIXMO, "MAE", {"prompt": "mid"}, "×", "failed"),
    (7, NBP, PIXMO, "MAE", {"decoder": "peak_dt"}, "67.73", "ok"),
    (7, GPT, PIXMO, "MAE", {"decoder": "diff_red_open_cc"}, "10.90", "ok"),
    (7, NB2, PIXMO, "MAE", {"decoder": "diff_red_blob"}, "4.55", "ok"),
    (7, "Average", PIXMO, "MAE", {"decoder": "diff_red_blob"}, "5.07", "ok"),
    (9, SAMTOK, SEG, "GB", {}, "19", "ok"),
    (9, DAV2, DEPTH, "IMG/min", {}, "828", "ok"),
    (9, "CountGD++", COUNT, "GB", {}, "4.1", "ok"),
    (9, "GPT-5.4", COUNT, "IMG/min", {}, "22.6", "api_time"),
    (9, "Claude-Opus-4.7", COUNT, "IMG/min", {}, "13.0", "api_time"),
    (9, NB2, SEG, "IMG/min", {}, "2.0", "api_time"),
    (9, NB2, SEG, "GB", {}, "–", "unavailable"),
    (9, FLUX, COUNT, "GB", {}, "×", "failed"),
    (9, QWEN, DEPTH, "IMG/min", {}, "1.5", "ok"),
]
HYPERPARAMETERS = [
    ("saturation_floor_S", "before", "150"),
    ("saturation_floor_S", "after_argmin", "160"),
    ("max_blob_area", "adopted", "1500"),
    ("min_blob_area", "after_argmin", "4"),
    ("min_circularity", "adopted", "0.6"),
    ("min_inertia_ratio", "after_argmin", "0.2"),
]
POOLED = [("previous_defaults", "5.09"), ("literal_argmin", "4.61"), ("adopted", "4.74")]


@pytest.mark.parametrize("typed", PRINTED, ids=lambda typed: "-".join(map(str, typed[:4])))
def test_a_cell_holds_the_digits_in_print(typed):
    table, model, benchmark, metric, setting, printed, status = typed
    cell = find("probegen", table, model, benchmark, metric, setting, root=ROOT)
    assert cell is not None
    assert (cell.printed, cell.status) == (printed, status)
    assert cell.value == (None if printed in "×–" else Decimal(printed))


@pytest.mark.parametrize(("parameter", "stage", "printed"), HYPERPARAMETERS)
def test_a_hyperparameter_of_the_sweep(parameter, stage, printed):
    setting = {"param": parameter, "stage": stage}
    cell = find("probegen", 8, "", PIXMO, "hyperparameter_value", setting, root=ROOT)
    assert cell is not None
    assert cell.printed == printed


@pytest.mark.parametrize(("config", "printed"), POOLED)
def test_a_pooled_error_of_the_sweep(config, printed):
    (cell,) = select(load("probegen", 8, ROOT), metric="MAE", setting={"config": config})
    assert cell.printed == printed


def cells_of_the_paper():
    """Yield the numbers and marks of every table of ProbeGen, in the order of print."""
    for line in (PAPER_TEXTS / "probegen.txt").read_text(encoding="utf-8").splitlines():
        for cell in line.split("\t")[1:]:
            text = cell.replace("$", "").replace(r"\times", "×").strip()
            found = re.match(r"[0-9]+(\.[0-9]+)?|[×–]$", text)
            if found:
                yield found.group()


@pytest.mark.skipif(not PAPER_TEXTS.exists(), reason="the papers' texts are not here")
def test_every_cell_of_every_table_is_here_in_order():
    here = [
        cell.printed
        for table in range(1, 10)
        for cell in load("probegen", table, ROOT)
        if cell.derived != "not_printed"
    ]
    assert here == list(cells_of_the_paper())
    assert len(here) == 452


def runs_of_words(text):
    words = re.findall(r"[a-z0-9]+", text.lower())
    return {tuple(words[place : place + RUN]) for place in range(len(words) - RUN + 1)}


def own_words():
    """Return every text of ours about the published numbers and the models."""
    folder = ROOT / "resources/published"
    texts = {path.name: path.read_text("utf-8") for path in folder.glob("*.*")}
    texts |= {
        path.name: path.read_text("utf-8") for path in (ROOT / "config/models").glob("*.yaml")
    }
    return texts | {"models.md": (ROOT / "docs/models.md").read_text("utf-8")}


@pytest.mark.skipif(not PAPER_TEXTS.exists(), reason="the papers' texts are not here")
def test_no_run_of_words_stands_in_the_papers():
    papers = sorted(PAPER_TEXTS.glob("*.txt"))
    assert len(papers) == len(PAPERS)
    printed = set().union(*(runs_of_words(paper.read_text("utf-8")) for paper in papers))
    texts = own_words()
    assert len(texts) > 60
    for name, text in texts.items():
        shared = runs_of_words(text) & printed
        assert not shared, f"{name} shares {sorted(shared)[0]}"


@pytest.mark.parametrize("paper", PAPERS)
def test_every_table_loads_and_no_cell_is_there_twice(paper):
    here = tables(paper, ROOT)
    assert here == sorted(set(here))
    for table in here:
        cells = load(paper, table, ROOT)
        names = {(c.model, c.benchmark, c.metric, tuple(sorted(c.setting.items()))) for c in cells}
        assert len(names) == len(cells) > 0
        assert {(c.paper, c.table) for c in cells} == {(paper, table)}


def test_the_tables_that_are_here():
    assert tables("probegen", ROOT) == list(range(1, 10))
    assert tables("genius", ROOT) == [2]
    lists_of_words = {19, 20, 21}
    assert tables("pixelbench", ROOT) == [n for n in range(1, 26) if n not in lists_of_words]


def test_counting_and_depth_are_lower_is_better():
    better = {
        cell.metric: cell.higher_is_better
        for table in range(1, 8)
        for cell in load("probegen", table, ROOT)
    }
    assert better == {
        "gIoU": True,
        "cIoU": True,
        "IMG/min": True,
        "GB": False,
        "AbsRel": False,
        "MAE": False,
        "RMSE": False,
    }


def test_other_papers_keep_their_trailing_zeros():
    setting = {"resolution": "16x16", "pool": "100"}
    share = find("pixelbench", 22, "GPT-6 Astra", "T2P", "top1_proportion", setting, root=ROOT)
    overall = find("genius", 2, "Bagel", "Overall", "Overall", root=ROOT)
    assert share is not None
    assert overall is not None
    assert (share.printed, overall.printed) == ("0.950", "26.74")


def test_a_name_that_is_not_in_print_finds_nothing():
    assert find("probegen", 1, "Nano Banana", "ReasonSeg", "gIoU", root=ROOT) is None
    assert find("probegen", 1, NB2, "ReasonSeg", "gIoU", {"prompt": "long"}, root=ROOT) is None


def test_several_cells_are_an_error_that_says_what_tells_them_apart():
    with pytest.raises(GensightError, match=r"3 cells .* apart by prompt"):
        find("probegen", 6, NB2, "RefCOCOg", "gIoU", root=ROOT)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: load("probgen", 1, ROOT), "paper 'probgen' is not known; allowed: probegen"),
        (lambda: load("genius", 3, ROOT), "genius has no Table 3 here; there are 2"),
        (lambda: facts("probgen", ROOT), "paper 'probgen' is not known"),
    ],
)
def test_an_unknown_paper_or_table_is_one_line(call, message):
    with pytest.raises(GensightError, match=message) as caught:
        call()
    assert "\n" not in str(caught.value)


def test_the_checkout_is_found_from_a_folder_below_it(monkeypatch):
    monkeypatch.chdir(ROOT / "tests/unit")
    assert load("probegen", 4) == load("probegen", 4, ROOT)


def test_outside_a_checkout_is_one_line(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(GensightError, match="run this inside a checkout"):
        load("probegen", 1)


HEADER = (
    "paper,table,row_group,model,benchmark,setting,metric,value,status,higher_is_better,"
    "derived,note"
)
ROW = "probegen,1,Specialists,A,B,n=500,gIoU,60.7,ok,yes,no,"


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (ROW.replace("60.7", "sixty"), "row 2: 'sixty' is not a number"),
        (ROW.replace("60.7", "NaN"), "row 2: 'NaN' is not a number"),
        (ROW.replace("60.7", ""), "row 2: status, value and higher_is_better do not fit"),
        (ROW.replace("ok", "failed"), "row 2: status, value and higher_is_better do not fit"),
        (ROW.replace(",ok,", ",fine,"), "row 2: status, value"),
        (ROW.replace("n=500", "n500"), "row 2: setting 'n500' must be key=value"),
        (ROW.replace("probegen,1", "probegen,2"), "row 2: paper and table are not those"),
        (ROW.removesuffix(",no,"), "row 2: must have 12 cells"),
    ],
)
def test_a_damaged_file_is_one_line_with_its_row(tmp_path, row, message):
    folder = tmp_path / "resources/published"
    folder.mkdir(parents=True)
    (folder / "probegen_table_1.csv").write_text(f"{HEADER}\n{row}\n", encoding="utf-8")
    with pytest.raises(GensightError, match=re.escape(message)) as caught:
        load("probegen", 1, tmp_path)
    assert "probegen_table_1.csv" in str(caught.value)


def test_other_columns_are_one_line(tmp_path):
    folder = tmp_path / "resources/published"
    folder.mkdir(parents=True)
    (folder / "probegen_table_1.csv").write_text("paper,table\nprobegen,1\n", encoding="utf-8")
    with pytest.raises(GensightError, match="the columns must be paper, table, row_group"):
        load("probegen", 1, tmp_path)


def test_facts_of_the_text():
    said = facts("pixelbench", ROOT)
    assert said["sol_i2p_top1"].printed == "57.0"
    assert said["sol_i2p_top1"].unit == "percent"
    assert facts("genius", ROOT)["gain_ours_over_bagel"].value == Decimal("6.18")


def test_inferred_counts_print_their_percentages():
    """Each pair must round to what Table 2 prints; a pair is missing where none does."""
    cells, counts = load("genius", 2, ROOT), genius_counts(ROOT)
    assert len(counts) == 182
    for count in counts:
        (cell,) = select(cells, model=count.model, benchmark=count.task, metric=count.metric)
        if count.n is None or count.score_sum is None:
            continue
        share = Decimal(100 * count.score_sum) / (2 * count.n)
        assert abs(share - cell.value) <= Decimal("0.005")
        assert count.n <= count.n_full
    assert sum(count.n is None for count in counts) == 25
