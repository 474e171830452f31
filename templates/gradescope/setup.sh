#!/usr/bin/env bash
# Runs once, when the image is built. It installs Python 3.11 or later, PyTorch without CUDA, and the
# engine's dependencies.
set -euo pipefail
root="${AUTOGRADER_ROOT:-/autograder}"
export DEBIAN_FRONTEND=noninteractive
apt-get update
python=python3
python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || python=python3.11
apt-get install -y --no-install-recommends "$python" "$python-venv"
"$python" -m venv "$root/venv"
"$root/venv/bin/"{{ torch }}
"$root/venv/bin/"pip install --no-cache-dir -r "$root/source/engine/requirements.txt"
