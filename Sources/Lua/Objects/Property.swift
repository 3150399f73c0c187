/// A property of a declared class. Scripts cannot assign it without a setter.
public struct Property<Object: AnyObject>: LuaMember {
    private let add: (LuaClass<Object>) -> Void

    /// Creates a read-only property from its key path.
    public init<Value: LuaRepresentable>(_ name: String, _ path: KeyPath<Object, Value>, doc: String = "") {
        self.init(name, doc: doc, get: { $0[keyPath: path] })
    }

    /// Creates a read-write property from its key path.
    public init<Value: LuaRepresentable>(
        _ name: String, _ path: ReferenceWritableKeyPath<Object, Value>, doc: String = ""
    ) {
        self.init(name, doc: doc, get: { $0[keyPath: path] }, set: { $0[keyPath: path] = $1 })
    }

    /// Creates a property from its functions. An error thrown by `set` is raised by the assignment.
    public init<Value: LuaRepresentable>(
        _ name: String, doc: String = "", get: @escaping (Object) throws -> Value,
        set: ((Object, Value) throws -> Void)? = nil
    ) {
        add = { $0.property(name, doc, get: get, set: set) }
    }

    public func declare(in cls: LuaClass<Object>) { add(cls) }
}
