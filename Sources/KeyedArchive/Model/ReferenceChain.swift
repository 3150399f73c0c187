/// Frees long chains of objects link by link: releasing the first would release all others from within, one stack frame
/// deeper each, and an archive decides how long its chains are.
enum ReferenceChain {
    /// Frees what an object that is going away refers to.
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
    /// Gives up the references to objects that may refer to others in turn.
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
    /// The object behind the value if it can refer to others.
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
    /// Takes every object apart, so that those in cycles are freed, too. To be called when the graph and its objects are
    /// not needed any more; what others still hold is empty afterwards.
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
