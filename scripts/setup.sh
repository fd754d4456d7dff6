#!/usr/bin/env bash
# Brings what a target needs onto the machine; quick when everything is there.
#
#   scripts/setup.sh rust   a Rust toolchain with rustfmt and clippy, a C compiler, cmake, curl, jq
#   scripts/setup.sh demo   the same without rustfmt and clippy
#   scripts/setup.sh fuzz   Rust as it is, and a C++ compiler
#   scripts/setup.sh calibrate   `demo`, nginx, HAProxy, and the pinned Python and npm parts of calibrate
#   scripts/setup.sh screenshot   `demo`, Chromium, its npm parts, and the letters of the picture
#   scripts/setup.sh test   all of these, Chromium, and the pinned Python and npm parts of tests/peers, tests/browser and tests/fleet
#
# System packages come by apt when we are root, else one line says what to install. Python and npm parts
# go into ignored folders of the checkout (.venv, node_modules beside the list).
set -euo pipefail
cd "$(dirname "$0")/.."

main() {
    case "${1:-test}" in
    demo) system_parts compile ;;
    rust)
        system_parts compile readme
        rust_components
        ;;
    fuzz) system_parts fuzz ;;
    calibrate)
        system_parts compile node peers hops
        python_parts
        python_hops
        npm_parts calibrate
        ;;
    screenshot)
        system_parts compile node browser letters
        npm_parts tests/browser
        ;;
    test)
        system_parts compile readme fuzz node peers hops metrics browser fleet
        rust_components
        python_parts
        python_hops
        python_fleet
        npm_parts tests/peers
        npm_parts tests/browser
        npm_parts calibrate
        ;;
    *) fail "usage: scripts/setup.sh [demo|rust|fuzz|calibrate|screenshot|test]" ;;
    esac
}

say() { printf '==> set-up: %s\n' "$*"; }
fail() {
    printf 'set-up failed: %s\n' "$*" >&2
    exit 1
}
has() { command -v "$1" >/dev/null 2>&1; }

# --- system packages ----------------------------------------------------------------------------------

system_parts() {
    has cargo || fail "cargo is missing: install Rust with rustup (Cargo.toml's rust-version is the oldest that works)"
    local packages
    packages=$(missing_packages "$@")
    [ -z "$packages" ] && return
    if [ "$(id -u)" -ne 0 ] || ! has apt-get; then
        fail "missing: $packages (Debian's names). As root: apt-get install $packages"
    fi
    apt_install $packages
    packages=$(missing_packages "$@")
    [ -z "$packages" ] || fail "still missing after apt-get install: $packages"
}

# Prints Debian's names of what is not there, for the groups asked for, on one line.
missing_packages() {
    local group packages=()
    for group in "$@"; do
        case "$group" in
        compile)
            has cc && printf '#include <stdlib.h>' | cc -E - >/dev/null 2>&1 || packages+=(gcc libc6-dev)
            has cmake || packages+=(cmake) # zlib-ng, of pingora's flate2, is built with it
            ;;
        readme) # its examples are run
            has curl || packages+=(curl)
            has jq || packages+=(jq)
            ;;
        fuzz)
            has c++ || packages+=(g++) # libFuzzer is built from its source
            ;;
        node)
            has node || packages+=(nodejs)
            has npm || packages+=(npm)
            ;;
        peers)
            has python3 && python3 -c 'import ensurepip, venv' 2>/dev/null || packages+=(python3 python3-venv)
            server_path nginx >/dev/null || packages+=(nginx)
            ;;
        browser)
            has chromium || packages+=(chromium)
            ;;
        letters) # those of the README's picture
            [ -n "$(fc-list Inter 2>/dev/null)" ] || packages+=(fontconfig fonts-inter)
            ;;
        hops)
            server_path haproxy >/dev/null || packages+=(haproxy)
            ;;
        metrics) # prometheus and its promtool
            has promtool && server_path prometheus >/dev/null || packages+=(prometheus)
            ;;
        fleet)
            has systemd-analyze || packages+=(systemd) # judges the units of deploy/systemd,
            has strace || packages+=(strace)           # and this what they have to allow
            ;;
        esac
    done
    echo "${packages[*]-}"
}

# Debian keeps servers in /usr/sbin, which is not on every user's PATH.
server_path() { command -v "$1" || PATH="$PATH:/usr/sbin:/usr/local/sbin" command -v "$1"; }

apt_install() {
    say "apt-get install $*"
    export DEBIAN_FRONTEND=noninteractive
    # Only the programs of the servers are wanted. No service must start on this machine, and Debian's way to say so is this file.
    if [ ! -e /usr/sbin/policy-rc.d ]; then
        printf '#!/bin/sh\nexit 101\n' >/usr/sbin/policy-rc.d
        chmod +x /usr/sbin/policy-rc.d
        trap 'rm -f /usr/sbin/policy-rc.d' EXIT
    fi
    apt-get update -q || fail "apt-get update"
    apt-get install -q -y --no-install-recommends "$@" || fail "apt-get install $*"
}

rust_components() {
    cargo fmt --version >/dev/null 2>&1 || add_component rustfmt
    cargo clippy --version >/dev/null 2>&1 || add_component clippy
}

add_component() {
    has rustup || fail "$1 is missing: install this part of the Rust toolchain"
    say "rustup component add $1"
    rustup component add "$1" || fail "rustup component add $1"
}

# --- parts inside the checkout ------------------------------------------------------------------------
# Each is remade when its list of exact versions changes: a stamp beside it holds the list's sum.

python_parts() {
    local list=tests/peers/requirements.txt stamp=.venv/.installed
    is_current "$list" "$stamp" "$(python3 --version)" && return
    say "Python parts into .venv (about 25 s)"
    rm -rf .venv
    python3 -m venv .venv || fail "python3 -m venv .venv"
    .venv/bin/python -m pip install --disable-pip-version-check --requirement "$list" |
        awk '/^Collecting/ { printf "."; fflush() } END { print "" }' || # a dot for each part
        fail "pip install --requirement $list"
    sum "$list" "$(python3 --version)" >"$stamp"
}

# The hops of the calibration, into the same .venv: the versions of what both lists need are those of tests/peers.
python_hops() {
    local list=calibrate/requirements.txt stamp=.venv/.installed-hops
    is_current "$list" "$stamp" "$(python3 --version)" && return
    say "Python hops into .venv (about 10 s)"
    .venv/bin/python -m pip install --disable-pip-version-check --quiet --requirement "$list" --constraint tests/peers/requirements.txt ||
        fail "pip install --requirement $list"
    sum "$list" "$(python3 --version)" >"$stamp"
}

# ClickHouse in a process and what checks manifests, into the same .venv. The list is whole: what ClickHouse's package names
# beside it (pandas, 300 MB) is for uses of it that the tests do not make.
python_fleet() {
    local list=tests/fleet/requirements.txt stamp=.venv/.installed-fleet
    is_current "$list" "$stamp" "$(python3 --version)" && return
    say "ClickHouse and checks of manifests into .venv (180 MB, about 15 s)"
    .venv/bin/python -m pip install --disable-pip-version-check --quiet --no-deps --requirement "$list" ||
        fail "pip install --no-deps --requirement $list"
    sum "$list" "$(python3 --version)" >"$stamp"
}

npm_parts() {
    local list=$1/package-lock.json stamp=$1/node_modules/.installed
    is_current "$list" "$stamp" "$(node --version)" && return
    say "npm parts into $1/node_modules (about 10 s)"
    (cd "$1" && npm ci --no-fund --no-audit --loglevel=error) || fail "npm ci in $1"
    sum "$list" "$(node --version)" >"$stamp"
}

is_current() { [ -f "$2" ] && [ "$(cat "$2")" = "$(sum "$1" "$3")" ]; }
sum() { printf '%s ' "$2" && cksum <"$1"; }

main "$@"
