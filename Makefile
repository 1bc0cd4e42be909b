# Everything this repository can do; `make help` lists it. Only Go and make have
# to be there: what else a target needs it installs with apt-get, if missing.

SHELL       := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

GO       ?= go
DIR      ?= mnt
FLAGS    ?=
FUZZTIME ?= 30s
BIN      := bin/llmfs-raw

GOLANGCI_LINT := github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0

# Root is needed to mount in tests. Its build cache is apart from the user's.
ifneq ($(shell id -u),0)
SUDO := sudo
ROOT := sudo -E env "PATH=$(PATH)" "GOCACHE=$(CURDIR)/build/gocache"
endif

# What the tests run, each as PROGRAM-OR-FILE:PACKAGE.
TEST_DEPS := \
	fusermount3:fuse3 git:git sqlite3:sqlite3 tar:tar rsync:rsync vim:vim fio:fio stress-ng:stress-ng \
	gcc:gcc ar:binutils /usr/include/stdio.h:libc6-dev python3:python3 getfattr:attr getfacl:acl \
	dbench:dbench /usr/share/dbench/client.txt:dbench postmark:postmark \
	chromium:chromium diff:diffutils find:findutils flock:util-linux setpriv:util-linux awk:mawk

# missing PAIRS: the packages of those programs and files that are not there.
missing = $(sort $(foreach d,$(1),$(shell \
	p='$(word 1,$(subst :, ,$(d)))'; command -v $$p >/dev/null || test -e $$p || echo '$(word 2,$(subst :, ,$(d)))')))

# install PAIRS: the same, installed; package lists are fetched only if they are too old.
define install
@packages='$(call missing,$(1))'; \
if [ -n "$$packages" ]; then \
	echo "apt-get install $$packages"; \
	get='$(SUDO) env DEBIAN_FRONTEND=noninteractive apt-get -qq -o Dpkg::Use-Pty=0'; \
	$$get install -y --no-install-recommends $$packages >/dev/null 2>&1 \
		|| { $$get update && $$get install -y --no-install-recommends $$packages >/dev/null; }; \
fi
endef

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: build
build: ## build bin/llmfs-raw
	$(GO) build -o $(BIN) ./cmd/llmfs-raw

.PHONY: mount
mount: build ## mount the embedded default at DIR=mnt, with FLAGS, until ^C
	$(if $(SUDO),$(call install,fusermount3:fuse3))
	@test -e /dev/fuse || { echo "no /dev/fuse: try $(SUDO) modprobe fuse; in a container, --device /dev/fuse --cap-add SYS_ADMIN" >&2; exit 1; }
	@mkdir -p '$(DIR)'
	$(BIN) mount $(FLAGS) '$(DIR)'

.PHONY: deps
deps: ## install what the tests need, if missing
	$(call install,$(TEST_DEPS))

.PHONY: check
check: ## formatting, vet and build, without tests
	@unformatted=$$(gofmt -l .); test -z "$$unformatted" || { echo "gofmt -w" $$unformatted >&2; exit 1; }
	$(GO) vet ./...
	$(GO) build ./...

# -count=1: the cache of test results knows nothing of the command that is mounted.
# -p 2: more packages with mounts at once would wait for each other.
.PHONY: test
test: deps check ## everything, through real mounts, as root
	$(ROOT) $(GO) test -count=1 -p 2 -timeout 20m ./...

.PHONY: race
race: deps ## the tests under the race detector, the mounted command included
	$(ROOT) $(GO) test -race -count=1 -p 2 -timeout 20m $$($(GO) list ./... | grep -v /conformance/programs$$)

.PHONY: fuzz
fuzz: ## each fuzz target for FUZZTIME=30s
	@grep -roHE --include='*_test.go' '^func Fuzz\w+' . | while IFS=: read -r file func; do \
		name=$${func#func }; \
		echo "$$(dirname "$$file") $$name"; \
		$(GO) test -run '^$$' -fuzz "^$$name\$$" -fuzztime $(FUZZTIME) "$$(dirname "$$file")" </dev/null; \
	done

.PHONY: lint
lint: ## gofmt, vet, staticcheck and others; see .golangci.yml
	$(GO) run $(GOLANGCI_LINT) run ./...

.PHONY: bench
bench: ## compare with go-fuse's loopback and tmpfs; FLAGS='-quick -only clone'
	$(GO) build -o build/bench ./internal/bench
	$(ROOT) build/bench $(FLAGS)

# EVALS is where evals leaves logs and reports. MODELS are asked beside the
# mutants, with a key in OPENAI_API_KEY or a server in OPENAI_BASE_URL; what they
# have answered is not asked again. FLAGS='--max-cost 5 --trials 4'
EVALS  ?= build/evals
MODELS ?=

# The report comes whether or not the instrument holds: it says why.
.PHONY: evals
evals: build ## test the scores with mutants, measure MODELS=a,b, and report
	@mkdir -p '$(EVALS)'
	@held=0; $(BIN) evals kill --tier core --quiet --out '$(EVALS)/mutants' --document '$(EVALS)/kills.md' || held=$$?; \
	if [ $$held = 0 ] && [ -n '$(MODELS)' ]; then \
		$(BIN) evals run --models '$(MODELS)' --tier core --mode forced,rollout --out '$(EVALS)/models' $(FLAGS) || held=$$?; \
	fi; \
	set -- '$(EVALS)/mutants' $(if $(MODELS),'$(EVALS)/models'); \
	$(BIN) evals report "$$@" --out '$(EVALS)/report.html' && $(BIN) evals report "$$@" --format markdown --out '$(EVALS)/report.md'; \
	echo '$(EVALS)/kills.md $(EVALS)/report.html $(EVALS)/report.md'; exit $$held

.PHONY: kills
kills: build ## regenerate evals/KILLS.md, the mutants on all there is; takes 10 minutes
	$(BIN) evals kill --tier full --long --quiet --document evals/KILLS.md

.PHONY: generate
generate: ## regenerate what is generated
	$(GO) generate ./...
