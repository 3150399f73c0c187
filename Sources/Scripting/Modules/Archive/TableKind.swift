import KeyedArchive

/// What a table is to an archive: told by its metatable.
final class TableKind {
    enum Form {
        /// An array or a set, elements from 1 on.
        case collection(ArchivedCollection.Kind, isMutable: Bool)
        case dictionary(isMutable: Bool)
        /// Elements as keys, how often each was added as values.
        case countedSet
        /// A list of references that lies in an object's field itself.
        case list
        /// An instance of a class that nobody declared.
        case foreign(ArchivedClass)
        /// An instance of a script's class.
        case instance(ScriptClass)
    }

    let form: Form

    init(_ form: Form) { self.form = form }

    /// The class that the archive names.
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
