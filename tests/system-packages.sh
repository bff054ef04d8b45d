#!/bin/sh
# Installs what the tests need from the system's packages where it is missing: a browser, to look at
# pages, a PostgreSQL server, for the index, a compiler with sanitizers, for the core,
# and a counter of instructions, for the readers.
set -eu

need() { # command, package
    command -v "$1" >/dev/null 2>&1 && return
    if ! command -v apt-get >/dev/null 2>&1; then
        echo "please install $2: the tests need the command $1" >&2
        exit 1
    fi
    as_root=""
    [ "$(id -u)" = 0 ] || as_root=sudo
    [ -n "${updated:-}" ] || $as_root apt-get update -qq
    updated=1
    DEBIAN_FRONTEND=noninteractive $as_root apt-get install -y -qq --no-install-recommends "$2" >/dev/null
}

need chromium chromium
ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || need initdb postgresql
need java openjdk-17-jre-headless # for the tests of the engine spark
need curl curl # for the pages of the docs about the service
need openssl openssl
need valgrind valgrind # counts instructions
need c++ g++ # has the sanitizers of `make sanitize`
