from __future__ import annotations

import csv
import io
import shutil
import subprocess

import pytest

from gensight.records import Summary
from gensight.specs.base import parse
from gensight.specs.tables import TableSpec
from gensight.tables import (
    ModelInfo,
    RunFacts,
    all_document,
    build_table,
    render_csv,
    render_markdown,
    render_tex,
)

DIGEST = "0123456789abcdef" * 4
MARK = f"gensight-digest:{DIGEST} gensight-inputs:{DIGEST[::-1]}"
LABEL = r"A_b & {c} 50% #1 $x^2~ \n | <i>"
MODELS = {
    "alpha": {"label": LABEL, "order": 1, "note": "never run here"},
    "beta": {"label": "Beta", "order": 2},
    "gamma": {"label": "Gamma", "order": 3},
    "delta": {"label": "Delta", "order": 4},
    "cited": {"label": "Cited", "order": 5, "role": "published"},
}


def summary(model, value, **changes):
    row = {
        "model": model,
        "benchmark": "scenes",
        "prompt": "mid",
        "scorer": "mask",
        "variant": "otsu",
        "metric": "giou",
        "higher_is_better": True,
        "unit": "fraction",
        "value": value,
        "n": 20,
        "n_valid": 19,
        "clusters": 20,
        "interval_low": value - 0.1,
        "interval_high": value + 0.1,
        "interval_method": "cluster_t",
        "floor": -0.25,
        "floor_model": "beta",
        "ceiling": 1.0,
        "ceiling_model": "oracle",
    }
    return Summary(**row | changes)


ROWS = [
    summary("alpha", 0.1 + 0.2),
    summary("beta", -0.25),
    summary("gamma", 0.15, format_valid_high=0.2),
    summary("delta", 0.9, infrastructure=1),
    summary("cited", 0.95),
]


def table(columns=("gIoU",), rows=ROWS, models=MODELS, **options):
    content = {
        "title": "Masks & more",
        "caption": "50 % of_it.",
        "label": "tab:a_b",
        "columns": [
            {
                "benchmark": "scenes",
                "scorer": "mask",
                "metric": "giou",
                "header": header,
                "scale": 100,
            }
            for header in columns
        ],
        "options": {"show_interval": True} | options,
    }
    spec = parse("t.yaml", TableSpec, content)
    facts = RunFacts(name="demo_run", mark=MARK, protocol=("Depth in [0, 80] m.",))
    infos = {name: ModelInfo(**info) for name, info in models.items()}
    return build_table(spec, rows, infos, {"scenes": "Scenes & co"}, facts)


def test_every_format_carries_the_digest_where_it_is_looked_for():
    assert render_tex(table()).splitlines()[0] == f"% {MARK}"
    assert render_markdown(table()).splitlines()[0] == f"<!-- {MARK} -->"
    assert MARK in render_csv(table())
    assert all_document([], "r", DIGEST[:12], MARK).splitlines()[0] == f"% {MARK}"


def test_tex_cells():
    tex = render_tex(table())
    lines = {line.split(" & ")[0]: line for line in tex.splitlines() if line.endswith(r"\\")}
    grey = r"\textcolor{black!55}"
    assert lines[r"Beta"].startswith(
        rf"Beta & $-$25.0\textsuperscript{{{grey}{{f}}}}"
        rf"\,{{\scriptsize{grey}{{[$-$35.0, $-$15.0]}}}}"
    )
    assert rf"$\times$\textsuperscript{{{grey}{{15.0}}}}" in lines["Gamma"]
    assert (
        r"{\scriptsize\textit{incomplete} (20)}" in lines["Delta"] and "90.0" not in lines["Delta"]
    )
    assert "95.0" in lines[r"Cited\textsuperscript{$\S$}"]
    assert r"\textbf{30.0}" in tex and tex.count(r"\textbf{") == 2  # the title and the best cell
    assert r"gIoU\,$\uparrow$" in tex
    assert r"\multicolumn{2}{c}{Scenes \& co}" in tex
    assert r"\label{tab:a-b}" in tex


def test_markdown_cells():
    lines = render_markdown(table()).splitlines()
    (header,) = [line for line in lines if line.startswith("| Model")]
    assert header == "| Model | Scenes & co: gIoU ↑ | Scenes & co: valid/n |"
    assert (
        r"| A\_b & {c} 50% \#1 $x^2\~ \\n \| \<i\><sup>a</sup> | **30.0** [20.0, 40.0] | 19/20 |"
        in lines
    )
    assert "| Beta | −25.0<sup>f</sup> [−35.0, −15.0] | 19/20 |" in lines
    assert "| Gamma | × <sup>15.0</sup> | 19/20 |" in lines
    assert "| Delta | *incomplete* (n = 20) | 19/20 |" in lines
    assert "| Floor | −25.0 | – |" in lines
    widths = {line.replace(r"\|", "").count("|") for line in lines if line.startswith("|")}
    assert widths == {4}


def test_csv_is_one_line_per_cell_with_everything_unrounded():
    lines = list(csv.DictReader(io.StringIO(render_csv(table()))))
    assert len(lines) == 5 + 2
    alpha, beta, gamma, delta, cited, floor, ceiling = lines
    assert alpha["label"] == LABEL
    assert float(alpha["number"]) == 0.1 + 0.2 and alpha["number"] == repr(0.1 + 0.2)
    assert (alpha["printed"], alpha["status"], alpha["best"]) == ("30.0", "number", "True")
    assert (beta["printed"], beta["best"]) == ("-25.0", "False")
    assert (gamma["printed"], gamma["status"], gamma["number"]) == ("×", "failed", "0.15")
    assert (delta["printed"], delta["status"], delta["n"]) == ("incomplete", "incomplete", "20")
    assert (cited["role"], cited["best"]) == ("published", "False")
    assert (floor["model"], floor["number"], floor["floor_model"]) == ("floor", "-0.25", "beta")
    assert (floor["value"], floor["n"], floor["ceiling"]) == ("", "", "")
    assert (ceiling["number"], ceiling["ceiling_model"]) == ("1.0", "oracle")
    assert alpha["severity"] == alpha["fit"] == alpha["rank_low"] == ""
    assert {line["mark"] for line in lines} == {MARK}


def test_a_table_without_rows_is_still_a_table():
    empty = table(rows=[])
    assert "(no rows)" in render_tex(empty)
    assert len(list(csv.DictReader(io.StringIO(render_csv(empty))))) == 0
    assert render_markdown(empty).count("\n| ") == 2


def many(n, **options):
    models = {f"m{i:03}": {"label": f"Model {i}", "order": i} for i in range(n)}
    return table(rows=[summary(name, 0.5) for name in models], models=models, **options)


def test_a_table_longer_than_a_page_is_several_floats_of_one_number():
    assert render_tex(many(20)).count(r"\begin{table}") == 1
    tex = render_tex(many(100))
    assert tex.count(r"\begin{table}") == tex.count(r"\end{table}") == 3
    assert tex.count(r"\label{") == 1 and tex.count("(continued)") == 2
    assert tex.count("Printed") == 1
    assert [f"Model {i} " in tex for i in range(100)] == [True] * 100
    assert r"\midrule" not in [part.splitlines()[1] for part in tex.split(r"\toprule")[1:]]


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="LaTeX is not installed")
def test_the_whole_document_compiles_and_stays_within_the_page(tmp_path):
    columns = [f"metric {i}" for i in range(16)]
    named = [
        ("a", table()),
        ("wide", table(columns=columns)),
        ("long", many(80)),
        ("long_and_wide", many(110, columns=columns)),
        ("empty", table(rows=[])),
    ]
    tex = all_document([(name, render_tex(each)) for name, each in named], "demo_run", DIGEST, MARK)
    (tmp_path / "all.tex").write_text(tex, encoding="utf-8")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "-draftmode", "all.tex"]
    done = subprocess.run(
        command, cwd=tmp_path, capture_output=True, text=True, errors="replace", check=False
    )
    assert done.returncode == 0, done.stdout[-2000:]
    assert "Overfull" not in done.stdout and "too large" not in done.stdout


def test_the_document_inlines_its_tables_in_order():
    tex = all_document([("b", "% B\n"), ("a", "% A\n")], "a_run", DIGEST, MARK)
    assert tex.index("% table b\n% B") < tex.index("% table a\n% A")
    assert r"\input" not in tex
    assert r"\textbf{a\_run}" in tex
    assert tex.endswith("\\end{document}\n")
