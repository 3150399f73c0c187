/// Makes instances of a class from an archive. The binding of a Swift class uses `KeyedCoding`; a class made at run
/// time has its own functions.
package struct ArchiveClassBinding {
    /// The class and its superclasses; allow-lists are checked against these names.
    package var archivedClass: ArchivedClass
    /// Whether the class supports secure coding.
    package var supportsSecureCoding: Bool
    /// Makes an empty instance, which is registered before its contents are decoded, so that cycles work; nil for a
    /// class that only `initialize` makes.
    let allocate: (() throws(ArchiveError) -> any KeyedEncodable)?
    /// Decodes the contents, into the empty instance if there is one, and returns the object.
    let initialize: (KeyedUnarchiver, (any KeyedEncodable)?) throws(ArchiveError) -> any KeyedEncodable

    /// The binding of a class made at run time.
    ///
    /// - Parameters:
    ///   - archivedClass: its name and its superclasses.
    ///   - supportsSecureCoding: whether it supports secure coding.
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
