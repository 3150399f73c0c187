import KeyedArchive

/// The archived kind of a table, determined by its metatable.
final class TableKind {
    enum Form {
        /// An array or a set with elements from 1.
        case collection(ArchivedCollection.Kind, isMutable: Bool)
        case dictionary(isMutable: Bool)
        /// The elements are keys, their counts are values.
        case countedSet
        /// A list of references stored inline in an object's field.
        case list
        /// An instance of an undeclared class.
        case foreign(ArchivedClass)
        /// An instance of a script's class.
        case instance(ScriptClass)
    }

    let form: Form

    init(_ form: Form) { self.form = form }

    /// The class in the archive.
    var archivedClass: ArchivedClass {
        switch form {
        case .collection(let kind, let isMutable): ArchivedCollection(kind, isMutable: isMutable).archivedClass
        case .dictionary(let isMutable): ArchivedDictionary(isMutable: isMutable).archivedClass
        case .countedSet: ArchivedCollection(.countedSet).archivedClass
        case .list: ArchivedCollection().archivedClass
        case .foreign(let archivedClass): archivedClass
        case .instance(let scriptClass): scriptClass.archivedClass
        }
    }
}
