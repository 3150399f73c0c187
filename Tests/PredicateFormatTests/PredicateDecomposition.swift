import Foundation

/// Foundation's canonical decomposition, which the tests hold ours against. It has a file of its own because Foundation
/// has a `Predicate` too.
func canonicallyDecomposed(_ text: String) -> String {
    text.decomposedStringWithCanonicalMapping
}
