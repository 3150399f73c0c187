/// How instances of a class are made from an archive. Swift classes get theirs from `KeyedCoding`; a class made at run
/// time states its own.
package struct ArchiveClassBinding {
    /// The class, with what stands above it: allow-lists are checked against these names.
    package var archivedClass: ArchivedClass
    /// Whether the class promises to check what it decodes.
    package var supportsSecureCoding: Bool
    /// Makes an empty instance, which is known to others before its contents are decoded, so that cycles work; nil for
    /// a class that is made by `initialize` alone.
    let allocate: (() throws(ArchiveError) -> any KeyedEncodable)?
    /// Decodes the contents, into the empty instance if there is one, and gives the object to use.
    let initialize: (KeyedUnarchiver, (any KeyedEncodable)?) throws(ArchiveError) -> any KeyedEncodable

    /// A class made at run time.
    ///
    /// - Parameters:
    ///   - archivedClass: its name, and what stands above it.
    ///   - supportsSecureCoding: whether it promises to check what it decodes.
    ///   - allocate: makes an empty instance.
    ///   - initialize: decodes its contents.
    package init<Object: KeyedEncodable>(
        _ archivedClass: ArchivedClass, supportsSecureCoding: Bool = false,
        allocate: @escaping () throws(ArchiveError) -> Object,
        initialize: @escaping (Object, KeyedUnarchiver) throws(ArchiveError) -> Void
    ) {
        self.archivedClass = archivedClass
        self.supportsSecureCoding = supportsSecureCoding
        self.allocate = { () throws(ArchiveError) -> any KeyedEncodable in try allocate() }
        self.initialize = { (coder, empty) throws(ArchiveError) -> any KeyedEncodable in
            guard let object = empty as? Object else {
                throw .corrupt("an instance of \(archivedClass.name) could not be made")
            }
            try initialize(object, coder)
            return object
        }
    }

    /// The binding of a Swift class.
    package init(_ type: any KeyedCoding.Type) {
        archivedClass = type.archivedClass
        supportsSecureCoding = type.supportsSecureCoding
        allocate = nil
        initialize = { (coder, _) throws(ArchiveError) -> any KeyedEncodable in try type.init(coder: coder) }
    }
}
