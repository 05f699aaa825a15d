# Railyard. `make` alone lists the targets.
#
# Go and make are all that build, test and demo need. Every target can run
# alone, in any order, and twice.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

MODULE  := github.com/railyard/railyard
BIN     ?= bin
TOOLS   := $(CURDIR)/.tmp/bin
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)

# Static, and the same bytes from whichever directory: no cgo, no host paths.
# The version comes from git describe alone; go's own stamping would fail the
# build in a checkout that belongs to another user.
export CGO_ENABLED ?= 0
GOBUILD := go build -trimpath -buildvcs=false -ldflags '-s -w -X main.version=$(VERSION)'

# Settings of single targets: make sim SEED=7 N=1000.
SEED      ?= 1
N         ?= 50
BENCHTIME ?= 1s
IMAGE     ?= railyard
ROUNDS    ?= 50

BUF_VERSION         := v1.75.0
PROTOC_GEN_VERSION  := v1.36.12
PROTOC_GRPC_VERSION := v1.6.0

# The race detector needs cgo, hence a C compiler.
RACE := $(if $(shell command -v cc),CGO_ENABLED=1 go test -race,)

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z0-9%_-]+:.*## / {printf "  %-15s %s\n", $$1, $$2}' $(firstword $(MAKEFILE_LIST))

.PHONY: build
build: ## build bin/coordinator and bin/nodesim, static
	@mkdir -p $(BIN)
	$(GOBUILD) -o $(BIN)/ ./cmd/coordinator ./cmd/nodesim

.PHONY: demo
demo: build ## 4 x DGX H100 on this machine: a verified all-reduce in emulated time
	$(BIN)/coordinator bench all_reduce -b 16 -e 1G -f 4 --system dgx-h100 --nodes 4 --fabric rail-ndr

# The figures in README.md are those of the last run of this target.
.PHONY: readme
readme: build ## put what make demo prints into README.md
	@mkdir -p .tmp
	$(MAKE) --no-print-directory demo >.tmp/demo.txt
	@awk 'FNR == NR { if (/^# *Rank +([2-9]|[12][0-9]|30) /) { if (!cut++) demo = demo "#  ...\n" } \
	  else if (!/^(go build|bin\/)/) { sub(/ +$$/, ""); sub(/Pid +[0-9]+/, "Pid    ..."); demo = demo $$0 "\n" } next } \
	  /^<!-- demo:/ { print; printf "```\n%s```\n", demo; skip = 1 } \
	  /^<!-- \/demo/ { skip = 0 } !skip' .tmp/demo.txt README.md >.tmp/README.md
	@cp .tmp/README.md README.md

.PHONY: hardware
hardware: ## put what runs say of the hardware into docs/hardware.md
	go test ./emu/predict -run '^TestHardware$$' -count=1 -rewrite

# The public tables are not part of this tree; 8 GiB on 72 GPUs take minutes.
.PHONY: measured
measured: ## compare with public tables of real systems, and put it into docs/measured.md
	go test ./internal/verbs -run '^TestMeasured$$' -count=1 -timeout 60m -args -measured $(CURDIR)/docs/measured.md

# Races can only be where goroutines are: archtest keeps them out of all that
# lies neither under internal/ nor here.
HOSTS := ./internal/... ./shaping/pacer ./shaping/link ./shaping/grpcshape ./examples/...

# Left out of the race detector are comparisons with public tables, arithmetic that
# it makes ten times as long, and whole clusters in a synctest bubble, in whose end it
# crashed (Go 1.26.8, in its own memory).
.PHONY: test
test: ## all unit tests; hosts under the race detector where there is a C compiler
ifeq ($(RACE),)
	@echo 'make test: no C compiler (cc) found, so no race detector; testing without' >&2
	go test -timeout 4m ./...
else
	go test -timeout 4m $$(go list ./... | grep -vxF "$$(go list $(HOSTS))")
	go test -timeout 4m ./internal/verbs ./internal/coordinator -run '^(TestMeasured|TestPaced)'
	$(RACE) -timeout 4m $(HOSTS)
endif

# LAW is how many of the cases without faults, which take five times as long, are
# drawn beside N scenarios.
LAW ?= $(N)

.PHONY: sim
sim: ## random clusters, faults and policies, judged from outside: make sim SEED=1 N=50 [LAW=50] [SCENARIO=FILE]
	go test ./emu/simtest -run '^Test(Sim|Scenarios)$$' -v -count=1 -timeout 1h -args -sim.seed=$(SEED) -sim.n=$(N) -sim.law=$(LAW) $(if $(SCENARIO),-sim.scenario='$(abspath $(SCENARIO))')

SOAK ?= sim deaths

.PHONY: soak
soak: $(addprefix soak-,$(SOAK)) ## what takes long, bounded: make soak SOAK="sim deaths"

.PHONY: soak-sim
soak-sim: ## 10,000 random scenarios with faults: make soak-sim SEED=1
	go test ./emu/simtest -run '^TestScenarios$$' -v -count=1 -timeout 3h -args -sim.seed=$(SEED) -sim.n=10000

.PHONY: e2e
e2e: build ## real processes on loopback
	RAILYARD_BIN='$(abspath $(BIN))' go test -tags e2e -count=1 -timeout 5m ./internal/e2e/...

# Containers run Linux on the engine's processor, whatever this machine is.
.PHONY: image
image: ## container image of both binaries: make image IMAGE=railyard
	GOOS=linux GOARCH="$$(docker version --format '{{.Server.Arch}}')" $(MAKE) --no-print-directory build BIN=.tmp/image
	docker build -q -t $(IMAGE) -f deploy/Dockerfile .tmp/image

# A round takes some 3 s, twice: on a bench of its own and on a cluster that stays.
.PHONY: chaos
chaos: build ## kill and stop processes at random under benches: make chaos SEED=1 ROUNDS=50
	RAILYARD_BIN='$(abspath $(BIN))' go test -tags e2e -run '^(TestChaos|TestChaosServe|TestCoordinatorStopped)$$' -v -count=1 -timeout 30m ./internal/e2e -args -chaos.rounds=$(ROUNDS) -chaos.seed=$(SEED)

# The figures in docs/limitations.md are those of a run of this target.
.PHONY: detect
detect: build ## how soon a process that was killed or stopped is known, idle and beside busy loops
	RAILYARD_BIN='$(abspath $(BIN))' go test -tags e2e -run '^(TestDetect|TestNoFalseDeaths|TestManyMembers)$$' -count=1 -timeout 30m ./internal/e2e -args -detect.tries=20 -detect.soak=1m

.PHONY: soak-deaths
soak-deaths: build ## ten minutes beside busy loops, without a false death
	RAILYARD_BIN='$(abspath $(BIN))' go test -tags e2e -run '^TestNoFalseDeaths$$' -count=1 -timeout 20m ./internal/e2e -args -detect.soak=10m

.PHONY: e2e-docker
e2e-docker: ## 4 nodes in containers (skips with a reason where there is no Docker engine)
	deploy/e2e.sh

.PHONY: examples
examples: build ## check the cluster and scenario files in deploy/
	@for f in deploy/clusters/*.yaml deploy/scenarios/*.yaml; do echo "$(BIN)/coordinator validate $$f"; $(BIN)/coordinator validate "$$f" || exit; done

# Each says in its file what must come out. CLOCK=predict needs no other process.
CLOCK ?= virtual
.PHONY: scenarios
scenarios: build ## run the worked experiments in deploy/scenarios: make scenarios CLOCK=virtual
	@bad=; for f in deploy/scenarios/*.yaml; do \
	  out=$$($(BIN)/coordinator run "$$f" --clock $(CLOCK) --store .tmp/store --quiet --timeout 60s 2>&1) || bad="$$bad $$f"; \
	  case "$$bad" in *"$$f") printf '%s\n%s\n' "$$f" "$$out" >&2 ;; *) echo "$${out%%$$'\n'*}" ;; esac; \
	done; [ -z "$$bad" ] || { echo "make scenarios: not as expected:$$bad" >&2; exit 1; }

.PHONY: bench
bench: build ## all benchmarks, whole commands included: make bench BENCHTIME=1s
	go test -run '^$$' -bench . -benchmem -benchtime $(BENCHTIME) -timeout 30m ./...
	RAILYARD_BIN='$(abspath $(BIN))' go test -tags e2e -run '^$$' -bench . -benchtime 3x -timeout 10m ./internal/e2e/...

# What CI can afford: that every benchmark of the kernel and of whole commands
# still runs, and that plans are proved within the time that users are promised.
.PHONY: bench-smoke
bench-smoke: build ## the benchmarks that take seconds, once each
	go test -run '^$$' -bench 'Events|DataPlane' -benchtime 1x ./emu/kernel ./internal/wire
	go test -run '^$$' -bench Judge -benchtime 1x ./collective
	go run ./internal/shapebench -quick
	RAILYARD_BIN='$(abspath $(BIN))' go test -tags e2e -run '^$$' -bench Run/ring -benchtime 1x ./internal/e2e/...

# Some minutes on a host that does nothing else. Exit code 1: a promise is broken;
# 2: one is broken, but others used the host.
.PHONY: bench-shaping
bench-shaping: ## what shaped connections promise, measured, idle and beside a busy process
	go build -o .tmp/shapebench ./internal/shapebench
	.tmp/shapebench

# It needs a host with nothing else to do: what is measured is wall time.
.PHONY: bench-paced
bench-paced: build ## the paced clock against predict, on an idle host
	RAILYARD_BIN='$(abspath $(BIN))' go test -tags e2e -run '^$$' -bench Paced -benchtime 1x -timeout 20m ./internal/e2e/...

.PHONY: bench-%
bench-%: ## benchmarks of one package, named by its last element: make bench-kernel
	@pkg=$$(go list ./... | grep '/$*$$') || { echo 'make $@: no package ends in /$*' >&2; exit 64; }; \
	set -x; go test -run '^$$' -bench . -benchmem -benchtime $(BENCHTIME) $$pkg

.PHONY: cover
cover: ## coverage of all tests, as .tmp/cover.html
	@mkdir -p .tmp
	go test -timeout 8m -coverpkg=./... -coverprofile=.tmp/cover.out ./...
	go tool cover -html=.tmp/cover.out -o .tmp/cover.html
	go tool cover -func=.tmp/cover.out | tail -n 1

.PHONY: lint
lint: ## gofmt, vet, the tree's own rules, and buf where it is installed
	@bad=$$(gofmt -l cmd collective emu examples internal proto shaping); \
	[ -z "$$bad" ] || { printf 'not formatted (gofmt -w):\n%s\n' "$$bad" >&2; exit 1; }
	go vet ./...
	go vet -tags e2e ./internal/...
	go test -count=1 ./internal/archtest
	@PATH='$(TOOLS)':"$$PATH"; \
	command -v buf >/dev/null || { echo 'make lint: buf not found, proto not linted (make generate installs it)' >&2; exit 0; }; \
	set -x; buf lint; buf format --diff --exit-code

.PHONY: generate
generate: tools ## generate Go from proto/, with pinned tools
	PATH='$(TOOLS)':"$$PATH" buf generate

.PHONY: checkgenerate
checkgenerate: generate ## fail when committed generated code is not what proto/ says
	@changed=$$(git status --porcelain -- proto); \
	[ -z "$$changed" ] || { printf 'generated code differs (commit what make generate wrote):\n%s\n' "$$changed" >&2; exit 1; }

# A stamp carries the version in its name, so that a changed pin is installed
# and an unchanged one costs nothing.
.PHONY: tools
tools: $(TOOLS)/.buf-$(BUF_VERSION) $(TOOLS)/.protoc-gen-go-$(PROTOC_GEN_VERSION) $(TOOLS)/.protoc-gen-go-grpc-$(PROTOC_GRPC_VERSION)

$(TOOLS)/.buf-$(BUF_VERSION):
	GOBIN='$(TOOLS)' go install github.com/bufbuild/buf/cmd/buf@$(BUF_VERSION)
	@touch '$@'

$(TOOLS)/.protoc-gen-go-$(PROTOC_GEN_VERSION):
	GOBIN='$(TOOLS)' go install google.golang.org/protobuf/cmd/protoc-gen-go@$(PROTOC_GEN_VERSION)
	@touch '$@'

$(TOOLS)/.protoc-gen-go-grpc-$(PROTOC_GRPC_VERSION):
	GOBIN='$(TOOLS)' go install google.golang.org/grpc/cmd/protoc-gen-go-grpc@$(PROTOC_GRPC_VERSION)
	@touch '$@'

.PHONY: clean
clean: ## remove what make builds
	rm -rf bin .tmp
