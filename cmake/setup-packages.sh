# Part of setup-toolchain.sh: packages of the machine's own Debian release.
# shellcheck shell=bash

is_debian() { [ "$(os_id)" = debian ]; }
os_id() { (. /etc/os-release 2> /dev/null && echo "${ID:-unknown}") || echo unknown; }
os_name() { (. /etc/os-release 2> /dev/null && echo "${PRETTY_NAME:-this system}") || echo "this system"; }

missing_build_commands() {
  local command
  for command in cmake ninja g++ ctest python3; do
    command -v "$command" > /dev/null || echo "$command"
  done
}

# Packages among the arguments that are not installed.
missing_packages() {
  local package
  for package in "$@"; do
    [ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2> /dev/null)" = installed ] || echo "$package"
  done
}

# Prints the prefix to become root, or fails where that is not possible without asking anybody.
root_command() {
  if [ "$(id -u)" = 0 ]; then
    echo ""
  elif command -v sudo > /dev/null && { sudo -n true 2> /dev/null || [ -t 0 ]; }; then
    echo "sudo"
  else
    return 1
  fi
}

# Options for apt where the machine's own sources do not do (see add_security_suite).
apt_options=()

# Installs those of the packages that are missing, or says how to.
install_packages() {
  local missing root
  missing=$(missing_packages "$@" | paste -sd ' ')
  [ -n "$missing" ] || return 0
  if ! root=$(root_command); then
    die "these packages are missing and installing them needs root. Run, then start this again:" \
      "  apt-get update" \
      "  apt-get install -y --no-install-recommends ${apt_options[*]:+${apt_options[*]} }$missing"
  fi
  say "installing $missing"
  # Words are meant to split: the package names and an empty or one-word prefix.
  # shellcheck disable=SC2086
  if ! $root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
    -o DPkg::Lock::Timeout=300 "${apt_options[@]}" $missing > "$prefix/apt.log" 2>&1; then
    tail -n 20 "$prefix/apt.log" >&2
    die "apt-get could not install: $missing (log: $prefix/apt.log)"
  fi
}

# Package lists are often absent on a fresh machine; refreshing them needs root.
update_package_lists() {
  local root
  root=$(root_command) || return 0
  say "refreshing the package lists"
  # shellcheck disable=SC2086
  $root apt-get update -qq -o DPkg::Lock::Timeout=300 > "$prefix/apt.log" 2>&1 ||
    say "warning: apt-get update reported problems (log: $prefix/apt.log)"
}

# clang versions that a compiler and LLVM can be installed of, newest first.
installable_clangs() {
  local version
  apt-cache "${apt_options[@]}" pkgnames clang- | sed -n 's/^clang-\([0-9][0-9]*\)$/\1/p' | sort -rnu |
    while read -r version; do
      if apt-cache "${apt_options[@]}" show --no-all-versions "clang-$version" "lld-$version" \
        "llvm-$version-dev" > /dev/null 2>&1; then
        echo "$version"
      fi
    done
}

# The apt source of this machine that serves its own release: "<uri> <keyring or ->".
machine_mirror() {
  local codename uri entry file line key
  codename=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
  read -r uri entry < <(apt-get indextargets --no-release-info \
    --format '$(REPO_URI)|$(RELEASE)|$(SOURCESENTRY)' 'Created-By: Packages' |
    awk -F'|' -v name="$codename" \
      '($2 == name || $2 ~ /^(old)?(old)?stable$/) && $1 !~ /security/ {print $1, $3; exit}') ||
    true
  [ -n "$uri" ] || return 1
  file=${entry%:*}
  line=${entry##*:}
  case $file in
    *.sources) # the number counts stanzas here, from 1
      key=$(awk -v RS= -v n="$line" 'NR == n' "$file" |
        sed -n 's/^Signed-By:[[:space:]]*\(\/[^[:space:]]*\).*/\1/pI')
      ;;
    *) key=$(sed -n "${line}s/.*[[ ]signed-by=\([^] ]*\).*/\1/p" "$file") ;;
  esac
  echo "$uri ${key:--}"
}

# The newest clang of a Debian release comes through its security archive, which a machine made by
# hand may not list. Read it from beside the machine's mirror, for the commands of this script only.
add_security_suite() {
  local uri key codename options="targets=Packages" state=$prefix/security-apt
  read -r uri key < <(machine_mirror) || return 0
  codename=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
  [ "$key" = - ] || options+=" signed-by=$key"
  mkdir -p "$state"/{none,lists/partial}
  {
    echo "deb [$options] $uri $codename main"
    echo "deb [$options] $uri $codename-updates main"
    echo "deb [$options] ${uri%/}-security $codename-security main"
  } > "$state/sources.list"
  apt_options=(-o "Dir::Etc::SourceList=$state/sources.list" -o "Dir::Etc::SourceParts=$state/none"
    -o "Dir::State::Lists=$state/lists")
  say "reading $codename-security, which this machine's apt does not list, for a newer clang"
  if ! apt-get update -qq "${apt_options[@]}" -o APT::Sandbox::User="$(id -un)" -o Debug::NoLocking=true \
    > "$prefix/apt.log" 2>&1; then
    say "warning: it could not be read (log: $prefix/apt.log)"
    apt_options=()
  fi
}
