#!/bin/sh
# Install Debian packages that a test needs, where that is allowed: as root, with apt-get. Says why not, otherwise.
# Usage: sh tools/debian.sh <program that tells whether they are there> <package>...
program=$1
shift
command -v "$program" > /dev/null && exit 0
if [ "$(id -u)" != 0 ] || ! command -v apt-get > /dev/null; then
    echo "$program is missing and cannot be installed here (Debian, as root: apt-get install $*)"
    exit 0
fi
install() { DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends "$@" > /dev/null 2>&1; }
install "$@" || { apt-get update > /dev/null 2>&1 && install "$@"; } || echo "apt-get could not install $*"
