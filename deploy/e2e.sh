#!/usr/bin/env bash
#
# make e2e-docker: four nodes in containers carry out a verified all-reduce.
#
# Exits 0 when they did, or when there is no Docker to try it with (it says
# SKIP and why); anything else otherwise. Takes down all that it put up.
#
#   RAILYARD_IMAGE=NAME          try this image instead of building one
#   RAILYARD_REQUIRE_DOCKER=1    a missing Docker is a failure, not a skip
set -euo pipefail
cd "$(dirname "$0")/.."

project="railyard-e2e-$$"
client="$project-client"
label="com.docker.compose.project=$project"
built=""

say() { printf 'e2e-docker: %s\n' "$*" >&2; }

skip() {
  say "SKIP: $*"
  [[ -z "${RAILYARD_REQUIRE_DOCKER:-}" ]] || exit 1
  exit 0
}

# bounded SECONDS COMMAND...: timeout(1) is not part of macOS, where the
# command's own limits must do.
bounded() {
  local seconds=$1
  shift
  if command -v timeout >/dev/null; then timeout "$seconds" "$@"; else "$@"; fi
}

find_compose() {
  if docker compose version >/dev/null 2>&1; then
    compose=(docker compose)
  elif command -v docker-compose >/dev/null; then
    compose=(docker-compose)
  else
    skip "neither the docker compose plugin nor docker-compose is installed"
  fi
  compose+=(-f deploy/compose.yaml -p "$project")
}

# down runs on every way out. It keeps the exit code, unless something is left.
down() {
  local code=$?
  trap - EXIT
  set +e
  if ((code != 0)); then
    say "failed with exit code $code; the containers' last words:"
    "${compose[@]}" logs --no-color --tail 50 >&2
  fi
  docker rm -f "$client" >/dev/null 2>&1
  "${compose[@]}" down --volumes --remove-orphans --timeout 3 >&2
  [[ -z "$built" ]] || docker image rm "$built" >/dev/null
  local left
  left=$(docker ps -aq --filter "label=$label"; docker network ls -q --filter "label=$label")
  if [[ -n "$left" ]]; then
    say "left behind: $left"
    ((code != 0)) || code=1
  fi
  exit "$code"
}

# railyard SECONDS COMMAND...: a client in the cluster's network. The published port
# would do on a host that runs the engine itself, which not every host does.
railyard() {
  local seconds=$1
  shift
  docker rm -f "$client" >/dev/null 2>&1 || true
  bounded "$seconds" docker run --rm --name "$client" --label "$label" \
    --network "${project}_cluster" "$RAILYARD_IMAGE" coordinator "$@" --connect coordinator:9470
}

await_coordinator() {
  local deadline=$((SECONDS + 30))
  local answer
  until answer=$(railyard 10 status 2>&1); do
    if ((SECONDS >= deadline)); then
      say "the coordinator gave no status within 30 s; its last answer: $answer"
      return 1
    fi
    sleep 0.5
  done
}

# check_table reads an nccl-tests table: rows of 13 columns whose 9th and 13th
# are #wrong, out of place and in place. No row at all is a failure too.
check_table() {
  awk '
    /^ *[0-9]/ { rows++; if (NF != 13 || $9 != "0" || $13 != "0") { bad = 1; print "not verified: " $0 } }
    /^# Out of bounds values : 0 OK/ { ok = 1 }
    END {
      if (!rows) print "no result row"
      if (!ok) print "no line \"# Out of bounds values : 0 OK\""
      exit !(rows && ok && !bad)
    }' >&2
}

command -v docker >/dev/null || skip "docker is not installed"
docker info >/dev/null 2>&1 || skip "no Docker engine answers (see docker info)"
find_compose

trap down EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

if [[ -z "${RAILYARD_IMAGE:-}" ]]; then
  RAILYARD_IMAGE=$project
  built=$project
  make image IMAGE="$project" >&2
fi
export RAILYARD_IMAGE
export RAILYARD_PORT=0 # any free port: another cluster may have the usual one

"${compose[@]}" up -d >&2
await_coordinator
code=0
table=$(railyard 120 bench all_reduce -b 1M -e 1M) || code=$?
printf '%s\n' "$table"
((code == 0)) || exit "$code"
check_table <<<"$table"
say "OK: a verified all-reduce over 4 containers"
