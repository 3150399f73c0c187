/// A property of a declared class. Without a setter scripts cannot assign it.
public struct Property<Object: AnyObject>: LuaMember {
    private let add: (LuaClass<Object>) -> Void

    /// A property by its key path, which scripts only read.
    public init<Value: LuaRepresentable>(_ name: String, _ path: KeyPath<Object, Value>, doc: String = "") {
        self.init(name, doc: doc, get: { $0[keyPath: path] })
    }

    /// A property by its key path, which scripts read and assign.
    public init<Value: LuaRepresentable>(
        _ name: String, _ path: ReferenceWritableKeyPath<Object, Value>, doc: String = ""
    ) {
        self.init(name, doc: doc, get: { $0[keyPath: path] }, set: { $0[keyPath: path] = $1 })
    }

    /// A property by its functions. What `set` throws is the assignment's error.
    public init<Value: LuaRepresentable>(
        _ name: String, doc: String = "", get: @escaping (Object) throws -> Value,
        set: ((Object, Value) throws -> Void)? = nil
    ) {
        add = { $0.property(name, doc, get: get, set: set) }
    }

    public func declare(in cls: LuaClass<Object>) { add(cls) }
}
