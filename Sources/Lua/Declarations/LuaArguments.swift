/// The names of a function's arguments, in order, with or without documentation: `["from", "to"]`, or
/// `["from": "the current position", "to": "the new position"]`. Their types are those of the function's closure.
public struct LuaArguments: ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral, Sendable {
    let all: [(name: String, argument: LuaArgument)]

    public init(arrayLiteral names: String...) { all = names.map { ($0, "") } }
    public init(dictionaryLiteral arguments: (String, LuaArgument)...) {
        all = arguments.map { (name: $0.0, argument: $0.1) }
    }
}
