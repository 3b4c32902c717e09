#!/usr/bin/env bash
# Gradescope runs this for every submission; it ends in results/results.json.
set -euo pipefail
root="${GRADER_AUTOGRADER:-/autograder}"
cd "$root/source/course"
exec "$root/source/venv/bin/grader" gradescope --root "$root"
