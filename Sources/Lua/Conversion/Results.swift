/// The result of a function that may fail for external reasons: the value, or nil and the error.
///
/// ```swift
/// module.function("read", ["path"], "A file's text.") { (path: String) in
///     Result { () throws(FileError) in try files.text(of: path) }
/// }
/// ```
///
/// An error thrown by the function is raised instead.
extension Result: LuaRepresentable where Success: LuaRepresentable {
    public static var luaType: LuaType { luaResults[0] }

    public static var luaResults: [LuaType] { LuaType.orError(Success.luaType.wrapped) }

    /// Creates a success.
    public init(lua value: LuaValue) throws(LuaMismatch) { self = .success(try Success(lua: value)) }

    /// The value; nil for a failure.
    public func luaValue(in state: LuaState) -> LuaValue { (try? get())?.luaValue(in: state) ?? .nil }

    @inlinable
    public func push(as call: LuaCall) throws -> LuaResults {
        switch self {
        case .success(let value): try value.push(as: call)
        case .failure(let error): call.returns(failure: error)
        }
    }
}
