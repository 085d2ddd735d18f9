#!/usr/bin/env bash
# usage: same_losses.sh <tolerance> <command> <command>: runs two `whit mnist --json` commands and compares their losses, step by step.
set -euo pipefail

losses() { bash -c "$1" | sed -n 's/.*"losses":\[\([^]]*\)\].*/\1/p' | tr ',' '\n'; }

first=$(losses "$2")
second=$(losses "$3")
paste <(echo "$first") <(echo "$second") | awk -v tolerance="$1" '
  { difference = $1 - $2; if (difference < 0) difference = -difference
    if (NF != 2 || !($1 ~ /^[0-9]/) || !($2 ~ /^[0-9]/) || difference > tolerance) { print "step " NR ": " $1 " and " $2; wrong++ }
    if (difference > greatest) greatest = difference }
  END { print NR " steps, greatest difference " greatest + 0; exit wrong > 0 || NR == 0 }'
