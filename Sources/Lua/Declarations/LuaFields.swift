internal import Synchronization

/// The fields of a declared table, in order. They are made on first access, so that a program starts without those
/// not used by any call, help or completion.
public struct LuaFields: RandomAccessCollection, ExpressibleByArrayLiteral, Equatable, Sendable {
    private final class Storage: Sendable {
        private let made: Mutex<[LuaParameter]?>
        private let make: @Sendable () -> [LuaParameter]

        init(_ made: [LuaParameter]?, _ make: @escaping @Sendable () -> [LuaParameter]) {
            self.made = Mutex(made)
            self.make = make
        }

        var fields: [LuaParameter] {
            if let fields = made.withLock(\.self) { return fields }
            // Outside of the lock: a field's type may have fields, even the same ones.
            let fields = make()
            return made.withLock { made in
                made = made ?? fields
                return fields
            }
        }
    }

    private let storage: Storage

    /// Creates existing fields.
    public init(_ fields: [LuaParameter]) { storage = Storage(fields) { fields } }

    /// Creates fields that are made on first access, possibly by several threads.
    init(madeBy make: @escaping @Sendable () -> [LuaParameter]) { storage = Storage(nil, make) }

    public init(arrayLiteral fields: LuaParameter...) { self.init(fields) }

    /// The fields as an array.
    public var all: [LuaParameter] { storage.fields }

    public var startIndex: Int { 0 }
    public var endIndex: Int { all.count }
    public subscript(position: Int) -> LuaParameter { all[position] }

    public static func == (a: LuaFields, b: LuaFields) -> Bool { a.all == b.all }
}
