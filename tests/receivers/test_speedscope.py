"""speedscope opens folded stacks and pprof profiles, in a browser, and counts what was sampled."""

from __future__ import annotations

import re
from pathlib import Path
from types import ModuleType

import pytest
from playwright.sync_api import Browser

from assay.report.profile_exports import folded, pprof
from tests.receivers.conftest import exported

ROW = re.compile(r"([\d.]+\w*) \([^)]*\)\s+([\d.]+\w*) \([^)]*\)\s+(\S.*)")
SANDWICH = "3"


def rows(browser: Browser, installed: Path, profile: Path) -> dict[str, tuple[str, str]]:
    """Of each function, what the table of speedscope says of it: total and self."""
    page = browser.new_page()
    wrong: list[str] = []
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.goto((installed / "speedscope/dist/release/index.html").as_uri())
    page.set_input_files("input[type=file]", profile)
    page.get_by_text("Sandwich").wait_for()
    page.keyboard.press(SANDWICH)
    page.get_by_text("Symbol Name").wait_for()
    table_rows = ROW.findall(page.locator("body").inner_text())
    page.close()
    assert wrong == []
    return {name: (total, own) for total, own, name in table_rows}


def test_folded_stacks_are_counted(browser: Browser, installed: Path, tmp_path: Path) -> None:
    assert rows(browser, installed, exported(folded, tmp_path)) == {
        "q01": ("6", "0"),
        "q09": ("4", "0"),
        "ExecutorRun": ("10", "0"),
        "ExecHashJoin": ("9", "2"),
        "heap_getnext": ("5", "3"),
        "copy_to_user_[k]": ("2", "2"),
        "<[u8: 16] as filter::Filter>::keep": ("2", "1"),
        "libfilter.so+0x1f00..0x1f80": ("1", "1"),
        "0x7f0000000000": ("1", "1"),
    }


def test_pprof_is_cpu_time(browser: Browser, installed: Path, tmp_path: Path) -> None:
    assert rows(browser, installed, exported(pprof, tmp_path)) == {
        "ExecutorRun": ("20.00ms", "0.00ns"),
        "ExecHashJoin": ("18.00ms", "4.00ms"),
        "heap_getnext": ("10.00ms", "6.00ms"),
        "copy_to_user": ("4.00ms", "4.00ms"),
        "<[u8; 16] as filter::Filter>::keep": ("4.00ms", "2.00ms"),
        "libfilter.so+0x1f00..0x1f80": ("2.00ms", "2.00ms"),
        "0x7f0000000000": ("2.00ms", "2.00ms"),
    }


@pytest.mark.parametrize("module", [folded, pprof])
def test_one_operation_alone(
    browser: Browser, installed: Path, tmp_path: Path, module: ModuleType
) -> None:
    table_rows = rows(browser, installed, exported(module, tmp_path, "q09"))
    assert table_rows["ExecutorRun"][0] in {"4", "8.00ms"}
    assert "copy_to_user" not in table_rows
