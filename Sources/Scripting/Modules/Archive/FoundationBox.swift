import KeyedArchive

/// An archived value without a Lua counterpart: a URL, a range, an index path.
final class FoundationBox {
    /// Nil only for a nil key.
    let value: ArchiveValue?

    init(_ value: ArchiveValue?) { self.value = value }

    var foundation: FoundationValue? { if case .value(let value)? = value { value } else { nil } }
    var className: String { value?.className ?? "nil" }
}
