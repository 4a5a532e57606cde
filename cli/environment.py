"""What the machine has, and how to get what it lacks: Python packages, Java, Spark, Spin."""

import importlib.metadata
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from cli.console import ROOT, err

LEAST_JAVA = 17
JAVA_PACKAGE = "openjdk-17-jre-headless"
SPARK_LOCK = ROOT / "requirements-spark.lock"


class Missing(Exception):
    """Something that the command needs is not here: what, and exactly how to get it."""


def java() -> tuple[Path, int] | None:
    """The first Java that is new enough, with its version."""
    for program in _java_programs():
        version = java_version(program)
        if version is not None and version >= LEAST_JAVA:
            return program, version
    return None


def java_version(program: Path) -> int | None:
    """The major version that a Java program says it has."""
    try:
        said = subprocess.run([program, "-version"], capture_output=True, text=True, timeout=30, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    found = re.search(r'version "(\d+)(?:\.(\d+))?', said.stderr + said.stdout)
    if not found:
        return None
    return int(found[2]) if found[1] == "1" and found[2] else int(found[1])


def need_java() -> Path:
    """A Java that Spark can use; as root on Debian or Ubuntu it is installed if there is none."""
    found = java()
    if found is None and _can_apt():
        err.print(f"braid: no Java of version {LEAST_JAVA} or newer, installing {JAVA_PACKAGE} ...")
        _apt("update")
        if _apt("install", "-y", "--no-install-recommends", JAVA_PACKAGE) != 0:
            _apt("install", "-y", "--no-install-recommends", "default-jre-headless")
        found = java()
    if found is None:
        raise Missing(f"Spark needs Java {LEAST_JAVA} or newer, and none was found", how_to_get_java())
    return found[0]


def need_spin() -> None:
    """Spin and a C compiler, to measure against; as root on Debian or Ubuntu they are installed."""
    if not (shutil.which("spin") and shutil.which("gcc")) and _can_apt():
        err.print("braid: installing spin and gcc, to measure against ...")
        _apt("update")
        _apt("install", "-y", "--no-install-recommends", "spin", "gcc", "libc6-dev")


def how_to_get_spin() -> str:
    """What installs Spin and a C compiler on this machine."""
    if shutil.which("apt-get"):
        return "run: sudo apt-get install spin gcc libc6-dev"
    return "https://spinroot.com, and a C compiler called gcc"


def program_version(program: str, asked: str) -> str | None:
    """What a program answers when it is asked for its version, in numbers; nothing if it is not there."""
    try:
        said = subprocess.run([program, asked], capture_output=True, text=True, timeout=30, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    found = re.search(r"\d+(\.\d+)+", said.stdout.partition("\n")[0])
    return found[0] if found else "of unknown version"


def how_to_get_java() -> str:
    """The command that installs Java on this machine."""
    if shutil.which("apt-get"):
        return f"run: sudo apt-get install {JAVA_PACKAGE}"
    if shutil.which("dnf"):
        return "run: sudo dnf install java-17-openjdk-headless"
    if shutil.which("brew"):
        return "run: brew install openjdk@17"
    return "install a JDK or JRE of version 17 or newer and set JAVA_HOME to it"


def need_spark() -> None:
    """PySpark from its lock file, and a Java for it; half a gigabyte, so only on demand."""
    os.environ["JAVA_HOME"] = str(need_java().resolve().parent.parent)
    if version("pyspark") is None:
        err.print("braid: installing PySpark, once (about half a gigabyte) ...")
        if install(SPARK_LOCK) != 0:
            raise Missing("PySpark could not be installed", f"run: {' '.join(_installer(SPARK_LOCK))}")


def install(lock: Path) -> int:
    """Add the packages of a lock file to the environment."""
    return subprocess.run(_installer(lock), check=False).returncode


def version(package: str) -> str | None:
    """The installed version of a package."""
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def _installer(lock: Path) -> list[str]:
    uv = shutil.which("uv")
    if uv:
        return [
            uv,
            "pip",
            "install",
            "--quiet",
            "--python",
            sys.executable,
            "--require-hashes",
            "-r",
            str(lock),
        ]
    return [sys.executable, "-m", "pip", "install", "--quiet", "--require-hashes", "-r", str(lock)]


def _java_programs() -> Iterator[Path]:
    if home := os.environ.get("JAVA_HOME"):
        yield Path(home, "bin", "java")
    if program := shutil.which("java"):
        yield Path(program)
    yield from sorted(Path("/usr/lib/jvm").glob("*/bin/java"), reverse=True)


def _can_apt() -> bool:
    return os.geteuid() == 0 and shutil.which("apt-get") is not None


def _apt(*arguments: str) -> int:
    environment = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
    return subprocess.run(
        ["apt-get", "-qq", *arguments], env=environment, stdout=sys.stderr, check=False
    ).returncode
