# Set-up that the scripts share: what a fresh Debian lacks is installed, and what changed is built.
# To be sourced by bash with `root` set to the project's folder. Says what it does on standard error, and nothing else.

readonly BUILD_PACKAGES=(liblua5.4-dev libvips42 libpq-dev libcurl4 libsqlite3-0 libarchive13 libexpat1 zlib1g libzmq5 pkg-config tzdata)
readonly TEST_PACKAGES=(libvips-dev tmux lua5.4 libplist-utils python3 python3-pil lua-check lua-penlight lua-inspect binutils xz-utils man-db zsh fish)
readonly BINARY=$root/.build/release/cubby
# Touched before a build begins, so that an edit made while it runs is newer.
readonly STAMP=$root/.build/cubby.stamp

say() {
  printf '%s\n' "$*" >&2
}

die() {
  say "$(basename "$0"): $*"
  exit 1
}

# Makes a folder for what tests write: in memory, where a sync takes no time, if 4 GB of it are free and programs may run there.
# Other users, PostgreSQL's for one, may pass through it. Its name is short, as windows of 40 columns show paths in it.
make_test_folder() {
  local free options folder
  read -r free < <(df --output=avail -B 1G /dev/shm 2>/dev/null | tail -n 1) || free=0
  options=,$(findmnt -no OPTIONS --target /dev/shm 2>/dev/null || echo noexec),
  if [[ -z ${TMPDIR:-} && $free -ge 4 && -w /dev/shm && $options != *,noexec,* ]]; then
    folder=$(mktemp -d /dev/shm/ct.XXX)
  else
    folder=$(mktemp -d)
  fi
  chmod 755 "$folder"
  echo "$folder"
}

# `swift test` with these arguments; what failed is said once more at the end, where a reader of a long run looks.
run_tests() {
  local said status=0
  said=$(mktemp)
  (
    folder=$(make_test_folder)
    trap 'rm -rf "$folder"' EXIT
    TMPDIR=$folder swift test "$@"
  ) | tee "$said" || status=${PIPESTATUS[0]}
  if ((status != 0)); then
    say "What failed:"
    grep -a '✘' "$said" >&2 || true
  fi
  rm -f "$said"
  return "$status"
}

# The built program is newer than the manifest and every file and folder of the sources.
is_current() {
  [[ -x $BINARY && -f $STAMP ]] &&
    [[ -z $(find "$root/Package.swift" "$root/Sources" -newer "$STAMP" -print -quit) ]]
}

# Prints the packages, of those given, that are not installed.
missing_packages() {
  local installed package
  installed=" $(dpkg-query -W -f '${db:Status-Status}:${Package} ' "$@" 2>/dev/null || true)"
  for package in "$@"; do
    [[ $installed == *" installed:$package "* ]] || printf '%s\n' "$package"
  done
}

as_root() {
  if ((EUID == 0)); then
    "$@"
  elif command -v sudo >/dev/null; then
    sudo "$@"
  else
    say "This needs root and there is no sudo. As root, run: $*"
    return 1
  fi
}

# In English: update_lists knows a message by its words.
apt() {
  as_root env LC_ALL=C DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300 -qq "$@"
}

# apt waits for dpkg's lock by itself, but fails at once where someone else fetches the lists.
update_lists() {
  local said deadline=$((SECONDS + 300))
  until said=$(apt update 2>&1); do
    if [[ $said != *'Could not get lock'* ]] || ((SECONDS >= deadline)); then
      say "$said"
      return 1
    fi
    sleep 1
  done
}

# Asks the mirrors for their lists only when those at hand are absent or out of date.
apt_install() {
  if compgen -G '/var/lib/apt/lists/*_Packages*' >/dev/null && apt install -y --no-install-recommends "$@"; then
    return
  fi
  update_lists && apt install -y --no-install-recommends "$@"
}

# Installs the Debian packages, of those given, that are missing; needs no network when none is.
install_packages() {
  local missing
  if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    check_libraries
    return
  fi
  mapfile -t missing < <(missing_packages "$@")
  if ((${#missing[@]} > 0)); then
    step "Installing ${missing[*]}" apt_install "${missing[@]}"
  fi
}

# Not Debian: the scripts cannot install there, but they build where the libraries are.
check_libraries() {
  command -v pkg-config >/dev/null && pkg-config --exists lua5.4 libpq ||
    die "this is not Debian, so nothing is installed by itself: install the development files of Lua 5.4 and of libpq, libvips, libsqlite3, and pkg-config"
}

# Tests of shared collections start a server of their own; without PostgreSQL they say that they are skipped.
install_postgresql() {
  command -v apt-get >/dev/null || return 0
  [[ -z $(missing_packages postgresql-15) ]] && return
  step "Installing postgresql-15" apt_install postgresql-15 || say "The tests of shared collections are skipped."
}

# The test that compares the columns of the pages' drawings needs Chromium, and fails without it.
install_chromium() {
  command -v apt-get >/dev/null || return 0
  [[ -x /usr/bin/chromium || -z $(missing_packages chromium-headless-shell) ]] && return
  step "Installing chromium-headless-shell" apt_install chromium-headless-shell ||
    say "SessionPictureTests/columns fails without Chromium."
}

# The tests that ask GNUstep say that they are skipped without it.
install_gnustep() {
  command -v apt-get >/dev/null || return 0
  [[ -z $(missing_packages gobjc gnustep-make libgnustep-base-dev) ]] && return
  step "Installing GNUstep" apt_install gobjc gnustep-make libgnustep-base-dev || say "The tests that ask GNUstep are skipped."
}

require_swift() {
  command -v swift >/dev/null ||
    die "no Swift toolchain on PATH. Install Swift 6.3 or later from https://www.swift.org/install/linux and try again"
}

# git and its certificates fetch the three Swift packages that the project depends on.
prepare_to_build() {
  local packages=("${BUILD_PACKAGES[@]}" "$@")
  require_swift
  command -v git >/dev/null || packages+=(git)
  [[ -e /etc/ssl/certs/ca-certificates.crt ]] || packages+=(ca-certificates)
  install_packages "${packages[@]}"
  give_swift_a_home
}

# SwiftPM keeps caches at home; without a home that can be written they go beside the build.
give_swift_a_home() {
  if [[ -z ${HOME:-} || ! -d ${HOME:-} || ! -w ${HOME:-} ]]; then
    export HOME=$root/.build/home
    mkdir -p "$HOME"
  fi
}

# step TITLE COMMAND…: runs the command quietly, says how long it took, and shows all it wrote when it fails.
step() {
  local title=$1 log started=$SECONDS status=0
  shift
  log=$(mktemp)
  say "$title…"
  "$@" </dev/null 2>&1 | show_progress "$log" || status=$?
  if ((status != 0)); then
    say "$title failed after $((SECONDS - started)) s. What it said:"
    cat "$log" >&2
  else
    say "$title: $((SECONDS - started)) s"
  fi
  rm -f "$log"
  return "$status"
}

# Copies its input to a file; on a terminal the last step of a build (`[12/34] …`) is on the screen meanwhile.
show_progress() {
  local line
  if [[ ! -t 2 ]]; then
    cat >"$1"
    return
  fi
  while IFS= read -r line; do
    printf '%s\n' "$line" >>"$1"
    [[ $line == '['* ]] && printf '\r\033[K%.*s' "$((${COLUMNS:-80} - 1))" "$line" >&2
  done
  printf '\r\033[K' >&2
}

# A folder whose libraries are found before the system's, so that the program needs fewer shared ones: to look for each
# of their functions and to move them to their place is a good part of what a short run takes. Where the system has no
# archive of one, the shared library serves. Prints the linker's flags.
#  Lua        a part of the program, as Debian's own lua5.4 has it; as one object its functions stay visible to C modules
#  libstdc++  and what of libgcc unwinds, for Swift's own runtime
embed_libraries() {
  local folder=$root/.build/embedded lua libstdcxx libgcc
  rm -rf "$folder"
  mkdir -p "$folder"
  printf '%s\n' -Xswiftc "-L$folder"
  lua=$(pkg-config --variable=libdir lua5.4)/liblua5.4.a
  if [[ -f $lua ]] && command -v ld >/dev/null; then
    ld -r -o "$folder/lua.o" --whole-archive "$lua"
    ar rc "$folder/liblua5.4.a"
    printf '%s\n' -Xlinker "$folder/lua.o"
  fi
  if command -v clang >/dev/null; then
    libstdcxx=$(clang -print-file-name=libstdc++.a)
    libgcc=$(clang -print-file-name=libgcc_eh.a)
    if [[ -f $libstdcxx && -f $libgcc ]]; then
      ln -s "$libstdcxx" "$folder/libstdc++.a"
      ln -s "$libgcc" "$folder/libgcc_s.a"
      clang -O2 -c "$root/scripts/lib/arc4random.c" -o "$folder/arc4random.o"
      printf '%s\n' -Xlinker "$folder/arc4random.o"
    fi
  fi
}

# Prints the build's part of `cubby --version`: the commit, with a + where the sources differ from it, and the compiler.
describe_build() {
  local commit compiler
  commit=$(git -C "$root" rev-parse --short=12 HEAD 2>/dev/null) || commit=unknown
  [[ -z $(git -C "$root" status --porcelain -- Package.swift Sources 2>/dev/null) ]] || commit+=+
  compiler=$(swift --version 2>/dev/null)
  [[ $compiler =~ 'Swift version '([0-9.]+) ]] || true
  printf '(%s), Swift %s' "$commit" "${BASH_REMATCH[1]:-unknown}"
}

compile_release() {
  local flags
  mapfile -t flags < <(embed_libraries)
  # Bound at its start: a function that is found when it is first called makes that call take microseconds. Without the
  # hashes of modules and of what is linked, which are others in each build, the program is the same each time. What is
  # installed has no debug information, and takes time to compile and to link with it.
  CUBBY_BUILD=$(describe_build) swift build --package-path "$root" -c release --static-swift-stdlib --disable-local-rpath --product cubby \
    -debug-info-format none \
    -Xlinker -z -Xlinker now -Xswiftc -Xfrontend -Xswiftc -disable-incremental-llvm-codegen \
    -Xlinker --build-id=none "${flags[@]}"
}

# Says how long a build takes here: one of so many minutes of one processor.
minutes_of_build() {
  local processors
  processors=$(nproc)
  printf '%d minutes on %d processors' $((($1 + processors) / processors + 1)) "$processors"
}

# Builds the program as it is meant to be used, when anything changed since it was built last.
build_release() {
  is_current && return
  mkdir -p "$root/.build"
  touch "$STAMP.new"
  local takes="seconds, or minutes after a change deep down"
  [[ -x $BINARY ]] || takes="about $(minutes_of_build 6) the first time"
  step "Building cubby ($takes)" compile_release && mv "$STAMP.new" "$STAMP"
}

# Builds a program of Tests/Benchmarks, which Package.swift has when it is asked for them; all of them without a name.
build_measurement() {
  CUBBY_BENCHMARKS=1 swift build -c release --package-path "$root" --scratch-path "$root/.build-benchmarks" \
    ${1:+--product "$1"}
}
