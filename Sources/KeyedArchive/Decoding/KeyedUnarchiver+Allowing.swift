import PropertyList

extension KeyedUnarchiver {
    /// An object that another call decoded, and the classes that this call allows.
    struct Recheck {
        var value: ArchiveValue
        var allowed: AllowedClasses
    }

    /// The classes of a call that names none, with secure coding: property-list objects, and within an object's init
    /// the classes allowed for that object.
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

    /// Checks an object of another call against this call's list, with everything below it.
    func checkAgain(_ value: ArchiveValue) throws(ArchiveError) {
        guard let allowed else { return }
        try check(value, allowed)
        // Its contents may be incomplete.
        switch value {
        case .collection, .dictionary, .unknown: rechecks.append(Recheck(value: value, allowed: allowed))
        default: break
        }
    }

    /// Checks reused objects against the lists of the calls that reused them. Objects that lead to an incomplete
    /// collection are checked again after its completion.
    func recheck() throws(ArchiveError) {
        var open = rechecks
        rechecks = []
        if filling.isEmpty {
            open += unfinishedRechecks
            unfinishedRechecks = []
        }
        for recheck in open where try !isWholeAndAllowed(recheck) { unfinishedRechecks.append(recheck) }
    }

    /// - Returns: false when an object on the way is incomplete.
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
        // An object that leads to an incomplete one has not passed.
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
