/// The keys of an instance, in order. Instances with the same keys share one shape, so that a caller that has found its
/// slots for one can use them for all.
public final class ArchiveShape: Sendable {
    /// The keys as the program gave them, without the escape for `$`.
    public let keys: [String]
    /// The keys as they are stored, `$class` included.
    let storedKeys: [String]
    let slots: [String: Int]
    let storedSlots: [String: Int]
    let classSlot: Int?

    init(storedKeys: [String]) {
        self.storedKeys = storedKeys
        classSlot = storedKeys.firstIndex(of: "$class")
        var keys: [String] = []
        var slots: [String: Int] = [:]
        var storedSlots: [String: Int] = [:]
        for (slot, stored) in storedKeys.enumerated() {
            if storedSlots[stored] == nil { storedSlots[stored] = slot }
            guard slot != classSlot else { continue }
            let key = Self.given(stored)
            keys.append(key)
            if slots[key] == nil { slots[key] = slot }
        }
        self.keys = keys
        self.slots = slots
        self.storedSlots = storedSlots
    }

    /// Whether the stored key at a slot is this ASCII text.
    func holds(_ text: UnsafeRawBufferPointer, at slot: Int) -> Bool {
        let key = storedKeys[slot].utf8
        guard key.count == text.count else { return false }
        return key.elementsEqual(text)
    }

    /// The place of a key's value in the instances of this shape, or nil when they have no such key.
    public func slot(of key: String) -> Int? { slots[key] }

    /// The key that the program gave for a stored one.
    static func given(_ stored: String) -> String {
        stored.hasPrefix("$$") ? String(stored.dropFirst()) : stored
    }
}
