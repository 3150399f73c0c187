# What is formatted, and linted, by .swift-format. To be sourced by bash with `root` set to the project's folder.

FORMATTED=("$root/Package.swift" "$root/Sources" "$root/Tests")
if [[ -d $root/examples ]]; then FORMATTED+=("$root/examples"); fi
