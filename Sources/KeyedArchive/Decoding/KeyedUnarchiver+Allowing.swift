import PropertyList

extension KeyedUnarchiver {
    /// Something that a call found decoded by another one, and the classes that it allows itself.
    struct Recheck {
        var value: ArchiveValue
        var allowed: AllowedClasses
    }

    /// What a call that names no classes allows when secure coding is required: the objects of property lists, and
    /// within an object's init what was allowed for that object.
    var implicitlyAllowed: AllowedClasses? {
        guard requiresSecureCoding else { return nil }
        guard !frames.isEmpty, let allowed else { return .propertyList }
        return allowed.union(.propertyList)
    }

    func check(_ archivedClass: ArchivedClass) throws(ArchiveError) {
        guard let allowed, !allowed.allow(archivedClass) else { return }
        throw Self.notAllowed(archivedClass, allowed)
    }

    private static func notAllowed(_ archivedClass: ArchivedClass, _ allowed: AllowedClasses) -> ArchiveError {
        .corrupt(
            "the class \(archivedClass.name) is not among those allowed here: "
                + allowed.names.sorted().joined(separator: ", "))
    }

    /// An object that another call decoded has to pass this call's list, too, with all that it holds.
    func checkAgain(_ value: ArchiveValue) throws(ArchiveError) {
        guard let allowed else { return }
        try check(value, allowed)
        // What it holds may not be there yet.
        switch value {
        case .collection, .dictionary, .unknown: rechecks.append(Recheck(value: value, allowed: allowed))
        default: break
        }
    }

    /// Holds what was taken over against the lists of those who took it. What leads to a collection that is being filled
    /// further out is looked at again when that is complete.
    func recheck() throws(ArchiveError) {
        var open = rechecks
        rechecks = []
        if filling.isEmpty {
            open += unfinishedRechecks
            unfinishedRechecks = []
        }
        for recheck in open where try !isWholeAndAllowed(recheck) { unfinishedRechecks.append(recheck) }
    }

    /// - Returns: false when something on the way is not complete yet.
    private func isWholeAndAllowed(_ recheck: Recheck) throws(ArchiveError) -> Bool {
        var seen = passed[recheck.allowed] ?? []
        var pending = [recheck.value]
        var isWhole = true
        passed[recheck.allowed] = nil
        while let value = pending.popLast() {
            try check(value, recheck.allowed)
            guard let identity = value.identity, seen.insert(ObjectIdentifier(identity)).inserted else { continue }
            if filling.contains(ObjectIdentifier(identity)) { isWhole = false }
            value.forEachReference { if let value = $0 { pending.append(value) } }
        }
        // What leads to something incomplete has not passed.
        if isWhole { passed[recheck.allowed] = seen }
        return isWhole
    }

    private func check(_ value: ArchiveValue, _ allowed: AllowedClasses) throws(ArchiveError) {
        let archivedClass: ArchivedClass
        switch value {
        case .object(let object): archivedClass = object.classForKeyedArchiver
        case .unknown(let object): archivedClass = object.archivedClass
        case .string, .boolean, .integer, .wideInteger, .real, .single, .data: return
        default:
            guard let builtin = FoundationClass(name: value.className) else { return }
            archivedClass = builtin.archivedClass
        }
        guard allowed.allow(archivedClass) else { throw Self.notAllowed(archivedClass, allowed) }
    }
}
