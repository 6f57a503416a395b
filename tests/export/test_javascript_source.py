"""The JavaScript module gives in node what predict gives here."""

import json
import shutil
import subprocess

import numpy as np
import pytest

import calibrant as cb
from calibrant.export import to_javascript

NODE = shutil.which("node")

RUN = """
import { readFileSync } from "node:fs";
const rows = JSON.parse(readFileSync("rows.json"));
const out = [];
for (let j = 0; j < rows.length; j++) {
  const made = await import(`./case${j}.mjs`);
  out.push(rows[j].map((row) => Array.from(made.calibrate(row))));
}
console.log(JSON.stringify(out));
"""


@pytest.mark.skipif(NODE is None, reason="needs node")
def test_in_node_it_gives_what_predict_gives(cases, tmp_path):
    for j, case in enumerate(cases):
        (tmp_path / f"case{j}.mjs").write_text(to_javascript(case.fitted))
    (tmp_path / "rows.json").write_text(json.dumps([case.rows.tolist() for case in cases]))
    (tmp_path / "run.mjs").write_text(RUN)
    done = subprocess.run([NODE, "run.mjs"], cwd=tmp_path, capture_output=True, text=True, check=True)
    for case, out in zip(cases, json.loads(done.stdout), strict=True):
        assert np.abs(np.array(out) - case.expected).max() < 1e-12, case.name


def test_labels_come_along():
    cal = cb.TemperatureScaling(classes=["no", "yes"]).fit([[0.9, 0.1], [0.8, 0.2], [0.3, 0.7]], ["no", "yes", "yes"])
    assert 'export const classes = ["no", "yes"];' in to_javascript(cal)
