#!/usr/bin/env bash
# usage: accuracy.sh <mean> <least> <command> <seed ...>: trains with each seed; holds if the test accuracies reach the mean and none is
# below the least.
set -euo pipefail

mean=$1 least=$2 command=$3
shift 3
for seed in "$@"; do
  bash -c "$command --json --seed $seed" | sed -n 's/.*"test_accuracy":\([0-9.]*\).*/\1/p'
done | awk -v mean="$mean" -v least="$least" -v wanted=$# '
  { print "accuracy " $1; sum += $1; if ($1 < least) wrong++ }
  END { print "mean " sum / NR; exit wrong > 0 || NR != wanted || sum / NR < mean }'
