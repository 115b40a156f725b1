"""The rules of the tests on real data, tried on a test that breaks each."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


@pytest.mark.slow
@pytest.mark.parametrize("is_there", [True, False])
@pytest.mark.parametrize(
    ("code", "with_data", "without"),
    [
        ("def test_it(data_folder): pass", "1 error", "1 error"),
        ("@pytest.mark.data\ndef test_it(data_folder): pass", "1 passed", "1 skipped"),
        ("@pytest.mark.data\ndef test_it(): pytest.skip('x')", "1 failed", "1 skipped"),
    ],
    ids=["unmarked", "marked", "skips"],
)
def test_data_tests_cannot_be_skipped_silently(
    code, with_data, without, is_there, tmp_path
) -> None:
    shutil.copy(ROOT / "conftest.py", tmp_path)
    (tmp_path / "test_it.py").write_text(f"import pytest\n{code}\n")
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers = data: reads data\n")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-c", "pytest.ini"],
        cwd=tmp_path,
        env={**os.environ, "HONESTDP_DATA": str(tmp_path if is_there else tmp_path / "none")},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (with_data if is_there else without) in done.stdout


def test_bytes_are_no_name_for_a_test(request) -> None:
    make = request.config.hook.pytest_make_parametrize_id
    assert make(config=request.config, val=b"\x1f\x8b", argname="body") == "body"
    assert make(config=request.config, val="word", argname="body") is None
