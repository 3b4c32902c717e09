#!/usr/bin/env bash
# Gradescope runs this once, as root, when the autograder's image is built.
set -euo pipefail
root="${GRADER_AUTOGRADER:-/autograder}"
source="$root/source"

newest() {
  for version in 3.13 3.12 3.11; do
    if "python$version" -c "import venv, ensurepip" 2> /dev/null; then
      command -v "python$version"
      return
    fi
  done
}

python="$(newest)"
if [ -z "$python" ]; then
  apt-get update
  apt-get install --yes python3.12 python3.12-venv || apt-get install --yes python3.11 python3.11-venv
  python="$(newest)"
fi

"$python" -m venv "$source/venv"
# To download a tenth, put a line here before uploading:
# export PIP_EXTRA_INDEX_URL=<PyTorch's own index of builds for the processor alone>
cd "$source/course"
"$source/venv/bin/pip" install --constraint constraints.txt .
"$source/venv/bin/grader" doctor || echo "Students' code cannot be sealed on this image."
