"""The environment tells what can change a measurement, null for what cannot be read, no secrets."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

import assay
from assay.model.secrets import is_secret, without_secrets
from assay.running.host import environment
from assay.running.host.devices import device_of
from assay.running.host.environment import describe_host, describe_ourselves


class TestHost:
    def test_it_tells_what_can_change_a_measurement(self, tmp_path: Path) -> None:
        host = describe_host(tmp_path)
        assert host["cpu"]["allowed"] == sorted(os.sched_getaffinity(0))
        assert host["cpu"]["online"] >= len(host["cpu"]["allowed"])
        assert host["kernel"] == os.uname().release
        assert host == json.loads(json.dumps(host))

    def test_memory_is_what_the_kernel_says(self, tmp_path: Path) -> None:
        """Oracle: MemTotal of /proc/meminfo, in kB."""
        line = next(
            line
            for line in Path("/proc/meminfo").read_text("ascii").splitlines()
            if "MemTotal" in line
        )
        assert describe_host(tmp_path)["memory_bytes"] == int(line.split()[1]) * 1024

    def test_the_file_system_is_the_one_of_the_data(self, tmp_path: Path) -> None:
        data_filesystem = describe_host(tmp_path)["data_filesystem"]
        assert os.stat(data_filesystem["mount_point"]).st_dev == tmp_path.stat().st_dev  # noqa: PTH116

    def test_the_device_is_the_one_of_the_data(self, tmp_path: Path) -> None:
        host = describe_host(Path("/proc"), tmp_path)
        assert host["data_filesystem"] == describe_host(tmp_path)["data_filesystem"]
        assert host["data_device"] == device_of(tmp_path, host["data_filesystem"]["device"])

    def test_where_the_data_are_may_not_be_known(self, tmp_path: Path) -> None:
        assert describe_host(tmp_path)["data_device"] is None

    def test_what_cannot_be_read_is_null(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(environment, "_read", lambda _: None)
        host = describe_host(tmp_path)
        assert host["clock_source"] is None
        assert host["delay_accounting"] is None
        assert host["data_filesystem"] is None
        assert host["cpu"]["model"] is None


class TestMounts:
    MOUNTS = "\n".join(
        [
            "/dev/root / ext4 rw 0 0",
            "/dev/data /mnt/my\\040disk xfs rw 0 0",
            "tmpfs /mnt/my\\040disk/fast tmpfs rw 0 0",
            "over / overlay rw 0 0",
        ]
    )

    @pytest.mark.parametrize(
        ("path", "kind"),
        [
            ("/home", "overlay"),
            ("/mnt/my disk/data", "xfs"),
            ("/mnt/my disk/fast/x", "tmpfs"),
            ("/mnt/my diskette", "overlay"),
        ],
    )
    def test_the_innermost_and_last_mount_holds_a_path(
        self, tmp_path: Path, path: str, kind: str
    ) -> None:
        (tmp_path / "mounts").write_text(self.MOUNTS, encoding="utf-8")
        mount = environment.mount_of(Path(path), str(tmp_path / "mounts"))
        assert mount is not None
        assert mount["type"] == kind


class TestSecrets:
    @pytest.mark.parametrize(
        ("text", "shown"),
        [
            ("postgresql://me:hunter2@host:5432/db", "postgresql://me:***@host:5432/db"),
            ("mysql://me:hunter2@host", "mysql://me:***@host"),
            ("mysql://me:hun/te?r2@host", "mysql://me:***@host"),
            ("mysql://me:hunter@2@host", "mysql://me:***@host"),
            ("http://:hunter2@host/sparql", "http://:***@host/sparql"),
            ("password=hunter2", "password=***"),
            ("host=db password=hunter2 dbname=x", "host=db password=*** dbname=x"),
            ("password='hunter 2' dbname=x", "password=*** dbname=x"),
            (r"password='hun\'t er2' dbname=x", "password=*** dbname=x"),
            (r"password=hun\ ter2 dbname=x", "password=*** dbname=x"),
            ("password = hunter2 dbname=x", "password=*** dbname=x"),
            ("PGPASSWORD=hunter2", "PGPASSWORD=***"),
            ("s3_secret_access_key=hunter2", "s3_secret_access_key=***"),
            ("api-token=hunter2", "api-token=***"),
            ("token_of_s3=hunter2", "token_of_s3=***"),
        ],
    )
    def test_a_secret_is_blotted_out(self, text: str, shown: str) -> None:
        assert without_secrets(text) == shown

    @pytest.mark.parametrize(
        "text",
        ["--engine", "threads=2", "http://host:8080/sparql", "postgresql://me@host/db", "a:b@c"],
    )
    def test_what_holds_none_stays_as_it_is(self, text: str) -> None:
        assert without_secrets(text) == text

    @pytest.mark.parametrize(
        ("name", "secret"), [("s3_secret_access_key", True), ("threads", False)]
    )
    def test_settings_are_judged_by_their_name(self, name: str, secret: bool) -> None:
        assert is_secret(name) is secret

    def test_the_command_line_is_recorded_without_them(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(sys, "argv", ["assay", "run", "--set", "password=hunter2"])
        ours = describe_ourselves()
        assert ours["command_line"] == ["assay", "run", "--set", "password=***"]
        assert ours["version"] == assay.__version__


class TestCommit:
    def test_outside_of_a_source_tree_there_is_none(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        elsewhere = tmp_path / "python" / "assay" / "running" / "host" / "environment.py"
        monkeypatch.setattr(environment, "__file__", str(elsewhere))
        assert describe_ourselves()["commit"] is None

    def test_without_git_there_is_none(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("PATH", "/nowhere")
        assert describe_ourselves()["commit"] is None
