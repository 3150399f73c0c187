# The files of an installation, for scripts/install and scripts/package. Source it after setup.sh.

# The version, from its only definition.
version() {
  sed -n 's/.*static let string = "\(.*\)"/\1/p' "$root/Sources/Scripting/Host/CubbyVersion.swift"
}

# make_tree PROGRAM DIR BIN: puts bin and share of an installation into a folder. BIN is the program's final folder.
make_tree() {
  local program=$1 tree=$2 bin=$3
  install -D -m 755 "$program" "$tree/bin/cubby"
  if command -v strip >/dev/null; then strip --strip-all "$tree/bin/cubby"; fi
  # The resources that `bundle` finds besides the user's own.
  install -D -m 644 "$root/examples/data/household.csv" "$tree/share/cubby/bundle/household.csv"
  install -d "$tree/share/systemd/user"
  sed "s|@BIN@|$bin|" "$root/scripts/lib/cubby@.service" >"$tree/share/systemd/user/cubby@.service"
  make_documentation "$tree/share/doc/cubby"
  make_completions "$tree/bin/cubby" "$tree/share"
  make_manual "$tree/bin/cubby" "$tree/share/man/man1"
  find "$tree" -type d -exec chmod 755 {} +
  find "$tree/share" -type f -exec chmod 644 {} +
}

make_documentation() {
  local to=$1
  install -d "$to/docs" "$to/examples"
  cp "$root"/{README,CHANGELOG}.md "$root/LICENSE" "$root/scripts/lib/copyright" "$to"
  cp -r "$root"/docs/{*.md,*.svg,*.png,products,reference} "$to/docs"
  cp -r "$root"/examples/{*.lua,data,jobs} "$to/examples"
}

make_completions() {
  local program=$1 share=$2
  install -d "$share/bash-completion/completions" "$share/zsh/site-functions" "$share/fish/vendor_completions.d"
  # The file is sourced: no #! line.
  "$program" --generate-completion-script bash | sed '1{/^#!/d}' >"$share/bash-completion/completions/cubby"
  "$program" --generate-completion-script zsh >"$share/zsh/site-functions/_cubby"
  "$program" --generate-completion-script fish >"$share/fish/vendor_completions.d/cubby.fish"
}

# Dated by the commit, so that the same sources give the same pages.
make_manual() {
  local program=$1 to=$2 day usage
  day=$(date -u -d "@$(source_date)" +%F)
  install -d "$to"
  usage=$(mktemp)
  { "$program" --version && "$program" --help; } >"$usage"
  "$program" --experimental-dump-help |
    "$program" --container :memory: --allow-write "$to" run "$root/scripts/lib/manual.lua" "$to" "$day" "$usage" \
      "$root/docs/exit-status.md"
  rm -f "$usage"
  gzip -9n "$to"/*.1
}

# The time of the last commit, or the current time, in seconds.
source_date() {
  git -C "$root" log -1 --format=%ct 2>/dev/null || date +%s
}
