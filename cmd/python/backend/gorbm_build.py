"""Builds wheels of gorbm with Go: a PEP 517 backend that needs only the standard library.

pip install ./cmd/python                           uses it, for this machine
python cmd/python/backend/gorbm_build.py -o dist   builds wheels for all systems in TARGETS

A wheel has gorbm-python, which the package starts, and the commands rbmtrain, rbmeval and rbmsample. They are static, so
one build works on every Linux and with any version of Python.
"""

import argparse
import base64
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
COMMANDS = ("rbmtrain", "rbmeval", "rbmsample")

# Wheel tags by GOOS/GOARCH. Go 1.26 needs macOS 12 or later.
TARGETS = {
    "linux/amd64": "manylinux_2_17_x86_64.manylinux2014_x86_64.musllinux_1_1_x86_64",
    "linux/arm64": "manylinux_2_17_aarch64.manylinux2014_aarch64.musllinux_1_1_aarch64",
    "darwin/amd64": "macosx_12_0_x86_64",
    "darwin/arm64": "macosx_12_0_arm64",
    "windows/amd64": "win_amd64",
    "windows/arm64": "win_arm64",
}


def _version():
    with open(os.path.join(HERE, "gorbm", "__init__.py"), encoding="utf-8") as f:
        return re.search(r'__version__ = "(.*)"', f.read()).group(1)


def _metadata():
    with open(os.path.join(HERE, "README.md"), encoding="utf-8") as f:
        page = f.read()
    return f"""Metadata-Version: 2.1
Name: gorbm
Version: {_version()}
Summary: Restricted Boltzmann machines with a negative phase of choice, as scikit-learn estimators
Requires-Python: >=3.8
Requires-Dist: numpy
Provides-Extra: sklearn
Requires-Dist: scikit-learn>=1.2; extra == "sklearn"
Description-Content-Type: text/markdown

{page}"""


def _go(*arguments, target=None):
    """Run Go in the checkout and return its output."""
    if shutil.which("go") is None:
        raise RuntimeError("there is no go on the PATH; install Go 1.26 or later from go.dev, or use a wheel")
    environment = dict(os.environ, CGO_ENABLED="0")
    if target:
        environment["GOOS"], environment["GOARCH"] = target.split("/")
    done = subprocess.run(["go", *arguments], cwd=HERE, env=environment, stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        raise RuntimeError("go " + " ".join(arguments) + f" failed with status {done.returncode}")
    return done.stdout.strip()


def _tag(target):
    if target in TARGETS:
        return TARGETS[target]
    import sysconfig  # another system: the wheel is only for this machine

    return re.sub(r"[^A-Za-z0-9]", "_", sysconfig.get_platform())


def _write(wheel_directory, target):
    """Build the wheel for a target and return its name."""
    version, tag = _version(), f"py3-none-{_tag(target)}"
    name, info = f"gorbm-{version}-{tag}.whl", f"gorbm-{version}.dist-info"
    suffix = ".exe" if target.startswith("windows/") else ""
    records = []
    os.makedirs(wheel_directory, exist_ok=True)
    with tempfile.TemporaryDirectory() as bin, zipfile.ZipFile(os.path.join(wheel_directory, name), "w", zipfile.ZIP_DEFLATED) as wheel:

        def add(path, data, mode=0o644):
            entry = zipfile.ZipInfo(path, (2020, 1, 1, 0, 0, 0))  # equal sources give equal wheels
            entry.external_attr = (0o100000 | mode) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            wheel.writestr(entry, data)
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            records.append(f"{path},sha256={digest},{len(data)}")

        packages = ["./gorbm-python", *("../" + command for command in COMMANDS)]
        _go("build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-o", bin + os.sep, *packages, target=target)
        for source in sorted(os.listdir(os.path.join(HERE, "gorbm"))):
            if source.endswith(".py"):
                with open(os.path.join(HERE, "gorbm", source), "rb") as f:
                    add("gorbm/" + source, f.read())
        for command in ("gorbm-python", *COMMANDS):
            folder = "gorbm/bin" if command == "gorbm-python" else f"gorbm-{version}.data/scripts"
            with open(os.path.join(bin, command + suffix), "rb") as f:
                add(f"{folder}/{command}{suffix}", f.read(), 0o755)
        add(f"{info}/METADATA", _metadata().encode())
        tags = "".join(f"Tag: py3-none-{t}\n" for t in tag.split("-", 2)[2].split("."))
        add(f"{info}/WHEEL", f"Wheel-Version: 1.0\nGenerator: gorbm_build\nRoot-Is-Purelib: false\n{tags}".encode())
        add(f"{info}/RECORD", "".join(r + "\n" for r in [*records, f"{info}/RECORD,,"]).encode())
    return name


# Hooks of PEP 517.


def get_requires_for_build_wheel(config_settings=None):
    return []


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    return _write(wheel_directory, _go("env", "GOOS") + "/" + _go("env", "GOARCH"))


def get_requires_for_build_sdist(config_settings=None):
    return []


def build_sdist(sdist_directory, config_settings=None):
    raise RuntimeError("gorbm has no source distribution, because its programs are built from the whole Go module; build a wheel from a checkout")


def main():
    parser = argparse.ArgumentParser(description="Builds wheels of gorbm.")
    parser.add_argument("-o", default="dist", help="folder for the wheels (dist)")
    parser.add_argument("targets", nargs="*", help="GOOS/GOARCH; all of: " + ", ".join(TARGETS))
    arguments = parser.parse_args()
    for target in arguments.targets or TARGETS:
        print(_write(arguments.o, target), flush=True)


if __name__ == "__main__":
    main()
