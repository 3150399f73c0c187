/// Releases long chains of objects iteratively: a recursive release needs one stack frame for each link, and an archive
/// may have a chain of any length.
enum ReferenceChain {
    /// Releases the references of an object in its deinit.
    static func free(_ references: [AnyObject]) {
        var pending = references
        while var object = pending.popLast() {
            guard isKnownUniquelyReferenced(&object) else { continue }
            if let holder = object as? any ReferenceHolder { pending.append(contentsOf: holder.takeReferences()) }
        }
    }
}

/// An object of an archive that refers to others.
protocol ReferenceHolder: AnyObject {
    /// Removes and returns the references to objects that may have references of their own.
    func takeReferences() -> [AnyObject]
}

extension ArchivedCollection: ReferenceHolder {
    func takeReferences() -> [AnyObject] {
        let references = elements.compactMap { $0?.holder }
        if !references.isEmpty { elements = [] }
        return references
    }
}

extension ArchivedDictionary: ReferenceHolder {
    func takeReferences() -> [AnyObject] {
        let references = entries.flatMap { [$0.key?.holder, $0.value?.holder] }.compactMap { $0 }
        if !references.isEmpty { entries = [] }
        return references
    }
}

extension ArchivedObject: ReferenceHolder {
    func takeReferences() -> [AnyObject] {
        var references: [AnyObject] = []
        for field in fields {
            ArchiveGraph.visit(field.value) { value in
                if let holder = value?.holder { references.append(holder) }
            }
        }
        if !references.isEmpty { fields = [] }
        return references
    }
}

extension ArchiveValue {
    /// The referenced object, if it can have references.
    var holder: AnyObject? {
        switch self {
        case .collection(let object): object
        case .dictionary(let object): object
        case .unknown(let object): object
        case .object(let object): object
        default: nil
        }
    }
}

extension ArchiveGraph {
    /// Removes the references of every object, so that cycles are released, too. It is called when the graph is no
    /// longer needed; objects retained elsewhere are empty afterwards.
    public func dismantle() {
        for value in objects() {
            switch value {
            case .collection(let object): object.elements = []
            case .dictionary(let object): object.entries = []
            case .unknown(let object): object.fields = []
            default: break
            }
        }
        top = []
        unreferenced = []
    }
}
