import Platform
import PropertyList

/// The keys of an instance, in order. Instances with the same keys share one shape, so that slots found for one are
/// valid for all.
public final class ArchiveShape: Sendable {
    /// The keys without the escape for `$`; `$0`, `$1` and so on belong to unkeyed values.
    public let keys: [String]
    /// The keys as they are stored, `$class` included.
    package let storedKeys: [String]
    private let storedSlots: [ExactText: Int]
    let classSlot: Int?

    init(storedKeys: [String]) {
        self.storedKeys = storedKeys
        classSlot = storedKeys.firstIndex(of: "$class")
        var keys: [String] = []
        var storedSlots: [ExactText: Int] = [:]
        for (slot, stored) in storedKeys.enumerated() {
            if storedSlots[ExactText(stored)] == nil { storedSlots[ExactText(stored)] = slot }
            if slot != classSlot { keys.append(ArchiveKey.given(stored)) }
        }
        self.keys = keys
        self.storedSlots = storedSlots
    }

    /// Whether the stored key at a slot is this ASCII text.
    func holds(_ text: UnsafeRawBufferPointer, at slot: Int) -> Bool {
        let key = storedKeys[slot].utf8
        guard key.count == text.count, let asked = text.baseAddress else { return key.count == text.count }
        let isSame = key.withContiguousStorageIfAvailable { known in
            known.baseAddress.map { memcmp($0, asked, text.count) == 0 } ?? false
        }
        return isSame ?? key.elementsEqual(text)
    }

    /// The slot of a key, or nil when the instances have no such key.
    public func slot(of key: String) -> Int? { storedSlots[ExactText(ArchiveKey.escaped(key))] }

    /// The slot of a stored key.
    package func slot(ofStored key: String) -> Int? { storedSlots[ExactText(key)] }
}
