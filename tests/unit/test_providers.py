"""Products are obtained whole, verified, once; what goes wrong is told with its mend.

The clients of registries are programs of the tests' own, put first on the PATH.
"""

from __future__ import annotations

import errno
import io
import json
import os
import signal
import subprocess
import sys
import tarfile
import time
import zipfile
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import assay
from assay.engines import obtaining
from assay.engines.contract import EngineError, Product, Wanted, tell_nobody
from assay.engines.facts import EngineFacts
from assay.engines.obtaining import obtain, resolve
from assay.engines.providers import archives, client, go
from assay.engines.providers.archives import unpack_tar, unpack_zip
from assay.engines.providers.client import Client
from assay.engines.providers.contract import ProviderError, UnavailableError
from assay.engines.providers.debian import DebianProvider
from assay.engines.providers.debian_release import DebianReleaseProvider, program_of

if TYPE_CHECKING:
    from collections.abc import Callable

PATIENCE_S = 20.0
JAR = "server-2.1.0.jar"
PACKAGE = f"org.acme:server:{JAR}"
PACKAGE_ROOT = str(Path(next(iter(assay.__path__))).parent)

# Copies what the test prepared to where mvn would, after noting that it was called.
MVN = """
echo called >> "$HERE/calls"
for word in "$@"; do case "$word" in -DoutputDirectory=*) to="${word#*=}";; esac; done
cp "$HERE"/*.jar "$to"/
"""
APT_GET = 'echo called >> "$HERE/calls"; cp "$HERE"/*.deb .'


class Registry:
    """A directory with client programs, and the files that they bring."""

    def __init__(self, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.here = root / "registry"
        self.bin = root / "bin"
        self.cache = root / "cache"
        for directory in (self.here, self.bin):
            directory.mkdir()
        monkeypatch.setenv("HERE", str(self.here))
        monkeypatch.setenv("PATH", f"{self.bin}:/usr/bin:/bin")
        self.sha256: dict[str, str] = {}

    def client(self, name: str, script: str) -> None:
        file = self.bin / name
        file.write_text(f"#!/bin/sh\n{script}\n")
        file.chmod(0o755)

    def jar(self, script: str = "#!/bin/sh\necho 2.1\n") -> Path:
        """A jar with an archive in it, as servers are packed for Maven."""
        inner = io.BytesIO()
        with tarfile.open(fileobj=inner, mode="w:xz") as tar:
            member = tarfile.TarInfo("bin/server")
            member.mode, member.size = 0o700, len(script)
            tar.addfile(member, io.BytesIO(script.encode()))
        file = self.here / JAR
        with zipfile.ZipFile(file, "w") as archive:
            archive.writestr("META-INF/MANIFEST.MF", "x")
            archive.writestr("server.txz", inner.getvalue())
        self.sha256 = {JAR: sha256(file.read_bytes()).hexdigest()}
        return file

    def facts(self, *, provider: str = "maven", package: str = PACKAGE) -> EngineFacts:
        product = {"version": "2.1.0", "provider": provider, "package": package}
        products = [{**product, "sha256": self.sha256, "about": "the newest"}]
        products.append({**product, "version": "1.9", "about": "an old one"})
        return EngineFacts.model_validate(
            {
                "name": "acme",
                "title": "Acme",
                "about": "x",
                "kind": "server",
                "session": "null",
                "obtained_from": "a test",
                "products": products,
            }
        )

    def calls(self) -> int:
        file = self.here / "calls"
        return len(file.read_text().splitlines()) if file.exists() else 0

    def obtain(self, version: str | None = None, **facts: str) -> Product:
        return obtain(self.facts(**facts), Wanted(self.cache, version), tell_nobody)

    @property
    def shelf(self) -> Path:
        return self.cache / "acme"

    def left(self) -> set[str]:
        """What stands on the shelf but the lock."""
        return {path.name for path in self.shelf.iterdir()} - {obtaining.LOCK_FILE}


@pytest.fixture
def registry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Registry:
    made = Registry(tmp_path, monkeypatch)
    made.client("mvn", MVN)
    made.jar()
    return made


class TestVersions:
    @pytest.mark.parametrize(
        ("asked", "version"),
        [(None, "2.1.0"), ("2", "2.1.0"), ("2.1", "2.1.0"), ("2.1.0", "2.1.0"), ("1", "1.9")],
    )
    def test_the_first_that_fits(self, registry: Registry, asked: str | None, version: str) -> None:
        assert resolve(registry.facts(), asked).version == version

    @pytest.mark.parametrize("asked", ["3", "2.10", "21", "", "2.1.0.0"])
    def test_an_unknown_one_lists_those_there_are(self, registry: Registry, asked: str) -> None:
        with pytest.raises(EngineError, match=r"@2\.1\.0 \(the newest\); @1\.9 \(an old one\)"):
            resolve(registry.facts(), asked)

    def test_an_engine_without_products_needs_a_directory(self, registry: Registry) -> None:
        bare = registry.facts().model_copy(update={"products": ()})
        with pytest.raises(EngineError, match="--bin-dir"):
            resolve(bare, None)


class TestObtaining:
    def test_it_is_unpacked_executable_and_its_origin_told(self, registry: Registry) -> None:
        product = registry.obtain()
        assert product.home is not None
        program = product.home / "bin" / "server"
        assert subprocess.run([program], capture_output=True, check=True).stdout == b"2.1\n"
        assert product.origin["sha256"] == registry.sha256
        assert product.origin["package"] == PACKAGE
        assert registry.left() == {"2.1.0-maven"}

    def test_a_second_time_asks_nobody(self, registry: Registry) -> None:
        first = registry.obtain()
        assert registry.obtain() == first
        assert registry.calls() == 1

    def test_every_user_may_execute_it(self, registry: Registry) -> None:
        before = os.umask(0o077)
        try:
            home = registry.obtain().home
        finally:
            os.umask(before)
        assert home is not None
        modes = {path: path.stat().st_mode & 0o777 for path in (home, *home.rglob("*"))}
        assert {mode & 0o444 for mode in modes.values()} == {0o444}
        assert modes[home] & 0o111 == modes[home / "bin/server"] & 0o111 == 0o111

    def test_it_tells_what_it_does(self, registry: Registry) -> None:
        phrases: list[str] = []
        wanted = Wanted(registry.cache)
        obtain(registry.facts(), wanted, lambda phase, *_: phrases.append(phase))
        order = [phase for phase in dict.fromkeys(phrases) if " with " not in phase]
        assert order == ["downloading", "verifying", "unpacking"]

    def test_a_wrong_checksum_leaves_nothing(self, registry: Registry) -> None:
        registry.jar("#!/bin/sh\necho evil\n")
        facts = registry.facts()
        registry.jar()
        wrong = f"{JAR} has the SHA-256 .* instead of the expected .*try again"
        with pytest.raises(EngineError, match=wrong) as refused:
            obtain(facts, Wanted(registry.cache), tell_nobody)
        assert not isinstance(refused.value.__cause__, UnavailableError)
        assert registry.left() == set()

    def test_a_file_that_is_not_pinned_is_refused(self, registry: Registry) -> None:
        (registry.here / JAR).rename(registry.here / "other.jar")
        with pytest.raises(
            EngineError, match=r"sent other\.jar instead of the expected server-2\.1\.0\.jar"
        ):
            registry.obtain()

    def test_a_file_that_does_not_come_is_missed(self, registry: Registry) -> None:
        registry.sha256["second.jar"] = "0" * 64
        with pytest.raises(EngineError, match=r"second\.jar could not be downloaded"):
            registry.obtain()

    def test_a_damaged_home_is_made_anew(self, registry: Registry) -> None:
        home = registry.obtain().home
        assert home is not None
        (home / obtaining.ORIGIN_FILE).unlink()
        assert registry.obtain().home == home
        assert (home / obtaining.ORIGIN_FILE).exists()

    def test_programs_of_a_directory_are_used_as_they_are(self, registry: Registry) -> None:
        product = obtain(
            registry.facts(), Wanted(registry.cache, bin_dir=registry.bin), tell_nobody
        )
        assert (product.home, product.version) == (registry.bin, "")
        assert registry.calls() == 0

    def test_a_directory_that_is_none_is_told(self, registry: Registry) -> None:
        wanted = Wanted(registry.cache, bin_dir=registry.bin / "mvn")
        with pytest.raises(EngineError, match=r"is not a directory: name .* --bin-dir"):
            obtain(registry.facts(), wanted, tell_nobody)


OBTAIN = """
import json, sys
from pathlib import Path
from assay.engines.contract import Wanted, tell_nobody
from assay.engines.facts import EngineFacts
from assay.engines.obtaining import obtain

facts = EngineFacts.model_validate_json(sys.argv[1])
print(obtain(facts, Wanted(Path(sys.argv[2])), tell_nobody).home)
"""


def another_process(registry: Registry) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", OBTAIN, registry.facts().model_dump_json(), registry.cache]
    environment = {**os.environ, "PYTHONPATH": PACKAGE_ROOT}
    return subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, text=True, start_new_session=True
    )


def eventually(what: Callable[[], object]) -> bool:
    deadline_s = time.monotonic() + PATIENCE_S
    while not what():
        if time.monotonic() > deadline_s:
            return False
        time.sleep(0.02)
    return True


def is_alive(pid: str) -> bool:
    """Whether a process runs: one that nobody waits for stays known to the kernel."""
    try:
        return ") Z " not in Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False


class TestSeveralProcesses:
    def test_two_at_once_bring_it_once(self, registry: Registry) -> None:
        registry.client("mvn", f"{MVN}\nsleep 0.5")
        processes = [another_process(registry) for _ in range(2)]
        outputs = [process.communicate(timeout=PATIENCE_S)[0].strip() for process in processes]
        assert outputs == [str(registry.shelf / "2.1.0-maven")] * 2
        assert registry.calls() == 1

    def test_a_killed_one_leaves_nothing_that_looks_whole(self, registry: Registry) -> None:
        registry.client("mvn", f'echo $$ > "$HERE/pid"\n{MVN}\nexec sleep 1000')
        process = another_process(registry)
        assert eventually(lambda: registry.calls() == 1)
        os.killpg(process.pid, signal.SIGKILL)
        os.kill(int((registry.here / "pid").read_text()), signal.SIGKILL)
        process.communicate()
        assert [name for name in registry.left() if not name.startswith(".partial-")] == []
        assert registry.left() != set()
        registry.client("mvn", MVN)
        registry.obtain()
        assert registry.left() == {"2.1.0-maven"}

    def test_an_interrupted_one_ends_its_client(self, registry: Registry) -> None:
        own = 'sleep 1000 & echo $! > "$HERE/own"; echo $$ > "$HERE/pid"'
        registry.client("mvn", f'{own}; echo called >> "$HERE/calls"; wait')
        process = another_process(registry)
        assert eventually(lambda: registry.calls() == 1)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=PATIENCE_S)
        for name in ("pid", "own"):
            pid = (registry.here / name).read_text().strip()
            assert eventually(lambda pid=pid: not is_alive(pid))
        assert registry.left() == set()


class TestWhatGoesWrong:
    def test_without_the_client(self, registry: Registry, monkeypatch: pytest.MonkeyPatch) -> None:
        (registry.bin / "mvn").unlink()
        monkeypatch.setenv("PATH", str(registry.bin))
        with pytest.raises(EngineError, match=r"mvn is not installed: install Maven .*--bin-dir"):
            registry.obtain()

    @pytest.mark.parametrize(
        ("message", "mend"),
        [
            (
                "[ERROR] repo.example: Unknown host repo.example",
                "cannot reach its registry: check the network",
            ),
            ("[ERROR] Could not find artifact org.acme:server:jar:2", "has no such artefact"),
            ("[ERROR] write failed: No space left on device", "the disk is full: free space"),
            (
                "[ERROR] none at https://me:very-secret@repo.example/x",
                r"https://me:\*\*\*@repo.example/x$",
            ),
            (
                "[ERROR] Something unheard of",
                r"ended with status 3; its output: \[ERROR\] Something",
            ),
        ],
    )
    def test_the_client_fails(self, registry: Registry, message: str, mend: str) -> None:
        registry.client("mvn", f"echo '{message}' >&2; exit 3")
        with pytest.raises(EngineError, match=mend):
            registry.obtain()
        assert registry.left() == set()

    @pytest.mark.parametrize(
        ("message", "mend"),
        [
            ("E: Unable to locate package acme", "run `apt-get update` as root"),
            (
                "E: Failed to fetch http://x/acme.deb  404  Not Found",
                "run `apt-get update` as root",
            ),
            ("E: Failed to fetch: Temporary failure resolving 'x'", "cannot reach its registry:"),
        ],
    )
    def test_the_list_of_packages_is_old(self, registry: Registry, message: str, mend: str) -> None:
        registry.client("apt-get", f'echo "{message}" >&2; exit 100')
        registry.client("dpkg-query", "exit 1")
        with pytest.raises(EngineError, match=mend):
            registry.obtain("1.9", provider="debian", package="acme")

    def test_what_is_installed_is_used_when_nothing_can_be_brought(
        self, registry: Registry
    ) -> None:
        programs = registry.here / "usr" / "lib" / "acme" / "bin"
        programs.mkdir(parents=True)
        (programs / "server").write_text("x")
        registry.client("apt-get", "echo 'E: Unable to locate package acme' >&2; exit 100")
        listing = f"printf '%s\\n' /. {programs.parent} {programs} {programs}/server"
        registry.client(
            "dpkg-query", f'case "$1" in --show) printf installed;; *) {listing};; esac'
        )
        product = registry.obtain("1.9", provider="debian", package="acme")
        assert product.home == programs.parent
        assert product.origin["installed"] == str(programs.parent)

    @pytest.mark.parametrize(
        ("message", "mend"),
        [
            ("E: Unable to locate package acme", "has not this release or not these packages"),
            ("E: The repository x does not have a Release file.", "has not this release"),
            ("E: Failed to fetch: Temporary failure resolving 'x'", "cannot reach its registry:"),
        ],
    )
    def test_an_archive_has_not_the_release(
        self, registry: Registry, message: str, mend: str
    ) -> None:
        registry.client(
            "apt-get",
            f'case "$*" in indextargets*) echo archive;; *) echo "{message}" >&2; exit 100;; esac',
        )
        with pytest.raises(EngineError, match=mend) as refused:
            registry.obtain("1.9", provider="debian_release", package="sid acme libc6")
        assert isinstance(refused.value.__cause__, UnavailableError)
        assert registry.left() == set()

    def test_a_host_without_an_archive_of_debian_is_told(self, registry: Registry) -> None:
        registry.client("apt-get", "true")
        with pytest.raises(
            EngineError, match="on this host has no Debian archive in its configuration"
        ):
            registry.obtain("1.9", provider="debian_release", package="sid acme libc6")

    def test_an_archive_that_moved_on_has_another_file(self, registry: Registry) -> None:
        registry.sha256 = {"acme_1_all.deb": "0" * 64}
        (registry.here / "acme_2_all.deb").write_text("x")
        moved = f'case "$*" in indextargets*) echo archive;; *download*) {APT_GET};; esac'
        registry.client("apt-get", moved)
        with pytest.raises(
            EngineError,
            match=r"acme_2_all\.deb instead of the expected acme_1_all\.deb: it has another",
        ) as refused:
            registry.obtain("2.1.0", provider="debian_release", package="sid acme libc6")
        assert isinstance(refused.value.__cause__, UnavailableError)
        assert registry.left() == set()

    def test_pip_finds_no_wheel(self, registry: Registry) -> None:
        registry.client("pip", "echo 'ERROR: No matching distribution found for acme' >&2; exit 1")
        with pytest.raises(EngineError, match="no such wheel for this machine"):
            registry.obtain("1.9", provider="pypi", package="acme==1.9")

    def test_an_unknown_provider_is_told(self, registry: Registry) -> None:
        with pytest.raises(EngineError, match="no provider 'abacus'"):
            registry.obtain(provider="abacus")

    @pytest.mark.parametrize("code", [errno.ENOSPC, errno.EDQUOT])
    def test_the_disk_is_full(
        self, registry: Registry, monkeypatch: pytest.MonkeyPatch, code: int
    ) -> None:
        def full(*_: Any) -> None:
            raise OSError(code, os.strerror(code))

        monkeypatch.setattr(obtaining, "_flush", full)
        with pytest.raises(EngineError, match="is full: free space, or set XDG_CACHE_HOME"):
            registry.obtain()
        assert registry.left() == set()

    def test_the_cache_is_no_place_to_write(self, registry: Registry) -> None:
        registry.cache.write_text("a file")
        with pytest.raises(EngineError, match="set XDG_CACHE_HOME to a place you can write"):
            registry.obtain()

    def test_a_damaged_jar_is_told(self, registry: Registry) -> None:
        file = registry.here / JAR
        file.write_bytes(file.read_bytes()[:-40])
        registry.sha256 = {JAR: sha256(file.read_bytes()).hexdigest()}
        with pytest.raises(EngineError, match=f"{JAR} is damaged .*try again"):
            registry.obtain()


def a_package(root: Path, name: str, depends: str) -> None:
    """A real package of Debian's kind, made by its own program."""
    tree = root / name
    (tree / "DEBIAN").mkdir(parents=True)
    fields = {"Package": name, "Version": "1", "Architecture": "all", "Maintainer": "a test"}
    fields |= {"Description": "x", "Depends": depends}
    text = "".join(f"{field}: {value}\n" for field, value in fields.items() if value)
    (tree / "DEBIAN" / "control").write_text(text)
    for place in ("include", "lib/x86_64-linux-gnu"):
        (tree / "usr" / place).mkdir(parents=True)
    program = tree / "usr" / "bin" / name
    program.parent.mkdir(parents=True)
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    command = ["dpkg-deb", "--build", tree, root / f"{name}_1_all.deb"]
    subprocess.run(command, check=True, capture_output=True)


class TestDebian:
    def test_it_brings_libraries_that_are_lacking_and_theirs(
        self, registry: Registry, tmp_path: Path
    ) -> None:
        a_package(registry.here, "acme", "libc6, libone (>= 1) | libother, tzdata")
        a_package(registry.here, "libone", "libtwo, libc6")
        a_package(registry.here, "libtwo", "")
        registry.client(
            "apt-get",
            'while [ "$1" != download ]; do shift; done; shift\n'
            'for name in "$@"; do cp "$HERE/${name}_1_all.deb" .; done',
        )
        into, home = tmp_path / "into", tmp_path / "home"
        into.mkdir()
        home.mkdir()
        files = DebianProvider().bring("acme", into, tell_nobody)
        DebianProvider().unpack(files, home)
        assert {path.name for path in (home / "usr/bin").iterdir()} == {"acme", "libone", "libtwo"}

    def test_a_library_that_nobody_has_is_named(self, registry: Registry, tmp_path: Path) -> None:
        a_package(registry.here, "acme", "")
        registry.client("ldd", "echo '  libnone.so.3 => not found'")
        with pytest.raises(ProviderError, match=r"libraries are missing: libnone\.so\.3"):
            DebianProvider().unpack([registry.here / "acme_1_all.deb"], tmp_path / "home")


# Builds as `go install -v` does: tells what it compiles, and puts the program where it is told to.
GO = """
echo called >> "$HERE/calls"; env > "$HERE/environment"; echo "$@" >> "$HERE/arguments"
cp go.mod go.sum "$HERE"
if [ "$1" = get ]; then echo "go: added example.org/acme v1.2.3" >&2; exit 0; fi
echo "go: downloading example.org/acme v1.2.3" >&2; echo example.org/acme >&2; sleep 0.3
mkdir -p "$GOBIN"; printf '#!/bin/sh\\necho 2.1\\n' > "$GOBIN/acme"; chmod 755 "$GOBIN/acme"
"""


class TestGo:
    def obtain(self, registry: Registry, package: str = "example.org/acme@v1.2.3") -> Product:
        return registry.obtain("1.9", provider="go", package=package)

    def environment(self, registry: Registry) -> dict[str, str]:
        lines = (registry.here / "environment").read_text().splitlines()
        return {name: value for name, _, value in (line.partition("=") for line in lines)}

    def test_it_builds_once_within_the_cache_alone(self, registry: Registry) -> None:
        registry.client("go", GO)
        product = self.obtain(registry)
        assert self.obtain(registry) == product
        assert product.home is not None
        assert subprocess.check_output([product.home / "bin" / "acme"]) == b"2.1\n"
        assert set(product.origin["sha256"]) == {"acme"}
        asked = ["get example.org/acme@v1.2.3", "install -v example.org/acme"]
        assert (registry.here / "arguments").read_text().splitlines() == asked
        variables = self.environment(registry)
        places = [variables[name] for name in ("GOBIN", "GOPATH", "GOMODCACHE", "GOCACHE")]
        assert all(Path(place).is_relative_to(registry.shelf) for place in places)
        assert variables["GOTOOLCHAIN"] == "local"
        assert registry.left() == {"1.9-go"}

    def test_a_version_that_is_pinned_is_asked_of_no_database(self, registry: Registry) -> None:
        registry.client("go", GO)
        beside = "example.org/acme=h1:Zip0=,h1:Mod0= example.org/other@v3"
        self.obtain(registry, f"example.org/acme/cmd/acme@v1.2.3 {beside}")
        first = (registry.here / "arguments").read_text().splitlines()[0]
        assert first == "get example.org/acme/cmd/acme@v1.2.3 example.org/other@v3"
        assert (registry.here / "go.sum").read_text().splitlines() == [
            "example.org/acme v1.2.3 h1:Zip0=",
            "example.org/acme v1.2.3/go.mod h1:Mod0=",
        ]

    def test_it_tells_how_far_it_is(self, registry: Registry) -> None:
        registry.client("go", GO)
        progress: list[tuple[str, float, str]] = []
        facts = registry.facts(provider="go", package="example.org/acme@v1.2.3")
        obtain(
            facts.model_copy(update={"products": facts.products[1:]}),
            Wanted(registry.cache),
            lambda phase, done, _, unit: progress.append((phase, done, unit)),
        )
        assert ("compiling with go", 1, "packages") in progress

    @pytest.mark.parametrize(
        ("message", "phase"),
        [
            ("", ("downloading with go", 0, "modules")),
            ("go: downloading a v1\n", ("downloading with go", 1, "modules")),
            ("go: downloading a v1\ngo: added a v1\n", ("downloading with go", 1, "modules")),
            ("go: downloading a v1\nb/c\nd\n", ("compiling with go", 2, "packages")),
        ],
    )
    def test_its_words_are_counted(self, message: str, phase: tuple[str, float, str]) -> None:
        assert go.progress(message) == phase

    @pytest.mark.parametrize(
        ("message", "mend"),
        [
            ("go: a@v1: reading https://x/a/@v/v1.info: 404 Not Found", "have no such version"),
            ("go: a@v1: reading https://x/a/@v/v1.info: 403 Forbidden", "have no such version"),
            ("go: a@v1: reading file:///x/v1.info: no such file or directory", "no such version"),
            ("go: a@v1: module lookup disabled by GOPROXY=off", "name a proxy in GOPROXY"),
            ("go: a@v1: Get x: dial tcp: lookup x: no such host", "cannot reach its registry:"),
            (
                "go: a@v1: Get x: dial tcp 1.2.3.4:9: connect: connection refused",
                "go cannot reach its registry:",
            ),
            ("go: a@v1 requires go >= 1.99 (running go 1.20)", "this Go is too old"),
            ("verifying a@v1: checksum mismatch\nSECURITY ERROR", "do not use it"),
            ("# a\na.go:3: fatal error: u/x.h: No such file or directory", "its -dev package"),
            ("# a\ng++: signal: killed", "ran out of memory"),
            (
                "# a\na.go:3: undefined: b",
                r"ended with status 1; its output: # a / a\.go:3: undefined",
            ),
        ],
    )
    def test_it_fails(self, registry: Registry, message: str, mend: str) -> None:
        noise = "go: downloading a v1\ngithub.com/acme/fail\n"
        (registry.here / "words").write_text(noise + message)
        registry.client("go", 'cat "$HERE/words" >&2; exit 1')
        with pytest.raises(EngineError, match=mend):
            self.obtain(registry)
        assert registry.left() == set()

    def test_without_go(self, registry: Registry, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("PATH", str(registry.bin))
        # A virtual environment may have one, which tests use for other things.
        monkeypatch.setattr(sys, "executable", str(registry.bin / "python"))
        with pytest.raises(EngineError, match=r"go is not installed: install Go .*--bin-dir"):
            self.obtain(registry)

    def test_without_a_compiler(self, registry: Registry, monkeypatch: pytest.MonkeyPatch) -> None:
        registry.client("go", GO)
        monkeypatch.setenv("CXX", "no-such-compiler -O3")
        with pytest.raises(EngineError, match=r"no-such-compiler is not installed.*install gcc"):
            self.obtain(registry, "example.org/acme@v1.2.3 libone-dev")
        assert registry.calls() == 0

    def test_a_library_that_is_lacking_is_brought_and_linked_in(self, registry: Registry) -> None:
        a_package(registry.here, "libone-dev", "")
        registry.client(
            "apt-get",
            'while [ "$1" != download ]; do shift; done; shift\n'
            'for name in "$@"; do cp "$HERE/${name}_1_all.deb" .; done',
        )
        registry.client("g++", "exit 0")
        registry.client("gcc", "exit 0")
        registry.client("go", GO)
        self.obtain(registry, "example.org/acme@v1.2.3 libone-dev")
        variables = self.environment(registry)
        assert variables["CGO_CPPFLAGS"].startswith(f"-I{registry.shelf}")
        assert variables["CGO_LDFLAGS"].startswith(f"-L{registry.shelf}")

    def test_a_library_that_is_there_is_used(self, registry: Registry) -> None:
        registry.client("dpkg-query", "printf installed")
        registry.client("go", GO)
        registry.client("g++", "exit 0")
        registry.client("gcc", "exit 0")
        self.obtain(registry, "example.org/acme@v1.2.3 libone-dev")
        assert "CGO_LDFLAGS" not in self.environment(registry)


CHURNING = """
import os, sys, time
end = time.monotonic() + 2.0
while time.monotonic() < end:
    for number in range(200):
        os.makedirs(f"{number}/inner")
        open(f"{number}/file", "w").close()
    for number in range(200):
        os.remove(f"{number}/file")
        os.removedirs(f"{number}/inner")
"""


class TestClients:
    def test_directories_that_a_client_removes_do_not_end_its_download(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(client, "LOOK_S", 0.001)
        churning = Client("python", ((sys.executable, "-c", CHURNING),), "", "$^", "")
        sizes: list[float] = []
        churning.run([], tmp_path, lambda *size: sizes.append(size[1]))
        assert len(sizes) > 10


class TestArchives:
    @pytest.mark.parametrize(
        "members",
        [
            [("../evil", "")],
            [("/evil", "")],
            [("link", "/elsewhere")],
            [("link", "..")],
            [("a/link", "../.."), ("a/link/evil", "")],
        ],
    )
    @pytest.mark.parametrize("filtered", [True, False])
    def test_nothing_gets_outside_a_tar(
        self,
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
        members: list[tuple[str, str]],
        filtered: bool,
    ) -> None:
        file = tmp_path / "x.tar"
        with tarfile.open(file, "w") as tar:
            for name, target in members:
                member = tarfile.TarInfo(name)
                member.type = tarfile.SYMTYPE if target else tarfile.REGTYPE
                member.linkname = target
                tar.addfile(member, io.BytesIO())
        home = tmp_path / "home"
        home.mkdir()
        if not filtered:
            monkeypatch.setattr(archives, "FILTER", {})
        with pytest.raises(ProviderError, match=r"is damaged .*outside"):
            unpack_tar(file, home)
        assert {path.name for path in tmp_path.iterdir()} == {"x.tar", "home"}

    def test_links_that_stay_inside_are_kept(self, tmp_path: Path) -> None:
        file, home = tmp_path / "x.tar", tmp_path / "home"
        with tarfile.open(file, "w") as tar:
            tar.addfile(tarfile.TarInfo("lib/libx.so.1"), io.BytesIO())
            member = tarfile.TarInfo("lib/libx.so")
            member.type, member.linkname = tarfile.SYMTYPE, "libx.so.1"
            tar.addfile(member)
        unpack_tar(file, home)
        assert (home / "lib" / "libx.so").readlink() == Path("libx.so.1")

    def test_nothing_gets_outside_a_zip(self, tmp_path: Path) -> None:
        file = tmp_path / "x.zip"
        with zipfile.ZipFile(file, "w") as archive:
            archive.writestr("../evil", "x")
        unpack_zip(file, tmp_path / "home")
        assert not (tmp_path / "evil").exists()
        assert (tmp_path / "home" / "evil").exists()

    def test_modes_of_a_wheel_are_kept(self, tmp_path: Path) -> None:
        file = tmp_path / "x.whl"
        entry = zipfile.ZipInfo("bin/server")
        entry.external_attr = 0o100755 << 16
        with zipfile.ZipFile(file, "w") as archive:
            archive.writestr(entry, "x")
        unpack_zip(file, tmp_path)
        assert (tmp_path / "bin/server").stat().st_mode & 0o777 == 0o755

    def test_the_origin_is_plain_json(self, registry: Registry) -> None:
        home = registry.obtain().home
        assert home is not None
        document = json.loads((home / obtaining.ORIGIN_FILE).read_text())
        assert set(document) == {"provider", "package", "sha256"}


class TestDebianRelease:
    def test_packages_without_a_loader_are_refused(
        self, registry: Registry, tmp_path: Path
    ) -> None:
        a_package(registry.here, "acme", "")
        home = tmp_path / "home"
        home.mkdir()
        with pytest.raises(ProviderError, match="must name libc6"):
            DebianReleaseProvider().unpack([registry.here / "acme_1_all.deb"], home)

    def test_a_program_is_run_by_its_own_loader(self, tmp_path: Path) -> None:
        libraries = tmp_path / "usr" / "lib" / "x86_64-linux-gnu"
        libraries.mkdir(parents=True)
        program = tmp_path / "usr" / "sbin" / "server"
        loader = str(tmp_path / "loaders" / "server")
        assert program_of(tmp_path, program) == [
            loader,
            "--library-path",
            str(libraries),
            str(program),
        ]
