import KeyedArchive

/// A value of an archive that Lua has no value of its own for: a URL, a range, an index path.
final class FoundationBox {
    /// Nil only for a key that is nil in its archive.
    let value: ArchiveValue?

    init(_ value: ArchiveValue?) { self.value = value }

    var foundation: FoundationValue? { if case .value(let value)? = value { value } else { nil } }
    var className: String { value?.className ?? "nil" }
}
