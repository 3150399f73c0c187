import CPlatform
import PropertyList

extension KeyedUnarchiver {
    /// The object with a UID; the contents of collections may be pending.
    func object(of uid: UInt32) throws(ArchiveError) -> ArchiveValue? {
        if uid == 0 { return nil }
        switch objects.visit(uid) {
        case .done(let value):
            try checks.checkAgain(value)
            return value
        case .inProgress:
            throw .corrupt(
                "object \(uid) refers to itself while it is being decoded; its class has to adopt it first")
        case nil: break
        }
        guard let record = try reader.record(at: uid) else { return try leaf(at: uid) }
        let archived = try record.archivedClass()
        let value = try instance(record, archived)
        // The object may have been adopted meanwhile; init's result counts.
        objects.finish(uid, value)
        return value
    }

    private func leaf(at uid: UInt32) throws(ArchiveError) -> ArchiveValue? {
        let number = try reader.number(of: uid)
        let list = reader.propertyList
        switch try list.kind(in: number) {
        case .string, .boolean, .integer, .real, .data, .date: break
        default: throw .corrupt("object \(uid) is neither a leaf nor an instance")
        }
        let value = try objects.sharedValue(number)
        if case .string("$null") = value { return nil }
        return ArchiveValue(leaf: value)
    }

    private func instance(_ record: ArchiveRecord, _ archived: ArchivedClass) throws(ArchiveError) -> ArchiveValue {
        for name in [archived.name] + archived.hints {
            if !keepsForm, let binding = binding(forClassName: name) { return try decode(record, with: binding) }
            if let builtin = FoundationClass(name: name), !keepsForm || holdsItsForm(record, archived, builtin) {
                try checks.check(builtin.archivedClass)
                if let value = try decode(record, as: builtin) { return value }
            }
        }
        let isNamed = allowsNamedUnknownClasses && checks.allowed?.contains(archived.name) == true
        if !isNamed, checks.allowed != nil || requiresSecureCoding {
            throw .corrupt("the class \(archived.name) is unknown here, and only known classes are allowed")
        }
        let object = ArchivedObject(archived)
        return leave(.unknown(object), for: record)
    }

    /// Registers an empty object, to be filled later.
    func leave(_ value: ArchiveValue, for record: ArchiveRecord) -> ArchiveValue {
        objects.leave(DecodedObjects.Unfilled(value: value, record: record, allowed: checks.allowed))
        return value
    }

    private func decode(
        _ record: ArchiveRecord, with binding: ArchiveClassBinding
    ) throws(ArchiveError) -> ArchiveValue {
        try checks.check(binding.archivedClass)
        guard !requiresSecureCoding || binding.supportsSecureCoding else {
            throw .corrupt("secure coding is required, and \(binding.archivedClass.name) does not support it")
        }
        let uid = record.uid
        guard let allocate = binding.allocate else {
            if let excess { throw .corrupt("objects nest \(excess)") }
            objects.begin(uid)
            return try initialize(record, with: binding, nil)
        }
        let object = try allocate()
        objects.finish(uid, .object(object))
        guard excess == nil else {
            // In a long chain the object is handed out like one in a cycle, and initialised after the others.
            objects.postpone(
                DecodedObjects.Postponed(object: object, record: record, binding: binding, allowed: checks.allowed))
            return .object(object)
        }
        return try initialize(record, with: binding, object)
    }

    /// The end of a message if objects may not nest deeper; else nil.
    private var excess: String? {
        let limit = reader.limits.maximumDepth
        if frames.count >= limit { return "deeper than the limit of \(limit)" }
        return cubby_stack_is_short() == 0 ? nil : "deeper than the thread's stack allows"
    }

    private func initialize(
        _ record: ArchiveRecord, with binding: ArchiveClassBinding, _ empty: (any KeyedEncodable)?
    ) throws(ArchiveError) -> ArchiveValue {
        frames.append(Frame(record: record))
        let outer = checks.allowed
        defer {
            frames.removeLast()
            checks.allowed = outer
        }
        let object: any KeyedEncodable
        do {
            object = try binding.initialize(self, empty)
        } catch {
            objects.forget(record.uid)
            throw error
        }
        if let adopted = frames.last?.adopted, adopted !== object {
            throw .corrupt("\(binding.archivedClass.name) replaced itself after others had referred to it")
        }
        return .object(object)
    }

    // MARK: - Filling

    /// Fills all pending objects, including those added meanwhile.
    func fillAll() throws(ArchiveError) {
        let outer = checks.allowed
        defer { checks.allowed = outer }
        var pace = InterruptionPace()
        while true {
            if pace.isDue() { throw .corrupt(Interruption.message) }
            if let next = objects.nextUnfilled() {
                checks.allowed = next.allowed
                do {
                    try fill(next)
                } catch {
                    objects.forget(next.record.uid)
                    guard failures != nil else { throw error }
                    failures?[next.record.uid] = error
                }
            } else if frames.count < reader.limits.maximumDepth, let next = objects.nextPostponed() {
                checks.allowed = next.allowed
                guard case .object(let made) = try initialize(next.record, with: next.binding, next.object),
                    made === next.object
                else { throw .corrupt("\(next.binding.archivedClass.name) replaced itself after it was handed out") }
            } else {
                return try checks.recheck()
            }
        }
    }

    private func fill(_ unfilled: DecodedObjects.Unfilled) throws(ArchiveError) {
        let identity = unfilled.value.identity.map(ObjectIdentifier.init)
        if let identity { checks.beginFilling(identity) }
        defer { if let identity { checks.endFilling(identity) } }
        switch unfilled.value {
        case .collection(let collection): try fill(collection, from: unfilled.record)
        case .dictionary(let dictionary): try fill(dictionary, from: unfilled.record)
        case .unknown(let object): try fill(object, from: unfilled.record)
        default: break
        }
    }

    private func decode(_ references: ArchiveReferences) throws(ArchiveError) -> [ArchiveValue?] {
        try objects.spend(references.number)
        var found: [ArchiveValue?] = []
        var pace = InterruptionPace()
        for index in 0..<references.count {
            if pace.isDue() { throw .corrupt(Interruption.message) }
            found.append(try object(of: try references.uid(at: index)))
        }
        return found
    }

    private func list(_ key: String, of record: ArchiveRecord) throws(ArchiveError) -> ArchiveReferences {
        guard let slot = record.shape.slot(of: key), let list = try record.references(at: slot) else {
            throw .corrupt("an instance of \(try record.className()) has no list “\(key)” (object \(record.uid))")
        }
        return list
    }

    private func fill(_ collection: ArchivedCollection, from record: ArchiveRecord) throws(ArchiveError) {
        let isCounted = collection.kind == .countedSet
        collection.elements =
            record.containsValue(forKey: "NS.objects")
            ? try decode(try list("NS.objects", of: record))
            : try numbered(isCounted ? "NS.object" : "NS.object.", in: record)
        guard isCounted else { return }
        for index in collection.elements.indices {
            let count = try record.decodeInteger(forKey: "NS.count\(index)") ?? 1
            guard count >= 0 else { throw .corrupt("a counted set counts an element \(count) times") }
            collection.counts.append(Int(count))
        }
    }

    /// Decodes elements under numbered keys, from 0 on.
    private func numbered(_ prefix: String, in record: ArchiveRecord) throws(ArchiveError) -> [ArchiveValue?] {
        var elements: [ArchiveValue?] = []
        while let slot = record.shape.slot(of: "\(prefix)\(elements.count)") {
            elements.append(try object(at: record.number(at: slot)))
        }
        return elements
    }

    private func fill(_ dictionary: ArchivedDictionary, from record: ArchiveRecord) throws(ArchiveError) {
        if record.shape.slot(of: "NS.objects") == nil, record.shape.slot(of: "NS.keys") == nil {
            let keys = try numbered("NS.key.", in: record)
            let values = try numbered("NS.object.", in: record)
            guard keys.count == values.count else {
                throw .corrupt("a dictionary has \(keys.count) keys and \(values.count) objects (object \(record.uid))")
            }
            dictionary.entries = zip(keys, values).map { ArchivedDictionary.Entry(key: $0, value: $1) }
            return
        }
        let keys = try list("NS.keys", of: record)
        let values = try list("NS.objects", of: record)
        guard keys.count == values.count else {
            throw .corrupt("a dictionary has \(keys.count) keys and \(values.count) objects (object \(record.uid))")
        }
        dictionary.entries.reserveCapacity(keys.count)
        var pace = InterruptionPace()
        for index in 0..<keys.count {
            if pace.isDue() { throw .corrupt(Interruption.message) }
            let key = try object(of: try keys.uid(at: index))
            let value = try object(of: try values.uid(at: index))
            dictionary.entries.append(ArchivedDictionary.Entry(key: key, value: value))
        }
    }

    private func fill(_ object: ArchivedObject, from record: ArchiveRecord) throws(ArchiveError) {
        try objects.spend(record.number)
        for slot in record.shape.storedKeys.indices where slot != record.shape.classSlot {
            let key = ArchiveKey.given(record.shape.storedKeys[slot])
            let value = try fieldValue(at: record.number(at: slot))
            object.fields.append(ArchivedObject.Field(key: key, value: value))
        }
    }

    /// The value of a field, or of a part of a container in place. The contents of objects may be pending.
    func fieldValue(at number: Int, depth: Int = 0) throws(ArchiveError) -> ArchivedObject.FieldValue {
        let list = reader.propertyList
        if let uid = try list.uid(in: number) { return .object(try object(of: uid)) }
        guard let container = try list.container(in: number),
            try objects.holdsReference(number) || container.kind == .array && container.count == 0
        else { return .inline(try objects.sharedValue(number)) }
        try objects.unfold(number, depth: depth)
        switch container.kind {
        case .array:
            var elements: [ArchivedObject.FieldValue] = []
            for index in 0..<container.count {
                if Interruption.isDueAtStep { throw .corrupt(Interruption.message) }
                elements.append(try fieldValue(at: list.reference(index, in: container), depth: depth + 1))
            }
            return .list(elements)
        case .dictionary:
            var entries: [(key: PropertyListValue, value: ArchivedObject.FieldValue)] = []
            for index in 0..<container.count {
                if Interruption.isDueAtStep { throw .corrupt(Interruption.message) }
                let key = try objects.sharedValue(list.reference(index, in: container))
                guard ArchiveValue(leaf: key) != nil else {
                    throw .corrupt("a dictionary within a field has a key that is not a leaf")
                }
                let value = try fieldValue(at: list.valueReference(index, in: container), depth: depth + 1)
                entries.append((key, value))
            }
            return .dictionary(entries)
        default: throw .corrupt("a set within a field holds references to objects")
        }
    }
}
